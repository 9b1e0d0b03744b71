"""SIGKILL at random moments of commands: what was there stays, nothing half done is there, it can be done again.

After each kill the registry holds what it held before the command or what it holds after it, nothing between; the same
command then succeeds, comes to what it comes to undisturbed, and leaves nothing else behind.
"""

import random
import shutil
import signal
import time
from dataclasses import dataclass

from tests.durability.commands import Command
from tests.faults.prepared import content, remove


@dataclass(frozen=True)
class Case:
    """A command on a copy of a prepared registry; its arguments may name {bases} and the {folder} of the copy."""

    base: str
    arguments: tuple
    writes: str | None = None  # another file, or a folder, that it makes
    done_already: int = 0  # its status where there is nothing left to do


CASES = {
    "apply": Case("scored", ("apply", "{bases}/more/task.toml")),
    "submit": Case("scored", ("submit", "small", "{bases}/late.tsv", "--system", "late")),
    "score": Case("submitted", ("score", "--quiet")),
    "compare": Case("rescored", ("compare", "--quiet")),
    "backup": Case("scored", ("backup", "{folder}/copy.duckdb"), "copy.duckdb"),
    "purge": Case("scored", ("purge", "small", "s8", "--reason", "it asked for it"), done_already=3),
    "release": Case("scored", ("release", "small", "-o", "{folder}/release"), "release"),
}


class Killing:
    """Kills of one kind of command."""

    def __init__(self, case, folder, bases):
        self.case, self.folder, self.bases = case, folder, bases
        self.before = content(self._fresh())
        start = time.monotonic()
        status, told = self._command()
        self.duration = time.monotonic() - start
        assert status == 0, told
        self.after = content(self.db)
        self.made = self._made()

    @property
    def db(self):
        return self.folder / "r.duckdb"

    def kill(self, moment, *, verify):
        """Kill it at a moment of its work, from 0 to 1; gives whether it was killed, and what went wrong."""
        self._fresh()
        start = time.monotonic()
        status, told = self._command(kill_after=moment * self.duration)
        if status == 0:
            self.duration = time.monotonic() - start  # it was faster this time
        elif status != -signal.SIGKILL:
            return False, [f"ended with {status}: {told}"]
        return status == -signal.SIGKILL, list(self._wrong(verify=verify))

    def _wrong(self, *, verify):
        if not self.db.exists():
            yield "the registry is gone"
            return
        if (found := content(self.db)) not in (self.before, self.after):
            yield f"holds what is neither that of before nor that of after: {self._between(found)}"
        if (made := self._made()) is not None and made != self.made:
            yield f"{self.case.writes} is not whole"
        self._remove_made()
        is_done = self.case.done_already and found == self.after
        status, told = self._command()
        if status != (self.case.done_already if is_done else 0):
            yield f"cannot be done again: {status}: {told}"
        if self._made() != self.made:
            yield f"{self.case.writes} is another one when done again"
        if (found := content(self.db)) != self.after:
            yield f"comes to something else when done again: {self._between(found)}"
        known = {"r.duckdb", self.case.writes}
        if is_done:
            known |= {".r.duckdb.queue", ".r.duckdb.turn.1"}  # which the next writer removes
        if left := {path.name for path in self.folder.iterdir()} - known:
            yield f"left behind: {sorted(left)}"
        if verify and (done := self._command(("verify", "--quiet")))[0]:
            yield f"verify: {done[1]}"

    def _made(self):
        """What is in the file or folder that the command makes; None where there is none."""
        if self.case.writes is None or not (made := self.folder / self.case.writes).exists():
            return None
        return content(made) if made.is_file() else {
            file.relative_to(made): file.read_bytes() for file in sorted(made.rglob("*")) if file.is_file()}

    def _remove_made(self):
        if self.case.writes is not None:
            remove(self.folder / self.case.writes)

    def _between(self, found):
        return sorted(table for table in found if found[table] not in (
            self.before.get(table), self.after.get(table)))

    def _fresh(self):
        """Put a copy of the prepared registry into an empty folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        return shutil.copyfile(self.bases / f"{self.case.base}.duckdb", self.db)

    def _command(self, arguments=None, kill_after=None):
        """Run it, or another; gives its exit status and what it told."""
        if arguments is None:
            arguments = [of.format(bases=self.bases, folder=self.folder) for of in self.case.arguments]
        command = Command([*arguments, "--db", self.db], kill_after=kill_after)
        command.start(self.folder)
        status, told = command.wait(), command.told.read_text() if command.told.exists() else ""
        command.told.unlink(missing_ok=True)
        return status, told


def kills(folder, n, seed, every=5, cases=CASES):
    """Kill commands in turn, `n` times; gives of each which, whether it was killed, and what went wrong.

    The registries are `prepared` in the folder. After every so many kills of one command `verify` looks at all of it.
    """
    bases = folder / "prepared"
    rng = random.Random(seed)
    killing = {name: Killing(case, folder / name, bases) for name, case in cases.items()}
    names = list(cases)
    for number in range(n):
        name = names[number % len(names)]
        killed, wrong = killing[name].kill(rng.random(), verify=number // len(names) % every == every - 1)
        yield name, killed, wrong
