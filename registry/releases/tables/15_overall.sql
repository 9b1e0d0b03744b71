-- Tests of all systems of a board together, if the manifest requests them.
--
-- board: number of the board
-- test: name of the test
-- statistic: test statistic
-- degrees: degrees of freedom
-- p_value: p-value of the statistic
-- log10_p: logarithm of the p-value
SELECT b.board, o.test, o.statistic, o.degrees, o.p_value, o.log10_p
FROM overall_result AS o
JOIN released_board AS b USING (comparison_id)
ORDER BY b.board
