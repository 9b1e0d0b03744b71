-- The answers that a submission gives a score, ranked from the highest on. Answers with equal scores have no order of
-- their own: with ties = random they are ordered by an md5 digest of seed and answer (Evert 2004, section 2, breaks ties
-- at random), with include they share the first place of theirs, and with exclude the last. Taking all with place <= n
-- gives the n best. One row per run, item and answer with a score.
--
-- submission: task/test_set/team/system; with @version also one that is not current
-- ties: selection of ties at the cut-off: random (some, by the seed), include (all) or exclude (none)
-- seed: seed of the random selection of ties
-- place: rank of the answer, from 1
-- item: key of the item
-- answer: the candidate
-- type: type of the answer; empty if answers have no types
-- correct: whether the gold contains the answer
-- score: the system's own score of the answer
-- replicate: number of the run, from 0
CREATE MACRO ranked_answers(submission, ties := 'random', seed := 0) AS TABLE
WITH scored AS (
    SELECT *, CASE WHEN ties = 'random' THEN md5(concat_ws('/', seed, item, answer, type)) ELSE '' END AS lot
    FROM responses(submission)
    WHERE score IS NOT NULL
)
SELECT
    CASE ties
        WHEN 'include' THEN rank() OVER (PARTITION BY replicate ORDER BY score DESC)
        WHEN 'exclude' THEN count(*) OVER (PARTITION BY replicate ORDER BY score DESC)
        WHEN 'random' THEN row_number() OVER (PARTITION BY replicate ORDER BY score DESC, lot)
        ELSE error('ties is ' || coalesce(ties, 'NULL') || '; expected include, exclude or random')
    END AS place,
    item,
    answer,
    type,
    correct,
    score,
    replicate
FROM scored
ORDER BY replicate, place, lot
