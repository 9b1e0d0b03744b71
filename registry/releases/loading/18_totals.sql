INSERT INTO statistic_total (scoring_id, metric_id, replicate, position, statistic, total, steps_per_unit)
SELECT s.submission_id, m.metric_id, of.run, of.position, of.statistic, of.total, of.steps_per_unit
FROM data_totals AS of
JOIN known_submission AS s USING (test_set, submission)
JOIN task_metric AS m ON m.alias = of.metric;
