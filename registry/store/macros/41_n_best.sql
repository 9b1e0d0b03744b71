-- The acceptance set of the n best (Evert 2004, section 2): the n answers that a submission scores highest. With ties =
-- include there can be more than n of them, with exclude fewer. One row per run, item and answer.
--
-- submission: task/test_set/team/system; with @version also one that is not current
-- n: number of best answers
-- ties: selection of ties at the cut-off: random (some, by the seed), include (all) or exclude (none)
-- seed: seed of the random selection of ties
-- place: rank of the answer, from 1
-- item: key of the item
-- answer: the candidate
-- type: type of the answer; empty if answers have no types
-- correct: whether the gold contains the answer
-- score: the system's own score of the answer
-- replicate: number of the run, from 0
CREATE MACRO n_best(submission, n, ties := 'random', seed := 0) AS TABLE
SELECT * FROM ranked_answers(submission, ties := ties, seed := seed) WHERE place <= n
