-- The gold answers that no run of a current submission gives: either all systems fail, or the gold is wrong. Test sets
-- without submissions, or with items without answers, have no rows.
-- One row per answer.
--
-- task: id of the task
-- test_set: name of the test set
-- item: key of the item
-- answer: the gold's answer: a label, or the tokens of a span such as 3-4
-- type: type of the answer, such as person; empty if answers have no types
-- item_id: id of the item
-- answer_id: id of the answer
WITH answered AS (
    SELECT DISTINCT task, test_set FROM ranked_submission WHERE scoring_id IS NOT NULL
),

given AS (
    SELECT DISTINCT response.answer_id
    FROM response
    JOIN ranked_submission USING (scoring_id)
    WHERE response.correct AND ranked_submission.scoring_id IS NOT NULL
),
final AS (
    SELECT
        task.slug AS task,
        test_set.name AS test_set,
        item.key AS item,
        answer.key AS answer,
        answer.type,
        item.item_id,
        answer.answer_id
    FROM answer
    ANTI JOIN given USING (answer_id)
    JOIN test_set ON test_set.gold_revision_id = answer.gold_revision_id AND test_set.is_declared
    JOIN task USING (task_id)
    JOIN answered ON answered.task = task.slug AND answered.test_set = test_set.name
    JOIN item ON item.item_id = answer.item_id
    WHERE answer.in_gold
    ORDER BY task.task_id, test_set.position, item.item_id, answer.answer_id
)
SELECT * FROM final
