-- The 2x2 table of two submissions over the gold's answers, or over items whose scores are all 0 or 1: McNemar's (1947)
-- if each item has one answer or score. The view pair_contingency says what it counts. Items that are neither correct nor
-- incorrect are an error. One row per pair of runs.
--
-- a: a submission, task/test_set/team/system; with @version one that takes no part now
-- b: another submission
-- both_correct: gold answers that both give, or items that both get right
-- only_a_correct: those of only the first
-- only_b_correct: those of only the second
-- both_incorrect: those of neither
-- replicate_a: the run of the first, counted from 0
-- replicate_b: the run of the second
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
