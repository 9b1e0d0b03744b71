"""Files for planning: synthetic tasks, and resampled training files.

`synthesize` draws systems of declared accuracies on the items of a real task, with the difficulty that the items had
for real systems. So boards, thresholds and studies can be tried before anyone submits. `resampled` draws training files
with replacement: systems that are trained on them differ about as much as a small improvement does (Berg-Kirkpatrick et
al. 2012, section 3.2.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import PurePath
from typing import Any

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Floats
from registry.errors import InputError, UnknownNameError
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.settings import build_request
from registry.items import Item
from registry.manifest import format_toml
from registry.manifest.fields import check_name
from registry.manifest.folder import TaskFolder, json_lines
from registry.readers import Document, Reader
from registry.significance import PairMatrix
from registry.significance.matrix import additive
from registry.significance.power import draw_correct
from registry.significance.resampling.draws import OUTPUTS, TRAINING, stream
from registry.store import catalog
from registry.store.statistics import load_named_answers, load_responses
from registry.studies.run import choose_metrics
from registry.studies.study import Choice, choose_board
from registry.version import __version__

RIGHT, WRONG = "right", "wrong"
_MOST = 10**7  # items, beyond which nobody plans a test set


@dataclass(frozen=True, eq=False)
class Source:
    """The items of a real board.

    Attributes:
        name: Of the board.
        keys: The items' names, [items].
        clusters: The value of the cluster's attribute of each, or None where the test set declares none.
        ease: The mean score of the real systems in each, [items], the higher the easier; a score that is undefined, as
            where there is nothing to find and nothing found, counts as the system's mean.
        labels: Of each item the gold's label and what to say instead, [items]; or "right" and "wrong".
        digest: Of the gold.
        seed: Of the real task's random draws.
    """

    name: str
    keys: list[str]
    clusters: list[str] | None
    ease: Floats
    labels: list[tuple[str, list[str]]]
    digest: str
    seed: int

    @classmethod
    def chosen(cls, connection: Connection, task: str, choice: Choice) -> Source:
        """Take the items of the board of a task that is chosen.

        Raises:
            UnknownNameError: There is nothing of a name that is chosen.
            InputError: The score is a correlation, which single items have no part in.
        """
        (row,) = catalog.tasks(connection, task)
        catalog.check_metric(connection, [row], choice.metric)
        request = build_request(row, {"unit": "item", "test": "permutation", "runs": "fixed"},
                                   choose_metrics(connection, row, choice.metric))
        board = choose_board(connection, row, request, choice)
        if isinstance(board.matrix, PairMatrix):
            raise InputError(f"{board.key.name}: items have no scores of their own in a correlation; name another "
                             "metric")
        scores = additive(board.matrix).unit_scores() * (-1 if board.matrix.lower_is_better else 1)
        revision, attribute = board.key.gold.gold_revision_id, board.key.test_set.cluster_attribute
        keys, (first, _) = catalog.item_keys(connection, revision), catalog.item_ids(connection, revision)
        values = {} if attribute is None else catalog.item_attribute(connection, revision, attribute)
        return cls(board.key.name, [keys[n] for n in board.items],
                   None if attribute is None else [values[first + int(n)] for n in board.items], _ease(scores),
                   _labels(connection, board, first), board.key.gold.digest, board.key.task.seed)


@dataclass(frozen=True, eq=False)
class Synthesized:
    """A task that was made, and what became of the rates: `rows` of system, rate and accuracy."""

    task: TaskFolder
    rows: list[dict[str, Any]]


def synthesize(source: Source, rates: Mapping[str, float], correlation: float, *,
               pairs: Mapping[tuple[str, str], float], items: int | None, seed: int) -> Synthesized:
    """Draw the outputs of systems, and declare them a task of one label per item.

    A wrong label is one that real systems gave the item, as often as they did, or any other where none was wrong.

    Args:
        source: The real items.
        rates: At which each system is right.
        correlation: Of every two of them,
        pairs: but for the pairs that are named here, each once and in any order.
        items: How many items to draw from the real ones, with replacement; None: all as they are.
        seed: Of the draws.

    Raises:
        InputError: A rate or another number is none, a pair is none of the systems, or no such systems can be.
    """
    if not rates or any(not 0 < rate < 1 for rate in rates.values()):
        raise InputError("declare systems as NAME=RATE, with rates above 0 and below 1 (--system)")
    if items is not None and not 2 <= items <= _MOST:
        raise InputError(f"{items} items are no test set; expected 2 to {_MOST}")
    if not -1 <= correlation < 1:
        raise InputError(f"the correlation is {correlation!r}; expected a number from -1 up and below 1")
    if not 0 <= seed < 2**63:
        raise InputError(f"the seed is {seed}; expected a whole number from 0 to 2^63 - 1")
    rng = np.random.Generator(stream(seed, OUTPUTS, 1))
    taken = np.arange(len(source.keys)) if items is None else np.sort(rng.integers(0, len(source.keys), items))
    correlations = _correlations(list(rates), correlation, pairs)
    right = draw_correct(np.array(list(rates.values())), correlations, source.ease, seed, taken)
    keys = _distinct([source.keys[n] for n in taken])
    attributes = [{}] * len(keys) if source.clusters is None else [{"cluster": source.clusters[n]} for n in taken]
    files = {"gold.jsonl": json_lines({"item": key, "label": source.labels[n][0], **more}
                                  for key, n, more in zip(keys, taken, attributes, strict=True))}
    for m in range(len(rates)):
        said = (source.labels[n][0] if is_right else str(rng.choice(source.labels[n][1]))
                for n, is_right in zip(taken, right[:, m], strict=True))
        files[f"systems/{m + 1}.jsonl"] = json_lines(
            {"item": key, "label": label} for key, label in zip(keys, said, strict=True))
    declared = ", ".join([f"correlation {correlation:g}", *(f"{a} with {b} {r:g}" for (a, b), r in pairs.items())])
    tables: dict[str, Any] = {
        "task": {"title": f"Drawn from {source.name} by evalregistry {__version__}: {declared}, seed {seed}"},
        "test_set": [{"name": "test", "gold": "gold.jsonl", "format": "labels", "options": {"syntax": "jsonl"},
                      **({} if source.clusters is None else {"cluster": "cluster"})}],
        "metric": [{"id": "accuracy", "name": "Accuracy", "primary": True}],
        "significance": {"test": "permutation", "seed": seed},
        "submit": [{"file": f"systems/{m + 1}.jsonl", "system": name, "attributes": {"rate": rate}}
                   for m, (name, rate) in enumerate(rates.items())]}
    rows = [{"system": name, "rate": rate, "accuracy": float(right[:, m].mean())}
            for m, (name, rate) in enumerate(rates.items())]
    return Synthesized(TaskFolder(tables, files, {source.name: source.digest}), rows)


def _ease(scores: Floats) -> Floats:
    """The mean of an item's scores [items, systems] that are defined, with the system's mean for each that is not."""
    defined = ~np.isnan(scores)
    means = np.where(defined, scores, 0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
    ease: Floats = np.where(defined, scores, means).mean(axis=1)
    return ease


def _correlations(systems: Sequence[str], correlation: float, pairs: Mapping[tuple[str, str], float]) -> Floats:
    """Of every two systems, [systems, systems]."""
    found = np.full((len(systems), len(systems)), correlation)
    named: set[frozenset[str]] = set()
    for pair, of_pair in pairs.items():
        if unknown := [system for system in pair if system not in systems]:
            raise UnknownNameError("system", unknown[0], systems)
        if len({*pair}) < 2 or frozenset(pair) in named:
            raise InputError(f"the pair {' and '.join(pair)} is named twice, or is one system; name two systems, once")
        named.add(frozenset(pair))
        a, b = (systems.index(system) for system in pair)
        found[a, b] = found[b, a] = of_pair
    return found


def _distinct(keys: Sequence[str]) -> list[str]:
    """Names of items that are drawn again and again: the second one of `a` is `a#2`."""
    seen: dict[str, int] = {}
    known, found = set(keys), []
    for key in keys:
        seen[key] = seen.get(key, 0) + 1
        name = key if seen[key] == 1 else f"{key}#{seen[key]}"
        while name != key and name in known:
            name += "#"
        found.append(name)
    return found


def _labels(connection: Connection, board: Board, first: int) -> list[tuple[str, list[str]]]:
    """The gold's label of every item, and the wrong ones to choose from."""
    if board.metric.takes != "label":
        return [(RIGHT, [WRONG])] * len(board.items)
    answers = load_named_answers(connection, board.key.gold.gold_revision_id)
    responses = load_responses(connection, [m.scoring_id for m in board.members], answers.ids)
    gold: dict[int, str] = {}
    wrong: dict[int, list[str]] = {}
    for item, (_, label, _), in_gold, given in zip(answers.items.tolist(), answers.names, answers.in_gold.tolist(),
                                                   responses.given.sum(axis=1).tolist(), strict=True):
        if in_gold:
            gold[item] = label
        else:
            wrong.setdefault(item, []).extend([label] * given)
    known = sorted(set(gold.values()))
    return [(gold[item], wrong.get(item) or [label for label in known if label != gold[item]] or [WRONG])
            for item in (first + board.items).tolist()]


