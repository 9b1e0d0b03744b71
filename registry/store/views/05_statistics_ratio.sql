-- Statistics per item of the family ratio: scores that are a quotient of sums. Integers are in a table of their own, which
-- needs less space. One row per submission, run, metric and item.
--
-- scoring_id: id of the scoring: a submission joined with a gold revision
-- metric_id: id of the metric
-- replicate: number of the system's run, from 0
-- item_id: id of the item
-- numerator: numerator of the item
-- denominator: denominator of the item
SELECT scoring_id, metric_id, replicate, item_id, numerator, denominator FROM statistics_ratio_decimal
UNION ALL
SELECT scoring_id, metric_id, replicate, item_id, numerator, denominator FROM statistics_ratio_whole
