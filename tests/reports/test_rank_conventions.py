"""One convention of ranks in all that is shown of a board: places, clusters, rules and letters never contradict it."""

from dataclasses import replace

import pytest

from registry.boards.submissions import describe_places
from registry.reports.boards import make_board_table, make_wide_boards, make_wide_table
from registry.reports.exports import draw_badge
from registry.reports.page.data import make_board_data
from registry.reports.paper_tables import render_latex_board
from tests.reports.boards import leaderboard

SIMULTANEOUS = [(1, 2), (1, 2), (3, 3), (4, 5), (4, 5)]
NEIGHBOURS = [(1, 2), (1, 3), (2, 4), (3, 5), (4, 5)]


def board(ranks):
    """Five systems in clusters of two by their decisions; the last but one is a baseline that is not ranked."""
    few = leaderboard("abcdef")
    at = iter(zip(SIMULTANEOUS, NEIGHBOURS, (1, 1, 2, 2, 3), strict=True))
    none = dict.fromkeys(("rank", "rank_low", "rank_high", "cluster"))
    standings = [replace(of, **none) if n == 4 else replace(
        of, simultaneous_low=simultaneous[0], simultaneous_high=simultaneous[1], neighbour_low=neighbours[0],
        neighbour_high=neighbours[1], cluster=cluster)
        for n, of in enumerate(few.standings) if n == 4 or (found := next(at))
        for simultaneous, neighbours, cluster in [found]]
    return replace(few, standings=tuple(standings), ranks=ranks)


def said(left):
    return [f"{low}-{high}" if low != high else str(low) for low, high in left]


@pytest.mark.parametrize(("ranks", "left", "clusters", "lettered"), [
    ("cluster", [(1, 2), (1, 2), (3, 4), (3, 4), (5, 5)], [1, 1, 2, 2, 3], True),
    ("neighbour", NEIGHBOURS, [1, 1, 2, 2, 3], False),
    ("simultaneous", SIMULTANEOUS, [1, 1, 2, 3, 3], False)])
def test_places_clusters_rules_and_letters_are_of_one_convention(ranks, left, clusters, lettered):
    of = board(ranks)
    shown = [*said(left[:4]), "-", *said(left[4:])]
    table = make_board_table(of)
    columns = {column.heading: [row[column.key] for row in table.rows] for column in table.columns}
    assert columns["cluster"] == [*clusters[:4], None, *clusters[4:]]
    assert ("group" in columns) == lettered
    if ranks != "cluster":
        assert columns[{"neighbour": "neighbours"}.get(ranks, ranks)] == shown
    page = make_board_data(of, [of], None)["standings"]
    assert (page["range"], page["in_cluster"]) == (shown, columns["cluster"])
    whole = replace(of, ranks="range", standings=tuple(replace(one, cluster=1) for one in of.standings))
    rules, without = (render_latex_board(drawn).count(r"\midrule") for drawn in (of, whole))
    assert rules - without == len(set(clusters)) - 1
    (wide,) = make_wide_boards([of], [], of.metric)
    (row, *_), cells = make_wide_table(wide).rows, [row["acc shown"] for row in make_wide_table(wide).rows]
    assert row["acc cluster"] == 1, "for programs as ever"
    assert [cell.partition(" ")[2].strip("()") or "-" for cell in cells] == shown
    badge = draw_badge(of, of.standings[-1], "t")
    assert ("cluster 3 of 3" if ranks == "cluster" else f"rank {shown[-1]} of 5") in badge
    (place,) = describe_places([of], "test", of.standings[0].submission)
    by = "simultaneous ranks" if ranks == "simultaneous" else "significant differences"
    assert f"({by} leave 1 to 2 open)" in place


def test_people_do_not_see_letters_that_are_too_many_to_be_read():
    few = leaderboard("abc")
    for letters, seen in (("a" * 24, True), ("a" * 25, False)):
        of = replace(few, standings=(replace(few.standings[0], letters=letters), *few.standings[1:]))
        assert ("group" in [column.heading for column in make_board_table(of).columns]) == seen
        assert ("letters" in make_board_data(of, [of], None)["columns"]) == seen
        assert make_board_table(of).rows[0]["letters"] == letters, "for programs as ever"
