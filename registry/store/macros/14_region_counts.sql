-- The row of the view pair_region for two submissions, which is quicker here. Items that are neither correct nor incorrect
-- are an error. One row per pair of runs.
--
-- a: a submission, task/test_set/team/system; with @version also one that is not current
-- b: another submission
-- replicate_a: run of the first submission, from 0
-- replicate_b: run of the second submission, from 0
-- d1_tp: number of correct answers that only the first gives, or of items that only the first gets right
-- d1_fp: number of incorrect answers that only the first gives; NULL if items have scores
-- d2_tp: number of correct answers that only the second gives, or of items that only the second gets right
-- d2_fp: number of incorrect answers that only the second gives; NULL if items have scores
-- shared_tp: number of correct answers that both give, or of items that both get right
-- shared_fp: number of incorrect answers that both give; NULL if items have scores
-- gold: number of answers of the gold, or of items if items have scores
CREATE MACRO region_counts(a, b) AS TABLE
WITH pair AS MATERIALIZED (
    FROM scoring_pair(a, b)
),
first AS MATERIALIZED (
    SELECT response.replicate, response.answer_id, response.correct
    FROM response
    JOIN pair ON pair.scoring_a = response.scoring_id
    UNION ALL
    SELECT ratio.replicate, ratio.item_id, TRUE
    FROM statistics_ratio_whole AS ratio
    JOIN pair ON pair.scoring_a = ratio.scoring_id AND pair.metric_id = ratio.metric_id
    WHERE ratio.numerator = pair.correct_score
),
second AS MATERIALIZED (
    SELECT response.replicate, response.answer_id, response.correct
    FROM response
    JOIN pair ON pair.scoring_b = response.scoring_id
    UNION ALL
    SELECT ratio.replicate, ratio.item_id, TRUE
    FROM statistics_ratio_whole AS ratio
    JOIN pair ON pair.scoring_b = ratio.scoring_id AND pair.metric_id = ratio.metric_id
    WHERE ratio.numerator = pair.correct_score
),
run AS (
    SELECT scoring.scoring_id, submission_source.replicate
    FROM scoring
    JOIN submission_source USING (submission_id)
),
counted AS (  -- of either, once for each run of the other; of both, once
    SELECT first.replicate AS replicate_a, run.replicate AS replicate_b, count_if(first.correct) AS tp_a,
        count(*) - tp_a AS fp_a, 0 AS tp_b, 0 AS fp_b, 0 AS tp_shared, 0 AS fp_shared
    FROM first, pair
    JOIN run ON run.scoring_id = pair.scoring_b
    GROUP BY ALL
    UNION ALL
    SELECT run.replicate, second.replicate, 0, 0, count_if(second.correct) AS tp, count(*) - tp, 0, 0
    FROM second, pair
    JOIN run ON run.scoring_id = pair.scoring_a
    GROUP BY ALL
    UNION ALL
    SELECT first.replicate, second.replicate, 0, 0, 0, 0, count_if(first.correct) AS tp, count(*) - tp
    FROM first
    JOIN second USING (answer_id)
    GROUP BY ALL
    UNION ALL
    SELECT first.replicate, second.replicate, 0, 0, 0, 0, 0, 0
    FROM pair
    JOIN run AS first ON first.scoring_id = pair.scoring_a
    JOIN run AS second ON second.scoring_id = pair.scoring_b
)
SELECT
    replicate_a,
    replicate_b,
    sum(tp_a - tp_shared)::BIGINT AS d1_tp,
    CASE WHEN pair.metric_id IS NULL THEN sum(fp_a - fp_shared)::BIGINT ELSE NULL END AS d1_fp,
    sum(tp_b - tp_shared)::BIGINT AS d2_tp,
    CASE WHEN pair.metric_id IS NULL THEN sum(fp_b - fp_shared)::BIGINT ELSE NULL END AS d2_fp,
    sum(tp_shared)::BIGINT AS shared_tp,
    CASE WHEN pair.metric_id IS NULL THEN sum(fp_shared)::BIGINT ELSE NULL END AS shared_fp,
    pair.gold
FROM counted, pair
GROUP BY replicate_a, replicate_b, pair.metric_id, pair.gold
