-- The items that runs get right, if all scores are 0 or 1 (view binary_scoring); for items with answers, read response.
-- One row per submission, run and correct item.
--
-- scoring_id: id of the scoring: a submission joined with a gold revision
-- replicate: number of the system's run, from 0
-- item_id: id of the item
SELECT ratio.scoring_id, ratio.replicate, ratio.item_id
FROM statistics_ratio_whole AS ratio
JOIN binary_scoring USING (scoring_id, metric_id)
WHERE ratio.numerator = binary_scoring.correct_score
