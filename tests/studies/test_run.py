"""Studies are made once, kept with their provenance, and go on where they were interrupted."""

import json
from pathlib import Path
from typing import ClassVar

import pytest

from registry.errors import InputError, MismatchError, StoreError, UnknownNameError
from registry.store import comparisons
from registry.store.database import Database
from registry.store.log import Journal
from registry.studies import STUDIES
from registry.studies import run as running
from registry.studies.run import Archive
from registry.studies.study import BoardStudy, Choice, Finding
from registry.values import parse


class Counting(BoardStudy):
    """Counts the letters of words, and stops at some word the first time."""

    name: ClassVar[str] = "counting"
    title: ClassVar[str] = "How long are words?"
    citation: ClassVar[str] = "-"
    stops_at: ClassVar[str] = ""
    computed: ClassVar[list[str]] = []

    def run(self, case):
        def count(word):
            if word == self.stops_at:
                raise KeyboardInterrupt
            self.computed.append(word)
            return {"n": len(word), "undefined": None}

        parts = case.parts.compute_all(["one", "three", "eleven"], count)
        return Finding({"words": [{"z": part["n"], "a": float("nan")} for part in parts]}, ["Words are short."])


@pytest.fixture
def conducted(task, scored, monkeypatch):
    """Makes a study of a small task by the study's value."""
    scored(task)
    monkeypatch.setattr(Counting, "computed", [])

    def run(study, **choice):
        archive = Archive(Database("registry.duckdb"), Journal("study", {}))
        return running.run_study(archive, study, Choice("small", **choice))

    return run


def rows(registry, table):
    return registry("query", f"SELECT * FROM {table}", "--format", "json").json


def test_a_study_is_made_once_and_kept(conducted, registry):
    (first,), (again,) = conducted(Counting()), conducted(Counting())
    assert first.is_new
    assert not again.is_new
    assert first.finding == again.finding
    assert first.finding.tables == {"words": [{"z": n, "a": None} for n in (3, 5, 6)]}
    assert list(first.finding.tables["words"][0]) == ["z", "a"]
    assert Counting.computed == ["one", "three", "eleven"]
    (kept,) = rows(registry, "study")
    assert (kept["study"], kept["signature"]) == ("counting", first.signature)
    assert json.loads(kept["result"])["reading"] == ["Words are short."]
    assert [run["command"] for run in rows(registry, "run")] == ["run", "study"]
    assert rows(registry, "study_part") == []


def test_another_submission_makes_another_study(conducted, task, registry):
    (first,) = conducted(Counting())
    task.systems["new"] = dict(task.gold)
    registry("run", task.write())
    (second,) = conducted(Counting())
    assert second.is_new
    assert first.signature != second.signature


def test_an_interrupted_study_goes_on_where_it_was(conducted, registry, monkeypatch):
    monkeypatch.setattr(Counting, "stops_at", "eleven")
    with pytest.raises(KeyboardInterrupt):
        conducted(Counting())
    assert [part["key"] for part in rows(registry, "study_part")] == ['"one"', '"three"']
    assert rows(registry, "study") == []
    monkeypatch.setattr(Counting, "stops_at", "")
    (done,) = conducted(Counting())
    assert [row["z"] for row in done.finding.tables["words"]] == [3, 5, 6]
    assert Counting.computed == ["one", "three", "eleven"]
    assert rows(registry, "study_part") == []


def test_a_dry_run_needs_no_database_that_can_be_written(task, scored, monkeypatch):
    scored(task)

    def refuse(*_, **__):
        raise StoreError(Path("registry.duckdb"), "cannot use the file: Permission denied")

    monkeypatch.setattr(running, "writing", refuse)
    archive = Archive(Database("registry.duckdb"), Journal("study", {}), dry_run=True)
    (done,) = running.run_study(archive, Counting(), Choice("small"))
    assert [row["z"] for row in done.finding.tables["words"]] == [3, 5, 6]


def test_what_cannot_be_kept_is_shown_all_the_same(conducted, registry, monkeypatch):
    def refuse(*_, **__):
        raise StoreError(Path("registry.duckdb"), "the database is read-only")

    monkeypatch.setattr(running, "writing", refuse)
    archive = Archive(Database("registry.duckdb"), Journal("study", {}))
    (done,) = running.run_study(archive, Counting(), Choice("small"))
    assert [row["z"] for row in done.finding.tables["words"]] == [3, 5, 6]
    assert "read-only" in archive.store_error
    assert "info: the results are shown, but not stored: registry.duckdb: the database is read-only" in registry(
        "effects").stderr
    assert rows(registry, "study") == []


@pytest.mark.parametrize(("command", "study"), [
    (("effects", "--margin", "0.1"), "effects"), (("best", "small", "--resamples", 100), "best"),
])
def test_effects_and_the_best_systems_are_kept_with_a_signature(task, registry, scored, command, study):
    scored(task)
    first = registry(*command, "--format", "json")
    (kept,) = rows(registry, "study")
    assert (kept["study"], kept["subject"]) == (study, "small/test, acc")
    assert kept["signature"].startswith(f"study:{study}|acc|task:small@1|set:test|n:6|systems:3|")
    again = registry(*command, "--format", "json")
    assert again.stdout == first.stdout
    assert ["already stored" in done.stderr for done in (first, again)] == [False, True]
    assert len(rows(registry, "study")) == 1
    table = registry("study", *command, "--format", "table").stdout
    assert table == registry(*command, "--format", "table").stdout


def test_parts_are_kept_once(conducted):
    conducted(Counting())
    with Database("registry.duckdb").writing() as connection:
        for results in ({"a": "1"}, {"a": "1", "b": "2"}):
            comparisons.store_parts(connection, "sha256:x", results)
        assert comparisons.load_parts(connection, "sha256:x") == {"a": "1", "b": "2"}


def test_what_is_not_there_is_named(conducted, task, scored):
    with pytest.raises(UnknownNameError, match="test set"):
        conducted(Counting(), test_set="dev")
    with pytest.raises(UnknownNameError, match="facet"):
        conducted(Counting(), facet="genre=news")
    with pytest.raises(UnknownNameError, match="metric"):
        conducted(Counting(), metric="bleu")
    task.systems = {"a": task.systems["a"]}
    task.folder = task.folder / "alone"
    task.folder.mkdir()
    scored(task, db="alone.duckdb")
    with pytest.raises(MismatchError, match="2 scored systems"):
        running.run_study(Archive(Database("alone.duckdb"), Journal("study", {})), Counting(), Choice("small"))


def test_what_a_study_cannot_do_names_the_board(conducted, monkeypatch):
    def refuse(self, case):
        raise InputError("too few words")

    monkeypatch.setattr(Counting, "run", refuse)
    with pytest.raises(InputError, match=r"small/test, .*: too few words"):
        conducted(Counting())


@pytest.mark.parametrize("name", STUDIES)
def test_names_of_studies_parse_back(name):
    study = STUDIES[name].load()
    assert parse("study", {name: study}, repr(study())) == study()


def test_a_dry_run_keeps_nothing(task, registry, scored):
    scored(task)
    assert "dry run" in registry("study", "correlation", "small", "--dry-run").stderr
    assert rows(registry, "study") == []
    assert "already stored" not in registry("study", "correlation", "small").stderr
    assert "already stored" in registry("study", "correlation", "small").stderr
