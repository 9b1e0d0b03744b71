-- Every distinct answer to an item that the gold or a submission gives.
--
-- test_set: the test set
-- item: the item's key
-- answer: what is said: a label, or the tokens of a span such as 3-4
-- type: the answer's type, such as person; empty where answers have none
-- in_gold: whether the gold gives it
SELECT r.test_set, item.key AS item, answer.key AS answer, answer.type, answer.in_gold
FROM answer
JOIN item USING (item_id)
JOIN released_gold AS r ON r.gold_revision_id = item.gold_revision_id
WHERE answer.in_gold OR answer.answer_id IN (SELECT answer_id FROM response SEMI JOIN released_submission USING (scoring_id))
ORDER BY r.test_set, item.position, answer.key, answer.type
