-- The labels of the gold and of submissions, for metrics that count by class.
--
-- test_set: name of the test set
-- label: the label
SELECT r.test_set, label.name AS label
FROM label
JOIN released_gold AS r USING (gold_revision_id)
ORDER BY ALL
