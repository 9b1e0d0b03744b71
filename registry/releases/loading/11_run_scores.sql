INSERT INTO replicate_score (scoring_id, metric_id, replicate, value)
SELECT s.submission_id, m.metric_id, of.run, of.score
FROM data_run_scores AS of
JOIN known_submission AS s USING (test_set, submission)
JOIN task_metric AS m ON m.alias = of.metric;
