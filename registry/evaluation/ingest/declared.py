"""Submissions as a manifest or the command line declares them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from registry.columns import AnswerColumns
from registry.errors import InputError, ManifestError, Refuse, combine_errors, raise_error, suggest
from registry.evaluation.ingest.fit import FittedFile, Policies, fit_file
from registry.evaluation.resolve import Load, ResolvedTask
from registry.items import Answer, Item
from registry.manifest import TestSet
from registry.manifest.fields import Name
from registry.manifest.files import identify_file, list_exclusions
from registry.manifest.folder import format_value
from registry.manifest.naming import natural_key
from registry.manifest.patterns import BRACES, COMPOSED, FACTORS, compile_glob
from registry.manifest.spec import Submit
from registry.metrics import CorrelationMetric
from registry.missing import MissingPolicy
from registry.readers import Document, Reader
from registry.submission_fields import DECLARED

File = Path | Document
_NAME: TypeAdapter[str] = TypeAdapter(Name)
_Match = tuple[str, Submit, Path, dict[str, str]]  # key of the table, table, file, and parts of its path


@dataclass(frozen=True)
class DeclaredSubmission:
    """One submission as a manifest or the command line declares it.

    The files are loaded only when they are needed, because the files of all submissions may not fit into memory.

    Attributes:
        test_set, team, system, version: These identify the submission.
        files: One file for each run.
        reader: The reader, which parses the files.
        policies: What happens with missing answers and with text that differs from the gold.
        declaration: Declared values by name, such as the track or attributes; `DECLARED` lists the names.
        reason: The reason for these values, for the log.
        is_in_manifest: True if the manifest declares the submission.
        base_folder: Stored paths of files are relative to this folder.
        factors: For each file, the levels of its factors, such as {"prompt": "short"}; empty if runs have only numbers.
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
    is_in_manifest: bool = True
    base_folder: Path | None = None
    factors: tuple[dict[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The name of the submission without the test set: `team/system@version`."""
        return f"{self.team}/{self.system}@{self.version}"

    def read_answers(self, document: Document) -> Sequence[Answer]:
        """Parse the answers in a file, and report answers that a metric cannot count."""
        answers = self.reader.read_answers(document)
        # Metrics can count all numbers and labels, so columns need no check.
        for answer in () if isinstance(answers, AnswerColumns) else answers:
            if why := next(filter(None, (metric.uncountable(answer.value) for metric in self.policies.metrics)), None):
                document.report(InputError(why, path=document.path, line=answer.line, item=answer.key))
        return answers

    def bound(self, document: Document, items: Sequence[Item]) -> Document:
        """Return the file with a limit on its size, so that huge files are not read.

        The limit is the largest size that answers to the items can have.
        """
        return document.limit(self.reader.bounds(items))

    def fit(self, items: Sequence[Item], answers: Sequence[Answer], document: Document) -> FittedFile | None:
        """Match the answers of a file with the items of the gold, and find warnings.

        Problems are raised, or collected by the document.
        """
        return fit_file(items, answers, self.reader, self.policies, document, with_gold=self.test_set.gold is not None)

    @property
    def documents(self) -> tuple[Document, ...]:
        """The files with their contents; files that are not loaded yet are loaded.

        Raises:
            InputError: A file cannot be read.
        """
        return tuple(file if isinstance(file, Document) else Document.load(file, self.base_folder)
                     for file in self.files)

    def load_files(self, load: Load) -> DeclaredSubmission:
        """Return a copy of the submission whose files are loaded by the function `load`."""
        return replace(self, files=tuple(file if isinstance(file, Document) else load(file, self.base_folder)
                                         for file in self.files))


def expand_submissions(task: ResolvedTask, refuse: Refuse = raise_error) -> Iterator[DeclaredSubmission]:
    """Yield the submissions that the tables `[[submit]]` of a manifest declare.

    A table declares one file, or all files that match a pattern such as `{system}.{run}.txt`. Files that differ only in
    `{run}`, `{prompt}`, `{annotator}` or `{seed}` are the runs of one submission. If a table names a file without a
    pattern, patterns of other tables do not match this file. Submissions are sorted by version, the latest last.

    Args:
        task: The task.
        refuse: Function that is called with each `ManifestError`: a pattern or name is invalid, two files are declared
            as the same submission, or two patterns match the same files.
    """
    matches = sorted(match_files(task, refuse), key=lambda match: [
        natural_key(match[3].get(factor, "")) for factor in FACTORS])
    owners: dict[tuple[str, Path, str], tuple[str, str]] = {}
    overlaps: dict[tuple[str, ...], dict[Path, dict[str, str]]] = {}
    submissions: dict[tuple[str, str], tuple[DeclaredSubmission, tuple[str, str | None] | None]] = {}
    models: dict[str, set[str]] = {}
    for key, submit, path, captures in matches:
        try:
            submission = build_submission(task, submit, [path], captures, key)
        except InputError as error:
            refuse(error)
            continue
        models.setdefault(key, set()).add(f"{submission.team}/{submission.system}")
        if _is_excluded(submission, submit):
            continue
        if captures:
            other_key, other_name = owners.setdefault((submission.test_set.name, path, repr(submission.reader)),
                                                      (key, submission.name))
            if other_key != key:
                keys = tuple(sorted((other_key, key), key=natural_key))
                overlaps.setdefault(keys, {})[path] = {other_key: other_name, key: submission.name}
                continue
        name = submission.test_set.name, submission.name
        series = (key, submission.declaration["track"]) if _select_factors(submit, captures) else None
        earlier, earlier_series = submissions.setdefault(name, (submission, series))
        if earlier is submission:
            continue
        if series is None or series != earlier_series:
            refuse(ManifestError(f"{submission.name} is declared twice, by {_get_path(earlier.files[0])} and by "
                                 f"{path}; change the system or version of one declaration",
                                  path=task.root.manifest, key=key))
            continue
        submissions[name] = replace(earlier, files=earlier.files + submission.files,
                                    factors=earlier.factors + submission.factors), series
    for keys, names in overlaps.items():
        refuse(_describe_overlap(task, keys, names, matches))
    for n, submit in enumerate(task.manifest.submit):
        systems = models.get(f"submit[{n}]", set())
        for m, glob in enumerate(submit.exclude_systems):
            if systems and not any(_matches_system(glob, *model.split("/")) for model in systems):
                refuse(ManifestError(
                    f"{glob!r} is not a system of the pattern {submit.file!r}; {suggest(glob, systems)}",
                    path=task.root.manifest, key=f"submit[{n}].exclude_systems[{m}]"))
    yield from sorted((submission for submission, _ in submissions.values()),
                      key=lambda submission: natural_key(submission.version))


def _is_excluded(submission: DeclaredSubmission, submit: Submit) -> bool:
    return any(_matches_system(glob, submission.team, submission.system) for glob in submit.exclude_systems)


def _matches_system(glob: str, team: str, system: str) -> bool:
    return compile_glob(glob).fullmatch(f"{team}/{system}" if "/" in glob else system) is not None


def _describe_overlap(task: ResolvedTask, keys: tuple[str, ...], names: Mapping[Path, Mapping[str, str]],
                      matches: Sequence[_Match]) -> ManifestError:
    """Return the error for files that match the patterns of two tables `[[submit]]`.

    The remedy is a line with `exclude` for the table whose pattern matches more files.

    Args:
        task: The task.
        keys: The keys of the two tables, such as `submit[0]`.
        names: For each file that both patterns match, the submission's name by each table.
        matches: All files with their tables.
    """
    tables = {key: submit for key, submit, _, _ in matches}
    paths = {key: {_get_relative(path, task) for owner, _, path, _ in matches if owner == key} for key in keys}
    shared = {_get_relative(path, task) for path in names}
    example = min(names)
    shown = _get_relative(example, task)
    files = f"{shown} matches" if len(shared) == 1 else f"{len(shared)} files, such as {shown}, match"
    patterns = " and ".join(f"{tables[key].file!r} ({names[example][key]})" for key in keys)
    wide, narrow = sorted(keys, key=lambda key: len(paths[key]), reverse=True)
    if paths[wide] == paths[narrow]:
        remedy = "remove one of the two [[submit]]"
    else:
        excluded = [*tables[wide].exclude, *list_exclusions(tables[narrow].file, shared, paths[wide] - shared)]
        verb = "replace exclude by" if tables[wide].exclude else "add"
        remedy = f"in the [[submit]] of {tables[wide].file!r}, {verb} the line exclude = {format_value(excluded)}"
    return ManifestError(f"{files} two patterns: {patterns}; {remedy}", path=task.root.manifest, key=keys[1])


def _get_relative(path: Path, task: ResolvedTask) -> str:
    return path.relative_to(task.root.folder).as_posix()


def _select_factors(submit: Submit, captures: Mapping[str, str]) -> dict[str, str]:
    """Select the parts of a file's path that distinguish the runs of a submission.

    Such parts match `{run}`, `{prompt}`, `{annotator}` or `{seed}` in the pattern of the path. A part is left out if
    the name of the system, team or version contains it.

    Args:
        submit: The table `[[submit]]` with the pattern.
        captures: The parts of the path that match the braces of the pattern, such as `{"run": "1", "system": "x"}`.
    """
    composed = {name for key in COMPOSED for name in submit.list_captures(key)}
    return {factor: captures[factor] for factor in FACTORS if factor in captures and factor not in composed}


def check_runs(task: ResolvedTask, submissions: Sequence[DeclaredSubmission], refuse: Refuse = raise_error) -> None:
    """Refuse submissions if the test or a metric does not allow their number of runs.

    Args:
        task: The task.
        submissions: Submissions, sorted by version. Only the last version of each system is checked.
        refuse: Function that is called with each `ManifestError`. Random runs require at least two runs of every
            system. Correlations allow only one run.
    """
    latest = {(submission.test_set.name, submission.team, submission.system): submission
              for submission in submissions if not submission.declaration["withdrawn"]}
    lone_runs = [submission.name for submission in latest.values() if len(submission.files) < 2]
    if lone_runs and task.manifest.significance.runs == "random":
        names = f"{lone_runs[0]} has" if len(lone_runs) == 1 else f"{lone_runs[0]} and {len(lone_runs) - 1} more have"
        refuse(ManifestError(f"'random' requires at least two runs of every system, but {names} only one; add runs, "
                             'remove systems with one run, or set runs = "fixed"', path=task.root.manifest,
                             key="significance.runs"))
    for n, (alias, metric) in enumerate(task.metrics.items()):
        if not isinstance(metric, CorrelationMetric):
            continue
        several = next((submission for submission in latest.values() if len(submission.files) > 1
                        and alias in task.get_metrics(submission.test_set.name)), None)
        if several is not None:
            refuse(ManifestError(f"{metric!r} cannot be averaged over runs, but {several.name} has "
                                 f"{len(several.files)} runs; submit each run as a separate system",
                                 path=task.root.manifest, key=f"metric[{n}]"))


def match_files(task: ResolvedTask, refuse: Refuse = raise_error) -> Iterator[_Match]:
    """Find all files that match the tables `[[submit]]` of a manifest.

    Yields:
        The key of the table in the manifest, such as `submit[0]`; the table; the path of the file; and the parts of the
        path that match the braces of the pattern, such as `{"system": "x"}`.
    """
    tables = [(f"submit[{n}]", submit) for n, submit in enumerate(task.manifest.submit)]
    single = frozenset(identify_file(task.root.folder / submit.file) for _, submit in tables if not submit.is_pattern)
    for key, submit in tables:
        try:
            for path, captures in task.root.match(submit, key, single):
                yield key, submit, path, captures
        except ManifestError as error:
            refuse(error)


def build_submission(task: ResolvedTask, submit: Submit, files: Sequence[File], captures: dict[str, str],
                     key: str) -> DeclaredSubmission:
    """Build the submission that a table `[[submit]]` of the manifest declares.

    Args:
        task: The task.
        submit: The table, or the same settings from the command line.
        files: One file for each run.
        captures: The parts of the first file's path that match the braces of the pattern, such as `{"system": "x"}`.
        key: The key of the table in the manifest; empty for the command line.

    Raises:
        InputError: A name, an option or the reader is invalid.
    """
    path, factors = _get_path(files[0]), _select_factors(submit, captures)

    def make_error(message: str) -> ManifestError:
        return ManifestError(message, path=task.root.manifest if key else path, key=key)

    try:
        names = _compose_names(submit, captures)
    except ValueError as error:
        raise make_error(f"{path}: {error}") from None
    if "system" not in names:
        raise make_error(f"the pattern {submit.file!r} names no system; add {{system}}, {{run}} or {{team}}, "
                         "or the key system")
    test_set_names = [test_set.name for test_set in task.manifest.test_set]
    if "test_set" not in names and len(test_set_names) > 1:
        if key:
            raise make_error(f"the key test_set is missing; set it to one of {', '.join(test_set_names)}")
        options = " or ".join(f"--test-set {name}" for name in test_set_names)
        raise make_error(f"the task has {len(test_set_names)} test sets; add {options}")
    if (test_set_name := names.get("test_set", test_set_names[0])) not in test_set_names:
        remedy = f" of {path}: add a [[test_set]] of that name, or exclude the file" if captures else ""
        raise make_error(f"unknown test set {test_set_name!r}{remedy}; {suggest(test_set_name, test_set_names)}")
    test_set = task.manifest.get_test_set(test_set_name)
    reading = task.manifest.get_file_settings(test_set, submit)
    try:
        reader = task.submission_reader(test_set, submit)
    except InputError as error:
        raise combine_errors([make_error(str(part)) for part in (error, *error.others)]) if key else error from None
    return DeclaredSubmission(
        test_set, names.get("team", names["system"]), names["system"], names.get("version", "1"),
        tuple(files), reader, Policies(reading.missing if reader.answers_all else MissingPolicy.OWN, reading.tokens,
                                      tuple(task.get_metrics(test_set_name).values())),
        {name: getattr(submit, name) for name in DECLARED} | {
            "track": names.get("track", reading.track), "attributes": submit.all_attributes},
        submit.reason, is_in_manifest=bool(key),
        base_folder=task.root.folder, factors=(factors,) if factors.keys() - {"run"} else ())


def _compose_names(submit: Submit, captures: Mapping[str, str]) -> dict[str, str]:
    """Return the names of a submission: test set, team, system, version and track.

    A name comes from a key of the table, or else from the path of the file. A key can contain braces: `system =
    "x-{size}"` with the capture `{"size": "large"}` -> `x-large`.

    Args:
        submit: The table `[[submit]]` of the manifest.
        captures: The parts of the path that match the braces of the pattern.

    Raises:
        ValueError: A name is invalid, a capture is missing, or key and pattern give the same name.
    """
    names = {name: captures[name] for name in COMPOSED if name in captures}
    used = {part for key in COMPOSED for part in submit.list_captures(key)}
    for key in COMPOSED:
        if (value := getattr(submit, key)) is None:
            continue
        if unknown := [part for part in submit.list_captures(key) if part not in captures]:
            raise ValueError(f"{key} is {value!r}, but {submit.file!r} does not contain {{{unknown[0]}}}; "
                             + suggest(unknown[0], captures))
        if key in captures and key not in used:
            raise ValueError(f"{key} is set twice, by the key and by {{{key}}} in {submit.file!r}; remove one, or use "
                             f"{{{key}}} in the value of a key")
        names[key] = BRACES.sub(lambda match: captures[match[1]], value) if submit.list_captures(key) else value
    for key, value in names.items():
        try:
            names[key] = _NAME.validate_python(value)
        except ValidationError as error:
            raise ValueError(f"{key} {error.errors()[0]['ctx']['error']}") from None
    return names


def _get_path(file: File) -> str:
    return file.path if isinstance(file, Document) else str(file)


class LastFileCache:
    """Cache of the last loaded file, because one file can contain many systems."""

    def __init__(self) -> None:
        self._last: tuple[Any, Document] | None = None

    def load(self, path: Path, base_folder: Path | None = None) -> Document:
        """Read and return a file; only the last file is cached.

        Args:
            path: Path of the file.
            base_folder: The stored path of the file is relative to this folder.
        """
        if self._last is None or self._last[0] != (path, base_folder):
            self._last = None  # so that two files are never in memory
            self._last = (path, base_folder), Document.load(path, base_folder)
        return self._last[1]
