"""A release holds what its boards rest on and nothing that is held back, and follows from itself."""

import json
import os
from pathlib import Path

import duckdb
import pytest

from registry.errors import InputError, MismatchError, StoreError
from registry.releases import writing
from registry.releases.writing import write_release
from registry.store.database import Database
from tests.releases.released import contents, faults, release

MARK = "zqxjlabel"
def test_a_release_follows_from_itself(whole, held):
    assert faults(whole) == faults(held) == []
    words = ("zzz", "i05", "d1", os.getcwd())  # of answers, items, documents, and where it was made
    assert [word.encode() in contents(whole) for word in words] == [True, True, True, False]


def test_the_same_registry_gives_the_same_bytes(registry_of_all, whole, tmp_path):
    write_release(registry_of_all, "small", tmp_path / "again", sources=True)
    assert (tmp_path / "again" / writing.CHECKSUMS).read_bytes() == (whole / writing.CHECKSUMS).read_bytes()


def test_what_is_withheld_is_in_no_release_and_no_public_file(task, registry, scored, tmp_path):
    rename = {"yes": MARK, "no": f"{MARK}2"}
    task.gold = {f"zqxjitem{n}": rename[label] for n, label in enumerate(task.gold.values())}
    task.documents = {key: f"zqxjdocument{n}" for n, key in enumerate(task.gold)}
    task.systems = {name: {key: rename[label] for key, label in zip(task.gold, of.values(), strict=True)}
                    for name, of in task.systems.items()}
    task.systems["a"]["zqxjitem0"] = f"{MARK}unknown"  # which a remark names
    task.extra = ('[[metric]]\nid = "f1"\nname = "LabelF"\n[release]\ngold = false\n[board]\nrank_late = false\n'
                  '[[submit]]\nfile = "systems/c.tsv"\nsystem = "c"\nlate = true\n')  # which then has no rank
    scored(task)
    release(Database("registry.duckdb"), tmp_path / "held")
    assert faults(tmp_path / "held") == []
    assert b"zqxj" not in contents(tmp_path / "held")
    refused = registry("release", "small", "-o", "with-files", "--sources", exit_code=4).stderr
    assert "which the manifest withholds; leave --sources out" in refused
    registry("publish", "-o", "copy.duckdb")
    assert b"zqxj" not in Path("copy.duckdb").read_bytes()
    for command in ("board", "pairs"):
        of_both = [registry(command, "small", "--format", "json", "--db", db).json
                   for db in ("registry.duckdb", "copy.duckdb")]
        for row in (row for rows in of_both for row in rows):
            row.pop("messages", None)  # which are held back with the gold, as are warnings made of them
            if command == "board":
                row["warnings"] = [of for of in row["warnings"] if of["code"] != "unknown-names"]
        assert of_both[0] == of_both[1]
    assert "a public file" in registry("verify", "--db", "copy.duckdb").stderr
    with duckdb.connect("copy.duckdb") as connection:
        connection.execute("UPDATE standing SET rank_high = 9")
    registry("verify", "--db", "copy.duckdb", exit_code=4)


def test_names_that_look_like_formulas_or_numbers_come_back(task, scored, tmp_path):
    """The guard of the TSV is no part of a name: what is verified and loaded comes from tables without it."""
    names = ["=1+1", "-0.5", "+Aspen"]
    task.systems = dict(zip(names, task.systems.values(), strict=True))
    scored(task)
    write_release(Database("registry.duckdb"), "small", tmp_path / "out")
    lines = [line.split("\t") for line in (tmp_path / "out/boards/boards.tsv").read_text().splitlines()]
    assert {row[lines[0].index("system")] for row in lines[1:]} == {"'=1+1", "-0.5", "'+Aspen"}
    assert {row["system"] for row in json.loads((tmp_path / "out/boards/boards.json").read_text())} == set(names)
    assert faults(tmp_path / "out") == []


def test_it_is_written_whole_or_not_at_all(registry, registry_of_all, task, scored, tmp_path, monkeypatch):
    (tmp_path / "taken").mkdir()
    with pytest.raises(InputError, match="already exists"):
        write_release(registry_of_all, "small", tmp_path / "taken")
    monkeypatch.setattr(writing, "write_checksums", lambda folder: (folder / "none" / "there").write_text(""))
    with pytest.raises(StoreError, match="cannot write the folder"):
        write_release(registry_of_all, "small", tmp_path / "small")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    scored(task, command="apply")
    with pytest.raises(MismatchError, match="since the last comparison"):
        write_release(Database("registry.duckdb"), "small", Path("small"))


def test_descriptions_have_what_their_specifications_require(whole):
    """RO-Crate 1.3, on the root and on data entities; Croissant 1.1, on datasets and record sets; and its Tasks."""
    there = {path.relative_to(whole).as_posix() for path in whole.rglob("*") if path.is_file()}
    graph = json.loads((whole / "ro-crate-metadata.json").read_text())["@graph"]
    entities = {of["@id"]: of for of in graph}
    assert len(entities) == len(graph)
    assert entities["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    assert {"name", "description", "datePublished", "license", "hasPart"} <= entities["./"].keys()
    referred = {of["@id"] for entity in graph for value in entity.values()
                for of in (value if isinstance(value, list) else [value]) if isinstance(of, dict)}
    assert referred - {"https://w3id.org/ro/crate/1.3"} <= entities.keys()
    assert {of["@id"] for of in graph if of["@type"] == "File"} == there - {"ro-crate-metadata.json", "SHA256SUMS"}
    assert entities["./"]["datePublished"] == "2027-03-01"
    assert "https://spdx.org/licenses/CC-BY-4.0" in entities
    croissant = json.loads((whole / "croissant.json").read_text())
    assert {"name", "description", "license", "url", "creator", "datePublished", "distribution"} <= croissant.keys()
    tasks = json.loads((whole / "croissant-tasks.json").read_text())
    assert tasks["@context"]["@base"] == croissant["url"]
    (problem,) = (of for of in tasks["@graph"] if of["@type"] == "cr:TaskProblem")
    assert (problem["sc:license"], problem["sc:datePublished"]) == ("CC-BY-4.0", "2027-03-01")
    assert '"Ann Example"' in (whole / "CITATION.cff").read_text()
    sums = dict(reversed(line.split("  ")) for line in (whole / writing.CHECKSUMS).read_text().splitlines())
    assert {of["@id"]: of["sha256"] for of in croissant["distribution"]} == {
        path: sums[path] for path in there if path.startswith("data/")}
    for record_set in croissant["recordSet"]:
        with duckdb.connect() as connection:
            columns = connection.execute(f"DESCRIBE FROM '{whole / 'data' / record_set['name']}.parquet'").fetchall()
        assert [of["name"] for of in record_set["field"]] == [name for name, *_ in columns]
        assert all(of["description"] and of["dataType"] for of in record_set["field"])
