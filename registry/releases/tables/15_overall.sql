-- Tests of all systems of a board at once, where they were asked for.
--
-- board: the board's number
-- test: the test
-- statistic: its statistic
-- degrees: of freedom
-- p_value: of the statistic
-- log10_p: its logarithm
SELECT b.board, o.test, o.statistic, o.degrees, o.p_value, o.log10_p
FROM overall_result AS o
JOIN released_board AS b USING (comparison_id)
ORDER BY b.board
