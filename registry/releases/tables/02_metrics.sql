-- The metrics of the task.
--
-- metric: id of the metric in the manifest and on boards
-- name: metric with its options
-- family: family of the statistics, and end of their file's name
-- better: higher or lower: which scores are better
-- position: place in the manifest, from 0
-- is_primary: whether it is the primary metric
SELECT task_metric.alias AS metric, metric.name, metric.family, metric.better, task_metric.position, task_metric.is_primary
FROM task_metric
JOIN metric USING (metric_id)
WHERE task_metric.task_id = getvariable('released_task') AND task_metric.is_declared
ORDER BY task_metric.position
