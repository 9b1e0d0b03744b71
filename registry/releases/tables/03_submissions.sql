-- The submissions that boards show.
--
-- test_set: what was answered
-- submission: team/system@version
-- team: the team's name
-- system: the system's name
-- version: of the system, as submitted
-- track: the track it competes in; NULL where the task has none
-- kind: primary, contrastive or baseline
-- late: whether it came late
-- missing: the policy for items without an answer: reject, worst, drop or own
-- n_missing: how many items have no answer, over all of its runs
-- runs: how many runs the system has
-- attributes: what else the manifest declares of it, as JSON
-- digest: of its answers
SELECT
    test_set, submission, team, system, version, track, kind, late, missing, n_missing, runs, attributes, digest
FROM released_submission
ORDER BY test_set, submission
