-- Scores of submissions in all items of a test set.
--
-- test_set: what was answered
-- submission: team/system@version
-- metric: the metric
-- score: of all items, and all runs together; NULL where it is undefined
-- n_items: how many items count
-- step: what its statistics are counted in: 1, or a decimal place
-- digest: of its statistics
SELECT s.test_set, s.submission, m.metric, score.value AS score, score.n_items, score.step,
    score.digest
FROM score
JOIN released_submission AS s USING (scoring_id)
JOIN released_metric AS m USING (metric_id)
ORDER BY s.test_set, m.position, s.submission
