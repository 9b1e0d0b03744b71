-- What is remarkable about the answers of submissions.
--
-- test_set: what was answered
-- submission: team/system@version
-- run: of the system, from 0
-- category: what kind of remark it is
-- message: the remark
SELECT s.test_set, s.submission, remark.replicate AS run, remark.category, remark.message
FROM remark
JOIN released_submission AS s USING (scoring_id)
ORDER BY ALL
