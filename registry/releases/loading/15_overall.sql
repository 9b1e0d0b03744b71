INSERT INTO overall_result (comparison_id, test, statistic, degrees, p_value, log10_p)
SELECT board, test, statistic, degrees, p_value, log10_p FROM data_overall;
