-- Which items are hard: the scores of the item alone (view item_score, which says how each family makes them) over the
-- runs of all submissions taking part. One row per declared metric and item whose score is defined for all runs (with
-- sets of answers, it is not where a run and the gold both have none); the hardest come first.
--
-- task: the task's id
-- test_set: the test set's name
-- item: the item's key
-- metric: the metric's id in the manifest
-- mean: the mean score
-- sd: the standard deviation between runs; NULL if there is one run
-- worst: the worst score
-- best: the best score: how near anyone came
-- runs: how many runs are scored on it
-- item_id: the item
WITH final AS (
    SELECT
        task,
        test_set,
        item,
        metric,
        avg(score) AS mean,
        stddev_samp(score) AS sd,
        CASE WHEN better = 'higher' THEN min(score) ELSE max(score) END AS worst,
        CASE WHEN better = 'higher' THEN max(score) ELSE min(score) END AS best,
        count(*) AS runs,
        item_id
    FROM item_score
    GROUP BY task, test_set, metric, better, item, item_id
    HAVING count(*) = count(score)
    ORDER BY task, test_set, metric, CASE WHEN better = 'higher' THEN mean ELSE -mean END, item_id
)
SELECT * FROM final
