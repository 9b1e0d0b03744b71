-- How systems stand on the boards, best first.
--
-- board: the board's number
-- position: the row's place, from 0
-- submission: team/system@version
-- rank: by the score at full precision; NULL for baselines that are not ranked
-- rank_low: the best place left open: significant losses + 1
-- rank_high: the worst place left open: the number of systems less significant wins
-- cluster: a new one begins where every system above beats every system below
-- score: of the board's items; NULL where it is undefined
-- ci_low: the interval's lower end; NULL where there is none
-- ci_high: the interval's upper end
-- wins: significant differences in its favour
-- losses: significant differences against it
-- runs: how many runs it has
-- run_sd: the standard deviation of the score between them
-- kind: primary, contrastive or baseline
-- late: whether it came late
SELECT
    b.board, standing.position, s.submission, standing.rank, standing.rank_low, standing.rank_high, standing.cluster,
    standing.score, standing.ci_low, standing.ci_high, standing.wins, standing.losses, standing.runs,
    standing.run_sd, standing.kind, standing.late
FROM standing
JOIN released_board AS b USING (comparison_id)
JOIN released_submission AS s USING (submission_id)
ORDER BY b.board, standing.position
