"""A command reads at one moment what it shows, and parses the manifest once."""

import pytest

from registry.manifest import decode_manifest
from registry.store.database import Database
from tests.label_tasks import second_test_set

OTHER = second_test_set("gold.tsv", 'file = "systems/{system}.tsv"')


@pytest.fixture
def counted(monkeypatch, scored, task):
    """A task of two test sets that is compared; gives how often the database was opened since."""
    task.extra, task.documents = OTHER, {}
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace('{system}.tsv"', '{system}.tsv"\ntest_set = "test"', 1))
    scored(manifest, then=("pairs", "--wide"))  # keeps averages over test sets, which are loaded anew only to be made
    times, reading = {"opened": 0}, Database.reading

    def counting(database):
        times["opened"] += 1
        return reading(database)

    monkeypatch.setattr(Database, "reading", counting)
    decode_manifest.cache_clear()
    return times


PUBLISHING = ("page", "site", "export")
WITH_AVERAGES = ("page", "site", "--wide")  # whether these are kept is asked of the database in between


@pytest.mark.parametrize("command", [
    ("board",), ("board", "--wide"), ("board", "--ranks", "bootstrap"), ("pairs",), ("pairs", "--wide"),
    ("page", "small", "-o", "page.html", "--items", "3"), ("site", "-o", "site", "--items", "3"),
    ("plot", "small", "scores", "-o", "scores.svg", "--test-set", "dev"),
    ("export", "small", "wmt", "--test-set", "dev"), ("export", "small", "codabench", "--submission", "a/a"),
    ("items", "small", "disagree"), ("items", "small", "show", "i1"),
], ids=" ".join)
def test_a_command_reads_once_what_it_shows(registry, counted, command):
    """What shows public data opens the database twice before: is anything hidden, and does a manifest hide more?"""
    registry(*command)
    assert counted["opened"] == 1 + 2 * (command[0] in PUBLISHING) + any(part in WITH_AVERAGES for part in command)
    assert decode_manifest.cache_info().misses <= 1


def test_two_states_of_one_database_are_read_at_once(registry, counted):
    first, second = (signature.rpartition("|id:")[2] for signature in
                     sorted({row["signature"] for row in registry("board", "--format", "json").json}))
    counted["opened"] = 0
    registry("diff", first, second, exit_code=4)  # of two boards
    assert counted["opened"] == 1
