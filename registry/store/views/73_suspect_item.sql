-- Where the gold may be wrong: items that all submissions miss, because on some answer all their runs contradict the
-- gold: nobody gives an answer that it has, or everybody one that it lacks. What most agree on against the gold, and how
-- many, says how much there is to it. Items without answers are left out. One row per such item; the most
-- suspect come first.
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
