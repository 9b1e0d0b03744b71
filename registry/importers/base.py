"""The base of importers: they turn results of another program into a task, as if somebody had declared it.

A task is a manifest with its files in one folder. In logs of scores every benchmark becomes a test set, and every score
of an item a line of a file. An item without a score of some system is never dropped silently: importers refuse it,
unless an option drops it for all systems.
"""

from __future__ import annotations

import json
import math
import os
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from registry.errors import Category, InputError, counted, suggest
from registry.manifest.fields import check_slug
from registry.manifest.folder import TaskFolder, json_lines
from registry.readers import Document
from registry.readers.parsing.json_values import parse_json, parse_object
from registry.values import Value


def make_title(path: Path) -> str:
    """Return the title of a task made of the files at `path`."""
    return f"Imported from {path.name or 'a folder'}".encode(errors="replace").decode()


class Importer(Value):
    """A kind of foreign results, with the options that say how they are read."""

    @abstractmethod
    def read(self, path: Path) -> TaskFolder:
        """Make a task of what is at `path`.

        Raises:
            InputError: It is not of this kind; names file and line.
        """

    def read_files(self, files: Sequence[Path]) -> TaskFolder | None:  # noqa: ARG002
        """Make a task of several files; None if they are of another kind, or the importer takes one path.

        Raises:
            InputError: They are of this kind, and cannot be read; names file and line.
        """
        return None


def check_metric_name(importer: str, metric: str) -> None:
    """Refuse names that boards cannot use for a metric.

    Raises:
        InputError: It is no such name.
    """
    try:
        check_slug(metric)
    except ValueError as error:
        raise InputError(f"option 'metric' of {importer}: {error}, such as pass-1 for pass@1") from None


MAX_FILES = 2**16  # that are looked at below one folder


class Place(NamedTuple):
    """Where something was found; `line` counts from 1."""

    path: str
    line: int | None = None

    def error(self, message: str, item: str | None = None, *, category: Category = "format") -> InputError:
        """Return an error that names this place."""
        return InputError(message, path=self.path, line=self.line, item=item, category=category)


class Sources:
    """What is read of the files at a path; `digests` are those of all that were, by their names."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.digests: dict[str, str] = {}

    def load(self, file: Path) -> Document:
        """Read a file and store its digest.

        Raises:
            InputError: It cannot be read.
        """
        document = Document.load(file, self.path)
        self.digests[document.name] = document.digest
        return document

    def load_json(self, file: Path) -> tuple[Any, Place]:
        """Read a file that is one JSON value; returns it with its place. See `read_json`."""
        document = self.load(file)
        return read_json(document), Place(document.path)


def find_files(path: Path, fits: Callable[[str], bool], what: str, *, deep: bool = True) -> list[Path]:
    """Find matching files in a folder and (`deep`) below it, or return the file `path` itself.

    They are ordered by their names, folder by folder. Links to folders are not followed.

    Raises:
        InputError: There is none, there are too many, one's name is no text, or a link leads out of the folder.
    """
    if not path.is_dir():
        return [path]
    found: list[Path] = []
    n = 0
    for folder, below, names in os.walk(path):
        below[:] = sorted(below) if deep else []
        n += len(names)
        if n > MAX_FILES:
            raise InputError(f"more than {MAX_FILES:,} files; name the folder of the logs themselves", path=path)
        found += (Path(folder) / name for name in sorted(names) if fits(name))
    if not found:
        raise InputError(f"no {what} in this folder", path=path)
    inside = path.resolve()
    for file in found:
        if not str(file.relative_to(path)).isprintable():
            raise InputError(f"the name {str(file.relative_to(path))!r} is no printable text", path=path)
        if file.is_symlink() and not file.resolve().is_relative_to(inside):
            raise InputError("a link that leads out of the folder; put the file itself here", path=file)
    return found


def check_known(wanted: Iterable[str], known: Iterable[str], what: str, path: Path) -> None:
    """Refuse requested names that the path lacks; messages say "no `what`".

    Raises:
        InputError: One is not among those that are known at the path.
    """
    known = set(known)
    for name in wanted:
        if name not in known:
            raise InputError(f"no {what} {name!r}; {suggest(name, known)}", path=path)


def read_json(document: Document) -> Any:
    """Read a file that is one JSON value; NaN and Infinity pass.

    Raises:
        InputError: It is not JSON; names the line.
    """
    return parse_json_text(document.text(), document.path)


def read_objects(document: Document, *, nan: bool = False) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yield the objects of a file of JSON Lines with their places; blank lines are ignored.

    Raises:
        InputError: A line is no JSON object; see `parse_object`.
    """
    for line, text in document.lines():
        if text.strip():
            yield parse_object(text, document.path, line, nan=nan), Place(document.path, line)


