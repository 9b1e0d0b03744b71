-- Every answer of a current submission to an item, and whether the gold contains it: the acceptance sets of
-- Evert (2004, section 3.2). One row per submission, run, item and answer; the gold's own are table answer, in_gold. Items
-- without answers, such as imported scores and texts, have no row.
--
-- task: id of the task
-- test_set: name of the test set
-- team: name of the team
-- system: name of the system
-- item: key of the item
-- answer: the system's answer: a label, or the tokens of a span such as 3-4
-- type: type of the answer, such as person; empty if answers have no types
-- correct: whether the gold contains the answer: a true positive, else a false positive
-- score: the system's own score of the answer; NULL if it has none
-- replicate: number of the system's run, from 0
-- submission_id: id of the submission
-- item_id: id of the item
-- answer_id: id of the answer
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
