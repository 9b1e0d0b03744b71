CREATE TEMP TABLE known_item AS
SELECT row_number() OVER (ORDER BY test_set.position, i.position) AS item_id, test_set.test_set_id, i.*
FROM data_items AS i JOIN test_set ON test_set.name = i.test_set;
INSERT INTO item (item_id, gold_revision_id, position, key)
SELECT item_id, test_set_id, position, item FROM known_item ORDER BY item_id;
