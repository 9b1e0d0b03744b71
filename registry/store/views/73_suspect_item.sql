-- Where the gold may be wrong: items that all submissions miss, because on some answer all their runs contradict the
-- gold: nobody gives an answer that it has, or everybody one that it lacks. The most frequent answer
-- against the gold, and its number of runs, show how likely an error of the gold is. Items without answers are left out. One row per such item; the most
-- suspect come first.
--
-- task: id of the task
-- test_set: name of the test set
-- item: key of the item
-- missed: answers of the gold that no run gives
-- spurious: answers of all runs that the gold does not contain
-- instead: most frequent answer that contradicts the gold; NULL if there is none
-- support: number of runs with this answer
-- runs: number of runs of current submissions
-- item_id: id of the item
WITH judged AS (
    SELECT *, concat_ws(' ', answer, nullif(type, '')) AS said FROM answer_support
),
by_item AS (
    SELECT
        task,
        test_set,
        item,
        coalesce(list(said ORDER BY answer_id) FILTER (in_gold AND runs_with_answer = 0), []) AS missed,
        coalesce(list(said ORDER BY answer_id) FILTER (NOT in_gold AND runs_with_answer = runs), []) AS spurious,
        first(said ORDER BY runs_with_answer DESC, answer_id) FILTER (NOT in_gold) AS instead,
        coalesce(max(runs_with_answer) FILTER (NOT in_gold), 0) AS support,
        runs,
        item_id
    FROM judged
    GROUP BY task, test_set, item, runs, item_id
),
final AS (
    SELECT *
    FROM by_item
    WHERE missed <> [] OR spurious <> []
    ORDER BY task, test_set, support DESC, item_id
)
SELECT * FROM final