def parse_json_text(text: str | bytes, path: str) -> Any:
    """Parse the text of the file at `path`; see `read_json`."""
    try:
        return parse_json(text, nan=True)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg} at column {error.colno}", path=path, line=error.lineno) from None
    except ValueError as error:
        raise InputError(f"not JSON: {error}", path=path) from None


def is_encodable(value: Any) -> bool:
    """True if a JSON value can be written as UTF-8: JSON can escape half a character."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def get_member(value: Any, *keys: str, of: type | tuple[type, ...], place: Place) -> Any:
    """Return the value under keys of nested objects.

    Raises:
        InputError: It is not there, or not of the type `of`; names the keys.
    """
    for n, key in enumerate(keys, 1):
        if not isinstance(value, dict) or key not in value:
            raise place.error(f"no key {'.'.join(keys[:n])!r}")
        value = value[key]
    if not isinstance(value, of) or (isinstance(value, bool) and of is int):
        raise place.error(f"{'.'.join(keys)!r} is {json.dumps(value)[:60]}, which does not belong there")
    return value


Better = Literal["higher", "lower"]
Score = float | tuple[float, ...] | None  # None: the item has none; several numbers are those that a measure names
Run = dict[str, tuple[Score, Place]]


@dataclass(frozen=True)
class Measure:
    """What a score is made of: the mean of the items' scores, or a formula over sums of several numbers.

    Attributes:
        statistics: The names of an item's numbers, in the order in which they stand in a score; without any it is one.
        formula: Over their sums, as `Formula` takes it.
        name: What boards call it.
    """

    statistics: tuple[str, ...] = ()
    formula: str = ""
    name: str = "score"

    def describe_reader(self, attributes: Sequence[str]) -> dict[str, Any]:
        """Return the manifest's table for files whose items have `attributes`."""
        options: dict[str, Any] = {"syntax": "jsonl", **({"attributes": list(attributes)} if attributes else {})}
        if self.formula:
            return {"format": "statistics", "options": options | {"statistics": list(self.statistics)}}
        return {"format": "scores", "options": options}

    def describe_metric(self, better: Better) -> dict[str, Any]:
        """Return the manifest's table for the metric."""
        if self.formula:
            return {"id": self.name, "name": "Formula", "options": {"formula": self.formula, "better": better}}
        return {"id": self.name, "name": "Mean", "options": {"better": better}}

    def make_row(self, score: Score) -> dict[str, Any]:
        """Return a line of a file for an item."""
        return dict(zip(self.statistics, score, strict=True)) if isinstance(score, tuple) else {"score": score}


MEAN = Measure()


class ScoredImporter(Importer):
    """What importers of logs of scores share.

    Attributes:
        missing: Items without a score by one of the systems: `reject` the logs, or `drop` the item for all systems.
        better: Whether `higher` or `lower` scores are the better ones; without it what the logs say, else `higher`.
    """

    missing: Literal["reject", "drop"] = "reject"
    better: Better | None = None


