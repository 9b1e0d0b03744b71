-- The scores that the Ladder of an open board has shown after each submission (Blum and Hardt 2015). During an embargo on
-- scores, no other scores are shown. One row per submission, in the order in which they were scored.
--
-- name: full name of the submission, task/test_set/team/system@version
-- task: id of the task
-- test_set: name of the test set
-- track: name of the track; NULL if the task has no tracks
-- metric: metric with its options
-- gold_revision_id: id of the gold revision; a new revision starts again
-- step: minimum improvement of a score to be shown
-- shown: score that is shown after this submission; NULL before the first defined score
-- raised: whether it is the score of this submission, rounded to the step
-- at: time at which the score was first shown, in UTC
-- entry: id of the event in the log
SELECT
    subject AS name,
    split_part(subject, '/', 1) AS task,
    split_part(subject, '/', 2) AS test_set,
    details ->> '$.track' AS track,
    details ->> '$.metric' AS metric,
    CAST(details ->> '$.gold_revision_id' AS INTEGER) AS gold_revision_id,
    CAST(details ->> '$.step' AS DOUBLE) AS step,
    CAST(details ->> '$.shown' AS DOUBLE) AS shown,
    CAST(details ->> '$.raised' AS BOOLEAN) AS raised,
    "at",
    event_id AS entry
FROM event
WHERE action = 'ladder' AND subject <> ''
ORDER BY event_id
