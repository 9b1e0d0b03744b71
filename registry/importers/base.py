"""Base classes and helper functions of importers.

An importer reads the results of another evaluation program and makes a task: a manifest and its files in one folder.
Each benchmark becomes a test set, and each score of an item becomes a line of a file. Importers never drop an item
silently. If a system has no score of an item, the importer raises an error, unless the user sets `missing = "drop"`,
which drops the item for all systems.
"""

from __future__ import annotations

import json
import math
import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from registry.errors import Category, InputError, counted, suggest
from registry.manifest.fields import check_slug
from registry.manifest.folder import TaskFolder, json_lines
from registry.manifest.naming import make_slugs, name_files, split_model
from registry.readers import Document
from registry.readers.parsing.json_values import parse_json, parse_object
from registry.values import Value


def make_title(path: Path) -> str:
    """Return the title "Imported from NAME" of a task, with the file name of `path`."""
    return f"Imported from {path.name or 'a folder'}".encode(errors="replace").decode()


class Importer(Value):
    """Base class of importers, which convert results of another program into a task.

    Each subclass reads one format of results.
    """

    @abstractmethod
    def read(self, path: Path) -> TaskFolder:
        """Convert the results in a file or folder into a task.

        Raises:
            InputError: The results have another format or are damaged; the error names file and line.
        """

    def read_files(self, files: Sequence[Path]) -> TaskFolder | None:  # noqa: ARG002
        """Convert several files of results into one task.

        Returns:
            The task; None if the files have another format, or if this importer cannot read several files.

        Raises:
            InputError: The files have this format but cannot be read; the error names file and line.
        """
        return None


def check_metric_name(importer: str, metric: str) -> None:
    """Check that the name of a metric is valid on leaderboards.

    A valid name has only letters, digits, `.`, `_` and `-`, such as `pass-1`.

    Args:
        importer: Name of the importer, for the error.
        metric: Name that leaderboards will show.

    Raises:
        InputError: The name is not valid.
    """
    try:
        check_slug(metric)
    except ValueError as error:
        raise InputError(f"option 'metric' of {importer}: {error}, such as pass-1 for pass@1") from None


MAX_FILES = 2**16  # in one folder and its subfolders


class Place(NamedTuple):
    """File and line of an input value, for error messages.

    Attributes:
        path: Path of the file.
        line: Line number, from 1; None for the whole file.
    """

    path: str
    line: int | None = None

    def error(self, message: str, item: str | None = None, *, category: Category = "format") -> InputError:
        """Make an InputError that names this file and line.

        Args:
            message: The problem.
            item: Name of the item with the problem, if any.
            category: Kind of the problem.
        """
        return InputError(message, path=self.path, line=self.line, item=item, category=category)


