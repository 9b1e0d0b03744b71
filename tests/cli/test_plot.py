"""`registry plot`: one leaderboard of a task as a figure."""

from dataclasses import replace

import pytest

from registry.boards.choose import (
    add_resampled_ranks,
    add_score_intervals,
    load_metric_leaderboards,
    select_best,
    select_leaderboard,
)
from registry.store import catalog
from registry.store.database import Database
from tests.conftest import ROOT

ENTITIES = ROOT / "sample_data" / "entities" / "task.toml"


@pytest.mark.parametrize(("kind", "form", "begins"), [
    ("scores", "pdf", b"%PDF"), ("pairs", "png", b"\x89PNG"), ("gains", "png", b"\x89PNG"), ("groups", "svg", b"<?xml"),
    ("ranks", "svg", b"<?xml")])
def test_a_leaderboard_is_drawn(registry, scored, task, tmp_path, kind, form, begins):
    scored(task)
    assert f"drawn: f.{form}" in registry("plot", "small", kind, "-o", f"f.{form}").stderr
    assert (tmp_path / f"f.{form}").read_bytes().startswith(begins)


def test_the_best_systems_are_drawn_by_what_the_whole_board_says(registry, scored, tmp_path):
    """Places, p-values and decisions stay, also where systems that are left out come into a group."""
    scored(ENTITIES)
    with Database("registry.duckdb").reading() as connection:
        (row,) = catalog.tasks(connection, "entities")
        board = select_leaderboard(load_metric_leaderboards(connection, row))
    few = select_best(board, 3, limit=3)
    assert [of.submission for of in few.standings] == [of.submission for of in board.standings[:3]]
    assert list(few.decisions) == [of for of in board.decisions if max(of.a, of.b) < 3]
    among = {tuple(place for place in group if place < 3) for group in board.groups} - {()}
    largest = {group for group in among if not any(set(group) < set(other) for other in among)}
    assert set(few.groups) == largest
    assert select_best(board, None, limit=200).groups == select_best(board, 999, limit=200).groups == board.groups
    for kind in ("scores", "pairs", "gains", "groups", "ranks"):
        registry("plot", "entities", kind, "-o", f"{kind}.svg", "--top", "2")
        assert (tmp_path / f"{kind}.svg").exists()


def test_a_figure_has_no_room_for_very_many_systems(registry, scored, task, monkeypatch):
    scored(task)
    monkeypatch.setattr("registry.cli.plot._MAX_SYSTEMS", 2)
    said = registry("plot", "small", "ranks", "-o", "f.svg", exit_code=4).stderr
    assert "small/test: acc = accuracy: 3 systems are too many for one figure; --top 2 draws the best 2" in said
    registry("plot", "small", "ranks", "-o", "f.svg", "--top", "2")


def without_intervals(board):
    """As earlier versions made it."""
    return replace(board, standings=tuple(replace(of, ci_low=None, ci_high=None) for of in board.standings))


def test_boards_of_earlier_versions_borrow_the_bootstrap_s_intervals(registry, scored):
    """They are those that the bootstrap's own board shows with the same seed."""
    scored(ENTITIES, db="e.db")
    with Database("e.db").reading() as connection:
        (row,) = catalog.tasks(connection, "entities")
        board = select_leaderboard(load_metric_leaderboards(connection, row))
        assert all(of.ci_low is not None for of in board.standings)
        borrowed = add_score_intervals(connection, row, without_intervals(board))
    registry("compare", "entities", "--test", "bootstrap", "--db", "e.db")
    own = registry("board", "entities", "--db", "e.db", "--format", "json").json
    assert [(of.ci_low, of.ci_high) for of in borrowed.standings] == [(of["ci_low"], of["ci_high"]) for of in own]


def test_the_best_systems_are_resampled_as_the_whole_board_is(scored):
    """Those that are not drawn change no end of an interval, and are in the way of places as before."""
    scored(ENTITIES)
    with Database("registry.duckdb").reading() as connection:
        (row,) = catalog.tasks(connection, "entities")
        board, ranked = (select_leaderboard(load_metric_leaderboards(connection, row, ranks=ranks)) for ranks in (
            "range", "bootstrap"))
        bare = without_intervals(board)
        whole, few = (add_score_intervals(connection, row, shown).standings
                      for shown in (bare, select_best(bare, 2, limit=2)))
        assert few == whole[:2]
        assert None not in (few[0].ci_low, few[0].ci_high)
        assert add_resampled_ranks(connection, row, select_best(board, 2, limit=2)).standings == ranked.standings[:2]
        assert len(ranked.standings[0].frequencies) == len(ranked.standings) > 2


def test_pairs_are_marked_by_an_attribute_of_submissions(registry, scored, task):
    task.extra = "[[submit]]\nfile = 'systems/a.tsv'\nsystem = 'big'\nattributes = { parameters = 7e9 }"
    scored(task)
    registry("plot", "small", "gains", "-o", "f.svg", "--by", "parameters")
    said = registry("plot", "small", "gains", "-o", "f.svg", "--by", "paramters", exit_code=3).stderr
    assert "unknown attribute of submissions 'paramters'; did you mean 'parameters'?" in said
    refused = registry("plot", "small", "pairs", "-o", "f.svg", "--by", "kind", exit_code=3).stderr
    assert "--by marks pairs only in the figure of gains; leave out --by for pairs" in refused


def test_the_board_is_chosen(registry, scored, task):
    task.test_set = {"facets": ["document"]}
    scored(task)
    registry("plot", "small", "scores", "-o", "f.svg", "--facet", "document=d1", "--metric", "acc")
    for options, said in (
            (("--facet", "document=d9"), "unknown facet 'document=d9'"), (("--test-set", "dev"), "unknown test set"),
            (("--metric", "f1"), "unknown metric 'f1'"), (("--track", "open"), "unknown track 'open'")):
        assert said in registry("plot", "small", "scores", "-o", "f.svg", *options, exit_code=3).stderr


def test_several_boards_are_too_many(registry, scored, task):
    task.extra = "[[submit]]\nfile = 'systems/a.tsv'\nsystem = 'again'\ntrack = 'open'"
    task.submission = {"track": "closed"}
    scored(task)
    said = registry("plot", "small", "scores", "-o", "f.svg", exit_code=4).stderr
    assert "2 leaderboards match; choose one by --test-set and --track: small/test, track closed: acc" in said
    registry("plot", "small", "scores", "-o", "f.svg", "--track", "open")


def test_the_board_of_no_track_is_meant_where_no_track_is_given(scored, task):
    task.extra = "[[submit]]\nfile = 'systems/a.tsv'\nsystem = 'again'\ntrack = 'open'"
    scored(task)
    with Database("registry.duckdb").reading() as connection:
        (row,) = catalog.tasks(connection, "small")
        boards = load_metric_leaderboards(connection, row)
    assert [of.system for of in select_leaderboard(boards).standings] == ["b", "c"]
    assert [of.system for of in select_leaderboard(boards, track="open").standings] == ["again"]
