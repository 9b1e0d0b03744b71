-- The number of runs with each answer: for every answer in the gold or in a current submission, the number of runs of
-- current submissions that give it. One row per answer; each run counts as a system. Items without answers
-- have no row.
--
-- task: id of the task
-- test_set: name of the test set
-- item: key of the item
-- answer: the answer: a label, or the tokens of a span such as 3-4
-- type: type of the answer, such as person; empty if answers have no types
-- in_gold: whether the gold contains the answer
-- runs_with_answer: number of runs with this answer
-- runs: number of runs of current submissions
-- item_id: id of the item
-- answer_id: id of the answer
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