class Sources:
    """Loader of imported files that records the SHA-256 digest of each file.

    Attributes:
        path: The folder or file that is imported.
        digests: Maps the name of each loaded file to its digest.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.digests: dict[str, str] = {}

    def load(self, file: Path) -> Document:
        """Load a file and record its digest.

        Raises:
            InputError: The file cannot be read.
        """
        document = Document.load(file, self.path)
        self.digests[document.name] = document.digest
        return document

    def load_json(self, file: Path) -> tuple[Any, Place]:
        """Load a file with one JSON value; return the value and the file's `Place`.

        Raises:
            InputError: The file cannot be read, or is not JSON.
        """
        document = self.load(file)
        return read_json(document), Place(document.path)


def find_files(path: Path, matches: Callable[[str], bool], noun: str, *, deep: bool = True) -> list[Path]:
    """Return the matching files in a folder, or only `path` if it is a file.

    Files are sorted by name, folder by folder. Links to folders are not followed.

    Args:
        path: A folder or file.
        matches: Function that returns True for the name of a matching file.
        noun: Description of the matching files, for the error "no NOUN in this folder".
        deep: True to search subfolders too.

    Raises:
        InputError: No file matches, there are too many files, a name is not printable, or a link leads out of the
            folder.
    """
    if not path.is_dir():
        return [path]
    files: list[Path] = []
    n_files = 0
    for folder, subfolders, names in os.walk(path):
        subfolders[:] = sorted(subfolders) if deep else []
        n_files += len(names)
        if n_files > MAX_FILES:
            raise InputError(f"the folder has more than {MAX_FILES:,} files; name the folder that contains only the "
                             "logs",
                             path=path)
        files += (Path(folder) / name for name in sorted(names) if matches(name))
    if not files:
        raise InputError(f"no {noun} in this folder", path=path)
    root = path.resolve()
    for file in files:
        name = str(file.relative_to(path))
        if not name.isprintable():
            raise InputError(f"the file name {name!r} has an invisible character; rename the file", path=path)
        if file.is_symlink() and not file.resolve().is_relative_to(root):
            raise InputError("this link points to a file outside the folder; copy the file into the folder", path=file)
    return files


def check_known(requested: Iterable[str], available: Iterable[str], noun: str, path: Path) -> None:
    """Check that requested names, such as metrics, occur in the imported files.

    Args:
        requested: Names in an import option, such as the names of metrics to import.
        available: Names that occur in the files.
        noun: Kind of name, such as "metric", for the error "no NOUN 'NAME'".
        path: The imported folder or file, for the error.

    Raises:
        InputError: A name does not occur.
    """
    available = set(available)
    for name in requested:
        if name not in available:
            raise InputError(f"no {noun} {name!r}; {suggest(name, available)}", path=path, category="unknown")


def read_json(document: Document) -> Any:
    """Parse a file that contains one JSON value; NaN and Infinity are allowed.

    Raises:
        InputError: The file is not JSON; the error names the line.
    """
    return parse_json_text(document.text(), document.path)


def read_objects(document: Document, *, nan: bool = False) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yield each object of a JSON Lines file, with its file and line (`Place`).

    Blank lines are skipped.

    Args:
        document: The file.
        nan: True to allow NaN and Infinity.

    Raises:
        InputError: A line is not a JSON object, or a key occurs twice in it.
    """
    for line, text in document.lines():
        if text.strip():
            yield parse_object(text, document.path, line, nan=nan), Place(document.path, line)


def parse_json_text(text: str | bytes, path: str) -> Any:
    """Parse one JSON value from a file's text; NaN and Infinity are allowed.

    Args:
        text: Content of the file.
        path: Path of the file, for the error.

    Raises:
        InputError: The text is not JSON; the error names the line.
    """
    try:
        return parse_json(text, nan=True)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg} at column {error.colno}", path=path, line=error.lineno) from None
    except ValueError as error:
        raise InputError(f"not JSON: {error}", path=path) from None


def is_encodable(value: Any) -> bool:
    r"""Return True if a parsed JSON value can be written as UTF-8.

    Text with a lone surrogate (half of a character, such as `\ud800`) cannot be written.
    """
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


_KINDS: dict[Any, str] = {
    str: "text", int: "a whole number", bool: "true or false", list: "a list", dict: "an object",
    (int, float): "a number", (str, int): "text or a whole number",
}


def get_member(value: Any, *keys: str, kind: type | tuple[type, ...], place: Place) -> Any:
    """Get a nested value of a parsed JSON object, and check its type.

    For example, the keys "a", "b" give `value["a"]["b"]`.

    Raises:
        InputError: A key is absent, or the value is not of type `kind`; the error names the keys.
    """
    for n, key in enumerate(keys, 1):
        if not isinstance(value, dict) or key not in value:
            raise place.error(f"no key {'.'.join(keys[:n])!r}")
        value = value[key]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        raise place.error(f"{'.'.join(keys)!r} is {json.dumps(value)[:60]}; expected {_KINDS[kind]}")
    return value


def require_list(value: Any, place: Place, noun: str, kind: type = object) -> list[Any]:
    """Check that a JSON value is a list with elements of one type, and return it.

    Raises:
        InputError: It is not such a list; the message is "not a list of NOUN".
    """
    if not isinstance(value, list) or not all(isinstance(element, kind) for element in value):
        raise place.error(f"this is not a list of {noun}")
    return value


Better = Literal["higher", "lower"]
Repeated = Literal["reject", "latest", "runs"]
Score = float | tuple[float, ...] | None  # None: no score; a tuple has the statistics of a `Measure`
Run = dict[str, tuple[Score, Place]]  # by item


