-- Agreement of two submissions: a test of similar submissions finds smaller differences (Yeh 2000, section 2.1).
-- r12 is the correlation of being right over the gold's answers, the phi coefficient of the pair's 2x2 table;
-- sd_ratio is the deviation of the difference of their recalls (accuracies) over what it would be were they
-- independent: sqrt((s1^2 + s2^2 - 2 r12 s1 s2) / (s1^2 + s2^2)). agreement is the share of gold answers that both or
-- neither give, kappa the same corrected for chance (Cohen 1960), overlap the F1 of one's answers against the other's
-- (Hripcsak and Rothschild 2005). Items with scores of 0 or 1 are counted as in
-- pair_contingency. One row per ordered pair of submissions and pair of their runs.
--
-- task: id of the task
-- test_set: name of the test set
-- team_a: team of the first submission
-- system_a: system of the first submission
-- team_b: team of the second submission
-- system_b: system of the second submission
-- replicate_a: run of the first system, from 0
-- replicate_b: run of the second system, from 0
-- agreement: proportion of gold answers that both or neither give
-- kappa: Cohen's kappa; NULL if agreement by chance is certain
-- r12: correlation of being correct; NULL if a submission is always or never correct
-- sd_ratio: standard deviation of the difference, relative to independent systems; NULL if r12 is NULL
-- overlap: 2 shared answers / (answers of both); NULL if neither gives any, or if items have scores
-- submission_a: id of the first submission
-- submission_b: id of the second submission
WITH counted AS (
    SELECT
        *,
        gold::DOUBLE AS n,
        shared_tp + d1_tp AS right_a,
        shared_tp + d2_tp AS right_b,
        gold - shared_tp - d1_tp - d2_tp AS both_incorrect
    FROM pair_region
    WHERE gold > 0
),
measured AS (
    SELECT
        *,
        sqrt(right_a * (n - right_a)) / n AS deviation_a,
        sqrt(right_b * (n - right_b)) / n AS deviation_b,
        (right_a * right_b + (n - right_a) * (n - right_b)) / n ^ 2 AS by_chance,
        (shared_tp + both_incorrect) / n AS agreement,
        (shared_tp * both_incorrect - d1_tp * d2_tp) / n ^ 2 AS covariance,
        2 * (shared_tp + shared_fp) AS shared_twice
    FROM counted
),
final AS (
    SELECT
        task,
        test_set,
        team_a,
        system_a,
        team_b,
        system_b,
        replicate_a,
        replicate_b,
        agreement,
        (agreement - by_chance) / nullif(1 - by_chance, 0) AS kappa,
        covariance / nullif(deviation_a * deviation_b, 0) AS r12,
        CASE
            WHEN r12 IS NULL THEN NULL
            ELSE sqrt(greatest(0, 1 - 2 * covariance / (deviation_a ^ 2 + deviation_b ^ 2)))
        END AS sd_ratio,
        shared_twice / nullif(shared_twice + d1_tp + d1_fp + d2_tp + d2_fp, 0) AS overlap,
        submission_a,
        submission_b
    FROM measured
)
SELECT * FROM final
