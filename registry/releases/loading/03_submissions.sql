INSERT INTO track (track_id, task_id, name)
SELECT row_number() OVER (ORDER BY track), 1, track FROM data_submissions WHERE track IS NOT NULL GROUP BY track;
INSERT INTO team (team_id, task_id, name, pseudonym)
SELECT row_number() OVER (ORDER BY team), 1, team, NULL FROM data_submissions GROUP BY team;
INSERT INTO system (system_id, team_id, name, pseudonym)
SELECT row_number() OVER (ORDER BY s.team, s.system), any_value(team.team_id), s.system, NULL
FROM data_submissions AS s JOIN team ON team.name = s.team GROUP BY s.team, s.system;
CREATE TEMP TABLE known_submission AS
SELECT row_number() OVER (ORDER BY test_set.position, s.submission) AS submission_id, test_set.test_set_id,
    system.system_id, track.track_id, s.*
FROM data_submissions AS s
JOIN test_set ON test_set.name = s.test_set
JOIN team ON team.name = s.team
JOIN system ON system.name = s.system AND system.team_id = team.team_id
LEFT JOIN track ON track.name = s.track;
INSERT INTO submission (submission_id, test_set_id, system_id, track_id, {facts}, reader, withdrawn, run_id, created_at)
SELECT submission_id, test_set_id, system_id, track_id, {facts}, '', FALSE, 1, run.started_at
FROM known_submission, (SELECT started_at FROM run) AS run;
INSERT INTO submission_source (submission_id, replicate, source_digest, name)
SELECT submission_id, unnest(range(runs)), '', '' FROM known_submission;
INSERT INTO scoring (scoring_id, submission_id, gold_revision_id, missing, n_missing, run_id)
SELECT submission_id, submission_id, test_set_id, missing, n_missing, 1 FROM known_submission;
