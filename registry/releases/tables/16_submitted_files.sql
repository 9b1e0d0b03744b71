-- The files that were submitted, with the task's rules for reading them: a row for each run.
--
-- test_set: what was answered
-- submission: team/system@version
-- run: of the system, from 0
-- file: where its bytes are in the release
-- name: what it was called, without folders
-- reader: the format with its options
-- n_bytes: how many bytes it has
-- digest: of its bytes
SELECT
    released.test_set,
    released.submission,
    kept.replicate AS run,
    'submitted/' || replace(source.digest, 'sha256:', '') || regexp_extract(lower(kept.name), '\.[a-z0-9]{1,8}$')
        AS file,
    regexp_extract(kept.name, '[^/\\]*$') AS name,
    submission.reader,
    source.n_bytes,
    source.digest
FROM released_submission AS released
JOIN submission USING (submission_id)
JOIN submission_source AS kept USING (submission_id)
JOIN source ON source.digest = kept.source_digest
ORDER BY released.test_set, released.submission, run
