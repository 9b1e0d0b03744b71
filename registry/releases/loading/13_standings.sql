INSERT INTO standing (comparison_id, position, submission_id, rank, rank_low, rank_high, cluster, wins, losses, score,
    ci_low, ci_high, runs, run_sd, scoring_id, kind, late)
SELECT b.board, of.position, s.submission_id, of.rank, of.rank_low, of.rank_high, of.cluster, of.wins, of.losses,
    of.score, of.ci_low, of.ci_high, of.runs, of.run_sd, s.submission_id, of.kind, of.late
FROM data_standings AS of
JOIN data_boards AS b USING (board)
JOIN known_submission AS s USING (test_set, submission)
ORDER BY b.board, of.position;
