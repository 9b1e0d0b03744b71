-- The items of the test sets.
--
-- test_set: name of the test set
-- position: place in the gold, from 0
-- item: key of the item
SELECT r.test_set, item.position, item.key AS item
FROM item
JOIN released_gold AS r USING (gold_revision_id)
ORDER BY r.test_set, item.position
