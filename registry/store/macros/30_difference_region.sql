-- The difference regions of two submissions (Evert 2004, section 3.2): D1, the answers that only the first gives, and D2,
-- those that only the second gives. The answers that both give say nothing of which is better.
-- Items without answers are an error. One row per pair of runs, region and answer.
--
-- a: a submission, task/test_set/team/system; with @version one that takes no part now
-- b: another submission
-- region: D1 (only the first gives it) or D2 (only the second)
-- item: the item's key
-- answer: what it says: a label, or the tokens of a span such as 3-4
-- type: the answer's type; empty where answers have none
-- correct: whether the gold has it
-- score: the system's own score of the answer; NULL where it gives none
-- replicate_a: the run of the first, counted from 0
-- replicate_b: the run of the second
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
