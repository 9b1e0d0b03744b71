-- The acceptance set of a submission (Evert 2004, section 3.2): every answer that it gives. Items
-- without answers are an error. One row per run, item and answer.
--
-- submission: task/test_set/team/system; with @version also one that is not current
-- item: key of the item
-- answer: the answer: a label, or the tokens of a span such as 3-4
-- type: type of the answer; empty if answers have no types
-- correct: whether the gold contains the answer
-- score: the system's own score of the answer; NULL if it has none
-- replicate: number of the run, from 0
CREATE MACRO responses(submission) AS TABLE
SELECT
    item.key AS item,
    answer.key AS answer,
    answer.type,
    response.correct,
    response.score,
    response.replicate
FROM response
JOIN answer USING (answer_id)
JOIN item USING (item_id)
WHERE response.scoring_id = require_answers(scoring_named(submission))
