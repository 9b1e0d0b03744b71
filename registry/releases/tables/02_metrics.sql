-- What answers are scored by.
--
-- metric: what the manifest and boards call it
-- name: the metric with its options
-- family: the family of its statistics, and the end of their file's name
-- better: whether a higher or a lower score is better
-- position: its place in the manifest, from 0
-- is_primary: whether it is the one that counts most
SELECT task_metric.alias AS metric, metric.name, metric.family, metric.better, task_metric.position, task_metric.is_primary
FROM task_metric
JOIN metric USING (metric_id)
WHERE task_metric.task_id = getvariable('released_task') AND task_metric.is_declared
ORDER BY task_metric.position
