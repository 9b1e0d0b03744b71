"""What a manifest, or the command line, declares to be submitted: files, and the names that patterns capture."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from registry.columns import AnswerColumns
from registry.errors import InputError, ManifestError, Refuse, raising, suggest, together
from registry.evaluation.ingest.fit import FittedFile, Policies, fit_file
from registry.evaluation.resolve import Load, ResolvedTask
from registry.items import Answer, Item
from registry.manifest import TestSet
from registry.manifest.fields import BRACES, COMPOSED, FACTORS, Name
from registry.manifest.files import identify_file
from registry.manifest.spec import Submit
from registry.metrics import CorrelationMetric
from registry.readers import Document, Reader
from registry.submission_fields import DECLARED

File = Path | Document
_NAME: TypeAdapter[str] = TypeAdapter(Name)


@dataclass(frozen=True)
class Declared:
    """One submission as the manifest or the command line declares it.

    Files are read when they are needed, because all that a manifest declares may not fit into memory.

    Attributes:
        files: One file for each run; mostly one.
        declaration: The value of each fact that people may declare, by the names of `DECLARED`.
        reason: Why it is declared so.
        within: The folder relative to which records name the files.
        factors: The level of each factor, such as the prompt, for each file; empty if runs have only numbers.
    """

    test_set: TestSet
    team: str
    system: str
    version: str
    files: tuple[File, ...]
    reader: Reader
    policies: Policies
    declaration: Mapping[str, Any] = field(default_factory=lambda: dict(DECLARED))
    reason: str | None = None
    of_manifest: bool = True
    within: Path | None = None
    factors: tuple[dict[str, str], ...] = ()

    @property
    def name(self) -> str:
        """`team/system@version`, the name within a test set."""
        return f"{self.team}/{self.system}@{self.version}"

    def read(self, document: Document) -> Sequence[Answer]:
        """Read one of its files; an answer that a metric of the task cannot count is reported."""
        answers = self.reader.read_answers(document)
        for answer in () if isinstance(answers, AnswerColumns) else answers:  # metrics can count all numbers and labels
            if why := next(filter(None, (metric.uncountable(answer.value) for metric in self.policies.metrics)), None):
                document.report(InputError(why, path=document.path, line=answer.line, item=answer.key))
        return answers

    def bounded(self, document: Document, items: Sequence[Item]) -> Document:
        """Return one of its files, of which no more is read than answers to these items can be."""
        return document.limit(self.reader.bounds(items))

    def fit(self, items: Sequence[Item], answers: Sequence[Answer], document: Document) -> FittedFile | None:
        """Join one of its files with the items; see `fit_file`."""
        return fit_file(items, answers, self.reader, self.policies, document, with_gold=self.test_set.gold is not None)

    @property
    def documents(self) -> tuple[Document, ...]:
        """The files, read.

        Raises:
            InputError: One cannot be read.
        """
        return tuple(file if isinstance(file, Document) else Document.load(file, self.within)
                     for file in self.files)

    def loaded(self, load: Load) -> Declared:
        """The same, holding its files as they are now; `load` reads one."""
        return replace(self, files=tuple(file if isinstance(file, Document) else load(file, self.within)
                                         for file in self.files))


def natural(text: str) -> list[tuple[int, int, str]]:
    """The key that sorts names as people do, `v9` before `v10`."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", text)]


def declared(task: ResolvedTask, refuse: Refuse = raising) -> Iterator[Declared]:
    """Expand every `[[submit]]` of the manifest into submissions.

    A file that one names by itself is left out of the patterns of others. Files of one pattern that differ only in
    `{run}`, `{prompt}`, `{annotator}` and `{seed}` are the runs of one submission. Versions and runs come in their
    natural order, so that the latest version comes last, whatever the order of the tables.

    Args:
        task: The task.
        refuse: Called with each `ManifestError`: a pattern or a name does not work out, two files claim to be the same
            submission, or two patterns take one file for two.
    """
    taken: dict[tuple[str, Path, str], str] = {}
    found: dict[tuple[str, str], tuple[Declared, tuple[str, str | None] | None]] = {}
    for key, submit, path, captured in sorted(expanded(task, refuse), key=lambda entry: [
            natural(entry[3].get(factor, "")) for factor in FACTORS]):
        try:
            one = declare(task, submit, [path], captured, key)
        except InputError as error:
            refuse(error)
            continue
        if captured and (also := taken.setdefault((one.test_set.name, path, repr(one.reader)), one.name)) != one.name:
            refuse(ManifestError(f"{path} is taken by two patterns, for {also} and for {one.name}; make one of them "
                                 "narrower, or name the file by itself", path=task.root.manifest, key=key))
            continue
        name, runs_of = (one.test_set.name, one.name), None
        if _factors(submit, captured):
            runs_of = key, one.declaration["track"]
        other, also_runs_of = found.setdefault(name, (one, runs_of))
        if other is one:
            continue
        if runs_of is None or runs_of != also_runs_of:
            refuse(ManifestError(f"{one.name} is declared twice, by {_path(other.files[0])} and by {path}; give one "
                                 "another system or version", path=task.root.manifest, key=key))
            continue
        found[name] = replace(other, files=other.files + one.files, factors=other.factors + one.factors), runs_of
    yield from sorted((one for one, _ in found.values()), key=lambda one: natural(one.version))


def _factors(submit: Submit, captured: Mapping[str, str]) -> dict[str, str]:
    """The captures that tell runs of one submission apart, and are no part of a name."""
    composed = {name for key in COMPOSED for name in submit.list_captures(key)}
    return {factor: captured[factor] for factor in FACTORS if factor in captured and factor not in composed}


