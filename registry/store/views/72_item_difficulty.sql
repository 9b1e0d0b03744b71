-- Hard items: the scores of the item alone (the view item_score describes them for each family) over the
-- runs of all current submissions. One row per declared metric and item whose score is defined for all runs (with
-- sets of answers, it is not where a run and the gold both have none); the hardest come first.
--
-- task: id of the task
-- test_set: name of the test set
-- item: key of the item
-- metric: id of the metric in the manifest
-- mean: mean score
-- sd: standard deviation over runs; NULL for a single run
-- worst: worst score
-- best: best score
-- runs: number of runs with a score of the item
-- item_id: id of the item
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
