"""`--test-set` selects the boards and items of a test set, in all commands that print them."""

import re
from pathlib import Path

import pytest

from tests.label_tasks import second_test_set

LISTS = (("board",), ("pairs",), ("effects", "small"), ("best", "small"), ("items", "small", "hard"),
         ("items", "small", "disagree"), ("items", "small", "suspect"))


@pytest.fixture
def two_sets(task, registry):
    """Score all systems on two test sets with the same items."""
    task.documents, task.gold = {}, {f"i{n}": "x" for n in range(10)}
    task.systems = {name: {item: "y" if n % step == 0 else "x" for n, item in enumerate(task.gold)}
                    for name, step in (("a", 5), ("b", 3))}  # both contradict the gold of i0
    task.extra = second_test_set("gold.tsv", 'file = "systems/{system}.tsv"')
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace('file = "systems/{system}.tsv"',
                                                     'file = "systems/{system}.tsv"\ntest_set = "test"', 1))
    registry("run", manifest)


@pytest.mark.parametrize("command", LISTS)
def test_rows_of_one_test_set(command, two_sets, registry):
    rows = registry(*command, "--format", "json").json
    assert {row["test_set"] for row in rows} == {"test", "dev"}
    assert registry(*command, "--test-set", "dev", "--format", "json").json == [
        row for row in rows if row["test_set"] == "dev"]


def test_an_item_of_one_test_set(two_sets, registry):
    item = registry("items", "small", "hard", "--format", "json").json[0]["item"]
    rows = registry("items", "small", "show", item, "--test-set", "dev", "--format", "json").json
    assert {row["test_set"] for row in rows} == {"dev"}


def test_a_page_of_one_test_set(two_sets, registry):
    registry("page", "small", "--test-set", "dev", "-o", "page.html")
    assert set(re.findall(r'"test_set": ?"(\w+)"', Path("page.html").read_text())) == {"dev"}


@pytest.mark.parametrize("command", [*LISTS, ("page", "small", "-o", "page.html"), ("compare-pair", "a", "b")])
def test_an_unknown_test_set_is_named(command, two_sets, registry):
    assert "unknown test set" in registry(*command, "--test-set", "dew", exit_code=3).stderr


def test_averages_have_no_test_set(two_sets, registry):
    refused = registry("pairs", "--wide", "--test-set", "dev", exit_code=3).stderr
    assert "--wide prints the pairs of averages; leave out" in refused
