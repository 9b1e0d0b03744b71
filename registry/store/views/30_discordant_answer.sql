-- Difference regions (Evert 2004, section 3.2): for every ordered pair of submissions, the answers that only the first
-- one gives (D1 of the pair; D2 is D1 of the reversed pair), by whether they are correct. Where each item has one
-- answer, the correct ones are McNemar's (1947) discordant items; Yeh (2000) shuffles these answers.
-- Items without answers have no row; the macro discordant_items takes scores of 0 and 1, too.
-- One row per ordered pair of submissions, pair of their runs, and answer.
--
-- task: id of the task
-- test_set: name of the test set
-- team_a: team of the submission with the answer
-- system_a: name of the system with the answer
-- team_b: team of the other submission
-- system_b: name of the system without the answer
-- item: key of the item
-- answer: the first system's answer: a label, or the tokens of a span such as 3-4
-- type: type of the answer, such as person; empty if answers have no types
-- correct: whether the gold contains the answer
-- replicate_a: run of the first system, from 0
-- replicate_b: run of the second system, from 0
WITH ranked AS (
    SELECT * FROM ranked_submission WHERE scoring_id IS NOT NULL
),
final AS (
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
        only_a.correct,
        only_a.replicate AS replicate_a,
        source_b.replicate AS replicate_b
    FROM ranked AS a
    JOIN ranked AS b ON b.test_set_id = a.test_set_id AND b.submission_id <> a.submission_id
    JOIN submission_source AS source_b ON source_b.submission_id = b.submission_id
    CROSS JOIN LATERAL (
        SELECT ours.answer_id, ours.correct, ours.replicate
        FROM response AS ours
        WHERE ours.scoring_id = a.scoring_id
            AND NOT EXISTS (
                SELECT 1
                FROM response AS theirs
                WHERE theirs.scoring_id = b.scoring_id
                    AND theirs.replicate = source_b.replicate
                    AND theirs.answer_id = ours.answer_id
            )
    ) AS only_a
    JOIN answer ON answer.answer_id = only_a.answer_id
    JOIN item ON item.item_id = answer.item_id
)
SELECT * FROM final
