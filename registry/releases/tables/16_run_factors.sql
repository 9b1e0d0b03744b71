-- What tells the runs of submissions apart, where more does than their number.
--
-- test_set: what was answered
-- submission: team/system@version
-- run: of the system, from 0
-- factor: what differs: run, prompt, annotator or seed
-- level: which one it is
SELECT s.test_set, s.submission, of_run.replicate AS run, of_run.factor, of_run.level
FROM replicate_factor AS of_run
JOIN released_submission AS s USING (submission_id)
ORDER BY ALL
