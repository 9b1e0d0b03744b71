"""Rounds of commands on one path, and what must hold of the database after each of them."""

import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from tests.durability.commands import Command, rows_of, write_task

ON_ONE_PATH = 5  # rounds: the first finds nothing there
LONGEST = 1.0  # seconds until a command is killed
KEPT = {"r.duckdb", ".r.duckdb.lock"}


@dataclass
class Place:
    """A folder with one database, and what is known to be in it."""

    folder: Path
    rng: random.Random
    promised: set = field(default_factory=set)  # rows that a command which succeeded has brought in
    seen: set = field(default_factory=set)  # rows that have been in the database at any time

    @property
    def db(self):
        return self.folder / "r.duckdb"

    def round(self, number):
        """Some commands at once or one after another, some of them killed; gives what went wrong."""
        commands = self._commands(number)
        if self.rng.random() < 1 / 3:
            for command in commands:
                command.start(self.folder)
                yield from self._ended(command)
                yield from self._holds(settled=command.status == 0)
        else:
            for command in commands:
                command.start(self.folder)
            for command in sorted(commands, key=lambda command: command.kill_after or LONGEST):
                yield from self._ended(command)
            yield from self._holds(settled=False)

    def last(self, number):
        """A `run` that nothing disturbs: nothing unfinished stays behind, and a copy of the file has its board."""
        name, copy = f"last{number}", self.folder / "copy.duckdb"
        run = Command(["run", write_task(self.folder / name, name), "--db", self.db], {(name, "s")})
        run.start(self.folder)
        yield from self._ended(run)
        yield from self._holds(settled=True)
        shutil.copyfile(self.db, copy)
        board = Command(["board", name, "--db", copy])
        board.start(self.folder)
        yield from self._ended(board)
        if board.status != 0:
            yield f"no board of the copy: {board.status}"
        if left := {path.name for path in self.folder.iterdir() if "r.duckdb" in path.name} - KEPT:
            yield f"left behind: {sorted(left)}"

    def _commands(self, number):
        rng, db = self.rng, ["--db", self.db]
        name = f"t{number}"
        good = write_task(self.folder / name, name)
        bad = write_task(self.folder / f"bad-{number}", f"bad{number}", good=False)
        task, _ = max(self.promised, default=(name, ""))
        system = f"x{number}"
        writer = Command([rng.choice(["apply", "run"]), good, *db], {(name, "s")})
        others = [
            Command(["apply", bad, *db], refused=True),
            Command(["run", bad, *db], refused=True),
            Command(["submit", task, good.parent / "s.tsv", "--system", system, *db], {(task, system)}),
            Command(["init", *db]),
        ]
        commands = [writer, *rng.sample(others, rng.randint(1, 2))]
        rng.shuffle(commands)
        for command in commands:
            if rng.random() < 1 / 4:
                command.kill_after = rng.uniform(0, LONGEST)
        return commands

    def _ended(self, command):
        status, told = command.wait(), command.told.read_text()
        command.told.unlink()
        allowed = {0, 3, 5, -9} - ({0} if command.refused else set())
        if status not in allowed or "Traceback" in told:
            yield f"{command.arguments[0]} ended with {status}:\n{told}"
        if status == 0:
            self.promised |= command.rows

    def _holds(self, *, settled):
        """What must hold of the database; it is `settled` where the last command that opened it has succeeded."""
        if not self.db.exists():
            if self.seen or self.promised:
                yield "the database is gone"
            return
        alone, whole = rows_of(self.db, alone=True), rows_of(self.db, alone=False)
        if lost := self.promised - alone:
            yield f"not in the file itself though the command succeeded: {sorted(lost)}"
        if lost := self.seen - whole:
            yield f"were there, and are lost: {sorted(lost)}"
        if settled and alone != whole:
            yield f"in the log alone after a command that succeeded: {sorted(whole - alone)}"
        self.seen |= whole


def rounds(folder, n, seed):
    """Run `n` rounds in a folder; gives each round's number and what went wrong in it."""
    for number in range(n):
        if number % ON_ONE_PATH == 0:
            place = Place(folder / str(number), random.Random(f"{seed}/{number}"))
            place.folder.mkdir()
        wrong = list(place.round(number))
        if (number + 1) % ON_ONE_PATH == 0 or number + 1 == n:
            wrong += place.last(number)
            if not wrong:
                shutil.rmtree(place.folder)
        yield number, wrong
