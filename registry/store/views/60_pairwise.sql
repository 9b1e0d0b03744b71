-- Every pair of every leaderboard: the difference, its raw p-value, and the p-value adjusted within the family of all
-- pairs of that board. One row per comparison and pair; system_a has the better score, and difference favours it.
WITH final AS (
    SELECT
        latest_comparison.task,
        latest_comparison.test_set,
        latest_comparison.track,
        latest_comparison.facet,
        latest_comparison.metric,
        latest_comparison.metric_name,
        latest_comparison.signature,
        a.system AS system_a,
        b.system AS system_b,
        a.submission AS submission_a,
        b.submission AS submission_b,
        a.score AS score_a,
        b.score AS score_b,
        if(comparison_pair.is_swapped, -pair_result.difference, pair_result.difference) AS difference,
        if(comparison_pair.is_swapped, -pair_result.ci_high, pair_result.ci_low) AS ci_low,
        if(comparison_pair.is_swapped, -pair_result.ci_low, pair_result.ci_high) AS ci_high,
        pair_result.p_value,
        comparison_pair.p_adjusted,
        comparison_pair.is_significant AS significant,
        pair_result.method,
        latest_comparison.test,
        latest_comparison.alternative,
        latest_comparison.correction,
        latest_comparison.family_size,
        latest_comparison.unit,
        pair_result.n_units,
        pair_result.n_discordant,
        pair_result.resamples,
        pair_result.seed,
        pair_result.log10_p,
        pair_result.p_low,
        pair_result.p_high,
        pair_result.note,
        pair_result.statistic,
        comparison_pair.is_resolved AS resolved,
        latest_comparison.comparison_id
    FROM latest_comparison
    JOIN comparison_pair USING (comparison_id)
    JOIN pair_result USING (pair_result_id)
    JOIN leaderboard AS a
        ON a.comparison_id = latest_comparison.comparison_id AND a.submission_id = comparison_pair.submission_a
    JOIN leaderboard AS b
        ON b.comparison_id = latest_comparison.comparison_id AND b.submission_id = comparison_pair.submission_b
    ORDER BY
        latest_comparison.task,
        latest_comparison.test_set_position,
        latest_comparison.test_set,
        latest_comparison.track NULLS FIRST,
        latest_comparison.facet NULLS FIRST,
        latest_comparison.metric_position,
        comparison_pair.position
)
SELECT * FROM final
