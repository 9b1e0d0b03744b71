-- Items on which submissions disagree most: the mean number of answers that only one of two runs gives, over all pairs
-- of runs. An answer that n of N runs give is not shared by n (N - n) of the N (N - 1) / 2 pairs; where each item has one
-- answer, half of `mean_differing` is the share of pairs that say different things (1 - the observed agreement of Fleiss
-- 1971). If items have scores of 0 or 1 instead of answers, being right and being wrong count as two answers: which
-- answer is wrong is unknown. Other items without answers are left out. One row per item; each run counts as a system.
--
-- task: id of the task
-- test_set: name of the test set
-- item: key of the item
-- mean_differing: mean number of answers that only one of two runs gives
-- answers: number of distinct answers
-- runs: number of runs of current submissions
-- item_id: id of the item
WITH binary_run AS MATERIALIZED (
    SELECT
        ranked.task,
        ranked.test_set,
        ranked.gold_revision_id,
        ranked.scoring_id,
        source.replicate,
        binary_scoring.metric_id,
        binary_scoring.correct_score
    FROM ranked_submission AS ranked
    JOIN binary_scoring USING (scoring_id)
    JOIN submission_source AS source USING (submission_id)
),
run_count AS (
    SELECT task, test_set, gold_revision_id, count(*) AS runs
    FROM binary_run
    GROUP BY task, test_set, gold_revision_id
),
right_count AS (
    SELECT ratio.item_id, count(*) AS n
    FROM statistics_ratio_whole AS ratio
    JOIN binary_run USING (scoring_id, replicate, metric_id)
    WHERE ratio.numerator = binary_run.correct_score
    GROUP BY ratio.item_id
),
support AS (
    SELECT task, test_set, item, runs_with_answer, runs, item_id
    FROM answer_support
    UNION ALL
    SELECT
        run_count.task,
        run_count.test_set,
        item.key,
        unnest([coalesce(right_count.n, 0), run_count.runs - coalesce(right_count.n, 0)]),
        run_count.runs,
        item.item_id
    FROM run_count
    JOIN item USING (gold_revision_id)
    LEFT JOIN right_count USING (item_id)
),
final AS (
    SELECT
        task,
        test_set,
        item,
        2 * sum(runs_with_answer * (runs - runs_with_answer)) / (runs * (runs - 1)) AS mean_differing,
        count(*) AS answers,
        runs,
        item_id
    FROM support
    WHERE runs_with_answer > 0 AND runs > 1
    GROUP BY task, test_set, item, runs, item_id
    ORDER BY task, test_set, mean_differing DESC, item_id
)
SELECT * FROM final
