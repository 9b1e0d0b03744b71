INSERT INTO response (scoring_id, replicate, answer_id, correct, score)
SELECT s.submission_id, r.run, a.answer_id, r.correct, r.score
FROM data_responses AS r
JOIN known_submission AS s USING (test_set, submission)
JOIN known_answer AS a USING (test_set, item, answer, type);
