-- The acceptance set of a submission (Evert 2004, section 3.2): every answer that it gives. Items
-- without answers are an error. One row per run, item and answer.
--
-- submission: task/test_set/team/system; with @version one that takes no part now
-- item: the item's key
-- answer: what it says: a label, or the tokens of a span such as 3-4
-- type: the answer's type; empty where answers have none
-- correct: whether the gold has it
-- score: the system's own score of the answer; NULL where it gives none
-- replicate: the run, counted from 0
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
