-- The 2x2 table of two submissions over the gold's answers: McNemar's (1947) where each item has one answer. What it
-- counts, the view pair_contingency says. One row per pair of runs.
--
-- a: a submission, task/test_set/team/system; with @version one that takes no part now
-- b: another submission
-- both_right: gold answers that both give
-- only_a_right: gold answers that only the first gives
-- only_b_right: gold answers that only the second gives
-- both_wrong: gold answers that neither gives
-- replicate_a: the run of the first, counted from 0
-- replicate_b: the run of the second
CREATE MACRO contingency(a, b) AS TABLE
WITH gold AS (
    SELECT count(*) AS n
    FROM answer
    JOIN scoring USING (gold_revision_id)
    WHERE answer.in_gold AND scoring.scoring_id = scoring_named(a)
),
found AS (
    SELECT
        sum(true_positives) FILTER (region = 'shared') AS both_right,
        sum(true_positives) FILTER (region = 'D1') AS only_a_right,
        sum(true_positives) FILTER (region = 'D2') AS only_b_right,
        replicate_a,
        replicate_b
    FROM regions(a, b)
    GROUP BY replicate_a, replicate_b
)
SELECT
    found.both_right::BIGINT AS both_right,
    found.only_a_right::BIGINT AS only_a_right,
    found.only_b_right::BIGINT AS only_b_right,
    (gold.n - both_right - only_a_right - only_b_right)::BIGINT AS both_wrong,
    found.replicate_a,
    found.replicate_b
FROM found, gold
ORDER BY found.replicate_a, found.replicate_b
