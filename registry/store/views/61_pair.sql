-- Every pair of every leaderboard, from both sides: how a system stands against another one. What view pairwise says of
-- two systems once stands here twice, with the signs of differences turned, so that `WHERE system = ...` finds all pairs
-- of a system.
-- One row per comparison and ordered pair.
--
-- task: the task's id
-- test_set: the test set's name
-- track: the track; NULL where the task has none
-- facet: attribute=value where the board is of a part of the items; else NULL
-- metric: the metric's id in the manifest
-- metric_name: the metric with its options
-- signature: identifies gold, test and family of comparisons
-- system: the system's name
-- other: the name of the system that it is compared with
-- submission: team/system@version of the system
-- other_submission: team/system@version of the other one
-- score: the system's score
-- other_score: the other one's score
-- difference: how much better the system is than the other one; negative where it is worse
-- ci_low: the lower end of the difference's interval; NULL where the test gives none
-- ci_high: its upper end
-- p_value: raw
-- p_adjusted: corrected over all pairs of its family: of the board, or of all boards that are corrected with it
-- significant: whether p_adjusted <= alpha
-- verdict: better or worse if the difference is significant, else undecided
-- method: how p came about: exact, ideal, monte-carlo, asymptotic or a bound
-- alternative: two-sided, greater (the system is better) or less; observed: one-sided, in the direction of the difference
-- comparison_id: the comparison
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
