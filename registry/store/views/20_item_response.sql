-- Every answer that a submission taking part gives to an item, and whether the gold has it too.
-- One row per submission, item and answer; the gold's own answers are those of the table answer with in_gold.
WITH final AS (
    SELECT
        ranked_submission.task,
        ranked_submission.test_set,
        ranked_submission.team,
        ranked_submission.system,
        item.key AS item,
        answer.key AS answer,
        answer.type,
        response.correct,
        response.score,
        response.replicate,
        ranked_submission.submission_id,
        item.item_id,
        answer.answer_id
    FROM response
    JOIN ranked_submission USING (scoring_id)
    JOIN answer USING (answer_id)
    JOIN item USING (item_id)
)
SELECT * FROM final
