-- Every distinct answer to an item in the gold or in a submission.
--
-- test_set: name of the test set
-- item: key of the item
-- answer: the answer: a label, or the tokens of a span such as 3-4
-- type: type of the answer, such as person; empty if answers have no types
-- in_gold: whether the gold contains the answer
SELECT r.test_set, item.key AS item, answer.key AS answer, answer.type, answer.in_gold
FROM answer
JOIN item USING (item_id)
JOIN released_gold AS r ON r.gold_revision_id = item.gold_revision_id
WHERE answer.in_gold OR answer.answer_id IN (SELECT answer_id FROM response SEMI JOIN released_submission USING (scoring_id))
ORDER BY r.test_set, item.position, answer.key, answer.type
