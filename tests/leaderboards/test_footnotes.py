"""Footnotes of boards: among which items their counts are."""


def test_a_remark_counts_in_all_items_where_a_board_has_some_of_them(registry, task, scored):
    """c is a copy of b; facets split the items."""
    task.test_set, task.submission = {"facets": ["document"]}, {"missing": "worst"}
    del task.systems["a"]["i5"]
    task.submission["options"] = {"columns": ["item", "label"]}
    scored(task)
    boards = registry("board", "--format", "table").stdout.split("\nsmall/test")
    whole, *parts = [" ".join(board.split()) for board in boards if "document=" not in board.split("\n")[0]], *[
        " ".join(board.split()) for board in boards if "document=" in board.split("\n")[0]]
    told = "a: 1 of 6 items has no answer"
    assert told in whole[0]
    for part in parts:
        assert told not in part
        assert "a, in all items of the test set: 1 of 6 items has no answer" in part
    wide = " ".join(registry("board", "--wide", "--format", "table").stdout.split())
    assert wide.count("1 of 6 items has no answer") == 1
