-- The 2x2 table of two submissions over the gold's answers, or over items whose scores are all 0 or 1: McNemar's (1947)
-- if each item has one answer or score. The view pair_contingency says what it counts. Items that are neither correct nor
-- incorrect are an error. One row per pair of runs.
--
-- a: a submission, task/test_set/team/system; with @version also one that is not current
-- b: another submission
-- both_correct: number of gold answers that both give, or of items that both get right
-- only_a_correct: number of gold answers that only the first gives
-- only_b_correct: number of gold answers that only the second gives
-- both_incorrect: number of gold answers that neither gives
-- replicate_a: run of the first submission, from 0
-- replicate_b: run of the second submission, from 0
CREATE MACRO contingency(a, b) AS TABLE
SELECT
    shared_tp AS both_correct,
    d1_tp AS only_a_correct,
    d2_tp AS only_b_correct,
    gold - shared_tp - d1_tp - d2_tp AS both_incorrect,
    replicate_a,
    replicate_b
FROM region_counts(a, b)
ORDER BY replicate_a, replicate_b
