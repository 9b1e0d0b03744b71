-- On which items submissions disagree most: how many answers two of their runs do not share, on average over all pairs
-- of runs. An answer that n of N runs give is not shared by n (N - n) of the N (N - 1) / 2 pairs; where each item has one
-- answer, half of `differing` is the share of pairs that say different things (1 - the observed agreement of Fleiss
-- 1971). One row per item with an answer; each run counts as a system.
--
-- task: the task's id
-- test_set: the test set's name
-- item: the item's key
-- differing: the mean number of answers that only one of two runs gives
-- answers: how many different answers are given
-- runs: how many runs take part
-- item_id: the item
WITH run_count AS (
    SELECT ranked.task, ranked.test_set, ranked.test_set_id, ranked.gold_revision_id, count(*) AS runs
    FROM ranked_submission AS ranked
    JOIN submission_source USING (submission_id)
    WHERE ranked.scoring_id IS NOT NULL
    GROUP BY ALL
),
support AS (
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
        2 * sum(support.n * (run_count.runs - support.n)) / (run_count.runs * (run_count.runs - 1)) AS differing,
        count(*) AS answers,
        run_count.runs,
        item.item_id
    FROM support
    JOIN answer USING (answer_id)
    JOIN run_count USING (gold_revision_id)
    JOIN item USING (item_id)
    WHERE run_count.runs > 1
    GROUP BY run_count.task, run_count.test_set, item.key, run_count.runs, item.item_id
    ORDER BY run_count.task, run_count.test_set, differing DESC, item.item_id
)
SELECT * FROM final
