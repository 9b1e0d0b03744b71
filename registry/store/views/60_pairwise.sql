-- Every pair of every leaderboard: the difference, its raw p-value, and the p-value adjusted within the family of all
-- pairs of that board. One row per comparison and pair; system_a has the better score, and difference favours it.
--
-- task: the task's id
-- test_set: the test set's name
-- track: the track; NULL where the task has none
-- facet: attribute=value where the board is of a part of the items; else NULL
-- metric: the metric's id in the manifest
-- metric_name: the metric with its options
-- signature: identifies gold, test and family of comparisons
-- system_a: the better system's name
-- system_b: the other system's name
-- submission_a: team/system@version of the better one
-- submission_b: team/system@version of the other
-- score_a: the better score
-- score_b: the other score
-- difference: how much better
-- ci_low: the interval's lower end; NULL where there is none
-- ci_high: the interval's upper end
-- p_value: raw
-- p_adjusted: corrected over all pairs of its family: of the board, or of all boards that are corrected with it
-- significant: whether p_adjusted <= alpha
-- method: how p came about: exact, ideal, monte-carlo, asymptotic or a bound
-- test: the test, with its options
-- alternative: two-sided, greater (system_a is better) or less; observed: one-sided, in the direction of the difference
-- correction: how p was adjusted
-- family_size: how many pairs it was adjusted over
-- unit: what was tested: item or cluster
-- n_units: how many there are
-- n_discordant: in how many of them the two differ
-- resamples: draws; NULL where nothing was drawn
-- seed: of the draws
-- log10_p: the logarithm of p_value, where that is too small for a number
-- p_low: the lower end of a drawn p-value's own interval
-- p_high: its upper end
-- messages: what to know of the result, as JSON: a list of objects with code and parameters
-- statistic: the test's statistic
-- resolved: whether the draws decide
-- comparison_id: the comparison
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
