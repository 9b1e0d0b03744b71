-- The items that only one of two submissions gets right, McNemar's (1947) discordant items: right means to give exactly
-- the gold's answers, or to have the better score if scores are all 0 or 1. Items that are neither correct nor incorrect
-- are an error. One row per pair of runs and item.
--
-- a: a submission, task/test_set/team/system; with @version also one that is not current
-- b: another submission
-- item: key of the item
-- gold: answers of the gold with types; NULL if items have scores instead
-- answers_a: answers of the first submission; NULL if items have scores instead
-- answers_b: answers of the second submission; NULL if items have scores instead
-- right_one: the submission that is correct: a or b
-- replicate_a: run of the first submission, from 0
-- replicate_b: run of the second submission, from 0
CREATE MACRO discordant_items(a, b) AS TABLE
WITH pair AS MATERIALIZED (
    FROM scoring_pair(a, b)
),
gold AS (
    SELECT
        item.item_id,
        item.key,
        pair.metric_id IS NOT NULL AS is_binary,
        coalesce(list(concat_ws(' ', answer.key, nullif(answer.type, '')) ORDER BY answer.answer_id)
            FILTER (answer.in_gold), []) AS answers
    FROM pair
    JOIN scoring ON scoring.scoring_id = pair.scoring_a
    JOIN item USING (gold_revision_id)
    LEFT JOIN answer ON answer.item_id = item.item_id
    GROUP BY ALL
),
given AS (
    SELECT
        response.scoring_id,
        response.replicate,
        answer.item_id,
        list(concat_ws(' ', answer.key, nullif(answer.type, '')) ORDER BY answer.answer_id) AS answers
    FROM response
    JOIN answer USING (answer_id)
    WHERE response.scoring_id IN (SELECT unnest([scoring_a, scoring_b]) FROM pair)
    GROUP BY ALL
    UNION ALL
    SELECT ratio.scoring_id, ratio.replicate, ratio.item_id, []
    FROM statistics_ratio_whole AS ratio
    JOIN pair
        ON ratio.scoring_id IN (pair.scoring_a, pair.scoring_b) AND ratio.metric_id = pair.metric_id
        AND ratio.numerator = pair.correct_score
),
run AS (
    SELECT scoring.scoring_id, submission_source.replicate
    FROM scoring
    JOIN submission_source USING (submission_id)
),
side_by_side AS (
    SELECT
        gold.*,
        coalesce(first.answers, []) AS answers_a,
        coalesce(second.answers, []) AS answers_b,
        CASE WHEN gold.is_binary THEN first.item_id IS NOT NULL ELSE answers_a = gold.answers END AS is_right_a,
        CASE WHEN gold.is_binary THEN second.item_id IS NOT NULL ELSE answers_b = gold.answers END AS is_right_b,
        run_a.replicate AS replicate_a,
        run_b.replicate AS replicate_b
    FROM pair
    CROSS JOIN gold
    JOIN run AS run_a ON run_a.scoring_id = pair.scoring_a
    JOIN run AS run_b ON run_b.scoring_id = pair.scoring_b
    LEFT JOIN given AS first
        ON first.item_id = gold.item_id AND first.scoring_id = run_a.scoring_id
        AND first.replicate = run_a.replicate
    LEFT JOIN given AS second
        ON second.item_id = gold.item_id AND second.scoring_id = run_b.scoring_id
        AND second.replicate = run_b.replicate
)
SELECT
    key AS item,
    CASE WHEN is_binary THEN NULL ELSE answers END AS gold,
    CASE WHEN is_binary THEN NULL ELSE answers_a END AS answers_a,
    CASE WHEN is_binary THEN NULL ELSE answers_b END AS answers_b,
    CASE WHEN is_right_a THEN 'a' ELSE 'b' END AS right_one,
    replicate_a,
    replicate_b
FROM side_by_side
WHERE is_right_a <> is_right_b
ORDER BY replicate_a, replicate_b, item_id
