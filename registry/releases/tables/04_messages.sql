-- Messages about the answers of submissions, such as missing answers or unknown labels.
--
-- test_set: name of the test set
-- submission: team/system@version
-- run: number of the run, from 0
-- category: missing, text, encoding, label, header or gold
-- code: code of the message, such as missing-answers
-- parameters: parameters of the message, as JSON
SELECT s.test_set, s.submission, m.replicate AS run, m.category, m.code, m.parameters
FROM scoring_message AS m
JOIN released_submission AS s USING (scoring_id)
ORDER BY ALL
