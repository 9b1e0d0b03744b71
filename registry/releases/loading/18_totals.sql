INSERT INTO statistic_total (scoring_id, metric_id, replicate, position, statistic, total, per_one)
SELECT s.submission_id, m.metric_id, of.run, of.position, of.statistic, of.total, of.per_one
FROM data_totals AS of
JOIN known_submission AS s USING (test_set, submission)
JOIN task_metric AS m ON m.alias = of.metric;
