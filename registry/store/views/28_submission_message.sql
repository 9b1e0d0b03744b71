-- Messages about current submissions, such as missing answers or labels that the gold does not have. If several
-- systems have the same answers to at least ten items, each but the first has a message that names the first.
-- One row per submission, run and message.
--
-- name: full name of the submission, task/test_set/team/system@version
-- task: id of the task
-- test_set: name of the test set
-- team: name of the team
-- system: name of the system
-- replicate: number of the run, from 0; NULL if the message is about the submission
-- category: missing, text, encoding, label, header, gold or copy
-- code: code of the message, such as missing-answers
-- parameters: parameters of the message, as JSON
-- submission_id: id of the submission
WITH kept AS (
    SELECT scoring_id, replicate, category, code, parameters FROM scoring_message
),
copies AS (
    SELECT
        scoring_id,
        NULL AS replicate,
        'copy' AS category,
        'copied-answers' AS code,
        CAST(json_object('other', first_name) AS VARCHAR) AS parameters
    FROM (
        SELECT
            ranked_submission.scoring_id,
            submission.system_id,
            first_value(submission.system_id) OVER same AS first_system,
            first_value(ranked_submission.team || '/' || ranked_submission.system || '@' || ranked_submission.version)
                OVER same AS first_name
        FROM ranked_submission
        JOIN submission USING (submission_id)
        JOIN gold_revision USING (gold_revision_id)
        WHERE gold_revision.n_items >= 10
        WINDOW same AS (
            PARTITION BY submission.test_set_id, submission.digest
            ORDER BY submission.submission_id
        )
    )
    WHERE system_id <> first_system
),
final AS (
    SELECT
        ranked_submission.name,
        ranked_submission.task,
        ranked_submission.test_set,
        ranked_submission.team,
        ranked_submission.system,
        messages.replicate,
        messages.category,
        messages.code,
        messages.parameters,
        ranked_submission.submission_id
    FROM ranked_submission
    JOIN (SELECT * FROM kept UNION ALL SELECT * FROM copies) AS messages USING (scoring_id)
    ORDER BY ranked_submission.submission_id, messages.replicate NULLS LAST, messages.category, messages.code,
        messages.parameters
)
SELECT * FROM final
