-- Answers of current submissions to each item, as text next to the gold: labels, or types with places.
-- Items to which a run gives no answer have no row for it; nor have free texts and numbers, whose answers are in no table
-- (`registry items TASK show ITEM` prints these). One row per submission, run and item.
--
-- task: id of the task
-- test_set: name of the test set
-- item: key of the item
-- position: place of the item in the gold, from 0
-- gold: answers of the gold, separated by semicolons; NULL if it has none
-- team: name of the team
-- system: name of the system
-- version: version of the submission
-- replicate: number of the system's run, from 0
-- output: answers of the system, formatted as the gold
-- correct: whether the system gives all answers of the gold and no others
-- scoring_id: id of the submission's responses
-- item_id: id of the item
WITH written AS (
    SELECT answer_id, item_id, gold_revision_id, in_gold, CASE
        WHEN type = '' THEN key
        ELSE type || ' ' || key
    END AS said
    FROM answer
),
gold AS (
    SELECT item_id, gold_revision_id, string_agg(said, '; ' ORDER BY said, answer_id) AS said, count(*) AS answers
    FROM written
    WHERE in_gold
    GROUP BY item_id, gold_revision_id
),
output AS (
    SELECT
        response.scoring_id,
        response.replicate,
        written.item_id,
        string_agg(written.said, '; ' ORDER BY written.said, response.answer_id) AS said,
        count(*) AS answers,
        count_if(written.in_gold) AS right_ones
    FROM response
    JOIN written USING (answer_id)
    GROUP BY response.scoring_id, response.replicate, written.item_id
),
final AS (
    SELECT
        ranked_submission.task,
        ranked_submission.test_set,
        item.key AS item,
        item.position,
        gold.said AS gold,
        ranked_submission.team,
        ranked_submission.system,
        ranked_submission.version,
        output.replicate,
        output.said AS output,
        output.right_ones = output.answers AND output.answers = coalesce(gold.answers, 0) AS correct,
        ranked_submission.scoring_id,
        item.item_id
    FROM ranked_submission
    JOIN output USING (scoring_id)
    JOIN item ON item.item_id = output.item_id
    LEFT JOIN gold ON gold.item_id = output.item_id
)
SELECT * FROM final
