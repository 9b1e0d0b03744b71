-- The comparisons that boards show: for every test set, track, facet and metric the one that was asked for last.
-- One row per comparison.
--
-- task: the task's id
-- test_set: the test set's name
-- track: the track; NULL where the task has none
-- facet: attribute=value where the board is of a part of the items; else NULL
-- metric: the metric's id in the manifest
-- metric_name: the metric with its options
-- better: whether a higher or a lower score is better
-- comparison_id: the comparison
-- digest: of all that it rests on
-- sequence: the higher, the later it was asked for
-- test_set_id: the test set
-- gold_revision_id: the gold
-- track_id: the track
-- metric_id: the metric
-- test: the test, with its options
-- alternative: two-sided, greater (pairs with a baseline, or the candidate, are one-sided) or observed
-- unit: item or cluster
-- alpha: the level of significance
-- correction: how p-values are adjusted
-- resamples: draws, where a test draws
-- seed: of the draws
-- interval: how the intervals are made
-- confidence: of the intervals
-- n_items: how many items
-- n_units: how many units
-- n_systems: how many submissions
-- family_size: how many pairs its p-values are corrected over, those of other boards included
-- signature: identifies gold, test and family of comparisons
-- run_id: the command that made it
-- created_at: when
-- runs: fixed, or random where whole runs were tested
-- test_set_position: the test set's place in the manifest
-- metric_position: the metric's place in the manifest
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
