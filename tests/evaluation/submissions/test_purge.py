"""A team that asks to be forgotten: nothing of it is left in any byte, and all else stands as before."""

import re
import shutil
import subprocess
import sys

import pytest
from hypothesis import settings

from registry.store import embargoes
from registry.store.database import Database
from registry.store.history import read_log_head
from registry.store.session import find_unreadable
from tests.evaluation.stored import query
from tests.evaluation.verifying.test_tampering import alter, faults
from tests.label_tasks import LabelTask

ITEMS = [f"i{n:02}" for n in range(24)]
GOLD = {item: "abc"[n % 3] for n, item in enumerate(ITEMS)}
MARKS = [b"zztarn", b"zzwren", b"zzplover", b"zzfile", b"zzlabel", b"zzattribute", b"zzpaper", b"zzsaid"]
TEAM = "Zztarn Größe"


def answers(step, instead="a"):
    return GOLD | {item: instead if GOLD[item] != instead else "b" for item in ITEMS[::step]}


def rows(labels):
    return "".join(f"{item}\t{label}\n" for item, label in labels.items())


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("purged")


@pytest.fixture
def whole(registry, tmp_path, kept):
    """A registry with a team of two systems, by manifest and by hand; others and a person name it."""
    path = tmp_path / "registry.duckdb"
    if (kept / "whole.duckdb").exists():
        return shutil.copyfile(kept / "whole.duckdb", path)
    task = LabelTask(
        tmp_path / "task", GOLD, {"ann": answers(8), "bob": answers(3)}, extra=f"""
[[metric]]
id = "f1"
name = "LabelF"
[[submit]]
file = "zzfile-one.tsv"
team = "{TEAM}"
system = "zzwren"
attributes = {{ note = "zzattribute" }}
description = "zzsaid in three words"
paper = "https://zzpaper.example/1"
[[submit]]
file = "cid.tsv"
system = "cid"
attributes = {{ built_on = "{TEAM}", follows = "https://zzpaper.example/1" }}
size = 3
""").write()
    (task.parent / "zzfile-one.tsv").write_text(rows(answers(4, "zzlabel")))
    (task.parent / "cid.tsv").write_text(rows(answers(2)))
    registry("run", task, "--actor", TEAM)
    (tmp_path / "zzfile two.tsv").write_text(rows(answers(5, "zzlabel")))
    registry("amend", "small/test/bob/bob", "--kind", "contrastive", "--reason", f"like that of {TEAM}")
    registry("submit", "small", tmp_path / "zzfile two.tsv", "--team", TEAM, "--system", "zzplover", "--run")
    registry("effects", "small", "--metric", "acc")
    shutil.copyfile(path, kept / "whole.duckdb")
    shutil.copytree(tmp_path / "task", kept / "task")
    return path


def bytes_of(folder):
    """All that is in the files of a folder, in small letters."""
    return {path.name: path.read_bytes().lower() for path in folder.rglob("*") if path.is_file()}


def published(path):
    with Database(path).reading() as connection:
        return read_log_head(connection)[0].rows[0]["hash"]


def purge(registry, path, *options, **how):
    return registry("purge", "small", TEAM, "--reason", "asked by mail", "--db", path, *options, **how)


@pytest.fixture
def purged(registry, whole, kept, tmp_path):
    """The registry without the team, alone in a folder, with what the command told."""
    folder = tmp_path / "alone"
    folder.mkdir()
    path = folder / "registry.duckdb"
    if not (kept / "purged.duckdb").exists():
        shutil.copyfile(whole, path)
        (kept / "told").write_text(purge(registry, path, "--actor", TEAM).stderr)
        shutil.copyfile(path, kept / "purged.duckdb")
        assert sorted(entry.name for entry in folder.iterdir()) == [".registry.duckdb.lock", "registry.duckdb"]
    shutil.copyfile(kept / "purged.duckdb", path)
    return path, (kept / "told").read_text()


def test_no_byte_of_it_is_left_in_the_file_or_beside_it(whole, purged):
    path, told = purged
    before = whole.read_bytes().lower()
    assert any(mark in before for mark in MARKS), "as far as it is not compressed"
    for name, content in bytes_of(path.parent).items():
        assert not [mark for mark in MARKS if mark in content], name
    with Database(path).reading() as connection:
        for (table,) in connection.exec_driver_sql("SELECT table_name FROM duckdb_tables()").all():
            held = str(connection.exec_driver_sql(f'SELECT t::VARCHAR FROM "{table}" AS t').all()).lower()
            assert not [mark for mark in MARKS if mark.decode() in held], table
    assert "'small/test: acc' still names the purged team purged-1; the next comparison removes it" in told
    assert "backups" in told
    assert "is still in" not in told


