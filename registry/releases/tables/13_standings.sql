-- Standings of systems on the boards, best first.
--
-- board: number of the board
-- position: place of the row, from 0
-- submission: team/system@version
-- rank: rank by the score at full precision; NULL for baselines that are not ranked
-- rank_low: best rank that the tests leave possible: significant losses + 1
-- rank_high: worst rank that the tests leave possible: number of systems minus significant wins
-- cluster: number of the cluster; every system of a cluster beats every system of the clusters below
-- score: score on the items of the board; NULL if it is undefined
-- ci_low: lower end of the confidence interval; NULL if there is none
-- ci_high: upper end of the confidence interval
-- wins: number of significant differences in favour of the system
-- losses: number of significant differences against the system
-- runs: number of runs
-- run_sd: standard deviation of the score over runs
-- kind: primary, contrastive or baseline
-- late: whether the submission was late
SELECT
    b.board, standing.position, s.submission, standing.rank, standing.rank_low, standing.rank_high, standing.cluster,
    standing.score, standing.ci_low, standing.ci_high, standing.wins, standing.losses, standing.runs,
    standing.run_sd, standing.kind, standing.late
FROM standing
JOIN released_board AS b USING (comparison_id)
JOIN released_submission AS s USING (submission_id)
ORDER BY b.board, standing.position
