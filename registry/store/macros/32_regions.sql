-- How many answers are in each region of two submissions: D1, only the first gives them; D2, only the second; shared,
-- both (Evert 2004, section 3.2). D1 and D2 are the table of Fisher's test. If items have scores of 0 or 1 instead of
-- answers, an item that a run gets right counts as one correct answer; which incorrect answers it gives is unknown. Items
-- that are neither correct nor incorrect are an error. Three rows per pair of runs.
--
-- a: a submission, task/test_set/team/system; with @version also one that is not current
-- b: another submission
-- region: D1, D2 or shared
-- answers: number of answers in the region; NULL if items have scores instead
-- true_positives: number of these answers that the gold contains, or of correct items
-- false_positives: number of answers that the gold does not contain; NULL if items have scores
-- replicate_a: run of the first submission, from 0
-- replicate_b: run of the second submission, from 0
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