def test_all_else_stands_and_can_be_verified(registry, whole, purged, monkeypatch):
    path, _ = purged
    monkeypatch.setenv("REGISTRY_DB", str(path))
    found = registry("verify", "--head", published(whole))
    assert "no faults" in found.stderr
    assert "info: purges (entry " in found.stderr
    assert "cannot be repeated, so only their digests were verified" in found.stderr
    before = {row["system"]: row for row in registry("board", "--format", "json", "--db", whole).json
              if row["metric"] == "acc"}
    after = {row["system"]: row for row in registry("board", "--format", "json").json if row["metric"] == "acc"}
    assert after.keys() - before.keys() == {"purged-1-1", "purged-1-2"}
    assert {name: (row["rank_low"], row["rank_high"], row["score"]) for name, row in after.items()
            if name in before} == {name: (row["rank_low"], row["rank_high"], row["score"])
                                   for name, row in before.items() if not name.startswith("zz")}
    assert sorted((row["rank"], row["score"], row["letters"]) for row in after.values()) == sorted(
        (row["rank"], row["score"], row["letters"]) for row in before.values())
    registry("compare")
    assert {row["system"] for row in registry("board", "--format", "json").json} == {"ann", "bob", "cid"}
    assert "no faults" in registry("verify").stderr
    assert query(registry, "SELECT attributes FROM submission JOIN system USING (system_id) WHERE name = 'cid'") == [
        {"attributes": '{"built_on":"purged-1","follows":"purged-1","size":3}'}]
    told = {title: rows for section in registry("show", "small/test/bob/bob", "--format", "json").json
            for title, rows in section.items()}["log"]
    assert told[-1]["reason"] == "like that of purged-1"


def test_who_was_purged_is_known_by_name_alone(registry, purged, kept, tmp_path, monkeypatch):
    monkeypatch.setenv("REGISTRY_DB", str(purged[0]))
    assert "was already purged; its tombstone is purged-1" in registry(
        "purge", "small", TEAM, "--reason", "again", exit_code=3).stderr
    assert "is the tombstone of a team that was already purged" in registry(
        "purge", "small", "purged-1", "--reason", "x", exit_code=3).stderr
    assert "did you mean" in registry("purge", "small", "anne", "--reason", "x", exit_code=3).stderr
    refused = registry("apply", kept / "task" / "task.toml", exit_code=3).stderr
    assert "was purged and is now called purged-1; remove its files and [[submit]]" in refused
    (tmp_path / "new.tsv").write_text(rows(answers(6)))
    assert "a team of that name was purged from small and is now called purged-1" in registry(
        "submit", "small", tmp_path / "new.tsv", "--team", TEAM, "--system", "zzwren", "--version", "2").stderr
    registry("apply", kept / "task" / "task.toml")
    registry("purge", "small", TEAM, "--reason", "once more")
    assert faults(purged[0], results="none") == []
    assert [row["name"] for row in query(registry, "SELECT name FROM tombstone")] == ["purged-1", "purged-2"]


def test_a_dry_run_tells_the_same_and_changes_nothing(registry, whole, purged):
    before = whole.read_bytes()
    (whole.parent / "zzz.duckdb").touch()
    told = purge(registry, whole, "--dry-run").stderr
    assert "dry run: nothing was written" in told
    assert told.splitlines()[:2] == purged[1].splitlines()[:2]
    assert re.search(r"\ninfo: other databases in this folder may contain the team's data: .*\bzzz\.duckdb\n", told)
    assert "other databases" not in purged[1]
    assert whole.read_bytes() == before
    assert "contains a name of the team" in registry("purge", "small", TEAM, "--reason", f"{TEAM} left", "--db", whole,
                                        exit_code=3).stderr
    assert whole.read_bytes() == before


ALTERED = [  # together: what is altered, and what has to be said of it
    {"INSERT INTO tombstone SELECT 9, task_id, team_id, name, 's', '[]', 1, now() FROM team WHERE name = 'ann'":
     "the log does not say that this team was purged",
     "UPDATE tombstone SET names = '[]' WHERE name = 'purged-1'": "it does not match the log",
     "UPDATE standing SET rank = 9 - rank": "it has changed since the purge of a team",
     "UPDATE event SET details = '{\"reason\":\"x\"}' WHERE salt IS NULL":
     "its texts are listed as blanked by a purge, and are not blank",
     "UPDATE event SET salt = NULL, subject = '', details = '{}' WHERE action = 'purge-reason'":
     "its texts are blank, and no purge lists them"},
    {"DELETE FROM tombstone": "the log says that this team was purged",
     "DELETE FROM comparison WHERE comparison_id = 1": "the log's entry of a purge lists it",
     "UPDATE standing SET scoring_id = NULL": "a system has no scores, and no purge lists the comparison",
     "UPDATE event SET details = replace(details, 'mail', 'post') WHERE action = 'purge-reason'":
     "(purge-reason) | its texts do not match their digest"},
]


