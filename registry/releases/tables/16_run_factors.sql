-- Factors by which the runs of submissions differ, if any are declared.
--
-- test_set: name of the test set
-- submission: team/system@version
-- run: number of the system's run, from 0
-- factor: run, prompt, annotator or seed
-- level: level of the factor
SELECT s.test_set, s.submission, of_run.replicate AS run, of_run.factor, of_run.level
FROM replicate_factor AS of_run
JOIN released_submission AS s USING (submission_id)
ORDER BY ALL
