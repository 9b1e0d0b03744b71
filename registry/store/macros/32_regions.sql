-- How many answers are in each region of two submissions: D1, only the first gives them; D2, only the second; shared,
-- both (Evert 2004, section 3.2). D1 and D2 are the table of Fisher's test. If items have scores of 0 or 1 instead of
-- answers, an item that a run gets right counts as one correct answer; which incorrect answers it gives is unknown. Items
-- that are neither correct nor incorrect are an error. Three rows per pair of runs.
--
-- a: a submission, task/test_set/team/system; with @version one that takes no part now
-- b: another submission
-- region: D1, D2 or shared
-- answers: how many answers are in it; NULL if items have scores instead
-- true_positives: how many of them the gold has, or how many items are correct
-- false_positives: how many the gold lacks; NULL if items have scores
-- replicate_a: the run of the first, counted from 0
-- replicate_b: the run of the second
CREATE MACRO regions(a, b) AS TABLE
WITH region AS (
    SELECT
        unnest(['D1', 'D2', 'shared']) AS region,
        unnest([d1_tp, d2_tp, shared_tp]) AS true_positives,
        unnest([d1_fp, d2_fp, shared_fp]) AS false_positives,
        replicate_a,
        replicate_b
    FROM region_counts(a, b)
)
SELECT
    region,
    true_positives + false_positives AS answers,
    true_positives,
    false_positives,
    replicate_a,
    replicate_b
FROM region
ORDER BY replicate_a, replicate_b, region
