"""A competition bundle for Codabench: one zip file with all that the platform needs to run a task.

The gold is in the reference data alone, which the platform gives to nobody but the scoring program. The same registry,
options and wheels give the same bytes.
"""

from __future__ import annotations

import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from pathlib import Path

from sqlalchemy import Connection, select

from registry import version
from registry.competitions import start as start_script
from registry.competitions.competition import competition, pages, phases, terms
from registry.competitions.scoring_program import MANIFEST, SETTINGS, Settings
from registry.competitions.wheels import needed_wheels
from registry.competitions.yaml import yaml
from registry.errors import InputError
from registry.evaluation.checking.task_pack import revealed, task_pack, unchecked, with_test_sets
from registry.evaluation.resolve import ResolvedTask, resolve, resolve_stored
from registry.files import new_file
from registry.manifest import TestSet, load_manifest, submit_entry
from registry.manifest.folder import write_files
from registry.readers import Reader
from registry.store import catalog, models, sources
from registry.store.catalog import GoldRevisionRow, TaskRow
from registry.store.log import now

Files = dict[str, bytes]

_COMMAND = "command: python3 -I -B /app/program/score.py /app/input /app/output\n"
_OF_PACKAGE = {".py", ".sql", ".toml", ".html", ".js", ".css", ".json", ".txt", ".typed"}
_KIT = """\
The items to answer, and what is known of them. To check a file before it is submitted:

    pip install evalregistry=={version}
    registry check FILE --task task.toml
"""


@dataclass(frozen=True)
class Wanted:
    """What a bundle is made of beside the task.

    Attributes:
        wheels: The folder of the wheels.
        python: The version of Python that scores, such as `3.12`.
        start: When the first phase begins; None: on the day when the task came into the registry.
        terms: The terms of participation in Markdown; None: what follows from the manifest.
    """

    wheels: Path
    python: str
    start: datetime | None = None
    terms: str | None = None


def write_bundle(connection: Connection, row: TaskRow, wanted: Wanted, output: Path) -> list[str]:
    """Write the competition of a task as a new zip file; gives what the organisers have to know.

    Raises:
        InputError: Something of the task cannot be run by the platform, a wheel is not there, or the file is there.
    """
    task = resolve_stored(row.manifest, row.slug)
    if task.manifest.significance.runs == "random":
        raise InputError("'random' runs need several files of every system, and a submission there has one; export "
                         "scores by `registry export TASK codabench --submission` instead")
    for test_set in task.manifest.test_set:
        for reader in (task.readers[test_set.name], _submission_reader(task, test_set)):
            if getattr(reader, "syntax", None) == "parquet":
                raise InputError(f"test set {test_set.name} is read from Parquet, which a scoring program cannot read; "
                                 "give tables as text or JSON Lines")
    wheels = needed_wheels(wanted.wheels, task.metrics.values(), wanted.python)
    created, blind = connection.execute(select(models.task.c.created_at, models.task.c.blind_until).where(
        models.task.c.task_id == row.task_id)).one()
    hidden = blind is not None and blind > now()
    of_phases = phases(task.manifest, wanted.start or datetime.combine(created.date(), time(), UTC))
    files: Files = {
        "competition.yaml": yaml(competition(task, of_phases, wanted.python, hidden=hidden)).encode(),
        "terms.md": (wanted.terms or terms(task)).encode(),
        "logo.png": logo(),
        **{name: text.encode() for name, text in pages(task, of_phases, hidden=hidden).items()},
        **_program(wheels, wanted.python),
    }
    gold = {test_set.name: _gold(connection, row, test_set) for test_set in task.manifest.test_set}
    notes = [note for test_set in task.manifest.test_set for note in _read_otherwise(connection, row, task, test_set)]
    for n, phase in enumerate(of_phases):
        for name in phase.test_sets:
            settings = Settings(name, phase.test_sets, hidden)
            of_task = {**_task_files(task, gold, [name]), SETTINGS: settings.text().encode()}
            files |= {f"reference_data/{name}/{path}": content for path, content in of_task.items()}
        kit, told = _starting_kit(_task_files(task, gold, phase.test_sets))
        files |= {f"starting_kit/{n}/{path}": content for path, content in kit.items()}
        notes += told
    with new_file(output) as unfinished:
        write_zip(unfinished, files)
    return list(dict.fromkeys(notes))


