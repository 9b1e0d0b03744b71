-- Remarks about the answers of submissions.
--
-- test_set: name of the test set
-- submission: team/system@version
-- run: number of the system's run, from 0
-- category: category of the remark
-- code: code of the message
-- parameters: parameters of the message, as JSON
SELECT s.test_set, s.submission, remark.replicate AS run, remark.category, remark.code, remark.parameters
FROM remark
JOIN released_submission AS s USING (scoring_id)
ORDER BY ALL
