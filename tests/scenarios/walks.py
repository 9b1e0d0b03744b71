"""How often a reader who follows a command comes back to a room that was already left.

`python -m tests.scenarios.walks [COMMIT]` traces `run`, `compare`, `board` and `pairs` of a sample task, in a commit's
code where one is given, and follows an item's way as `docs/architecture.md` has it. It prints the returns of each walk
and its rooms, with a `<` before each return; with `-v`, who steps where.

A step is the first call of a file from one in another room of `registry/`: each file is read once. Steps into the same
room one after the other are one, and a step into a room where the walk was before is a return. Rooms on the ground,
which everybody uses (`GROUND`), are passed over.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import NamedTuple

from typer.testing import CliRunner

import registry
from registry.cli import app

PACKAGE = Path(registry.__file__).resolve().parent
ROOT = PACKAGE.parent
SAMPLE = ROOT / "sample_data" / "stance"
GROUND = {"__init__", "columns", "errors", "families", "files", "identity", "items", "judged", "parallel", "platforms",
          "plugins", "processes", "provenance", "rendering", "scratch", "treebank", "values", "version"}
STATION = re.compile(r"^\| [^|]* \| `([a-z_]+(?:\.\w+)+)`", re.MULTILINE)
COMMANDS = {"run": (SAMPLE / "task.toml",), "compare": ("stance", "--seed", "7"), "board": (), "pairs": ()}


class Call(NamedTuple):
    """A call of a function of a file from another file."""

    caller: str
    file: str
    function: str

    @property
    def room(self) -> str:
        """The first folder of its file."""
        return self.file.partition("/")[0]


class Step(NamedTuple):
    """A step of a walk."""

    call: Call
    is_return: bool


def traced(run: Callable[[], object]) -> list[Call]:
    """The calls that a function makes between files of the package, in their order."""
    calls, called, begin = [], ["cli/app"], f"{PACKAGE}/"

    def note(frame, event, _):
        path = frame.f_code.co_filename
        if event not in ("call", "return") or not path.startswith(begin):
            return
        file = path.removeprefix(begin).removesuffix(".py")
        if event == "return":
            called.pop()
            return
        if file.partition("/")[0] in GROUND:
            file = called[-1]  # what it calls is called by who called it
        if file != called[-1]:
            calls.append(Call(called[-1], file, frame.f_code.co_qualname))
        called.append(file)

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


def steps(calls: Iterable[Call]) -> Iterator[Step]:
    """The walk from room to room."""
    files, rooms, last = set(), {"cli"}, "cli"
    for call in calls:
        if call.file in files:
            continue
        files.add(call.file)
        if call.room not in (last, call.caller.partition("/")[0]):
            yield Step(call, call.room in rooms)
            rooms.add(call.room)
            last = call.room


def walks() -> dict[str, list[Step]]:
    """The walks of the commands, and of an item."""
    for module in walk_packages([str(PACKAGE)], "registry."):  # what is imported late is not traced meanwhile
        if not module.name.endswith("__main__"):
            import_module(module.name)
    found = {command: traced(lambda of=(command, *arguments): _run(of)) for command, arguments in COMMANDS.items()}
    return {command: list(steps(calls)) for command, calls in found.items()}


def way() -> list[Step]:
    """The walk from station to station of an item, as the table of `docs/architecture.md` has it."""
    page = ROOT / "docs" / "architecture.md"
    stations = STATION.findall(page.read_text()) if page.exists() else []
    return list(steps(Call("", station.replace(".", "/"), "") for station in stations))


def _run(arguments: Iterable[object]) -> None:
    done = CliRunner().invoke(app, [*map(str, arguments), "--db", "registry.duckdb"], catch_exceptions=False)
    assert done.exit_code == 0, done.output


def main(arguments: Iterable[str]) -> None:
    """Print the walks of this code, or of a commit's."""
    commits = [argument for argument in arguments if argument != "-v"]
    if commits:
        from tests.scenarios.earlier import code_of  # late, as earlier commits do not have it

        with code_of(*commits) as env:
            subprocess.run([sys.executable, __file__, *set(arguments) - set(commits)], check=True, env=env)
        return
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        found = walks() | {"an item": way()}
    for walk, taken in found.items():
        print(f"{walk:8}{sum(step.is_return for step in taken):3} returns:",
              *("<" * step.is_return + step.call.room for step in taken))
        for step in taken if "-v" in arguments else ():
            print(f"    {'<' if step.is_return else ' '} {step.call.caller} -> {step.call.file}: {step.call.function}")


if __name__ == "__main__":
    main(sys.argv[1:])