def write_zip(path: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a zip file whose bytes rest on nothing but these."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            folded = zipfile.ZIP_STORED if name.endswith(".whl") else zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name], folded)


def logo() -> bytes:
    """A picture for the competition, which the platform wants: three bars as PNG."""
    side, bars = 240, ((30, 90), (95, 150), (160, 200))
    rows = b"".join(b"\0" + b"".join(
        b"\x1f\x5f\xa8" if any(left <= x < left + 50 and y >= side - 20 - high for left, high in bars) and y < side - 20
        else b"\xff\xff\xff" for x in range(side)) for y in range(side))
    chunks = ((b"IHDR", struct.pack(">2I5B", side, side, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows, 9)),
              (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(of)) + kind + of + struct.pack(">I", zlib.crc32(kind + of)) for kind, of in chunks)


def _program(wheels: Sequence[Path], python: str) -> Files:
    """The scoring program: what starts it, this package, and the wheels."""
    folder = Path(version.__file__).parent
    code = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")
            if path.suffix in _OF_PACKAGE and path.is_file()}
    found = {f"registry/{name}": path.read_bytes() for name, path in code.items() if not name.startswith("migrations/")}
    found |= {f"wheels/{path.name}": path.read_bytes() for path in wheels}
    found |= {"score.py": Path(start_script.__file__).read_bytes(), "python.txt": f"{python}\n".encode(),
              "metadata.yaml": _COMMAND.encode()}
    return {f"scoring_program/{name}": content for name, content in found.items()}


def _submission_reader(task: ResolvedTask, test_set: TestSet) -> Reader:
    """What reads every submission of the competition."""
    return task.submission_reader(test_set, submit_entry(file="submission", system="submission"))


def _read_otherwise(connection: Connection, row: TaskRow, task: ResolvedTask, test_set: TestSet) -> Iterator[str]:
    """Say how many submissions that are there are not read as the competition will read all."""
    reader = repr(_submission_reader(task, test_set))
    readers = [of.reader for of in catalog.submissions(connection, row.task_id) if of.test_set == test_set.name]
    if others := sum(of != reader for of in readers):
        yield (f"warning: {others} of {len(readers)} submissions to test set {test_set.name} are read by options of "
               "their own; the competition reads all as [submission] says")


def _gold(connection: Connection, row: TaskRow, test_set: TestSet) -> Files:
    """The gold files of a test set as they were read, by role."""
    stored = next(of for of in catalog.test_sets(connection, row.task_id) if of.name == test_set.name)
    revision = catalog.get(connection, GoldRevisionRow, gold_revision_id=stored.gold_revision_id)
    digests = catalog.gold_sources(connection, revision.gold_revision_id, revision.reader)
    return {role: sources.fetch(connection, of) for role, of in digests.items()}


def _task_files(task: ResolvedTask, gold: Mapping[str, Files], names: Sequence[str]) -> Files:
    """A task of some of the test sets: its manifest, without tests and submissions, and the gold files."""
    files: Files = {}
    test_sets = []
    for test_set in task.manifest.test_set:
        if test_set.name not in names:
            continue
        paths = {role: f"gold/{test_set.name}/{role.replace(':', '.')}" for role in gold[test_set.name]}
        files |= {path: gold[test_set.name][role] for role, path in paths.items()}
        table = test_set.model_dump(mode="json", exclude_defaults=True, exclude={"references", "deadline"})
        table |= {role: path for role, path in paths.items() if not role.startswith("reference:")}
        if test_set.references:
            table["references"] = [{"name": of.name, "path": paths[f"reference:{of.name}"]}
                                   for of in test_set.references]
        test_sets.append(table)
    manifest = task.manifest.model_copy(update={"task": task.manifest.task.model_copy(update={"deadline": None})})
    return {MANIFEST: with_test_sets(manifest, test_sets).encode(), **files}


def _starting_kit(files: Mapping[str, bytes]) -> tuple[Files, list[str]]:
    """What participants check with, made of a task's files; and what the organisers have to know of it."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), files)
        manifest = Path(folder) / MANIFEST
        task = resolve(load_manifest(manifest)[0], manifest)
        pack = {name: text.encode() for name, text in task_pack(task).items()}
    told = [*(f"warning: {of}" for of in revealed(task)), *(f"note: {of}" for of in unchecked(task))]
    return {**pack, "README.md": _KIT.format(version=version.__version__).encode()}, told