def check_runs(task: ResolvedTask, submissions: Sequence[Declared], refuse: Refuse = raising) -> None:
    """Refuse numbers of runs that cannot be tested or scored.

    Args:
        task: The task.
        submissions: In the order of their versions; of each system the last one takes part.
        refuse: Called with each `ManifestError`: runs are random, and one that takes part has a single run; or a metric
            is no average over runs, and one has several.
    """
    latest = {(one.test_set.name, one.team, one.system): one for one in submissions if not one.declaration["withdrawn"]}
    alone = [one.name for one in latest.values() if len(one.files) < 2]
    if alone and task.manifest.significance.runs == "random":
        names = f"{alone[0]} has" if len(alone) == 1 else f"{alone[0]} and {len(alone) - 1} more have"
        refuse(ManifestError(f"'random' needs two runs or more of every system, and {names} one only; add runs, or set "
                             'runs = "fixed"', path=task.root.manifest, key="significance.runs"))
    for n, metric in enumerate(task.metrics.values()):
        several = [one for one in latest.values() if len(one.files) > 1 and isinstance(metric, CorrelationMetric)]
        if several:
            refuse(ManifestError(f"{metric!r} is no average over runs, and {several[0].name} has "
                                 f"{len(several[0].files)}; name them as systems of their own",
                                 path=task.root.manifest, key=f"metric[{n}]"))


def expanded(task: ResolvedTask,
             refuse: Refuse = raising) -> Iterator[tuple[str, Submit, Path, dict[str, str]]]:
    """Give every file that a `[[submit]]` names: its key in the manifest, the table, the path and what is captured."""
    tables = [(f"submit[{n}]", submit) for n, submit in enumerate(task.manifest.submit)]
    single = frozenset(identify_file(task.root.folder / submit.file) for _, submit in tables if not submit.is_pattern)
    for key, submit in tables:
        try:
            for path, captured in task.root.match(submit, key, single):
                yield key, submit, path, captured
        except ManifestError as error:
            refuse(error)


def declare(task: ResolvedTask, submit: Submit, files: Sequence[File], captured: dict[str, str],
            key: str) -> Declared:
    """Say what a submission's files are: what `submit` (at `key` of the manifest, if of it) declares, and captured."""
    path, factors = _path(files[0]), _factors(submit, captured)

    def wrong(message: str) -> ManifestError:
        return ManifestError(message, path=task.root.manifest if key else path, key=key)

    try:
        names = _names(submit, captured)
    except ValueError as error:
        raise wrong(f"{path}: {error}") from None
    if "system" not in names:
        raise wrong(f"{submit.file!r} says no system; add the key system, or {{system}} to the pattern")
    known = [t.name for t in task.manifest.test_set]
    if "test_set" not in names and len(known) > 1:
        raise wrong(f"add the key test_set: one of {', '.join(known)}")
    if (test_set_name := names.get("test_set", known[0])) not in known:
        remedy = f" of {path}: add a [[test_set]] of that name, or leave the file out with exclude" if captured else ""
        raise wrong(f"unknown test set {test_set_name!r}{remedy}; {suggest(test_set_name, known)}")
    test_set = task.manifest.get_test_set(test_set_name)
    reading = task.manifest.get_file_settings(test_set, submit)
    try:
        reader = task.submission_reader(test_set, submit)
    except InputError as error:
        raise together([wrong(str(one)) for one in (error, *error.others)]) if key else error from None
    return Declared(
        test_set, names.get("team", names["system"]), names["system"], names.get("version", "1"),
        tuple(files), reader, Policies(reading.missing, reading.tokens, tuple(task.metrics.values())),
        {name: getattr(submit, name) for name in DECLARED} | {
            "track": names.get("track", reading.track), "attributes": submit.all_attributes},
        submit.reason, of_manifest=bool(key),
        within=task.root.folder, factors=(factors,) if factors.keys() - {"run"} else ())


def _names(submit: Submit, captured: Mapping[str, str]) -> dict[str, str]:
    """What a `[[submit]]` gives by its keys, composed of what was captured where they have braces, or just captures."""
    names = {name: captured[name] for name in COMPOSED if name in captured}
    used = {part for key in COMPOSED for part in submit.list_captures(key)}
    for key in COMPOSED:
        if (value := getattr(submit, key)) is None:
            continue
        if unknown := [part for part in submit.list_captures(key) if part not in captured]:
            raise ValueError(f"{key} is {value!r}, but {submit.file!r} does not capture {{{unknown[0]}}}; "
                             + suggest(unknown[0], captured))
        if key in captured and key not in used:
            raise ValueError(f"{key} is given by a key and by the braces of {submit.file!r}; keep one, or use "
                             f"{{{key}}} in a key")
        names[key] = BRACES.sub(lambda match: captured[match[1]], value) if submit.list_captures(key) else value
    for key, value in names.items():
        try:
            _NAME.validate_python(value)
        except ValidationError as error:
            raise ValueError(f"{key} {error.errors()[0]['ctx']['error']}") from None
    return names


def _path(file: File) -> str:
    return file.path if isinstance(file, Document) else str(file)


class LastDocument:
    """Loads files and keeps the last one: a file may hold many systems, and is then read once."""

    def __init__(self) -> None:
        self._last: tuple[Any, Document] | None = None

    def load(self, path: Path, within: Path | None = None) -> Document:
        """Read a file, unless it is the one that was read last."""
        if self._last is None or self._last[0] != (path, within):
            self._last = None  # before there are two
            self._last = (path, within), Document.load(path, within)
        return self._last[1]
