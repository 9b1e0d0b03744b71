-- The comparisons on boards: the last one of every test set, track, facet and metric.
-- One row per comparison.
--
-- task: id of the task
-- test_set: name of the test set
-- track: name of the track; NULL if the task has no tracks
-- facet: attribute=value if the board has a part of the items; else NULL
-- metric: id of the metric in the manifest
-- metric_name: metric with its options
-- better: whether a higher or a lower score is better
-- comparison_id: id of the comparison
-- digest: digest of all inputs of the comparison
-- sequence: number of the comparison; later ones are higher
-- test_set_id: id of the test set
-- gold_revision_id: id of the gold revision
-- track_id: id of the track
-- metric_id: id of the metric
-- test: test with its options
-- alternative: two-sided, greater (one-sided in pairs with a baseline, or for a candidate) or observed
-- unit: item or cluster
-- alpha: significance level
-- correction: correction of p-values for multiple tests
-- resamples: number of resamples, if the test is a simulation
-- seed: seed of the resamples
-- interval: method of the confidence intervals
-- confidence: confidence level of the intervals
-- n_items: number of items
-- n_units: number of units
-- n_systems: number of submissions
-- family_size: number of pairs in the correction, including pairs of other boards
-- signature: identifies gold, test and family of comparisons
-- run_id: id of the run (of a command) that computed it
-- created_at: time of the comparison, in UTC
-- runs: fixed, or random if whole runs were resampled
-- test_set_position: place of the test set in the manifest
-- metric_position: place of the metric in the manifest
WITH final AS (
    SELECT
        task.slug AS task,
        test_set.name AS test_set,
        track.name AS track,
        comparison.facet,
        comparison.alias AS metric,
        metric.name AS metric_name,
        metric.better,
        comparison.* EXCLUDE (alias, facet, request),
        test_set.position AS test_set_position,
        task_metric.position AS metric_position,
        row_number() OVER (
            PARTITION BY comparison.test_set_id, comparison.track_id, comparison.facet, comparison.alias
            ORDER BY comparison.sequence DESC
        ) AS recency
    FROM comparison
    JOIN test_set USING (test_set_id)
    JOIN task USING (task_id)
    JOIN metric ON metric.metric_id = comparison.metric_id
    JOIN task_metric ON task_metric.task_id = task.task_id AND task_metric.alias = comparison.alias
    LEFT JOIN track ON track.track_id = comparison.track_id
    WHERE task_metric.is_declared AND test_set.is_declared AND comparison.sequence > 0
)
SELECT * EXCLUDE (recency) FROM final WHERE recency = 1
