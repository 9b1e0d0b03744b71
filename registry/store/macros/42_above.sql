-- The acceptance set of a threshold (Evert 2004, section 2): the answers with at least this score.
-- One row per run, item and answer.
--
-- submission: task/test_set/team/system; with @version also one that is not current
-- threshold: lowest accepted score
-- item: key of the item
-- answer: the candidate
-- type: type of the answer; empty if answers have no types
-- correct: whether the gold contains the answer
-- score: the system's own score of the answer
-- replicate: number of the run, from 0
CREATE MACRO above(submission, threshold) AS TABLE
SELECT item, answer, type, correct, score, replicate FROM responses(submission) WHERE score >= threshold