@pytest.mark.parametrize("together", ALTERED)
def test_what_is_altered_after_a_purge_is_found(registry, purged, together):
    registry("compare", "--db", purged[0])
    for sql in together:
        alter(purged[0], sql)
    said = [f"{fault.name} | {fault.message}" for fault in faults(purged[0], results="none")]
    for expected in together.values():
        assert any(expected in one for one in said), (expected, said)


KILLED = """
import os, sys
from pathlib import Path
from registry.cli.app import app
from registry.evaluation.submissions import purge
from registry.store import session
import pandas

def killed(at, db):
    target, name = {"copy": (session, "copy_file"), "change": (purge, "redact"),
                    "compact": (session.Copy, "_write_compact"), "replace": (Path, "replace")}[at]
    done = getattr(target, name)
    setattr(target, name, lambda *given: (done(*given), os._exit(9)))
    app(["purge", "small", sys.argv[1], "--reason", "asked by mail", "--db", db])

for moment in sys.argv[2:]:
    if not (child := os.fork()):
        try:
            killed(*moment.split(":"))
        finally:
            os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
ALL = ["copy", "change", "compact", "replace"]
MOMENTS = ALL if settings.default.max_examples > 100 else ALL[2:]


@pytest.mark.thorough
def test_whenever_it_is_killed_the_old_file_stands_or_the_new_one(registry, whole, tmp_path):
    """Right after the copy is made, changed and written anew, and after the new file has its name.

    `--hypothesis-profile thorough` kills at all of these, else it is done at the last two.
    """
    paths = {moment: tmp_path / moment / "registry.duckdb" for moment in MOMENTS}
    for path in paths.values():
        path.parent.mkdir()
        shutil.copyfile(whole, path)
    done = subprocess.run([sys.executable, "-c", KILLED, TEAM, *(f"{of}:{path}" for of, path in paths.items())],
                          check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["9"] * len(MOMENTS), done.stderr
    for moment, path in paths.items():
        with Database(path).reading() as connection:
            teams = set(connection.exec_driver_sql("SELECT name FROM team").scalars())
            assert not find_unreadable(connection)
        assert teams == {"ann", "bob", "cid", "purged-1" if moment == "replace" else TEAM}
    purge(registry, paths["compact"])
    for moment in ("compact", "replace"):
        left = bytes_of(paths[moment].parent)
        assert not [mark for content in left.values() for mark in MARKS if mark in content], moment


def test_pseudonyms_of_a_team_that_was_purged_are_gone_and_verify_accuses_nobody(registry, tmp_path, monkeypatch):
    """Before anything is scored while names are hidden, and when they are known; others get other pseudonyms."""
    monkeypatch.setattr(embargoes, "_list_team_pseudonyms", lambda n: ["Team 1", "Team 2", "Team 3", "Team 4"])
    task = LabelTask(tmp_path / "task", GOLD, {"b": answers(3), "c": answers(4), "d": answers(5)},
                     extra="[board]\nanonymous = true\n").write()
    registry("apply", task)
    drawn = {row["team"]: row["pseudonym"] for row in registry("list", "teams", "--format", "json").json}
    assert all(re.fullmatch("Team [1-4]/System [1-4][A-Z]", pseudonym) for pseudonym in drawn.values())
    registry("purge", "small", "d", "--reason", "asked")
    assert faults("registry.duckdb") == []
    shown = registry("list", "teams", "--format", "json").json
    assert {"id": "small/purged-1", "task": "small", "pseudonym": "", "team": "purged-1", "system": None} in shown
    (tmp_path / "e.tsv").write_text(rows(answers(6)))
    registry("submit", "small", tmp_path / "e.tsv", "--system", "e", "--run")  # in the row of a system that is gone
    registry("compare")
    registry("purge", "small", "c", "--reason", "asked")
    assert faults("registry.duckdb") == []
    shown = {row["team"]: row["pseudonym"] for row in registry("list", "teams", "--format", "json").json}
    assert shown["purged-1"] == shown["purged-2"] == ""
    assert shown["e"] not in drawn.values(), "the fourth pseudonym"
    registry("reveal", "small")
    registry("purge", "small", "e", "--reason", "asked")
    registry("hide", "small")
    assert faults("registry.duckdb") == []
    alter(tmp_path / "registry.duckdb", "UPDATE team SET pseudonym = 'Team 99' WHERE name = 'purged-1'")
    assert [fault.kind for fault in faults("registry.duckdb")] == ["altered"]
