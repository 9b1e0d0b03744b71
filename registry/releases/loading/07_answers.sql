CREATE TEMP TABLE known_answer AS
SELECT row_number() OVER (ORDER BY i.item_id, a.answer, a.type) AS answer_id, i.test_set_id, i.item_id, a.*
FROM data_answers AS a JOIN known_item AS i USING (test_set, item);
INSERT INTO answer (answer_id, gold_revision_id, item_id, key, type, in_gold)
SELECT answer_id, test_set_id, item_id, answer, type, in_gold FROM known_answer ORDER BY answer_id;
