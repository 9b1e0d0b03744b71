-- Precision and recall of the n best for every n of a grid (Evert 2004, figures 1 and 2). Recall is of all of the gold's
-- answers. One row per run and n.
--
-- submission: task/test_set/team/system; with @version also one that is not current
-- grid: list of n, such as range(100, 2001, 50)
-- ties: selection of ties at the cut-off: random (some, by the seed), include (all) or exclude (none)
-- seed: seed of the random selection of ties
-- n: number of best answers
-- accepted: number of accepted answers; n, except for ties or if fewer answers exist
-- true_positives: number of these answers that the gold contains
-- precision: true positives / accepted; NULL if no answer is accepted
-- recall: true positives / answers of the gold
-- replicate: number of the run, from 0
CREATE MACRO n_best_curve(submission, grid, ties := 'random', seed := 0) AS TABLE
WITH gold AS (
    SELECT scoring.submission_id, count(*) FILTER (answer.in_gold) AS n
    FROM scoring
    LEFT JOIN answer USING (gold_revision_id)
    WHERE scoring.scoring_id = scoring_named(submission)
    GROUP BY scoring.submission_id
),
cut AS (
    SELECT DISTINCT unnest(grid) AS n
),
counted AS (
    SELECT
        cut.n,
        count(ranked.place) AS accepted,
        count(*) FILTER (ranked.correct) AS true_positives,
        any_value(gold.n) AS gold,
        submission_source.replicate
    FROM cut
    CROSS JOIN gold
    JOIN submission_source USING (submission_id)
    LEFT JOIN ranked_answers(submission, ties := ties, seed := seed) AS ranked
        ON ranked.place <= cut.n AND ranked.replicate = submission_source.replicate
    GROUP BY cut.n, submission_source.replicate
)
SELECT
    n,
    accepted,
    true_positives,
    true_positives / nullif(accepted, 0) AS precision,
    true_positives / nullif(gold, 0) AS recall,
    replicate
FROM counted
ORDER BY replicate, n
