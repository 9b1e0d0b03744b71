INSERT INTO metric (metric_id, name, family, better)
SELECT row_number() OVER (ORDER BY name), name, any_value(family), any_value(better) FROM data_metrics GROUP BY name;
INSERT INTO task_metric (task_id, alias, metric_id, position, is_primary, is_declared)
SELECT 1, m.metric, metric.metric_id, m.position, m.is_primary, TRUE FROM data_metrics AS m JOIN metric USING (name);
