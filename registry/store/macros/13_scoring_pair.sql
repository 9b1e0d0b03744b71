-- Two scorings of one test set whose items are correct or incorrect, by their answers or by scores that are all 0 or 1
-- (view binary_scoring). Others are an error, which names the reason and a view with the scores of their items. One row.
--
-- a: a submission, task/test_set/team/system; with @version also one that is not current
-- b: another submission
-- scoring_a: id of the first submission's scoring
-- scoring_b: id of the second submission's scoring
-- metric_id: id of the metric of the scores; NULL if items have answers
-- correct_score: score of a correct item; NULL if items have answers
-- gold: number of answers of the gold, or of items if items have scores
CREATE MACRO scoring_pair(a, b) AS TABLE
WITH named AS MATERIALIZED (
    SELECT scoring_named(a) AS scoring_a, scoring_beside(b, a) AS scoring_b
),
binary_score AS MATERIALIZED (
    FROM binary_scoring
),
fault AS (
    SELECT
        task.slug || '/' || test_set.name || CASE
            WHEN scoring.gold_revision_id NOT IN (SELECT gold_revision_id FROM item)
                THEN ': its gold is withheld, and with it everything about single items'
            ELSE ': its items are neither correct nor incorrect, because they have no answers and '
        END || CASE
            WHEN scoring.gold_revision_id NOT IN (SELECT gold_revision_id FROM item) THEN ''
            WHEN metric.family IN ('pair', 'additive', 'meteor')
                THEN 'no scores of their own by the primary metric ''' || task_metric.alias || '''; the table statistics_'
                || metric.family || ' has the part of each item in the score'
            WHEN metric.family = 'ratio' AND score.scoring_id IS NULL
                THEN 'no scores by the primary metric ''' || task_metric.alias || ''' yet; run `registry score ' || task.slug
                || '`'
            ELSE 'their scores by the primary metric ''' || task_metric.alias || ''' are not all 0 or 1; the view item_score '
                || 'has the score of each item'
        END AS text
    FROM named
    JOIN scoring ON scoring.scoring_id = named.scoring_a
    JOIN test_set USING (gold_revision_id)
    JOIN task USING (task_id)
    JOIN task_metric ON task_metric.task_id = task.task_id AND task_metric.is_primary AND task_metric.is_declared
    JOIN metric USING (metric_id)
    LEFT JOIN score ON score.scoring_id = scoring.scoring_id AND score.metric_id = metric.metric_id
),
gold AS (
    SELECT answer.gold_revision_id, count_if(answer.in_gold) AS n
    FROM named
    JOIN scoring ON scoring.scoring_id = named.scoring_a
    JOIN answer USING (gold_revision_id)
    GROUP BY answer.gold_revision_id
)
SELECT
    CASE
        WHEN gold.n IS NULL AND second.scoring_id IS NULL THEN error((SELECT text FROM fault))
        ELSE named.scoring_a
    END AS scoring_a,
    named.scoring_b,
    first.metric_id,
    first.correct_score,
    coalesce(gold.n, gold_revision.n_items) AS gold
FROM named
JOIN scoring ON scoring.scoring_id = named.scoring_a
JOIN gold_revision USING (gold_revision_id)
LEFT JOIN gold USING (gold_revision_id)
LEFT JOIN binary_score AS first ON first.scoring_id = named.scoring_a
LEFT JOIN binary_score AS second ON second.scoring_id = named.scoring_b AND first.scoring_id IS NOT NULL
