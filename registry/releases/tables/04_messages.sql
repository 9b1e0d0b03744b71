-- Messages about the answers of submissions.
--
-- test_set: what was answered
-- submission: team/system@version
-- run: of the system, from 0
-- category: a word for it: missing, text, encoding, label, header, gold
-- code: the code of the message
-- parameters: of the message, as JSON
SELECT s.test_set, s.submission, scoring_message.replicate AS run, scoring_message.category, scoring_message.code, scoring_message.parameters
FROM scoring_message
JOIN released_submission AS s USING (scoring_id)
ORDER BY ALL
