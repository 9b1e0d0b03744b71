-- Every pair of systems on the boards; A stands above B.
--
-- board: the board's number
-- position: the row's place, from 0
-- submission_a: the system with the better score, team/system@version
-- submission_b: the other one
-- difference: of the scores; positive favours A
-- ci_low: the lower end of the test's own interval; NULL where it gives none, and the table intervals has one
-- ci_high: its interval's upper end
-- p_value: unadjusted
-- alternative: two-sided, greater (A is better) or less; observed: one-sided, in the direction of the difference
-- p_adjusted: over all pairs of the family, which request and signature of the board tell
-- is_significant: whether A is better at the level of the board
-- is_resolved: whether the error of random draws leaves no doubt of that
-- method: how the p-value came about: exact, ideal, monte-carlo, asymptotic, ...
-- log10_p: the p-value's logarithm, also where it is too small for p_value
-- p_low: the lower end of the p-value's own interval, where it was drawn
-- p_high: its upper end
-- n_units: how many units were tested
-- n_discordant: in how many of them the statistics differ
-- resamples: how many draws this pair got; NULL where none
-- statistic: the test's own statistic, where it has one
-- favours: 1 where the evidence of the test favours A, -1 for B, 0 for neither
-- messages: what to know of the result, as JSON: a list of objects with code and parameters
-- is_swapped: whether the test was computed of B and A
-- statistics_a: the digest of A's statistics on this board
-- statistics_b: the digest of B's
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
