-- Attributes of items that the task uses, such as their documents and domains.
--
-- test_set: name of the test set
-- item: key of the item
-- attribute: name of the attribute
-- value: value of the attribute
SELECT r.test_set, item.key AS item, a.name AS attribute, a.value
FROM item_attribute AS a
JOIN item USING (item_id)
JOIN released_attribute USING (name)
JOIN released_gold AS r ON r.gold_revision_id = item.gold_revision_id
ORDER BY r.test_set, item.position, a.name
