INSERT INTO item_attribute (gold_revision_id, item_id, name, value)
SELECT i.test_set_id, i.item_id, a.attribute, a.value
FROM data_item_attributes AS a JOIN known_item AS i USING (test_set, item);
