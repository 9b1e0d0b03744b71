INSERT INTO remark (scoring_id, replicate, category, message)
SELECT s.submission_id, r.run, r.category, r.message
FROM data_remarks AS r JOIN known_submission AS s USING (test_set, submission);
