-- How many answers two submissions share, and how many only one of them gives (the regions D1 and D2 of Evert 2004,
-- section 3.2), as true and false positives: all that Fisher's test, Yeh's shuffle of responses (2000, section 3.3) and,
-- with one answer per item, McNemar's test take. d1 and shared add up to what the first submission gives.
-- One row per ordered pair of submissions and pair of their runs. The macro regions(a, b) gives one pair at once.
--
-- task: the task's id
-- test_set: the test set's name
-- team_a: the team of the first submission
-- system_a: the first submission's system
-- team_b: the team of the second submission
-- system_b: the second submission's system
-- replicate_a: the run of the first system, counted from 0
-- replicate_b: the run of the second system
-- d1_tp: correct answers that only the first gives
-- d1_fp: wrong answers that only the first gives
-- d2_tp: correct answers that only the second gives
-- d2_fp: wrong answers that only the second gives
-- shared_tp: correct answers that both give
-- shared_fp: wrong answers that both give
-- gold: how many answers the gold has
-- submission_a: the first submission
-- submission_b: the second submission
WITH total AS (
    SELECT scoring_id, replicate, count_if(correct) AS tp, count_if(NOT correct) AS fp
    FROM response
    GROUP BY ALL
),
given AS (
    SELECT ranked.*, source.replicate, coalesce(total.tp, 0) AS tp, coalesce(total.fp, 0) AS fp
    FROM ranked_submission AS ranked
    JOIN submission_source AS source USING (submission_id)
    LEFT JOIN total ON total.scoring_id = ranked.scoring_id AND total.replicate = source.replicate
    WHERE ranked.scoring_id IS NOT NULL
),
gold AS (
    SELECT gold_revision_id, count(*) AS n
    FROM answer
    WHERE in_gold
    GROUP BY gold_revision_id
),
final AS (
    SELECT
        a.task,
        a.test_set,
        a.team AS team_a,
        a.system AS system_a,
        b.team AS team_b,
        b.system AS system_b,
        a.replicate AS replicate_a,
        b.replicate AS replicate_b,
        a.tp - coalesce(shared.tp, 0) AS d1_tp,
        a.fp - coalesce(shared.fp, 0) AS d1_fp,
        b.tp - coalesce(shared.tp, 0) AS d2_tp,
        b.fp - coalesce(shared.fp, 0) AS d2_fp,
        coalesce(shared.tp, 0) AS shared_tp,
        coalesce(shared.fp, 0) AS shared_fp,
        coalesce(gold.n, 0) AS gold,
        a.submission_id AS submission_a,
        b.submission_id AS submission_b
    FROM given AS a
    JOIN given AS b ON b.test_set_id = a.test_set_id AND b.submission_id <> a.submission_id
    LEFT JOIN gold ON gold.gold_revision_id = a.gold_revision_id
    LEFT JOIN LATERAL (  -- from the first submission, so that a condition on it leaves only its responses to look up
        SELECT
            theirs.scoring_id,
            theirs.replicate,
            count_if(ours.correct) AS tp,
            count_if(NOT ours.correct) AS fp
        FROM response AS ours
        JOIN response AS theirs USING (answer_id)
        WHERE ours.scoring_id = a.scoring_id AND ours.replicate = a.replicate
        GROUP BY ALL
    ) AS shared ON shared.scoring_id = b.scoring_id AND shared.replicate = b.replicate
)
SELECT * FROM final
