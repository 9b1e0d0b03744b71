-- The leaderboards: score, rank and rank range of every system.
-- One row per comparison and system.
--
-- task: id of the task
-- test_set: name of the test set
-- track: name of the track; NULL if the task has no tracks
-- facet: attribute=value if the board has a part of the items; else NULL
-- metric: id of the metric in the manifest
-- metric_name: metric with its options
-- signature: identifies gold, test and family of comparisons
-- rank: rank by the score at full precision; NULL for baselines and late submissions that are not ranked
-- rank_low: best rank that the tests leave possible: significant losses + 1
-- rank_high: worst rank that the tests leave possible: number of systems minus significant wins
-- cluster: number of the cluster; every system of a cluster beats every system of the clusters below
-- system: name of the system
-- team: name of the team
-- kind: primary, contrastive or baseline
-- submission: team/system@version
-- score: score on all items; NULL if it is undefined
-- ci_low: lower end of the confidence interval; NULL if there is none
-- ci_high: upper end of the confidence interval
-- wins: number of significant differences in favour of the system
-- losses: number of significant differences against the system
-- runs: number of runs
-- run_sd: standard deviation of the score over runs
-- position: place of the row on the board, from 0
-- comparison_id: id of the comparison
-- submission_id: id of the submission
WITH final AS (
    SELECT
        latest_comparison.task,
        latest_comparison.test_set,
        latest_comparison.track,
        latest_comparison.facet,
        latest_comparison.metric,
        latest_comparison.metric_name,
        latest_comparison.signature,
        standing.rank,
        standing.rank_low,
        standing.rank_high,
        standing.cluster,
        system.name AS system,
        team.name AS team,
        submission.kind,
        team.name || '/' || system.name || '@' || submission.version AS submission,
        standing.score,
        standing.ci_low,
        standing.ci_high,
        standing.wins,
        standing.losses,
        standing.runs,
        standing.run_sd,
        standing.position,
        latest_comparison.comparison_id,
        submission.submission_id
    FROM latest_comparison
    JOIN standing USING (comparison_id)
    JOIN submission USING (submission_id)
    JOIN system USING (system_id)
    JOIN team USING (team_id)
    ORDER BY
        latest_comparison.task,
        latest_comparison.test_set_position,
        latest_comparison.test_set,
        latest_comparison.track NULLS FIRST,
        latest_comparison.facet NULLS FIRST,
        latest_comparison.metric_position,
        standing.position
)
SELECT * FROM final