class Collected(Sources):
    """Scores as they are found in files, by test set, model, run and item.

    Of the importer it knows what is done about items without a score (`missing`), and which scores it says are the
    better ones.
    """

    def __init__(self, path: Path, missing: str, better: Better | None) -> None:
        super().__init__(path)
        self._missing, self._declared = missing, better
        self._found: dict[str, dict[str, dict[str, Run]]] = {}
        self._better: dict[str, Better] = {}
        self._attributes: dict[tuple[str, str], Mapping[str, str]] = {}
        self._clusters: dict[str, str] = {}  # the attribute of a test set's items that is one of several items

    def add(self, test_set: str, model: str, run: str, scores: Run, better: Better | None = None) -> None:
        """Add scores by item to a run of a model; None is an absent score. `better` is the direction, if known.

        Raises:
            InputError: An item stands there already, or a name cannot be written.
        """
        known = self._found.setdefault(test_set, {}).setdefault(model, {}).setdefault(run, {})
        for item, score in scores.items():
            _, place = score
            if item in known:
                raise make_duplicate_error(item, place, known[item][1])
            for name in (item, model):
                if not name.strip() or not name.isprintable():
                    raise place.error(f"the name {name!r} is empty or has a control or invisible character")
            known[item] = score
        if better is not None:
            self._better[test_set] = better

    def describe(self, test_set: str, item: str, attributes: Mapping[str, str], place: Place) -> None:
        """Store the attributes of an item, which must agree in a test set.

        Raises:
            InputError: It was said to have others before.
        """
        known = self._attributes.setdefault((test_set, item), attributes)
        for name, value in attributes.items():
            if known[name] != value:
                raise place.error(f"{name!r} is {value!r}, and {known[name]!r} in another row; an item has one", item)

    def cluster(self, test_set: str, attribute: str) -> None:
        """Declare that items with the same value of an attribute depend on each other."""
        self._clusters[test_set] = attribute

    @property
    def test_sets(self) -> tuple[str, ...]:
        """Names of the test sets."""
        return tuple(self._found)

    def join(self, parts: Mapping[str, str], name: str) -> None:
        """Join test sets; the attribute `part` of items says which test set they were in.

        Args:
            parts: The test sets' names, and what their items are told apart by.
            name: Of the new test set.
        """
        joined: dict[str, dict[str, Run]] = {}
        for test_set, part in parts.items():
            if test_set in self._better:
                self._better.setdefault(name, self._better[test_set])
            for model, runs in self._found.pop(test_set).items():
                for run, scores in runs.items():
                    of_run = joined.setdefault(model, {}).setdefault(run, {})
                    for item, score in scores.items():
                        of_run[f"{part}/{item}"] = score
                        known = self._attributes.get((test_set, item), {})
                        self._attributes[name, f"{part}/{item}"] = {**known, "part": part}
            if test_set in self._clusters:
                self._clusters[name] = self._clusters[test_set]
        self._found[name] = joined

    def drop(self, test_sets: Iterable[str]) -> None:
        """Remove test sets for all models."""
        for name in test_sets:
            self._found.pop(name, None)

    def make_task(self, measure: Measure = MEAN, notes: tuple[str, ...] = (), then: tuple[str, ...] = ()) -> TaskFolder:
        """Make the task: one file for a test set's items, and one for each run's scores.

        Args:
            measure: What makes a score of the items' ones.
            notes: What the user has to know.
            then: What answers a question that the user may have.

        Raises:
            InputError: A system lacks scores that others have, or the test sets do not go together.
        """
        test_sets, submits, files = [], [], {}
        slugs = make_slugs(self._found, self.path)
        for name, models in self._found.items():
            folder = slugs[name]
            items = list(dict.fromkeys(item for runs in models.values() for run in runs.values() for item in run))
            attributes = {item: self._attributes.get((name, item), {}) for item in items}
            reading = measure.describe_reader(tuple(attributes[items[0]]))
            clustered = {"cluster": self._clusters[name]} if name in self._clusters else {}
            test_sets.append({"name": folder, "gold": f"{folder}/items.jsonl", **reading, **clustered})
            files[f"{folder}/items.jsonl"] = json_lines({"item": item, **attributes[item]} for item in items)
            systems = make_slugs(models, self.path)
            for model, runs in models.items():
                where = f"{folder}/systems/{systems[model]}"
                for n, (run, scores) in enumerate(runs.items(), 1):
                    self._check_complete(scores, items, name, f"{model!r}" + f" (run {run})" * (len(runs) > 1))
                    file = f"{where}/{n}.jsonl" if len(runs) > 1 else f"{where}.jsonl"
                    files[file] = json_lines({"item": item, **measure.make_row(scores[item][0])} for item in items if
                                             item in scores and scores[item][0] is not None)
                submits.append({"file": f"{where}/{{run}}.jsonl" if len(runs) > 1 else f"{where}.jsonl",
                                **split_model(model), "test_set": folder})
        return TaskFolder({
            "task": {"title": make_title(self.path)},
            "test_set": test_sets,
            "submission": {"missing": self._missing},
            "metric": [measure.describe_metric(self._find_direction())],
            "submit": submits,
        }, files, self.digests, notes, then)

    def _find_direction(self) -> Better:
        if self._declared is not None:
            return self._declared
        first = {better: name for name, better in self._better.items() if name in self._found}
        if len(first) > 1:
            raise InputError(f"higher scores are better in {first['higher']!r} and lower ones in {first['lower']!r}; "
                             "import them apart, choosing with the option 'metrics'", path=self.path)
        return next(iter(first), "higher")

    def _check_complete(self, scores: Run, items: list[str], test_set: str, who: str) -> None:
        """Refuse a run that lacks scores which others have; if items are dropped, only a run without any."""
        lacking = [item for item in items if item not in scores or scores[item][0] is None]
        if not lacking or (self._missing == "drop" and len(lacking) < len(items)):
            return
        remedy = "--option missing=drop leaves such items out for all systems"
        if 2 * len(lacking) > len(items):
            remedy = "leave it out, rather than so many items for all systems"
        place = scores[lacking[0]][1] if lacking[0] in scores else Place(str(self.path))
        raise place.error(f"{who} has no score of {counted(len(lacking), 'item')} of {len(items)} in {test_set!r}, "
                          f"such as {lacking[0]!r}; {remedy}", category="missing")


