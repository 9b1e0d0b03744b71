"""What pages say of single systems, pairs and former bests, against counts by hand and what other SQL gives."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from registry.boards.details import (
    DistinctiveItem,
    Phases,
    load_confusions,
    load_distinctive_items,
    load_histories,
    load_phases,
    load_regions,
    load_runs,
    load_versions,
)
from registry.boards.load import load_leaderboards
from registry.store import catalog
from registry.store.database import Database

NOON = datetime(2026, 5, 1, 12)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(("begin", "end", "seen"), [
    (-3, None, -3), (-3, -2, -3), (-1, None, -1), (0, None, 1), (0, 1, None), (1, 2, 1), (3, 4, None), (3, None, 5)])
def test_what_was_hidden_is_seen_from_when_it_was_shown(begin, end, seen):
    """Hidden from noon for an hour, and again from three to four and from then to five."""
    hidden = Phases(tuple((NOON + a * HOUR, NOON + b * HOUR) for a, b in ((0, 1), (3, 4), (4, 5))))
    found = hidden.find_first_visible(NOON + begin * HOUR, None if end is None else NOON + end * HOUR)
    assert found == (None if seen is None else NOON + seen * HOUR)


@pytest.fixture
def reading(scored, task):
    """The task of six items, a connection to its registry, and its row; d has two runs and leaves an item out."""
    right = {k: v for k, v in task.gold.items() if k != "i0"}
    task.runs = {"d": {"1": right, "2": dict(task.systems["b"])}}
    task.submission = {"missing": "worst"}
    scored(task)
    with Database(Path("registry.duckdb")).reading() as connection:
        (row,) = catalog.tasks(connection)
        yield connection, row


def test_details_of_a_small_task(reading):
    """Of six items a gets all but i5, b and c get i0, i1 and i5, and d all but i0 and the same as b."""
    connection, task = reading
    (of,) = load_regions(connection, task, load_leaderboards(connection, task))
    assert (of.gold, of.is_complete, len(of.pairs)) == (6, True, 6)
    expected = {(row[0], row[1]): tuple(row[2:]) for row in connection.execute(text("""
        SELECT system_a, system_b, avg(d1_tp), avg(d1_fp), avg(d2_tp), avg(d2_fp), avg(shared_tp), avg(shared_fp)
        FROM pair_region GROUP BY ALL"""))}
    for pair in of.pairs:
        assert pair[2:] == pytest.approx(expected[pair.a[1], pair.b[1]])

    a = next(of for of in load_distinctive_items(connection, task, 2) if of.system == "a")
    assert (a.best_alone, a.worst_alone, a.right_or_wrong) == (3, 1, False), "i2 to i4, half of which one run of d gets"
    assert a.items == (DistinctiveItem("i2", 1, pytest.approx(1 / 6), True, True),
                       DistinctiveItem("i3", 1, pytest.approx(1 / 6), True, True),
                       DistinctiveItem("i5", 0, 1, False, True))

    assert not list(load_confusions(connection, task, every_name=False)), "few items have each label"
    (of,) = load_confusions(connection, task, every_name=True)
    assert (of.labels, of.gold, of.has_types) == (("no", "yes"), (3, 3), False)
    assert set(of.systems["a", "a"]) == {(0, 0, 3), (1, 1, 2), (1, 0, 1)}
    assert set(of.systems["d", "d"]) == {(0, 0, 3), (0, None, 1), (0, 1, 2), (1, 1, 5), (1, 0, 1)}
    (of_d,) = load_runs(connection, task)
    assert (of_d.system, of_d.scores, of_d.names) == ("d", (5 / 6, 1 / 2), ("run 1", "run 2"))


@pytest.mark.slow
def test_bests_and_versions_are_those_that_were_shown(registry, task):
    """The best moves from a to c, to d, whose first version is replaced while scores are hidden, and to a's second."""
    def submitted(system, right, version="1"):
        """Right on so many of 40 items."""
        Path("more.tsv").write_text("".join(f"{k}\t{v if n < right else 'none'}\n" for n, (k, v) in enumerate(
            task.gold.items())))
        registry("submit", "small", "more.tsv", "--system", system, "--version", version, "--run", "--workers", "1")

    task.documents = {}
    task.gold = {f"i{n}": "yes" for n in range(40)}
    task.systems = {name: {k: "yes" if n < right else "no" for n, k in enumerate(task.gold)}
                    for name, right in (("a", 10), ("b", 8))}
    registry("run", task.write())
    submitted("c", 25)
    registry("hide", "small", "--scores")
    submitted("d", 30)
    submitted("d", 38, "2")
    registry("reveal", "small", "--scores")
    submitted("a", 40, "2")
    with Database(Path("registry.duckdb")).reading() as connection:
        (row,) = catalog.tasks(connection)
        hidden = load_phases(connection, "small")
        ((since, until),) = hidden.hidden
        (history,) = load_histories(connection, row, hidden)
        assert [(of.display_name, of.score, of.significant) for of in history.bests] == [
            ("a", 10 / 40, None), ("c", 25 / 40, True), ("d@2", 38 / 40, True), ("a@2", 1, False)]
        assert (history.n_states, history.bests[2].time) == (4, until)
        assert since < until
        found = {(of.system, of.version): of.score for of in load_versions(connection, row, hidden)}
        assert found == {("a", "1"): 10 / 40, ("a", "2"): 1, ("b", "1"): 8 / 40, ("c", "1"): 25 / 40,
                         ("d", "1"): None, ("d", "2"): 38 / 40}
        first = connection.execute(text("SELECT min(event_id) FROM event WHERE action = 'hide'")).scalar_one()
        (before,) = load_histories(connection, row, Phases(), first)
        assert [of.display_name for of in before.bests] == ["a", "c"]


def test_bests_have_the_team_if_another_team_on_the_board_has_a_system_of_that_name(registry, task):
    registry("run", task.write())
    registry("submit", "small", task.folder / "systems" / "b.tsv", "--system", "a", "--team", "other", "--run")
    with Database(Path("registry.duckdb")).reading() as connection:
        (row,) = catalog.tasks(connection)
        (history,) = load_histories(connection, row, Phases())
        assert {best.display_name for best in history.bests} == {"a/a"}
