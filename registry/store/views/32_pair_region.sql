-- How many answers two submissions share, and how many only one of them gives (the regions D1 and D2 of Evert 2004,
-- section 3.2), as true and false positives: all that Fisher's test, Yeh's shuffle of responses (2000, section 3.3) and,
-- with one answer per item, McNemar's test take. d1 and shared add up to what the first submission gives.
-- If items have scores of 0 or 1 instead of answers (view binary_scoring), an item that a run gets right counts as one
-- correct answer; which incorrect answers it gives is unknown. Test sets whose items are neither correct nor incorrect, as
-- of BLEU, are left out; the macro regions(a, b), which gives one pair at once, says why.
-- One row per ordered pair of submissions and pair of their runs.
--
-- task: id of the task
-- test_set: name of the test set
-- team_a: team of the first submission
-- system_a: system of the first submission
-- team_b: team of the second submission
-- system_b: system of the second submission
-- replicate_a: run of the first system, from 0
-- replicate_b: run of the second system, from 0
-- d1_tp: number of correct answers that only the first gives
-- d1_fp: number of incorrect answers that only the first gives; NULL if items have scores
-- d2_tp: number of correct answers that only the second gives
-- d2_fp: number of incorrect answers that only the second gives; NULL if items have scores
-- shared_tp: number of correct answers that both give
-- shared_fp: number of incorrect answers that both give; NULL if items have scores
-- gold: number of answers of the gold, or of items if items have scores
-- submission_a: id of the first submission
-- submission_b: id of the second submission
WITH binary_score AS MATERIALIZED (
    FROM binary_scoring
),
correct_item AS NOT MATERIALIZED (  -- as in the view correct_item, whose plan would be made three times
    SELECT ratio.scoring_id, ratio.replicate, ratio.item_id
    FROM statistics_ratio_whole AS ratio
    JOIN binary_score USING (scoring_id, metric_id)
    WHERE ratio.numerator = binary_score.correct_score
),
total AS (
    SELECT scoring_id, replicate, count_if(correct) AS tp, count(*) - tp AS fp
    FROM response
    GROUP BY ALL
    UNION ALL
    SELECT scoring_id, replicate, count(*), NULL
    FROM correct_item
    GROUP BY ALL
),
gold AS (
    SELECT gold_revision_id, count_if(in_gold) AS n
    FROM answer
    GROUP BY gold_revision_id
),
given AS MATERIALIZED (
    SELECT
        ranked.*,
        source.replicate,
        coalesce(gold.n, gold_revision.n_items) AS gold,
        coalesce(total.tp, 0) AS tp,
        CASE WHEN gold.n IS NULL THEN NULL ELSE coalesce(total.fp, 0) END AS fp
    FROM ranked_submission AS ranked
    JOIN submission_source AS source USING (submission_id)
    JOIN gold_revision USING (gold_revision_id)
    LEFT JOIN gold USING (gold_revision_id)
    LEFT JOIN total ON total.scoring_id = ranked.scoring_id AND total.replicate = source.replicate
    WHERE ranked.scoring_id IS NOT NULL
        AND (gold.n IS NOT NULL OR ranked.scoring_id IN (SELECT scoring_id FROM binary_score))
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
        a.tp - coalesce(answers.tp, items.tp, 0) AS d1_tp,
        a.fp - coalesce(answers.fp, 0) AS d1_fp,
        b.tp - coalesce(answers.tp, items.tp, 0) AS d2_tp,
        b.fp - coalesce(answers.fp, 0) AS d2_fp,
        coalesce(answers.tp, items.tp, 0) AS shared_tp,
        CASE WHEN a.fp IS NULL THEN NULL ELSE coalesce(answers.fp, 0) END AS shared_fp,
        a.gold,
        a.submission_id AS submission_a,
        b.submission_id AS submission_b
    FROM given AS a
    JOIN given AS b ON b.test_set_id = a.test_set_id AND b.submission_id <> a.submission_id
    LEFT JOIN LATERAL (  -- from the first submission, so that a condition on it leaves only its responses to look up
        SELECT theirs.scoring_id, theirs.replicate, count_if(ours.correct) AS tp, count(*) - tp AS fp
        FROM response AS ours
        JOIN response AS theirs USING (answer_id)
        WHERE ours.scoring_id = a.scoring_id AND ours.replicate = a.replicate
        GROUP BY ALL
    ) AS answers ON answers.scoring_id = b.scoring_id AND answers.replicate = b.replicate
    LEFT JOIN LATERAL (
        SELECT theirs.scoring_id, theirs.replicate, count(*) AS tp
        FROM correct_item AS ours
        JOIN correct_item AS theirs USING (item_id)
        WHERE ours.scoring_id = a.scoring_id AND ours.replicate = a.replicate
        GROUP BY ALL
    ) AS items ON items.scoring_id = b.scoring_id AND items.replicate = b.replicate
)
SELECT * FROM final
