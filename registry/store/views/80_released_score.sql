-- What the Ladder of a board that stays open has shown: its score once a submission had come (Blum and Hardt 2015). It is
-- all that may be seen of scores while these are hidden. One row per submission, in the order in which they were scored.
--
-- name: the submission's full name, task/test_set/team/system@version
-- task: the task's id
-- test_set: the test set's name
-- track: the track, if any
-- metric: the metric, with its options
-- gold_revision_id: the revision of the gold; another one begins anew
-- step: by how much a score must be better to be shown
-- shown: the score that is shown once this submission has come; NULL before any is defined
-- raised: whether it is this submission's own, rounded to the step
-- at: when it was shown first, in UTC
-- entry: the number of the entry in the log
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
