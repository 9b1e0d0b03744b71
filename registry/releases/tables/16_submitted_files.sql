-- The submitted files, one row per run, with the format of each.
--
-- test_set: name of the test set
-- submission: team/system@version
-- run: number of the system's run, from 0
-- file: path of the file in the release
-- name: name of the file as it was submitted, without folders
-- reader: format with its options
-- n_bytes: number of bytes
-- digest: digest of the bytes
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
