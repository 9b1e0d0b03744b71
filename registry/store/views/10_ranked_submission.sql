-- The current submissions: the last version of every system on every test set, unless it is withdrawn.
-- One row per submission.
--
-- name: full name, task/test_set/team/system@version; macros also accept it without @version
-- task: id of the task
-- test_set: name of the test set
-- track: track of the submission; NULL if the task has no tracks
-- team: name of the team
-- system: name of the system
-- version: version of the submission
-- kind: primary, contrastive or baseline
-- late: whether the submission was late
-- missing: policy for items without an answer: reject, worst, drop or own
-- scoring_id: id of its responses and statistics; NULL without a scoring of the current gold
-- n_missing: number of items without an answer, over all runs
-- submission_id: id of the submission
-- test_set_id: id of the test set
-- track_id: id of the track
-- gold_revision_id: id of the current gold revision of the test set
WITH numbered AS (
    SELECT
        submission.*,
        row_number() OVER (PARTITION BY test_set_id, system_id ORDER BY submission_id DESC) AS recency
    FROM submission
    WHERE NOT withdrawn
),
final AS (
    SELECT
        task.slug || '/' || test_set.name || '/' || team.name || '/' || system.name || '@' || numbered.version AS name,
        task.slug AS task,
        test_set.name AS test_set,
        track.name AS track,
        team.name AS team,
        system.name AS system,
        numbered.version,
        numbered.kind,
        numbered.late,
        numbered.missing,
        scoring.scoring_id,
        scoring.n_missing,
        numbered.submission_id,
        numbered.test_set_id,
        numbered.track_id,
        test_set.gold_revision_id
    FROM numbered
    JOIN test_set ON test_set.test_set_id = numbered.test_set_id AND test_set.is_declared
    JOIN task USING (task_id)
    JOIN system USING (system_id)
    JOIN team USING (team_id)
    LEFT JOIN track ON track.track_id = numbered.track_id
    LEFT JOIN scoring
        ON scoring.submission_id = numbered.submission_id
        AND scoring.gold_revision_id = test_set.gold_revision_id
        AND scoring.missing = numbered.missing
    WHERE numbered.recency = 1
)
SELECT * FROM final
