-- Closed-form confidence intervals of differences, if the test has none of its own; not corrected for the number of pairs.
--
-- board: number of the board
-- position: place of the pair in the table pairs
-- ci_low: lower end of the interval of A minus B; NULL if it is undefined
-- ci_high: upper end of the interval of A minus B
SELECT
    b.board, p.position, if(p.is_swapped, -i.high, i.low) AS ci_low, if(p.is_swapped, -i.low, i.high) AS ci_high
FROM comparison_pair AS p
JOIN released_board AS b USING (comparison_id)
JOIN pair_interval AS i USING (pair_result_id)
ORDER BY b.board, p.position
