-- The labels that measures by class count, those of the gold and of submissions.
--
-- test_set: the test set
-- label: the label
SELECT r.test_set, label.name AS label
FROM label
JOIN released_gold AS r USING (gold_revision_id)
ORDER BY ALL
