-- Every pair of every leaderboard: the difference, its unadjusted p-value, and the p-value adjusted within the family of all
-- pairs of that board. One row per comparison and pair; system_a has the better score, and difference favours it.
--
-- task: id of the task
-- test_set: name of the test set
-- track: name of the track; NULL if the task has no tracks
-- facet: attribute=value if the board has a part of the items; else NULL
-- metric: id of the metric in the manifest
-- metric_name: metric with its options
-- signature: identifies gold, test and family of comparisons
-- system_a: name of the better system
-- system_b: name of the other system
-- submission_a: team/system@version of the better system
-- submission_b: team/system@version of the other system
-- score_a: score of the better system
-- score_b: score of the other system
-- difference: difference of the scores; positive favours system_a
-- ci_low: lower end of the confidence interval; NULL if there is none
-- ci_high: upper end of the confidence interval
-- p_value: unadjusted p-value
-- p_adjusted: p-value adjusted over all pairs of the family: of the board, or of several boards
-- significant: whether p_adjusted <= alpha
-- method: how the p-value was computed: exact, ideal, monte-carlo, asymptotic or a bound
-- test: test with its options
-- alternative: two-sided, greater (system_a is better) or less; observed: one-sided, in the direction of the difference
-- correction: correction of p-values for multiple tests
-- family_size: number of pairs in the correction, including pairs of other boards
-- unit: unit of the test: item or cluster
-- n_units: number of units
-- n_discordant: number of units with different statistics
-- resamples: number of resamples; NULL without simulation
-- seed: seed of the resamples
-- log10_p: logarithm of the p-value, also if p_value is too small for a float
-- p_low: lower end of the confidence interval of a simulated p-value
-- p_high: upper end of the confidence interval of a simulated p-value
-- messages: messages about the result, as JSON: a list of objects with code and parameters
-- statistic: test statistic
-- resolved: whether the simulation error leaves no doubt about significant; always true without simulation
-- comparison_id: id of the comparison
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
        CASE
            WHEN comparison_pair.is_swapped THEN -pair_result.difference
            ELSE pair_result.difference
        END AS difference,
        difference_interval.ci_low,
        difference_interval.ci_high,
        pair_result.p_value,
        comparison_pair.p_adjusted,
        comparison_pair.is_significant AS significant,
        pair_result.method,
        latest_comparison.test,
        CASE
            WHEN latest_comparison.alternative = 'observed' THEN 'observed'
            WHEN pair_request.alternative = 'two-sided' THEN 'two-sided'
            WHEN (pair_request.alternative = 'greater') <> comparison_pair.is_swapped THEN 'greater'
            ELSE 'less'
        END AS alternative,
        latest_comparison.correction,
        latest_comparison.family_size,
        latest_comparison.unit,
        pair_result.n_units,
        pair_result.n_discordant,
        pair_result.resamples,
        CASE WHEN pair_result.resamples IS NULL THEN NULL ELSE latest_comparison.seed END AS seed,
        pair_result.log10_p,
        pair_result.p_low,
        pair_result.p_high,
        pair_result.messages,
        pair_result.statistic,
        comparison_pair.is_resolved AS resolved,
        latest_comparison.comparison_id
    FROM latest_comparison
    JOIN comparison_pair USING (comparison_id)
    JOIN pair_result USING (pair_result_id)
    JOIN pair_request ON pair_request.pair_request_id = pair_result.pair_request_id
    JOIN difference_interval
        ON
            difference_interval.comparison_id = comparison_pair.comparison_id
            AND difference_interval.position = comparison_pair.position
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
