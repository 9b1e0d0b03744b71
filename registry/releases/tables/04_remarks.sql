-- What is remarkable about the answers of submissions.
--
-- test_set: what was answered
-- submission: team/system@version
-- run: of the system, from 0
-- category: what kind of remark it is
-- code: the code of the message
-- parameters: of the message, as JSON
SELECT s.test_set, s.submission, remark.replicate AS run, remark.category, remark.code, remark.parameters
FROM remark
JOIN released_submission AS s USING (scoring_id)
ORDER BY ALL
