-- The comparisons that boards show: for every test set, track, facet and metric the one that was asked for last.
WITH final AS (
    SELECT
        task.slug AS task,
        test_set.name AS test_set,
        track.name AS track,
        comparison.facet,
        comparison.alias AS metric,
        metric.name AS metric_name,
        metric.better,
        comparison.* EXCLUDE (alias, facet),
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
