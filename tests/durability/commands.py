"""Commands of the registry in processes of their own, which begin at once because they are forked from this one."""

import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import duckdb
from typer.testing import CliRunner

import registry.cli

ITEMS = 6
_ROWS = """SELECT task.slug, system.name
    FROM submission JOIN system USING (system_id) JOIN test_set USING (test_set_id) JOIN task USING (task_id)
        JOIN submission_source USING (submission_id) JOIN source ON source_digest = source.digest"""


@dataclass
class Command:
    """One command; `rows` are the (task, system) that it brings in when it succeeds."""

    arguments: list
    rows: set = field(default_factory=set)
    refused: bool = False  # it cannot succeed: a file of it is wrong
    kill_after: float | None = None
    pid: int = 0
    status: int | None = None
    told: Path | None = None

    def start(self, folder):
        """Begin it in a process of its own; what it prints goes to a file in `folder`."""
        self.told = folder / f"told.{uuid4().hex}"
        self.pid = os.fork()
        if not self.pid:
            self._work()

    def _work(self):
        status = 1
        try:
            out = os.open(self.told, os.O_WRONLY | os.O_CREAT)
            os.dup2(out, 1)
            os.dup2(out, 2)
            sys.argv = ["registry", *map(str, self.arguments)]
            registry.cli.main()
            status = 0
        except SystemExit as ended:
            status = ended.code or 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def wait(self):
        """Wait for its end, or kill it when its time has come; gives its exit status, negative where it was killed."""
        due = time.monotonic() + (self.kill_after or 0)
        while not (ended := os.waitpid(self.pid, 0 if self.kill_after is None else os.WNOHANG))[0]:
            if time.monotonic() >= due:
                os.kill(self.pid, signal.SIGKILL)
                ended = os.waitpid(self.pid, 0)
                break
            time.sleep(0.002)
        self.status = os.waitstatus_to_exitcode(ended[1])
        return self.status


def prepare(folder):
    """Run a command in this process: what it has imported is there in those that are forked."""
    folder.mkdir()
    manifest = write_task(folder / "task", "prepared")
    CliRunner().invoke(registry.cli.app, ["run", str(manifest), "--db", str(folder / "r.duckdb")],
                       catch_exceptions=False)


def write_task(folder, name, *, good=True):
    """A task of a few items with one system, `s`; one that is not `good` lacks answers. Gives its manifest."""
    folder.mkdir()
    labels = [f"i{n}\t{'ab'[n % 2]}\n" for n in range(ITEMS)]
    (folder / "gold.tsv").write_text("".join(labels))
    (folder / "s.tsv").write_text("".join(labels[:None if good else 1]))
    manifest = folder / "task.toml"
    manifest.write_text(f"""manifest = 1
[task]
id = "{name}"
[[test_set]]
name = "test"
gold = "gold.tsv"
format = "labels"
options = {{ columns = ["item", "label"] }}
[submission]
options = {{ columns = ["item", "label"] }}
[[metric]]
id = "acc"
name = "Accuracy"
[significance]
seed = 1
[[submit]]
file = "s.tsv"
system = "s"
""")
    return manifest


def rows_of(path, *, alone):
    """The (task, system) in a copy of a database: of the file `alone`, or with the log beside it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.duckdb"
        shutil.copyfile(path, copy)
        with suppress(FileNotFoundError):
            if not alone:
                shutil.copyfile(f"{path}.wal", f"{copy}.wal")
        with duckdb.connect(copy, read_only=True, config={"threads": 1}) as connection:  # threads do not survive a fork
            return set(connection.execute(_ROWS).fetchall())
