-- Submissions whose items are correct or incorrect by their scores alone: no item has answers, and all scores by the
-- primary metric are 0 or 1, as in most imported logs of language models. A submission that takes part with another score,
-- such as 0.5, makes the scores of its whole test set grades, and none of its submissions has a row here.
-- One row per scoring of the current gold.
--
-- scoring_id: id of the scoring: a submission joined with a gold revision
-- metric_id: id of the primary metric
-- correct_score: score of a correct item: 1, or 0 if lower scores are better
-- gold_revision_id: id of the gold revision
WITH graded AS (  -- two conditions on one column each, so that a scan skips blocks by their least and largest values
    SELECT scoring_id, metric_id FROM statistics_ratio_whole WHERE numerator < 0 OR numerator > 1
    UNION
    SELECT scoring_id, metric_id FROM statistics_ratio_whole WHERE denominator <> 1
),
measured AS (
    SELECT
        score.scoring_id,
        score.metric_id,
        (metric.better = 'higher')::INTEGER AS correct_score,
        scoring.gold_revision_id,
        coalesce(score.step = 1, FALSE) AND graded.scoring_id IS NULL AS is_binary,
        scoring.submission_id
    FROM test_set
    JOIN task_metric USING (task_id)
    JOIN metric USING (metric_id)
    JOIN scoring USING (gold_revision_id)
    JOIN score USING (scoring_id, metric_id)
    LEFT JOIN graded USING (scoring_id, metric_id)
    WHERE task_metric.is_primary AND task_metric.is_declared AND metric.family = 'ratio'
        AND test_set.gold_revision_id NOT IN (SELECT gold_revision_id FROM answer)
        AND test_set.gold_revision_id IN (SELECT gold_revision_id FROM item)  -- not where the gold is withheld
),
latest AS (  -- as in ranked_submission, which takes several times as long
    SELECT max(submission_id) AS submission_id
    FROM submission
    WHERE NOT withdrawn
    GROUP BY test_set_id, system_id
),
final AS (
    SELECT scoring_id, metric_id, correct_score, gold_revision_id
    FROM measured
    WHERE is_binary AND gold_revision_id NOT IN (
        SELECT gold_revision_id FROM measured JOIN latest USING (submission_id) WHERE NOT is_binary)
)
SELECT * FROM final
