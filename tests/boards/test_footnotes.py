"""Footnotes of boards: among which items their counts are, and which scores are alike as they are shown."""

from dataclasses import replace

from registry.boards.leaderboard import get_metric_display
from registry.metrics import METRICS
from tests.reports.boards import leaderboard

MANIFEST = """{"manifest": 1, "task": {"id": "t"}, "test_set": [{"name": "test", "gold": "g", "format": "lines"}],
    "metric": [{"name": "BLEU"}, {"name": "chrF", "decimals": 1}, {"name": "WER"}]}"""


def test_decimals_are_those_of_the_metric_unless_the_task_says_otherwise():
    """Metrics from 0 to 100 have two, as others from 0 to 1 have four."""
    decimals = {name: get_metric_display(MANIFEST, name, repr(METRICS[name]()))["decimals"]
                for name in ("BLEU", "chrF", "WER")}
    assert decimals == {"BLEU": 2, "chrF": 1, "WER": 4}
    assert get_metric_display(MANIFEST, "gone", repr(METRICS["TER"]())) == {"declared_title": None, "decimals": 2}


def test_scores_that_differ_behind_what_is_shown_are_told_of():
    board = replace(leaderboard("abcd", [26.123, 26.1191, 26.12, 20.0]), decimals=2)
    (told,) = board.footnotes
    assert told.startswith("Scores of a, b, c differ only in digits that are not shown")
    assert replace(board, decimals=3).footnotes == ()
    ties = [replace(of, rank=1, score=26.12) for of in board.standings[:3]]
    assert replace(board, standings=(*ties, board.standings[3])).footnotes == ()
    several = replace(leaderboard("abcd", [26.123, 26.121, 20.001, 20.0]), decimals=2)
    assert [told[:24] for told in several.footnotes] == ["Scores of 4 systems diff"]


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
