-- The acceptance set of a threshold (Evert 2004, section 2): the answers with at least this score.
-- One row per run, item and answer.
--
-- submission: task/test_set/team/system; with @version one that takes no part now
-- threshold: the lowest score that is accepted
-- item: the item's key
-- answer: the candidate
-- type: the answer's type; empty where answers have none
-- correct: whether the gold has it
-- score: the system's own score of it
-- replicate: the run, counted from 0
CREATE MACRO above(submission, threshold) AS TABLE
SELECT item, answer, type, correct, score, replicate FROM responses(submission) WHERE score >= threshold