def add_score(run: Run, item: str, score: Score, place: Place, label: str = "", remedy: str = "") -> None:
    """Add an item's score to one run (one set of outputs) of a system.

    Args:
        run: Maps each item to its score and `Place`; receives the new entry.
        item: Name of the item.
        score: Score of the item; None if the item has no score.
        place: File and line of the score, for errors.
        label: Name of the item in the error; by default `item`.
        remedy: Advice at the end of the error.

    Raises:
        InputError: The run already has a score of this item.
    """
    if item in run:
        raise make_duplicate_error(label or item, place, run[item][1], remedy)
    run[item] = (score, place)


@dataclass(frozen=True)
class Measure:
    """Rule that computes a system's score from numbers of its items.

    The rule is the mean of one number per item, or a formula over sums of several numbers per item.

    Attributes:
        statistics: Names of an item's numbers, such as ("nats", "units"); empty if an item has one number.
        formula: Formula over the sums, such as "exp(nats / units)"; empty for the mean.
        name: Name of the metric on leaderboards.
    """

    statistics: tuple[str, ...] = ()
    formula: str = ""
    name: str = "score"

    def describe_reader(self, attributes: Sequence[str]) -> dict[str, Any]:
        """Return the keys `format` and `options` of a test set's table in the manifest.

        These keys declare the format of the score files.

        Args:
            attributes: Names of the items' attributes, such as "document".
        """
        options: dict[str, Any] = {"syntax": "jsonl", **({"attributes": list(attributes)} if attributes else {})}
        if self.formula:
            return {"format": "statistics", "options": options | {"statistics": list(self.statistics)}}
        return {"format": "scores", "options": options}

    def describe_metric(self, better: Better) -> dict[str, Any]:
        """Return the `[[metric]]` table that declares this measure in a TOML manifest."""
        if self.formula:
            return {"id": self.name, "name": "Formula", "options": {"formula": self.formula, "better": better}}
        return {"id": self.name, "name": "Mean", "options": {"better": better}}

    def make_row(self, score: Score) -> dict[str, Any]:
        """Return an item's score as a row of a score file, such as `{"score": 0.5}`."""
        return dict(zip(self.statistics, score, strict=True)) if isinstance(score, tuple) else {"score": score}


MEAN = Measure()


class ScoredImporter(Importer):
    """Base class of importers of results that have a score for each item.

    Attributes:
        missing: Treatment of an item for which a system has no score: `reject` the logs, or `drop` the item for all
            systems.
        better: Direction of scores: `higher` or `lower` scores are better. The default is the direction in the logs; if
            the logs have none, `higher`.
    """

    missing: Literal["reject", "drop"] = "reject"
    better: Better | None = None


