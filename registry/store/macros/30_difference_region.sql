-- The difference regions of two submissions (Evert 2004, section 3.2): D1, the answers that only the first gives, and D2,
-- the answers that only the second gives. Answers that both give do not show which submission is better.
-- Items without answers are an error. One row per pair of runs, region and answer.
--
-- a: a submission, task/test_set/team/system; with @version also one that is not current
-- b: another submission
-- region: D1 (only the first gives it) or D2 (only the second)
-- item: key of the item
-- answer: the answer: a label, or the tokens of a span such as 3-4
-- type: type of the answer; empty if answers have no types
-- correct: whether the gold contains the answer
-- score: the system's own score of the answer; NULL if it has none
-- replicate_a: run of the first submission, from 0
-- replicate_b: run of the second submission, from 0
CREATE MACRO difference_region(a, b) AS TABLE
WITH first AS (
    SELECT * FROM response WHERE scoring_id = require_answers(scoring_named(a))
),
second AS (
    SELECT * FROM response WHERE scoring_id = scoring_beside(b, a)
),
run AS (
    SELECT scoring.scoring_id, submission_source.replicate
    FROM scoring
    JOIN submission_source USING (submission_id)
),
only_one AS (
    SELECT 'D1' AS region, first.answer_id, first.correct, first.score, first.replicate AS replicate_a,
        run.replicate AS replicate_b
    FROM first
    JOIN run ON run.scoring_id = scoring_named(b)
    ANTI JOIN second ON second.answer_id = first.answer_id AND second.replicate = run.replicate
    UNION ALL
    SELECT 'D2', second.answer_id, second.correct, second.score, run.replicate, second.replicate
    FROM second
    JOIN run ON run.scoring_id = scoring_named(a)
    ANTI JOIN first ON first.answer_id = second.answer_id AND first.replicate = run.replicate
)
SELECT
    only_one.region,
    item.key AS item,
    answer.key AS answer,
    answer.type,
    only_one.correct,
    only_one.score,
    only_one.replicate_a,
    only_one.replicate_b
FROM only_one
JOIN answer USING (answer_id)
JOIN item USING (item_id)
