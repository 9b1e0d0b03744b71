"""Processes that submit, read and back up as fast as they can, and what must hold when they are through."""

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

import duckdb
from typer.testing import CliRunner

import registry.cli

SAME, RIVALS = "same", "rivals"  # systems that all submit, with the same answers and with different ones
HEAD = """manifest = 1
[task]
id = "busy"
[[test_set]]
name = "test"
gold = "gold.tsv"
format = "labels"
options = { columns = ["item", "label"] }
[submission]
options = { columns = ["item", "label"] }
[[metric]]
id = "acc"
name = "Accuracy"
[significance]
seed = 1
[[submit]]
file = "first-{system}.tsv"
"""


def command(*arguments):
    """Do a command; gives its exit status, what it told, and how many seconds it took."""
    began = time.monotonic()
    done = CliRunner().invoke(registry.cli.app, [str(argument) for argument in arguments])
    return done.exit_code, done.stderr, time.monotonic() - began


@dataclass
class Load:
    """Who is busy with one database in a folder."""

    folder: Path
    submitters: int
    each: int
    readers: int

    @property
    def db(self):
        return self.folder / "r" / "r.duckdb"

    @property
    def backup(self):
        return self.folder / "backup.duckdb"

    def prepare(self, items, rng):
        """Make the database, with two systems and their board, and every submission's file."""
        self.db.parent.mkdir()
        (self.folder / "task.toml").write_text(HEAD)
        names = ["gold", "first-a", "first-b", *(self.name(who, n) for who in range(self.submitters)
                                                for n in range(self.each))]
        for name in names:
            rows = "".join(f"i{n}\t{rng.choice('ab')}\n" for n in range(items))
            (self.folder / f"{name}.tsv").write_text(rows)
        status, told, _ = command("run", self.folder / "task.toml", "--db", self.db)
        assert status == 0, told

    @staticmethod
    def name(who, n):
        return f"s{who}-{n}"

    def run(self):
        """Let them all begin at once; gives what each command came to, by what it was."""
        began = time.monotonic()
        submitting = [self._fork(f"submit-{who}", lambda who=who: self._submit(who)) for who in range(self.submitters)]
        backing = self._fork("backup", lambda: [("backup", *command("backup", self.backup, "--db", self.db))])
        done = self.folder / "done"
        reading = [self._fork(f"board-{n}", lambda: self._until(done, "board", "busy", "--db", self.db))
                   for n in range(self.readers)]
        for pid in submitting:
            os.waitpid(pid, 0)
        took = time.monotonic() - began
        done.touch()
        for pid in (backing, *reading):
            os.waitpid(pid, 0)
        found = {"took": took}
        for what in ("submit", "backup", "board"):
            found[what] = [tuple(one) for file in sorted(self.folder.glob(f"{what}*.json"))
                           for one in json.loads(file.read_text())]
        return found

    def _submit(self, who):
        """Submit what is one's own, then what all submit: the same file, and files of their own by one name."""
        own = [self.name(who, n) for n in range(self.each)]
        files = {**dict(zip(own, own, strict=True)), SAME: "first-a", RIVALS: own[0]}
        return [(system, *command("submit", "busy", self.folder / f"{file}.tsv", "--system", system, "--version", "2",
                                  "--db", self.db)) for system, file in files.items()]

    def _fork(self, name, work):
        """Work in a process of its own, which writes down what came of it."""
        if (pid := os.fork()) == 0:
            status = 1
            try:
                (self.folder / f"{name}.json").write_text(json.dumps(work()))
                status = 0
            finally:
                os._exit(status)
        return pid

    @staticmethod
    def _until(done, *arguments):
        found = []
        while not done.exists():
            found.append(("board", *command(*arguments)))
        return found


def judged(load, found):
    """Tell the figures, and give what is wrong."""
    took = {what: max(seconds for *_, seconds in found[what]) for what in ("submit", "board", "backup")}
    n = len(found["submit"])
    print(f"{n} submissions by {load.submitters} processes in {found['took']:.1f} s, {n / found['took']:.1f} a second; "
          f"the longest took {took['submit']:.1f} s")
    print(f"{len(found['board'])} boards read by {load.readers} processes; the longest took {took['board']:.1f} s")
    print(f"the backup took {took['backup']:.1f} s")
    for system, status, told, _ in found["submit"] + found["board"] + found["backup"]:
        late = system == RIVALS and status == 3 and "is already stored with different answers" in told
        if status and not late:
            yield f"{system} ended with {status}: {told}"
    for system in (SAME, RIVALS):
        added = sum("1 added" in told for one, _, told, _ in found["submit"] if one == system)
        if added != 1:
            yield f"{system} was added by {added} of {load.submitters}"
    with duckdb.connect(load.db, read_only=True) as connection:
        stored = {name for (name,) in connection.execute("SELECT name FROM system JOIN submission USING (system_id)")
                  .fetchall()}
    own = {load.name(who, n) for who in range(load.submitters) for n in range(load.each)}
    expected = own | {"a", "b", SAME, RIVALS}
    if stored != expected:
        yield f"stored are {sorted(stored)}, and should be {sorted(expected)}"
    for name in (load.db, load.backup):
        status, told, _ = command("verify", "--db", name, "--workers", 1)
        if status:
            yield f"verify of {name.name} ended with {status}: {told}"
    if left := sorted(path.name for path in load.db.parent.iterdir()
                      if path.name not in (load.db.name, f".{load.db.name}.lock")):
        yield f"left behind: {left}"
