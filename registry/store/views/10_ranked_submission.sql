-- The submissions that take part now: of every system on every test set the version submitted last, unless withdrawn.
-- One row per submission, with its full name task/test_set/team/system@version.
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
