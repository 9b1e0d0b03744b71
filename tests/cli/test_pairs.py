"""`registry pairs` prints all pairs, or those that are asked for."""

import itertools

import pytest

from tests.conftest import ROOT


@pytest.fixture
def entities(scored):
    scored(ROOT / "sample_data" / "entities" / "task.toml")


def shown(registry, *options):
    return [(row["system_a"], row["system_b"]) for row in registry("pairs", *options, "--format", "json").json]


@pytest.mark.usefixtures("entities")
def test_some_pairs_are_those_of_all_that_are_meant(registry):
    board = [row["system"] for row in registry("board", "--metric", "span_f1", "--format", "json").json]
    pairs = shown(registry, "--metric", "span_f1")
    place = {name: n for n, name in enumerate(board)}
    assert pairs == [(a, b) for a in board for b in board if place[a] < place[b]]
    chosen = {
        ("--system", board[2]): [pair for pair in pairs if board[2] in pair],
        ("--top", "3"): [pair for pair in pairs if max(place[a] for a in pair) < 3],
        ("--neighbours", "1"): list(itertools.pairwise(board)),
        ("--limit", "2"): pairs[:2],
        ("--system", board[0], "--neighbours", "2", "--limit", "1"): [(board[0], board[1])],
    }
    for options, expected in chosen.items():
        assert shown(registry, "--metric", "span_f1", *options) == expected


@pytest.mark.usefixtures("entities")
def test_an_unknown_system_is_named_with_those_there_are(registry):
    assert "unknown system 'aspn-s'; did you mean 'aspen-s'" in registry(
        "pairs", "--system", "aspn-s", exit_code=3).stderr
    assert "leave out --system" in registry("pairs", "--wide", "--top", "2", exit_code=3).stderr


def test_a_system_of_one_task_is_found_beside_others(registry, scored):
    """Leaderboards that it is not on have no pair of it."""
    scored(ROOT / "sample_data" / "entities" / "task.toml")
    registry("run", ROOT / "sample_data" / "stance" / "task.toml")
    rows = registry("pairs", "--system", "aspen-s", "--format", "json").json
    assert {row["task"] for row in rows} == {"entities"}
    assert all("aspen-s" in (row["system_a"], row["system_b"]) for row in rows)


def test_pairs_beyond_all_reading_are_not_printed(registry, scored, task, monkeypatch):
    scored(task)
    monkeypatch.setattr("registry.cli.results._MAX_PAIRS", 2)
    said = registry("pairs", "small", exit_code=3).stderr
    assert "3 pairs are too many to print; select some by --system, --top, --neighbours or --limit, or write" in said
    assert len(registry("pairs", "small", "--limit", "2", "--format", "json").json) == 2
