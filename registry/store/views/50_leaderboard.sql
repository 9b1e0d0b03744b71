-- The leaderboards: every system's score, place and the range of places that the significant differences leave open.
-- One row per comparison and system.
--
-- task: the task's id
-- test_set: the test set's name
-- track: the track; NULL where the task has none
-- facet: attribute=value where the board is of a part of the items; else NULL
-- metric: the metric's id in the manifest
-- metric_name: the metric with its options
-- signature: identifies gold, test and family of comparisons
-- rank: by the score at full precision; NULL for baselines and late submissions that are not ranked
-- rank_low: the best place left open: significant losses + 1
-- rank_high: the worst place left open: the number of systems less significant wins
-- cluster: a new one begins where every system above beats every system below
-- system: the system's name
-- team: the team's name
-- kind: primary, contrastive or baseline
-- submission: team/system@version
-- score: of all items; NULL where it is undefined
-- ci_low: the interval's lower end; NULL where there is none
-- ci_high: the interval's upper end
-- wins: significant differences in its favour
-- losses: significant differences against it
-- runs: how many runs it has
-- run_sd: the standard deviation of the score between them
-- position: the row's place on the board, from 0
-- comparison_id: the comparison
-- submission_id: the submission
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
