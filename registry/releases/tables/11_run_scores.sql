-- Scores of the runs of submissions.
--
-- test_set: what was answered
-- submission: team/system@version
-- metric: the metric
-- run: of the system, from 0
-- score: of all items; NULL where it is undefined
SELECT s.test_set, s.submission, m.metric, of_run.replicate AS run, of_run.value AS score
FROM replicate_score AS of_run
JOIN released_submission AS s USING (scoring_id)
JOIN released_metric AS m USING (metric_id)
ORDER BY s.test_set, m.position, s.submission, run