class ScoreCollection(Sources):
    """Imported scores by test set, model, run and item, from which a task is made.

    Args:
        path: The folder or file that is imported.
        missing: Treatment of an item for which a system has no score: `reject` the logs, or `drop` the item for all
            systems.
        better: Direction of scores that the user requests; None to use the direction in the logs.
    """

    def __init__(self, path: Path, missing: str, better: Better | None) -> None:
        super().__init__(path)
        self._missing, self._requested_better = missing, better
        self._runs: dict[str, dict[str, dict[str, Run]]] = {}
        self._better: dict[str, Better] = {}
        self._attributes: dict[tuple[str, str], Mapping[str, str]] = {}
        self._clusters: dict[str, str] = {}

    def add_run(self, test_set: str, model: str, run: str, scores: Run, better: Better | None = None) -> None:
        """Add scores of items to one run of a model on a test set.

        Args:
            test_set: Name of the test set.
            model: Name of the model.
            run: Name of the run, such as "1".
            scores: Maps each item to its score and `Place`.
            better: "higher" or "lower" if the logs declare which scores are better; else None.

        Raises:
            InputError: The run already has an item, or a name is empty or not printable.
        """
        stored = self._runs.setdefault(test_set, {}).setdefault(model, {}).setdefault(run, {})
        for item, (score, place) in scores.items():
            for name in (item, model):
                if not name.strip() or not name.isprintable():
                    raise place.error(f"the name {name!r} is empty, or has a control or invisible character; rename it")
            add_score(stored, item, score, place)
        if better is not None:
            self._better[test_set] = better

    def set_attributes(self, test_set: str, item: str, attributes: Mapping[str, str], place: Place) -> None:
        """Store the attributes of an item, such as `{"document": "d1"}`.

        Raises:
            InputError: The item already has another value of an attribute.
        """
        stored = self._attributes.setdefault((test_set, item), attributes)
        for name, value in attributes.items():
            if stored[name] != value:
                raise place.error(f"{name!r} is {value!r}, but {stored[name]!r} in another row; write the same value "
                                  "in all rows of the item", item)

    def set_cluster(self, test_set: str, attribute: str) -> None:
        """Declare that items with the same value of an attribute form a cluster.

        Args:
            test_set: Name of the items' test set.
            attribute: Name of the attribute, such as "document".
        """
        self._clusters[test_set] = attribute

    @property
    def test_sets(self) -> tuple[str, ...]:
        """Names of the test sets that have scores."""
        return tuple(self._runs)

    def join_test_sets(self, parts: Mapping[str, str], name: str) -> None:
        """Replace several test sets by one new test set that contains all their items.

        Each item is renamed to "PART/ITEM", and gets the attribute `part` with the value PART.

        Args:
            parts: Maps the name of each old test set to its PART.
            name: Name of the new test set.
        """
        joined: dict[str, dict[str, Run]] = {}
        for test_set, part in parts.items():
            if test_set in self._better:
                self._better.setdefault(name, self._better[test_set])
            for model, runs in self._runs.pop(test_set).items():
                for run, scores in runs.items():
                    joined_run = joined.setdefault(model, {}).setdefault(run, {})
                    for item, score in scores.items():
                        joined_run[f"{part}/{item}"] = score
                        attributes = self._attributes.get((test_set, item), {})
                        self._attributes[name, f"{part}/{item}"] = {**attributes, "part": part}
            if test_set in self._clusters:
                self._clusters[name] = self._clusters[test_set]
        self._runs[name] = joined

    def remove_test_sets(self, test_sets: Iterable[str]) -> None:
        """Remove test sets and their scores for all models."""
        for name in test_sets:
            self._runs.pop(name, None)

    def make_task(self, measure: Measure = MEAN, notes: tuple[str, ...] = (),
                  advice: tuple[str, ...] = ()) -> TaskFolder:
        """Make a task from the collected scores.

        The task has one file of items per test set, and one file of scores per run.

        Args:
            measure: Rule that computes a system's score from numbers of its items.
            notes: Messages for the user, for example about ignored data.
            advice: Further commands that may be useful.

        Raises:
            InputError: A system has no score of an item that other systems have, or higher scores are better in one
                test set and lower scores in another.
        """
        test_sets, submits, files = [], [], {}
        slugs = make_slugs(self._runs, self.path)
        for name, models in self._runs.items():
            folder = slugs[name]
            items = list(dict.fromkeys(item for runs in models.values() for run in runs.values() for item in run))
            attributes = {item: self._attributes.get((name, item), {}) for item in items}
            reader = measure.describe_reader(tuple(attributes[items[0]]))
            cluster = {"cluster": self._clusters[name]} if name in self._clusters else {}
            test_sets.append({"name": folder, "gold": f"{folder}/items.jsonl", **reader, **cluster})
            files[f"{folder}/items.jsonl"] = json_lines({"item": item, **attributes[item]} for item in items)
            systems = name_files(models)
            for model, runs in models.items():
                stem = f"{folder}/systems/{systems[model]}"
                for n, (run, scores) in enumerate(runs.items(), 1):
                    self._check_complete(scores, items, name, f"{model!r}" + f" (run {run})" * (len(runs) > 1))
                    file = f"{stem}/{n}.jsonl" if len(runs) > 1 else f"{stem}.jsonl"
                    files[file] = json_lines({"item": item, **measure.make_row(scores[item][0])} for item in items if
                                             item in scores and scores[item][0] is not None)
                submits.append({"file": f"{stem}/{{run}}.jsonl" if len(runs) > 1 else f"{stem}.jsonl",
                                **split_model(model), "test_set": folder})
        return TaskFolder({
            "task": {"title": make_title(self.path)},
            "test_set": test_sets,
            "submission": {"missing": self._missing},
            "metric": [measure.describe_metric(self._get_direction())],
            "submit": submits,
        }, files, self.digests, notes, advice)

    def _get_direction(self) -> Better:
        if self._requested_better is not None:
            return self._requested_better
        examples = {better: name for name, better in self._better.items() if name in self._runs}
        if len(examples) > 1:
            raise InputError(f"higher scores are better in {examples['higher']!r}, but lower scores in "
                             f"{examples['lower']!r}; import the two separately with --option metrics=NAME",
                             path=self.path)
        return next(iter(examples), "higher")

    def _check_complete(self, scores: Run, items: list[str], test_set: str, system: str) -> None:
        """Check that a run of a system has a score for every item.

        If the user set `missing = "drop"`, one score is enough.

        Args:
            scores: Maps each item of the run to its score and `Place`.
            items: All items of the test set.
            test_set: Name of the test set, for the error.
            system: Name of the system, for the error.

        Raises:
            InputError: Scores are missing.
        """
        missing = [item for item in items if item not in scores or scores[item][0] is None]
        if not missing or (self._missing == "drop" and len(missing) < len(items)):
            return
        remedy = "add --option missing=drop to drop such items for all systems"
        if 2 * len(missing) > len(items):
            remedy = "remove this system from the import (dropping so many items would affect all systems)"
        place = scores[missing[0]][1] if missing[0] in scores else Place(str(self.path))
        raise place.error(f"{system} has no score of {counted(len(missing), 'item')} of {len(items)} in {test_set!r}, "
                          f"such as {missing[0]!r}; {remedy}", category="missing")


