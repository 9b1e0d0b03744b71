-- The answers that submissions give.
--
-- test_set: what was answered
-- submission: team/system@version
-- run: of the system, from 0
-- item: the item's key
-- answer: what the system says
-- type: the answer's type; empty where answers have none
-- correct: whether the gold has it too
-- score: the system's own score of the answer; NULL where it gives none
SELECT
    s.test_set, s.submission, response.replicate AS run, item.key AS item, answer.key AS answer, answer.type,
    response.correct, response.score
FROM response
JOIN released_submission AS s USING (scoring_id)
JOIN answer USING (answer_id)
JOIN item USING (item_id)
ORDER BY s.test_set, s.submission, run, item.position, answer.key, answer.type
