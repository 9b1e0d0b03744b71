-- The items that runs get right, by scores that are all 0 or 1 (view binary_scoring); items with answers are in response.
-- One row per submission, run and correct item.
--
-- scoring_id: the scoring: one submission aligned with one revision of the gold
-- replicate: which of the system's runs, from 0
-- item_id: the item
SELECT ratio.scoring_id, ratio.replicate, ratio.item_id
FROM statistics_ratio_whole AS ratio
JOIN binary_scoring USING (scoring_id, metric_id)
WHERE ratio.numerator = binary_scoring.correct_score
