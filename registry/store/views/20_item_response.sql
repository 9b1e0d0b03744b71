-- Every answer that a submission taking part gives to an item, and whether the gold has it too: the acceptance sets of
-- Evert (2004, section 3.2). One row per submission, run, item and answer; the gold's own are table answer, in_gold. Items
-- without answers, such as imported scores and texts, have no row.
--
-- task: the task's id
-- test_set: the test set's name
-- team: the team's name
-- system: the system's name
-- item: the item's key
-- answer: what the system says: a label, or the tokens of a span such as 3-4
-- type: the answer's type, such as person; empty where answers have none
-- correct: whether the gold has the answer: a true positive, else a false positive
-- score: the system's own score of the answer; NULL where it gives none
-- replicate: the run of the system, counted from 0
-- submission_id: the submission
-- item_id: the item
-- answer_id: the answer
WITH final AS (
    SELECT
        ranked_submission.task,
        ranked_submission.test_set,
        ranked_submission.team,
        ranked_submission.system,
        item.key AS item,
        answer.key AS answer,
        answer.type,
        response.correct,
        response.score,
        response.replicate,
        ranked_submission.submission_id,
        item.item_id,
        answer.answer_id
    FROM response
    JOIN ranked_submission USING (scoring_id)
    JOIN answer USING (answer_id)
    JOIN item USING (item_id)
)
SELECT * FROM final
