-- The answers that two submissions share (Evert 2004, section 3.2): answers in neither of their difference regions.
-- Items without answers are an error. One row per pair of runs and answer.
--
-- a: a submission, task/test_set/team/system; with @version also one that is not current
-- b: another submission
-- item: key of the item
-- answer: the shared answer: a label, or the tokens of a span such as 3-4
-- type: type of the answer; empty if answers have no types
-- correct: whether the gold contains the answer
-- score_a: the first system's own score of the answer; NULL if it has none
-- score_b: the second system's own score of the answer
-- replicate_a: run of the first submission, from 0
-- replicate_b: run of the second submission, from 0
CREATE MACRO shared_answers(a, b) AS TABLE
SELECT
    item.key AS item,
    answer.key AS answer,
    answer.type,
    first.correct,
    first.score AS score_a,
    second.score AS score_b,
    first.replicate AS replicate_a,
    second.replicate AS replicate_b
FROM response AS first
JOIN response AS second USING (answer_id)
JOIN answer USING (answer_id)
JOIN item USING (item_id)
WHERE first.scoring_id = require_answers(scoring_named(a)) AND second.scoring_id = scoring_beside(b, a)
