-- The 2x2 table of every pair over the gold's answers: which of them both, one and neither of two submissions give. If
-- items have no answers, but scores that are all 0 or 1 (view binary_scoring), it is over the items.
-- Where each item has one answer these are items, and the table is McNemar's (1947); for sets of answers it is the one
-- that the sign test and Yeh's r12 of recalls (2000, section 2.1) rest on. Items that the policy drop leaves out of
-- comparisons are counted here as wrong. Test sets whose items are neither correct nor incorrect, as of BLEU, are left
-- out; the macro contingency says why.
-- One row per ordered pair of submissions and pair of their runs. The macro contingency(a, b) gives one pair at once.
--
-- task: id of the task
-- test_set: name of the test set
-- team_a: team of the first submission
-- system_a: system of the first submission
-- team_b: team of the second submission
-- system_b: system of the second submission
-- replicate_a: run of the first system, from 0
-- replicate_b: run of the second system, from 0
-- both_correct: number of gold answers that both give
-- only_a_correct: number of gold answers that only the first gives
-- only_b_correct: number of gold answers that only the second gives
-- both_incorrect: number of gold answers that neither gives
-- submission_a: id of the first submission
-- submission_b: id of the second submission
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
