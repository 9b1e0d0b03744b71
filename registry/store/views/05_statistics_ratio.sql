-- Statistics per item of the family ratio: scores that are a quotient of sums. Whole numbers are kept apart, in less
-- room. One row per submission, run, metric and item.
--
-- scoring_id: the scoring: one submission aligned with one revision of the gold
-- metric_id: the metric
-- replicate: which of the system's runs, from 0
-- item_id: the item
-- numerator: what the item adds above
-- denominator: what it adds below
SELECT scoring_id, metric_id, replicate, item_id, numerator, denominator FROM statistics_ratio_decimal
UNION ALL
SELECT scoring_id, metric_id, replicate, item_id, numerator, denominator FROM statistics_ratio_whole
