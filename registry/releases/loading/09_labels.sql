INSERT INTO label (label_id, gold_revision_id, name)
SELECT row_number() OVER (ORDER BY test_set.position, l.label), test_set.test_set_id, l.label
FROM data_labels AS l JOIN test_set ON test_set.name = l.test_set;
