"""Boards of guesses: those of the manifests, and the same by the manifest that is written."""

from pathlib import Path

import pytest

from tests.guessing.test_guessing import GOLD, RIGHT, A, B
from tests.scenarios.guesses import LAYOUTS, compared


@pytest.mark.parametrize("name", ["stance", "collocations"])
def test_the_board_is_that_of_the_manifest(name):
    """All samples and real tasks: `python -m tests.scenarios.guesses`."""
    assert compared(LAYOUTS[name])["is right"]


def test_without_a_manifest_and_with_the_one_that_is_guessed(layout, registry, tmp_path):
    """Nothing is left behind but what is to be kept; the manifest runs as it is, to the same board."""
    paths = layout(RIGHT["two columns"][0])
    before = {*tmp_path.rglob("*")}
    done = registry("quick", *paths, "--format", "json")
    assert {*tmp_path.rglob("*")} == before
    assert {row["system"]: row["score"] for row in done.json} == {
        name: sum(map(str.__eq__, GOLD, labels)) / 24 for name, labels in (("system1", A), ("system2", B))}
    assert "guess: labels in column 2 of 2: the gold has 3: maybe, no, yes" in done.stderr
    registry("quick", *paths, "--keep", "kept", "--db", "kept.duckdb")
    kept = registry("board", "kept", "--db", "kept.duckdb", "--format", "json").json
    assert [row["score"] for row in kept] == [row["score"] for row in done.json]
    registry("new", "mine", "--from", *paths)
    assert "# Guessed: items by column 1 of 2" in Path("mine/task.toml").read_text()
    again = registry("run", "mine/task.toml", "--db", "mine.duckdb", "--format", "json").json
    assert [row["rank"] for row in again] == [row["rank"] for row in done.json]
    assert [row["score"] for row in again] == [row["score"] for row in done.json]


def test_a_gold_that_is_named_by_an_option(layout, registry):
    paths = layout(RIGHT["two columns"][0])
    board = registry("quick", *paths, "--format", "json").json
    corpus = paths[0].rename(paths[0].with_name("corpus"))
    refused = registry("quick", corpus, *paths[1:], exit_code=3)
    assert f"--gold {corpus}" in refused.stderr
    named = registry("quick", *paths[1:], corpus, "--gold", corpus, "--format", "json").json
    assert [(row["system"], row["score"]) for row in named] == [(row["system"], row["score"]) for row in board]
    registry("new", "mine", "--from", corpus, *paths[1:], "--gold", corpus)
    assert 'gold = "corpus"' in Path("mine/task.toml").read_text()
    assert "--gold goes with files that are guessed" in registry(
        "quick", paths[1], "--as", "wide", "--gold", corpus, exit_code=3).stderr
