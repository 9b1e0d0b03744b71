-- The answers that two submissions share (Evert 2004, section 3.2): what is in neither of their difference regions.
-- Items without answers are an error. One row per pair of runs and answer.
--
-- a: a submission, task/test_set/team/system; with @version one that takes no part now
-- b: another submission
-- item: the item's key
-- answer: what both say: a label, or the tokens of a span such as 3-4
-- type: the answer's type; empty where answers have none
-- correct: whether the gold has it
-- score_a: the first system's own score of the answer; NULL where it gives none
-- score_b: the second system's own score
-- replicate_a: the run of the first, counted from 0
-- replicate_b: the run of the second
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
