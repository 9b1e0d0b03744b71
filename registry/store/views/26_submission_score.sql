-- The score of every submission taking part, by every metric that its task declares, over all items of its test set.
-- Nothing is compared yet: leaderboard has the scores of comparisons, with ranks, over the items of each.
-- One row per submission and metric; the average of its runs where it has several.
--
-- task: the task's id
-- test_set: the test set's name
-- track: the track it competes in; NULL where the task has none
-- metric: the metric's id in the manifest
-- better: whether a higher or a lower score is better
-- team: the team's name
-- system: the system's name
-- kind: primary, contrastive or baseline
-- submission: the full name, task/test_set/team/system@version
-- score: the score; NULL where it is undefined
-- n_items: how many items it rests on
-- n_missing: how many answers are missing, over all runs
-- scoring_id: names the submission's statistics
-- metric_id: the metric
WITH final AS (
    SELECT
        ranked_submission.task,
        ranked_submission.test_set,
        ranked_submission.track,
        task_metric.alias AS metric,
        metric.better,
        ranked_submission.team,
        ranked_submission.system,
        ranked_submission.kind,
        ranked_submission.name AS submission,
        score.value AS score,
        score.n_items,
        ranked_submission.n_missing,
        score.scoring_id,
        score.metric_id
    FROM ranked_submission
    JOIN score USING (scoring_id)
    JOIN metric USING (metric_id)
    JOIN task ON task.slug = ranked_submission.task
    JOIN task_metric
        ON task_metric.task_id = task.task_id
        AND task_metric.metric_id = score.metric_id
        AND task_metric.is_declared
    JOIN test_set ON test_set.test_set_id = ranked_submission.test_set_id
    ORDER BY task.slug, test_set.position, ranked_submission.track NULLS FIRST, task_metric.position,
        CASE WHEN metric.better = 'lower' THEN score.value ELSE -score.value END NULLS LAST, ranked_submission.name
)
SELECT * FROM final
