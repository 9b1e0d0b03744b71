INSERT INTO score (scoring_id, metric_id, value, n_items, digest, run_id, step)
SELECT s.submission_id, m.metric_id, of.score, of.n_items, of.digest, 1, of.step
FROM data_scores AS of
JOIN known_submission AS s USING (test_set, submission)
JOIN task_metric AS m ON m.alias = of.metric;
