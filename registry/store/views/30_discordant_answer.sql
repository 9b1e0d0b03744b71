-- Difference regions (Evert 2004, section 3.2): for every ordered pair of submissions, the answers that only the first
-- one gives (D1 of the pair; D2 is D1 of the reversed pair), by whether they are correct.
-- With one answer per item, the correct ones are McNemar's discordant items. One row per ordered pair of submissions,
-- pair of their runs, and answer.
WITH final AS (
    SELECT
        a.task,
        a.test_set,
        a.team AS team_a,
        a.system AS system_a,
        b.team AS team_b,
        b.system AS system_b,
        item.key AS item,
        answer.key AS answer,
        answer.type,
        response.correct,
        response.replicate AS replicate_a,
        source_b.replicate AS replicate_b
    FROM ranked_submission AS a
    JOIN ranked_submission AS b ON b.test_set_id = a.test_set_id AND b.submission_id <> a.submission_id
    JOIN response ON response.scoring_id = a.scoring_id
    JOIN answer ON answer.answer_id = response.answer_id
    JOIN item ON item.item_id = answer.item_id
    JOIN submission_source AS source_b ON source_b.submission_id = b.submission_id
    ANTI JOIN response AS other
        ON other.scoring_id = b.scoring_id
        AND other.answer_id = response.answer_id
        AND other.replicate = source_b.replicate
)
SELECT * FROM final
