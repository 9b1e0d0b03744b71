-- A scoring whose items have answers: labels, spans, sets, rankings. A scoring without answers is an error, because
-- no query can list its answers.
--
-- wanted: id of the scoring
CREATE MACRO require_answers(wanted) AS (
    SELECT if(
        scoring.gold_revision_id IN (SELECT gold_revision_id FROM answer),
        scoring.scoring_id,
        error(
            task.slug || '/' || test_set.name || if(
                scoring.gold_revision_id NOT IN (SELECT gold_revision_id FROM item),
                ': its gold is withheld, and with it everything about single items',
                ': its items have no answers that could be listed; the view item_score has their scores, and the macros '
                || 'contingency and discordant_items count and list correct items if all scores are 0 or 1'
            )
        )
    )
    FROM scoring
    JOIN test_set USING (gold_revision_id)
    JOIN task USING (task_id)
    WHERE scoring.scoring_id = wanted
)
