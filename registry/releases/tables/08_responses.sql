-- The answers of submissions.
--
-- test_set: name of the test set
-- submission: team/system@version
-- run: number of the system's run, from 0
-- item: key of the item
-- answer: the answer of the system
-- type: type of the answer; empty if answers have no types
-- correct: whether the gold contains the answer
-- score: the system's own score of the answer; NULL if it has none
SELECT
    s.test_set, s.submission, response.replicate AS run, item.key AS item, answer.key AS answer, answer.type,
    response.correct, response.score
FROM response
JOIN released_submission AS s USING (scoring_id)
JOIN answer USING (answer_id)
JOIN item USING (item_id)
ORDER BY s.test_set, s.submission, run, item.position, answer.key, answer.type
