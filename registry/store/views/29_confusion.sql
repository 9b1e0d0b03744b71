-- Confusion matrices: answers of submissions that differ from the gold. If every item has one answer without a
-- type, labels are confused; if answers have types, the types of answers at the same place (spans of the same tokens,
-- arcs between the same words). What gold and system have in common counts first; of what is left at a place, one
-- answer of the gold and one of the system are a confusion, and any others are missed or too many. Golds of several
-- answers without a type, such as links or documents, have no rows; nor have texts.
-- One row per submission, run, and pair of names that occurs.
--
-- task: id of the task
-- test_set: name of the test set
-- team: name of the team
-- system: name of the system
-- version: version of the submission
-- replicate: number of the system's run, from 0
-- gold: label or type of the gold; NULL if the gold has none at this place
-- predicted: label or type of the system; NULL if it gives none
-- items: number of items with this confusion; for types, number of places
-- scoring_id: id of the submission's responses
WITH kind AS (
    SELECT gold_revision_id, bool_or(type <> '') AS typed
    FROM answer
    WHERE in_gold
    GROUP BY gold_revision_id
    HAVING bool_or(type <> '') OR count(*) = count(DISTINCT item_id)
),
named AS (
    SELECT
        answer.answer_id,
        answer.gold_revision_id,
        answer.item_id,
        CASE WHEN kind.typed THEN answer.key ELSE '' END AS place,
        CASE WHEN kind.typed THEN answer.type ELSE answer.key END AS name,
        answer.in_gold
    FROM answer
    JOIN kind USING (gold_revision_id)
),
run AS (
    SELECT ranked.*, source.replicate
    FROM ranked_submission AS ranked
    JOIN submission_source AS source USING (submission_id)
    WHERE ranked.scoring_id IS NOT NULL
),
shared AS (
    SELECT response.scoring_id, response.replicate, named.name AS gold, named.name AS predicted
    FROM response
    JOIN named USING (answer_id)
    WHERE response.correct
),
apart AS (
    SELECT run.scoring_id, run.replicate, named.item_id, named.place, named.name, TRUE AS of_gold
    FROM run
    JOIN named ON named.gold_revision_id = run.gold_revision_id AND named.in_gold
    ANTI JOIN response
        ON response.scoring_id = run.scoring_id
        AND response.replicate = run.replicate
        AND response.answer_id = named.answer_id
    UNION ALL
    SELECT response.scoring_id, response.replicate, named.item_id, named.place, named.name, FALSE
    FROM response
    JOIN named USING (answer_id)
    WHERE NOT response.correct
),
at_place AS (
    SELECT
        scoring_id,
        replicate,
        coalesce(list(name) FILTER (of_gold), []) AS golds,
        coalesce(list(name) FILTER (NOT of_gold), []) AS others
    FROM apart
    GROUP BY scoring_id, replicate, item_id, place
),
confused AS (
    SELECT
        scoring_id,
        replicate,
        unnest(CASE
            WHEN len(golds) = 1 AND len(others) = 1 THEN [{'gold': golds[1], 'predicted': others[1]}]
            ELSE list_concat(
                list_transform(golds, lambda name: {'gold': name, 'predicted': NULL::VARCHAR}),
                list_transform(others, lambda name: {'gold': NULL::VARCHAR, 'predicted': name}))
        END, recursive := TRUE)
    FROM at_place
),
counted AS (
    SELECT scoring_id, replicate, gold, predicted, count(*) AS items
    FROM (FROM shared UNION ALL FROM confused)
    GROUP BY ALL
),
final AS (
    SELECT
        run.task,
        run.test_set,
        run.team,
        run.system,
        run.version,
        run.replicate,
        counted.gold,
        counted.predicted,
        counted.items,
        run.scoring_id
    FROM run
    JOIN counted USING (scoring_id, replicate)
)
SELECT * FROM final
