-- What every item contributes to a submission's score, as a score of the item alone. Families whose items have none
-- (pair, and those whose formula is in the metric's options: additive, meteor) are left out; read statistics_<family>.
-- ratio: numerator / denominator. prf: F1 = 2 true positives / (predicted + gold), whatever the metric's beta.
-- alignment: AER (Och and Ney 2003). confusion: 1 where the labels agree. bleu: BLEU of the segment over the orders that
-- it has, no match smoothed exponentially (Chen and Cherry 2014). chrf: chrF of the segment (Popović 2015), beta 2.
-- One row per submission, run, declared metric and item.
--
-- task: id of the task
-- test_set: name of the test set
-- team: name of the team
-- system: name of the system
-- metric: id of the metric in the manifest
-- better: whether a higher or a lower score is better
-- replicate: number of the system's run, from 0
-- item: key of the item
-- score: score of the item alone; NULL if it is 0/0
-- scoring_id: id of the submission's statistics
-- metric_id: id of the metric
-- item_id: id of the item
WITH bleu AS (
    SELECT
        * EXCLUDE (correct, total),
        list_filter(range(1, 5), lambda n: total[n] > 0) AS orders,
        list_transform(range(1, 5), lambda n: CASE
            WHEN correct[n] > 0 THEN correct[n]
            ELSE 0.5 ^ len(list_filter(correct[1:n], lambda matches: matches = 0))
        END) AS matched,
        total,
        list_sum(correct) AS n_matched
    FROM (
        SELECT
            *,
            [correct_1, correct_2, correct_3, correct_4] AS correct,
            [total_1, total_2, total_3, total_4] AS total
        FROM statistics_bleu
    )
),
chrf AS (
    SELECT
        scoring_id, metric_id, replicate, item_id,
        list_filter([
            (char_hyp_1, char_ref_1, char_match_1), (char_hyp_2, char_ref_2, char_match_2),
            (char_hyp_3, char_ref_3, char_match_3), (char_hyp_4, char_ref_4, char_match_4),
            (char_hyp_5, char_ref_5, char_match_5), (char_hyp_6, char_ref_6, char_match_6),
            (word_hyp_1, word_ref_1, word_match_1), (word_hyp_2, word_ref_2, word_match_2)
        ], lambda n: n[1] > 0 AND n[2] > 0) AS orders
    FROM statistics_chrf
),
chrf_sides AS (
    SELECT
        *,
        coalesce(list_avg(list_transform(orders, lambda n: n[3] / n[1])), 0) AS precision,
        coalesce(list_avg(list_transform(orders, lambda n: n[3] / n[2])), 0) AS recall
    FROM chrf
),
scored AS (
    SELECT scoring_id, metric_id, replicate, item_id, numerator / nullif(denominator, 0) AS score
    FROM statistics_ratio
    UNION ALL
    SELECT scoring_id, metric_id, replicate, item_id, 2 * true_positives / nullif(predicted + gold, 0)
    FROM statistics_prf
    UNION ALL
    SELECT
        scoring_id, metric_id, replicate, item_id, 1 - (sure_hits + possible_hits) / nullif(predicted + sure, 0)
    FROM statistics_alignment
    UNION ALL
    SELECT scoring_id, metric_id, replicate, item_id, (gold_label = predicted_label)::DOUBLE
    FROM statistics_confusion
    UNION ALL
    SELECT
        scoring_id, metric_id, replicate, item_id,
        CASE
            WHEN n_matched = 0 THEN 0
            ELSE 100 * exp(
                least(0, 1 - ref_len / hyp_len)
                + list_avg(list_transform(orders, lambda n: ln(matched[n] / total[n]))))
        END
    FROM bleu
    UNION ALL
    SELECT
        scoring_id, metric_id, replicate, item_id,
        CASE WHEN precision + recall = 0 THEN 0 ELSE 100 * 5 * precision * recall / (4 * precision + recall) END
    FROM chrf_sides
),
final AS (
    SELECT
        ranked_submission.task,
        ranked_submission.test_set,
        ranked_submission.team,
        ranked_submission.system,
        task_metric.alias AS metric,
        metric.better,
        scored.replicate,
        item.key AS item,
        scored.score,
        scored.scoring_id,
        scored.metric_id,
        scored.item_id
    FROM ranked_submission
    JOIN scored USING (scoring_id)
    JOIN metric USING (metric_id)
    JOIN task ON task.slug = ranked_submission.task
    JOIN task_metric
        ON task_metric.metric_id = scored.metric_id AND task_metric.task_id = task.task_id AND task_metric.is_declared
    JOIN item USING (item_id)
    WHERE ranked_submission.scoring_id IS NOT NULL
)
SELECT * FROM final
