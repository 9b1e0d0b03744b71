-- What else is known of items, such as their documents and domains.
--
-- test_set: the test set
-- item: the item's key
-- attribute: what is known
-- value: of the attribute
SELECT r.test_set, item.key AS item, a.name AS attribute, a.value
FROM item_attribute AS a
JOIN item USING (item_id)
JOIN released_gold AS r ON r.gold_revision_id = item.gold_revision_id
ORDER BY r.test_set, item.position, a.name
