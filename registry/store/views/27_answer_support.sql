-- How many runs give each answer: of every answer that the gold or a submission taking part gives, how many of the runs
-- of all submissions taking part give it too. One row per answer; each run counts as a system. Items without answers
-- have no row.
--
-- task: the task's id
-- test_set: the test set's name
-- item: the item's key
-- answer: what is said: a label, or the tokens of a span such as 3-4
-- type: the answer's type, such as person; empty where answers have none
-- in_gold: whether the gold has it
-- runs_with_answer: how many runs give it
-- runs: how many runs take part
-- item_id: the item
-- answer_id: the answer
WITH run_count AS (
    SELECT ranked.task, ranked.test_set, ranked.gold_revision_id, count(*) AS runs
    FROM ranked_submission AS ranked
    JOIN submission_source USING (submission_id)
    WHERE ranked.scoring_id IS NOT NULL
    GROUP BY ranked.task, ranked.test_set, ranked.gold_revision_id
),
given AS (
    SELECT response.answer_id, count(*) AS n
    FROM response
    JOIN ranked_submission AS ranked USING (scoring_id)
    WHERE ranked.scoring_id IS NOT NULL
    GROUP BY response.answer_id
),
final AS (
    SELECT
        run_count.task,
        run_count.test_set,
        item.key AS item,
        answer.key AS answer,
        answer.type,
        answer.in_gold,
        coalesce(given.n, 0) AS runs_with_answer,
        run_count.runs,
        item.item_id,
        answer.answer_id
    FROM answer
    JOIN run_count USING (gold_revision_id)
    JOIN item USING (item_id)
    LEFT JOIN given USING (answer_id)
    WHERE answer.in_gold OR given.n > 0
)
SELECT * FROM final
