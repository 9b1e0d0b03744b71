-- Scores of single runs of submissions.
--
-- test_set: name of the test set
-- submission: team/system@version
-- metric: id of the metric
-- run: number of the system's run, from 0
-- score: score on all items; NULL if it is undefined
SELECT s.test_set, s.submission, m.metric, of_run.replicate AS run, of_run.value AS score
FROM replicate_score AS of_run
JOIN released_submission AS s USING (scoring_id)
JOIN released_metric AS m USING (metric_id)
ORDER BY s.test_set, m.position, s.submission, run
