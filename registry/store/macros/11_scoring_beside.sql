-- The scoring of a submission that is compared with another one. Submissions to different test sets are an error, because
-- their answers cannot be compared.
--
-- wanted: name of the submission
-- other: name of the other system
CREATE MACRO scoring_beside(wanted, other) AS (
    CASE
        WHEN regexp_extract(wanted, '^[^/]+/[^/]+/') <> regexp_extract(other, '^[^/]+/[^/]+/')
            AND '' NOT IN (regexp_extract(wanted, '^[^/]+/[^/]+/'), regexp_extract(other, '^[^/]+/[^/]+/'))
            THEN error(other || ' and ' || wanted || ' answer different test sets; name two submissions to the same test set')
        ELSE scoring_named(wanted)
    END
)
