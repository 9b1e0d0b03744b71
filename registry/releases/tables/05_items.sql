-- The items of the test sets.
--
-- test_set: the test set
-- position: its place in the gold, from 0
-- item: the item's key
SELECT r.test_set, item.position, item.key AS item
FROM item
JOIN released_gold AS r USING (gold_revision_id)
ORDER BY r.test_set, item.position
