-- Where the gold may be wrong: items that all submissions miss, because on some answer all their runs contradict the
-- gold: nobody gives an answer that it has, or everybody one that it lacks. What most agree on against the gold, and how
-- many, says how much there is to it. One row per such item; the most suspect come first.
--
-- task: the task's id
-- test_set: the test set's name
-- item: the item's key
-- missed: the gold's answers that nobody gives
-- spurious: the answers that everybody gives and the gold lacks
-- instead: the answer against the gold that most give; NULL where there is none
-- support: how many runs give that
-- runs: how many runs take part
-- item_id: the item
WITH run_count AS (
    SELECT ranked.task, ranked.test_set, ranked.test_set_id, ranked.gold_revision_id, count(*) AS runs
    FROM ranked_submission AS ranked
    JOIN submission_source USING (submission_id)
    WHERE ranked.scoring_id IS NOT NULL
    GROUP BY ALL
),
support AS (
    SELECT response.answer_id, count(*) AS n
    FROM response
    JOIN ranked_submission AS ranked USING (scoring_id)
    WHERE ranked.scoring_id IS NOT NULL
    GROUP BY response.answer_id
),
judged AS (
    SELECT
        run_count.task,
        run_count.test_set,
        run_count.runs,
        answer.item_id,
        answer.answer_id,
        answer.in_gold,
        concat_ws(' ', answer.key, nullif(answer.type, '')) AS said,
        coalesce(support.n, 0) AS n
    FROM answer
    JOIN run_count USING (gold_revision_id)
    LEFT JOIN support USING (answer_id)
),
by_item AS (
    SELECT
        task,
        test_set,
        coalesce(list(said ORDER BY answer_id) FILTER (in_gold AND n = 0), []) AS missed,
        coalesce(list(said ORDER BY answer_id) FILTER (NOT in_gold AND n = runs), []) AS spurious,
        first(said ORDER BY n DESC, answer_id) FILTER (NOT in_gold AND n > 0) AS instead,
        coalesce(max(n) FILTER (NOT in_gold), 0) AS support,
        runs,
        item_id
    FROM judged
    GROUP BY task, test_set, runs, item_id
),
final AS (
    SELECT
        by_item.task,
        by_item.test_set,
        item.key AS item,
        by_item.missed,
        by_item.spurious,
        by_item.instead,
        by_item.support,
        by_item.runs,
        by_item.item_id
    FROM by_item
    JOIN item USING (item_id)
    WHERE by_item.missed <> [] OR by_item.spurious <> []
    ORDER BY by_item.task, by_item.test_set, by_item.support DESC, by_item.item_id
)
SELECT * FROM final
