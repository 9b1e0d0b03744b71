INSERT INTO scoring_message (scoring_id, replicate, category, code, parameters)
SELECT s.submission_id, r.run, r.category, r.code, r.parameters
FROM data_messages AS r JOIN known_submission AS s USING (test_set, submission);
