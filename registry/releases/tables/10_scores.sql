-- Scores of submissions on all items of a test set.
--
-- test_set: name of the test set
-- submission: team/system@version
-- metric: id of the metric
-- score: score on all items, over all runs; NULL if it is undefined
-- n_items: number of scored items
-- step: unit of the statistics: 1, or a decimal place
-- digest: digest of the statistics
SELECT s.test_set, s.submission, m.metric, score.value AS score, score.n_items, score.step,
    score.digest
FROM score
JOIN released_submission AS s USING (scoring_id)
JOIN released_metric AS m USING (metric_id)
ORDER BY s.test_set, m.position, s.submission