def to_score(value: Any) -> float | None:
    """Convert a finite number or truth value to a score; None for others."""
    if not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def compute_mean(scores: Sequence[float]) -> float:
    """Return the mean of at least one score, even if the sum overflows.

    >>> compute_mean([0.1, 0.2]), compute_mean([1e308, 1e308])
    (0.15000000000000002, 1e+308)
    """
    try:
        return math.fsum(scores) / len(scores)
    except OverflowError:
        return math.fsum(score / len(scores) for score in scores)


def is_near(own: float, told: float) -> bool:
    """True if the score computed from items equals the one in a log."""
    return math.isclose(own, told, rel_tol=1e-6, abs_tol=1e-9)


def make_duplicate_error(item: str, place: Place, first: Place, remedy: str = "") -> InputError:
    """Return the error for an item that occurs twice."""
    where = f"in line {first.line}" if first.path == place.path and first.line else f"in {first.path}" + (
        f":{first.line}" if first.line else "")
    return place.error(f"stands twice, first {where}{remedy}", item, category="duplicate")


def split_model(model: str) -> dict[str, str]:
    """Return system and team of a model: the part before the last slash is the team; `/` and `@` become `_`.

    >>> split_model("openai/gpt-4o"), split_model("aspen@2")
    ({'system': 'gpt-4o', 'team': 'openai'}, {'system': 'aspen_2'})
    """
    maker, _, name = (re.sub(r"[/@]", "_", part.strip()) for part in model.strip("/ ").rpartition("/"))
    return {"system": name, "team": maker} if maker else {"system": name}


def make_slugs(names: Iterable[str], path: Path) -> dict[str, str]:
    """Return a distinct slug for each name, of characters valid in file names.

    Raises:
        InputError: Two names have the same one, or one has none.
    """
    taken: dict[str, str] = {}
    slugs = {}
    for name in names:
        spelt = re.sub(r"\++$", lambda found: "plus" * len(found[0]), name)  # HumanEval+ is not HumanEval
        slug = re.sub(r"[^A-Za-z0-9._-]+", "_", spelt).lstrip("._-").rstrip("_")[:150]
        if not slug:
            raise InputError(f"the name {name!r} has no letter or digit that a file's name may have", path=path)
        if (other := taken.setdefault(slug.lower(), name)) is not name:
            raise InputError(f"the names {other!r} and {name!r} are too much alike to be told apart", path=path)
        slugs[name] = slug
    return slugs


def suggest_across(test_sets: Mapping[str, str], options: str) -> tuple[str, ...]:
    """Return advice on comparing systems across several imported benchmarks.

    Nothing is said where there is one test set, of which the board says it.

    Args:
        test_sets: The benchmark of every test set.
        options: What leaves one test set of each benchmark, such as "--option metrics=acc".

    Returns:
        Sentences in which `{task}` stands for the task's id.
    """
    benchmarks = Counter(test_sets.values())
    if len(test_sets) < 2:
        return ()
    if len(benchmarks) < len(test_sets):
        several = next(name for name, n in benchmarks.items() if n > 1)
        return (f"several test sets are of one benchmark, such as {several!r}: for an average over benchmarks import "
                f"one of each, choosing with {options}",) if len(benchmarks) > 1 else ()
    return (f"is one system better than another over all {len(test_sets)} test sets? `registry study macro-average "
            "{task} --show pairs` tests the average of their scores, to which each adds the same, for other items of "
            "these test sets; `registry study suite {task}` tells which ranks hold for other test sets, too",)
