-- The scoring of the submission with the name task/test_set/team/system: the current one or, with @version, this
-- version. An unknown or ambiguous name is an error.
--
-- wanted: name of the submission
CREATE MACRO scoring_named(wanted) AS (
    WITH named AS (
        SELECT
            task.slug || '/' || test_set.name || '/' || team.name || '/' || system.name AS short_name,
            short_name || '@' || submission.version AS name,
            submission.submission_id IN (SELECT ranked.submission_id FROM ranked_submission AS ranked) AS takes_part,
            scoring.scoring_id
        FROM submission
        JOIN test_set USING (test_set_id)
        JOIN task USING (task_id)
        JOIN system USING (system_id)
        JOIN team USING (team_id)
        LEFT JOIN scoring
            ON scoring.submission_id = submission.submission_id
            AND scoring.gold_revision_id = test_set.gold_revision_id
            AND scoring.missing = submission.missing
    ),
    meant AS (
        SELECT
            count(*) AS n,
            any_value(scoring_id) AS scoring_id,
            string_agg(name, ', ' ORDER BY name) AS names
        FROM named
        WHERE name = wanted OR (short_name = wanted AND takes_part)
    ),
    versions AS (
        SELECT count(*) AS n, string_agg(name, ' or ' ORDER BY name) AS names
        FROM named
        WHERE short_name = wanted
    ),
    nearest AS (
        SELECT arg_max(short_name, jaro_winkler_similarity(short_name, wanted)) AS name FROM named
    )
    SELECT CASE
        WHEN meant.n = 1 AND meant.scoring_id IS NOT NULL THEN meant.scoring_id
        WHEN meant.n = 1
            THEN error(
                meant.names || ' has no answers here: its task hides scores (see `blind_until` in the table task), or '
                || 'it is not aligned with the current gold, which `registry apply` does'
            )
        WHEN versions.n > 0 THEN error('no version of ' || wanted || ' takes part; name one: ' || versions.names)
        WHEN nearest.name IS NULL THEN error('unknown submission ' || coalesce(wanted, 'NULL') || '; there is none')
        ELSE error(
            'unknown submission ' || coalesce(wanted, 'NULL')
            || '; the full name is TASK/TEST_SET/TEAM/SYSTEM (a system without a team is its own team), such as '
            || nearest.name || '; `registry list submissions` lists all')
    END
    FROM meant, versions, nearest
)
