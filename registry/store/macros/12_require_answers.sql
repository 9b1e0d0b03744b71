-- A scoring whose items have answers: labels, spans, sets, rankings. A scoring without answers is an error, because
-- no query can list its answers.
--
-- wanted: id of the scoring
CREATE MACRO require_answers(wanted) AS (
    SELECT CASE
        WHEN scoring.gold_revision_id IN (SELECT gold_revision_id FROM answer) THEN scoring.scoring_id
        ELSE error(
            task.slug || '/' || test_set.name || CASE
                WHEN scoring.gold_revision_id NOT IN (SELECT gold_revision_id FROM item)
                    THEN ': its gold is withheld, and with it everything about single items'
                ELSE ': its items have no answers to list; read their scores from the view item_score, or, if all scores are '
                || '0 or 1, count and list correct items with the macros contingency and discordant_items'
            END
        )
    END
    FROM scoring
    JOIN test_set USING (gold_revision_id)
    JOIN task USING (task_id)
    WHERE scoring.scoring_id = wanted
)
