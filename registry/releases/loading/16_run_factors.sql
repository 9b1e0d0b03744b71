INSERT INTO replicate_factor (submission_id, replicate, factor, level)
SELECT s.submission_id, of_run.run, of_run.factor, of_run.level
FROM data_run_factors AS of_run JOIN known_submission AS s USING (test_set, submission);
