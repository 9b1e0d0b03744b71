-- The leaderboards: every system's score, place and the range of places that the significant differences leave open.
-- One row per comparison and system; rank_low is significant losses + 1, rank_high the number of systems less
-- significant wins. run_deviation is the standard deviation of the score between the runs of a system.
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
        standing.run_deviation,
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
