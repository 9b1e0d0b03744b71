-- The 2x2 table of every pair over the gold's answers: which of them both, one and neither of two submissions give. If
-- items have no answers, but scores that are all 0 or 1 (view binary_scoring), it is over the items.
-- Where each item has one answer these are items, and the table is McNemar's (1947); for sets of answers it is the one
-- that the sign test and Yeh's r12 of recalls (2000, section 2.1) rest on. Items that the policy drop leaves out of
-- comparisons are counted here as wrong. Test sets whose items are neither correct nor incorrect, as of BLEU, are left
-- out; the macro contingency says why.
-- One row per ordered pair of submissions and pair of their runs. The macro contingency(a, b) gives one pair at once.
--
-- task: the task's id
-- test_set: the test set's name
-- team_a: the team of the first submission
-- system_a: the first submission's system
-- team_b: the team of the second submission
-- system_b: the second submission's system
-- replicate_a: the run of the first system, counted from 0
-- replicate_b: the run of the second system
-- both_correct: gold answers that both give
-- only_a_correct: gold answers that only the first gives
-- only_b_correct: gold answers that only the second gives
-- both_incorrect: gold answers that neither gives
-- submission_a: the first submission
-- submission_b: the second submission
WITH final AS (
    SELECT
        task,
        test_set,
        team_a,
        system_a,
        team_b,
        system_b,
        replicate_a,
        replicate_b,
        shared_tp AS both_correct,
        d1_tp AS only_a_correct,
        d2_tp AS only_b_correct,
        gold - shared_tp - d1_tp - d2_tp AS both_incorrect,
        submission_a,
        submission_b
    FROM pair_region
)
SELECT * FROM final