MANIFEST = "submissions.toml"
_CHECKS = 4
_MOST_DRAWN, _MOST_COPIES = 10**8, 10**5  # items of a sample, and samples of a size


@dataclass(frozen=True, eq=False)
class Training:
    """A training file as items that can be put together anew.

    Attributes:
        name: Of the file.
        digest: Of its bytes.
        before: The lines before the first item, such as a header.
        items: The lines of every item.
    """

    name: str
    digest: str
    before: str
    items: list[str]

    @classmethod
    def of(cls, document: Document, reader: Reader) -> Training:
        """Cut a file into items. Where blank lines part them, comments above an item belong to it.

        Raises:
            InputError: The file is not of the format, or items of it are no runs of lines.
        """
        gold = reader.read_gold({"gold": document})
        if not gold:
            raise InputError("there is no item to draw", path=document.path)
        lines = [f"{line}\n" for _, line in document.lines()]
        firsts = [item.line for item in gold]
        if any(first < 1 for first in firsts) or sorted(set(firsts)) != firsts:
            raise InputError(f"items of the format {reader.name!r} are no runs of lines, so the file cannot be put "
                             "together anew", path=document.path)
        parted = any(not lines[n].strip() for n in range(firsts[0], firsts[-1]))
        if parted and lines[-1].strip():
            lines.append("\n")  # the last item may come to stand before others
        starts = list(_starts(firsts, lines)) if parted else [first - 1 for first in firsts]
        cut = ["".join(lines[start:end]) for start, end in pairwise([*starts, len(lines)])]
        name = PurePath(document.path).name
        found = cls(name.removesuffix(".gz"), document.digest, "".join(lines[:starts[0]]), cut)
        found._check(gold, reader)
        return found

    def drawn(self, places: Sequence[int]) -> bytes:
        """The file with these items, in this order."""
        return (self.before + "".join(self.items[n] for n in places)).encode()

    def _check(self, gold: Sequence[Item], reader: Reader) -> None:
        """Read random halves of the items in random order, and see that they are the same."""
        rng = np.random.Generator(stream(0, TRAINING))
        for _ in range(_CHECKS):
            places = rng.permutation(len(gold))[:(len(gold) + 1) // 2].tolist()
            try:
                again = reader.read_gold({"gold": Document(self.name, self.drawn(places))})
            except InputError:
                again = []
            if [reader.content(item.gold) for item in again] != [reader.content(gold[n].gold) for n in places]:
                raise InputError(f"items of the format {reader.name!r} are no runs of lines, so the file cannot be put "
                                 "together anew", path=self.name)


def _starts(firsts: Sequence[int], lines: Sequence[str]) -> Iterator[int]:
    """Where items that blank lines part begin, counted from 0: with what stands above their first line."""
    for before, first in zip([0, *firsts], firsts, strict=False):
        at = first - 1
        while at > before and lines[at - 1].strip():
            at -= 1
        yield at


def resample_training(files: Sequence[Training], sizes: Sequence[int], copies: int, models: Sequence[str],
                      seed: int) -> Iterator[tuple[str, bytes]]:
    """Give the resampled files by their paths, those of parallel files with the same items, and the manifest's stubs.

    A sample depends on the seed, its size and its number (from 1) alone.

    Args:
        files: The training file, or several that are parallel.
        sizes: The numbers of items to draw; none: as many as there are.
        copies: How many samples of each size.
        models: What is to be trained on each of them.
        seed: Of the draws.

    Raises:
        InputError: Parallel files have different numbers of items, a model's name is none, or nothing is asked for,
            or too much, or something twice.
    """
    n = len(files[0].items)
    for file in files:
        if len(file.items) != n:
            raise InputError(f"there are {len(file.items)} items, and {n} in {files[0].name}; parallel files have as "
                             "many", path=file.name)
    if len({file.name for file in files}) < len(files):
        raise InputError(f"two files are called {files[0].name}; rename one")
    for model in models:
        try:
            check_name(model)
        except ValueError as error:
            raise InputError(f"the model's name {error}") from None
    for asked, what in ((models, "the model"), (sizes, "the size")):
        if again := [one for one in asked if asked.count(one) > 1]:
            raise InputError(f"{what} {again[0]} is named twice; name it once")
    wanted = sizes or (n,)
    if copies < 1 or min(wanted) < 1:
        raise InputError("expected 1 copy or more, of 1 item or more")
    if copies > _MOST_COPIES or max(wanted) > _MOST_DRAWN:
        raise InputError(f"{copies} copies of {max(wanted)} items are too many; expected {_MOST_COPIES} or fewer, of "
                         f"{_MOST_DRAWN} or fewer")
    for size, copy in product(wanted, range(1, copies + 1)):
        places = np.random.Generator(stream(seed, TRAINING, size, copy)).integers(0, n, size).tolist()
        for file in files:
            yield f"train/{size}-{copy}/{file.name}", file.drawn(places)
    yield MANIFEST, _stubs(files, wanted, copies, models, seed)


def _stubs(files: Sequence[Training], sizes: Sequence[int], copies: int, models: Sequence[str], seed: int) -> bytes:
    head = [f"# Systems trained on samples that evalregistry {__version__} drew with replacement, seed {seed}, from",
            *(f"# {file.name} ({file.digest}, {len(file.items)} items)" for file in files),
            "# Put the output of each under `file`, and these tables into the manifest; studies group by `model`."]
    tables: list[Mapping[str, Any]] = [
        {"file": f"submissions/{model}.{size}-{copy}.out", "system": f"{model}-{size}-{copy}",
         "attributes": {"model": model, "training_size": size, "training_sample": copy, "training_seed": seed}}
        for model in models for size in sizes for copy in range(1, copies + 1)]
    return ("\n".join(head) + format_toml({"submit": tables})).encode()