def to_score(value: Any) -> float | None:
    """Convert a finite number or a bool to a float; return None for any other value."""
    if not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def compute_mean(scores: Sequence[float]) -> float:
    """Return the mean of one or more scores, even if their sum overflows.

    >>> compute_mean([0.1, 0.2]), compute_mean([1e308, 1e308])
    (0.15000000000000002, 1e+308)
    """
    try:
        return math.fsum(scores) / len(scores)
    except OverflowError:
        return math.fsum(score / len(scores) for score in scores)


def is_near(computed: float, logged: float) -> bool:
    """Return True if a recomputed score equals the logged score, up to rounding."""
    return math.isclose(computed, logged, rel_tol=1e-6, abs_tol=1e-9)


def make_duplicate_error(item: str, place: Place, first: Place, remedy: str = "") -> InputError:
    """Return the InputError for an item that occurs twice in one run of a system.

    Args:
        item: Name of the item.
        place: File and line of the second occurrence.
        first: File and line of the first occurrence.
        remedy: Advice at the end of the message.
    """
    position = f"in {first.path}" + (f":{first.line}" if first.line else "")
    if first.path == place.path and first.line:
        position = f"in line {first.line}"
    return place.error(f"occurs twice, first {position}{remedy}", item, category="duplicate")


def select_repeated(dates: Mapping[Path, str], repeated: Repeated, subject: str, remedy: str = "") -> list[Path]:
    """Select the logs to import if one model has several logs of the same task.

    Args:
        dates: Maps the path of each log to its date.
        repeated: The option `repeated`: `reject` several logs, import the `latest`, or import all as `runs`.
        subject: Model and task, for the error.
        remedy: Advice at the end of the error.

    Returns:
        Paths of the selected logs, sorted by date.

    Raises:
        InputError: There are several logs, and `repeated` is `reject`.
    """
    first, *others = dates
    if others and repeated == "reject":
        raise InputError(f"this is a second log of {subject}, after {first}; add --option repeated=latest to import "
                         f"only the latest, or repeated=runs to import all as runs{remedy}", path=others[0],
                         category="duplicate")
    paths = sorted(dates, key=lambda path: dates[path])
    return paths[-1:] if repeated == "latest" else paths


def suggest_across(test_sets: Mapping[str, str], options: str) -> tuple[str, ...]:
    """Return advice for the user on how to compare systems over several benchmarks.

    Args:
        test_sets: Maps the name of each test set to its benchmark.
        options: Options that select one test set of each benchmark, such as "--option metrics=acc".

    Returns:
        Sentences in which the caller replaces `{task}` by the task's id; empty if there is only one test set.
    """
    benchmarks = Counter(test_sets.values())
    if len(test_sets) < 2:
        return ()
    if len(benchmarks) < len(test_sets):
        example = next(name for name, n in benchmarks.items() if n > 1)
        return (f"several test sets belong to one benchmark, such as {example!r}; for an average over benchmarks, "
                f"import only one of them with {options}",) if len(benchmarks) > 1 else ()
    return (f"Is one system better than another over all {len(test_sets)} test sets? `registry study macro-average "
            "{task} --show pairs` tests the average of their scores for other items of these test sets, with equal "
            "weights; `registry study suite {task}` shows which ranks hold for other test sets too",)
