"""What a manifest, or the command line, declares to be submitted: files, and the names that patterns capture."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from registry.errors import InputError, ManifestError, suggest
from registry.evaluation.resolve import ResolvedTask
from registry.items import Answer
from registry.manifest import TestSet
from registry.manifest.spec import Name, Submit
from registry.metrics import Metric
from registry.readers import Document, Reader

File = Path | Document
_NAME: TypeAdapter[str] = TypeAdapter(Name)


@dataclass(frozen=True)
class Declared:
    """One submission as the manifest (or the command line) declares it; `files` are its runs, mostly one.

    Records name its files relative to the folder `within`.
    Files are read when they are needed, since all that a manifest declares may be too large to be held together.
    """

    test_set: TestSet
    team: str
    system: str
    version: str
    files: tuple[File, ...]
    reader: Reader
    missing: str
    tokens: str
    kind: str = "primary"
    track: str | None = None
    withdrawn: bool = False
    late: bool = False
    attributes: dict[str, Any] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()
    within: Path | None = None

    @property
    def name(self) -> str:
        """`team/system@version`, the name within a test set."""
        return f"{self.team}/{self.system}@{self.version}"

    def read(self, document: Document) -> list[Answer]:
        """Read one of its files; an answer that a metric of the task cannot count is reported."""
        answers = self.reader.read_answers(document)
        for answer in answers:
            if why := next(filter(None, (metric.uncountable(answer.value) for metric in self.metrics)), None):
                document.report(InputError(why, path=document.path, line=answer.line, item=answer.key))
        return answers

    @property
    def documents(self) -> tuple[Document, ...]:
        """The files, read.

        Raises:
            InputError: One cannot be read.
        """
        return tuple(file if isinstance(file, Document) else Document.load(file, self.within)
                     for file in self.files)

    def loaded(self) -> Declared:
        """The same, holding its files as they are now."""
        return replace(self, files=self.documents)


def natural(text: str) -> list[tuple[int, int, str]]:
    """The key that sorts names as people do, `v9` before `v10`."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", text)]


def declared(task: ResolvedTask) -> Iterator[Declared]:
    """Expand every `[[submit]]` of the manifest into submissions.

    A file that one names by itself is left out of the patterns of others. Files of one pattern that differ only in
    `{run}` are the runs of one submission. Versions and runs come in their natural order, so that the latest version
    comes last, whatever the order of the tables.

    Raises:
        ManifestError: A pattern or a name does not work out, two files claim to be the same submission, or two patterns
            take one file for two.
    """
    taken: dict[tuple[str, Path, str], str] = {}
    found: dict[tuple[str, str], tuple[Declared, tuple[str, str | None] | None]] = {}
    for key, submit, path, captured in sorted(expanded(task), key=lambda entry: natural(entry[3].get("run", ""))):
        one = declare(task, submit, [path], captured, key)
        if captured and (also := taken.setdefault((one.test_set.name, path, repr(one.reader)), one.name)) != one.name:
            raise ManifestError(f"{path} is taken by two patterns, for {also} and for {one.name}; make one of them "
                                "narrower, or name the file by itself", path=task.root.manifest, key=key)
        name, runs_of = (one.test_set.name, one.name), (key, one.track) if "run" in captured else None
        other, also_runs_of = found.setdefault(name, (one, runs_of))
        if other is one:
            continue
        if runs_of is None or runs_of != also_runs_of:
            raise ManifestError(f"{one.name} is declared twice, by {_path(other.files[0])} and by {path}; give one "
                                "another system or version", path=task.root.manifest, key=key)
        found[name] = replace(other, files=other.files + one.files), runs_of
    yield from sorted((one for one, _ in found.values()), key=lambda one: natural(one.version))


def check_runs(task: ResolvedTask, submissions: Sequence[Declared]) -> None:
    """Refuse systems of one run where the task declares runs to be random.

    Args:
        task: The task.
        submissions: In the order of their versions; of each system the last one takes part.

    Raises:
        ManifestError: One that takes part has a single run.
    """
    if task.manifest.significance.runs != "random":
        return
    latest = {(one.test_set.name, one.team, one.system): one for one in submissions if not one.withdrawn}
    if alone := [one.name for one in latest.values() if len(one.files) < 2]:
        names = f"{alone[0]} has" if len(alone) == 1 else f"{alone[0]} and {len(alone) - 1} more have"
        raise ManifestError(f"'random' needs two runs or more of every system, and {names} one only; add runs, or set "
                            'runs = "fixed"', path=task.root.manifest, key="significance.runs")


def expanded(task: ResolvedTask) -> Iterator[tuple[str, Submit, Path, dict[str, str]]]:
    """Give every file that a `[[submit]]` names: its key in the manifest, the table, the path and what is captured."""
    tables = [(f"submit[{n}]", submit) for n, submit in enumerate(task.manifest.submit)]
    single = frozenset(task.root.folder / submit.file for _, submit in tables if "{" not in submit.file)
    for key, submit in tables:
        for path, captured in task.root.match(submit.file, f"{key}.file", single):
            yield key, submit, path, captured


def declare(task: ResolvedTask, submit: Submit, files: Sequence[File], captured: dict[str, str],
            key: str) -> Declared:
    """Say what a submission's files are: what `submit` (at `key` of the manifest, if of it) declares, and captured."""
    path = _path(files[0])

    def wrong(message: str) -> ManifestError:
        return ManifestError(message, path=task.root.manifest if key else path, key=key)

    given = {name: value for name in ("team", "system", "version", "test_set", "track")
             if (value := getattr(submit, name)) is not None}
    if twice := sorted(given.keys() & captured.keys()):
        raise wrong(f"{twice[0]} is given by a key and by the braces of {submit.file!r}; keep one")
    for name, value in captured.items():
        try:
            _NAME.validate_python(value)
        except ValidationError as error:
            raise wrong(f"{path}: {name} {error.errors()[0]['ctx']['error']}") from None
    names = given | captured
    if "system" not in names:
        raise wrong(f"{submit.file!r} says no system; add the key system, or {{system}} to the pattern")
    known = [t.name for t in task.manifest.test_set]
    if "test_set" not in names and len(known) > 1:
        raise wrong(f"add the key test_set: one of {', '.join(known)}")
    if (test_set_name := names.get("test_set", known[0])) not in known:
        raise wrong(f"unknown test set {test_set_name!r}; {suggest(test_set_name, known)}")
    test_set = task.manifest.test_set_named(test_set_name)
    reading = task.manifest.reading(test_set, submit)
    return Declared(
        test_set, names.get("team", names["system"]), names["system"], names.get("version", "1"),
        tuple(files), task.submission_reader(test_set, submit, key), reading.missing, reading.tokens,
        kind=submit.kind, track=names.get("track", reading.track), withdrawn=submit.withdrawn, late=submit.late,
        attributes=submit.attributes, metrics=tuple(task.metrics.values()), within=task.root.folder)


def _path(file: File) -> str:
    return file.path if isinstance(file, Document) else str(file)
