-- The score of every current submission by every metric of its task, on all items of its test set, before any comparison.
-- The view leaderboard has the scores of comparisons, with ranks, on the items of each comparison.
-- One row per submission and metric; several runs are averaged.
--
-- task: id of the task
-- test_set: name of the test set
-- track: track of the submission; NULL if the task has no tracks
-- metric: id of the metric in the manifest
-- better: whether a higher or a lower score is better
-- team: name of the team
-- system: name of the system
-- kind: primary, contrastive or baseline
-- submission: full name, task/test_set/team/system@version
-- score: score; NULL if it is undefined
-- n_items: number of items
-- n_missing: number of missing answers, over all runs
-- scoring_id: id of the submission's statistics
-- metric_id: id of the metric
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
