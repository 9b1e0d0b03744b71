-- Every pair of every leaderboard, in both directions. Each row of the view pairwise becomes two rows with opposite signs
-- of the difference, so that `WHERE system = ...` finds all pairs of a system.
-- One row per comparison and ordered pair.
--
-- task: id of the task
-- test_set: name of the test set
-- track: name of the track; NULL if the task has no tracks
-- facet: attribute=value if the board has a part of the items; else NULL
-- metric: id of the metric in the manifest
-- metric_name: metric with its options
-- signature: identifies gold, test and family of comparisons
-- system: name of the system
-- other: name of the other system
-- submission: team/system@version of the system
-- other_submission: team/system@version of the other system
-- score: score of the system
-- other_score: score of the other system
-- difference: difference of the scores; positive if the system is better than the other one
-- ci_low: lower end of the confidence interval of the difference; NULL if there is none
-- ci_high: upper end of the confidence interval of the difference
-- p_value: unadjusted p-value
-- p_adjusted: p-value adjusted over all pairs of the family: of the board, or of several boards
-- significant: whether p_adjusted <= alpha
-- verdict: better or worse if the difference is significant, else undecided
-- method: how the p-value was computed: exact, ideal, monte-carlo, asymptotic or a bound
-- alternative: two-sided, greater (the system is better) or less; observed: one-sided, in the direction of the difference
-- comparison_id: id of the comparison
WITH both_ways AS (
    SELECT
        *,
        system_a AS system, system_b AS other, submission_a AS submission, submission_b AS other_submission,
        score_a AS score, score_b AS other_score,
        difference AS ahead, ci_low AS low, ci_high AS high, alternative AS side
    FROM pairwise
    UNION ALL
    SELECT
        *,
        system_b, system_a, submission_b, submission_a,
        score_b, score_a,
        0 - difference, 0 - ci_high, 0 - ci_low,
        CASE alternative WHEN 'greater' THEN 'less' WHEN 'less' THEN 'greater' ELSE alternative END
    FROM pairwise
),
final AS (
    SELECT
        task,
        test_set,
        track,
        facet,
        metric,
        metric_name,
        signature,
        system,
        other,
        submission,
        other_submission,
        score,
        other_score,
        ahead AS difference,
        low AS ci_low,
        high AS ci_high,
        p_value,
        p_adjusted,
        significant,
        CASE WHEN NOT significant THEN 'undecided' WHEN ahead > 0 THEN 'better' ELSE 'worse' END AS verdict,
        method,
        side AS alternative,
        comparison_id
    FROM both_ways
)
SELECT * FROM final
