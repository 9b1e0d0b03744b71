CREATE TEMP TABLE sided_pair AS
SELECT * REPLACE (CASE alternative
        WHEN 'greater' THEN if(is_swapped, 'less', 'greater')
        WHEN 'less' THEN if(is_swapped, 'greater', 'less')
        ELSE 'two-sided'
    END AS alternative)
FROM data_pairs;
INSERT INTO pair_request (pair_request_id, metric, test, alternative, resamples, seed, "interval", confidence, runs)
SELECT row_number() OVER (), *
FROM (
    SELECT DISTINCT metric.name, b.test, p.alternative, b.resamples, b.seed, b."interval", b.confidence, b.runs
    FROM sided_pair AS p
    JOIN data_boards AS b USING (board)
    JOIN task_metric ON task_metric.alias = b.metric
    JOIN metric USING (metric_id)
    ORDER BY ALL
);
INSERT INTO tested_statistics (tested_statistics_id, digest)
SELECT row_number() OVER (ORDER BY digest), digest
FROM (SELECT statistics_a AS digest FROM data_pairs UNION SELECT statistics_b FROM data_pairs);
CREATE TEMP TABLE known_pair AS
SELECT row_number() OVER (ORDER BY p.board, p.position) AS pair_result_id, r.pair_request_id,
    one.submission_id AS first_id, other.submission_id AS second_id, a.tested_statistics_id AS first_statistics,
    b.tested_statistics_id AS second_statistics, p.*
FROM sided_pair AS p
JOIN data_boards AS board USING (board)
JOIN known_submission AS one ON one.test_set = board.test_set AND one.submission = p.submission_a
JOIN known_submission AS other ON other.test_set = board.test_set AND other.submission = p.submission_b
JOIN tested_statistics AS a ON a.digest = p.statistics_a
JOIN tested_statistics AS b ON b.digest = p.statistics_b
JOIN task_metric AS m ON m.alias = board.metric
JOIN metric ON metric.metric_id = m.metric_id
JOIN pair_request AS r ON (r.metric, r.test, r.alternative, r.resamples, r.seed, r."interval", r.confidence, r.runs)
    = (metric.name, board.test, p.alternative, board.resamples, board.seed, board."interval", board.confidence,
       board.runs);
INSERT INTO pair_result (pair_result_id, pair_request_id, statistics_a, statistics_b, method, difference, p_value,
    log10_p, p_low, p_high, ci_low, ci_high, n_units, n_discordant, resamples, statistic, favours, messages, run_id)
SELECT pair_result_id, pair_request_id, if(is_swapped, second_statistics, first_statistics),
    if(is_swapped, first_statistics, second_statistics), method, if(is_swapped, -difference, difference), p_value,
    log10_p, p_low, p_high, if(is_swapped, -ci_high, ci_low), if(is_swapped, -ci_low, ci_high), n_units, n_discordant,
    resamples, statistic, if(is_swapped, -favours, favours), messages, 1
FROM known_pair;
INSERT INTO comparison_pair (comparison_id, position, submission_a, submission_b, pair_result_id, is_swapped,
    p_adjusted, is_significant, is_resolved)
SELECT board, position, first_id, second_id, pair_result_id, is_swapped, p_adjusted, is_significant, is_resolved
FROM known_pair ORDER BY board, position;
