-- Every pair of systems on the boards; A ranks above B.
--
-- board: number of the board
-- position: place of the row, from 0
-- submission_a: system with the better score, team/system@version
-- submission_b: the other system
-- difference: difference of the scores; positive favours A
-- ci_low: lower end of the test's own confidence interval; NULL if the interval is in the table intervals
-- ci_high: upper end of the test's own confidence interval
-- p_value: unadjusted p-value
-- alternative: two-sided, greater (A is better) or less; observed: one-sided, in the direction of the difference
-- p_adjusted: p-value adjusted over all pairs of the family, which the board's request and signature identify
-- is_significant: whether A is better at the significance level of the board
-- is_resolved: whether the simulation error leaves no doubt about is_significant; always true without simulation
-- method: how the p-value was computed: exact, ideal, monte-carlo, asymptotic, ...
-- log10_p: logarithm of the p-value, also if p_value is too small for a float
-- p_low: lower end of the confidence interval of a simulated p-value
-- p_high: upper end of the confidence interval of a simulated p-value
-- n_units: number of tested units
-- n_discordant: number of units with different statistics
-- resamples: number of resamples of this pair; NULL without simulation
-- statistic: test statistic, if the test has one
-- favours: 1 if the evidence favours A, -1 if it favours B, else 0
-- messages: messages about the result, as JSON: a list of objects with code and parameters
-- is_swapped: whether the test was computed for B and A
-- statistics_a: digest of A's statistics on this board
-- statistics_b: digest of B's statistics on this board
SELECT
    b.board, p.position, one.submission AS submission_a, other.submission AS submission_b,
    if(p.is_swapped, -r.difference, r.difference) AS difference,
    if(p.is_swapped, -r.ci_high, r.ci_low) AS ci_low,
    if(p.is_swapped, -r.ci_low, r.ci_high) AS ci_high,
    r.p_value, CASE
        WHEN b.alternative = 'observed' THEN 'observed' WHEN asked.alternative = 'two-sided' THEN 'two-sided'
        WHEN (asked.alternative = 'greater') <> p.is_swapped THEN 'greater' ELSE 'less'
    END AS alternative, p.p_adjusted, p.is_significant, p.is_resolved, r.method, r.log10_p, r.p_low, r.p_high, r.n_units,
    r.n_discordant, r.resamples, r.statistic, if(p.is_swapped, -r.favours, r.favours) AS favours, r.messages, p.is_swapped,
    if(p.is_swapped, of_b.digest, of_a.digest) AS statistics_a,
    if(p.is_swapped, of_a.digest, of_b.digest) AS statistics_b
FROM comparison_pair AS p
JOIN released_board AS b USING (comparison_id)
JOIN pair_result AS r USING (pair_result_id)
JOIN pair_request AS asked USING (pair_request_id)
JOIN tested_statistics AS of_a ON of_a.tested_statistics_id = r.statistics_a
JOIN tested_statistics AS of_b ON of_b.tested_statistics_id = r.statistics_b
JOIN released_submission AS one ON one.submission_id = p.submission_a
JOIN released_submission AS other ON other.submission_id = p.submission_b
ORDER BY b.board, p.position
