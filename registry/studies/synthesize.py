"""Files for planning: synthetic tasks, and resampled training files.

`synthesize` simulates systems with declared accuracies on the items of a real task, so that organizers can try boards
and studies before the first submission. Items have the difficulty that they had for real systems. `resample_training`
samples training files with replacement: systems that are trained on them differ about as much as by a small
improvement (Berg-Kirkpatrick et al. 2012, section 3.2.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import PurePath
from typing import Any

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Floats
from registry.errors import InputError, UnknownNameError
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.settings import build_request
from registry.evaluation.metric_ids import choose_alias
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
_MAX_ITEMS = 10**7  # of a simulated task


@dataclass(frozen=True, eq=False)
class Source:
    """Real items from which a synthetic task is simulated.

    Attributes:
        name: Name of the leaderboard.
        keys: Names of the items, [items].
        clusters: Cluster of each item, [items]; None if the test set declares no clusters.
        ease: Mean score of the real systems for each item; higher is easier, [items]. Undefined scores count as the
            mean of the system.
        labels: Gold label and alternative labels of each item, or "right" and "wrong", [items].
        digest: Digest of the gold.
        seed: Seed of the real task.
    """

    name: str
    keys: list[str]
    clusters: list[str] | None
    ease: Floats
    labels: list[tuple[str, list[str]]]
    digest: str
    seed: int

    @classmethod
    def load(cls, connection: Connection, task: str, choice: Choice) -> Source:
        """Load the items of the leaderboard that `choice` selects.

        Raises:
            UnknownNameError: A selected name does not exist.
            InputError: The score is a correlation, so single items have no score.
        """
        (row,) = catalog.tasks(connection, task)
        choice = replace(choice, metric=choose_alias(connection, [row], choice.metric))
        request = build_request(row, {"unit": "item", "test": "permutation", "runs": "fixed"},
                                   choose_metrics(connection, row, choice.metric))
        board = choose_board(connection, row, request, choice)
        if isinstance(board.matrix, PairMatrix):
            raise InputError(f"{board.key.name}: a correlation has no scores of single items; select another "
                             "metric")
        scores = additive(board.matrix).unit_scores() * (-1 if board.matrix.lower_is_better else 1)
        revision, attribute = board.key.gold.gold_revision_id, board.key.test_set.cluster_attribute
        keys, (first, _) = catalog.item_keys(connection, revision), catalog.item_ids(connection, revision)
        values = {} if attribute is None else catalog.item_attribute(connection, revision, attribute)
        return cls(board.key.name, [keys[n] for n in board.items],
                   None if attribute is None else [values[first + int(n)] for n in board.items],
                   _average_scores(scores), _load_labels(connection, board, first),
                   board.key.gold.digest, board.key.task.seed)


@dataclass(frozen=True, eq=False)
class SyntheticTask:
    """A task with simulated system outputs.

    `rows` has the name, declared accuracy (`rate`) and simulated accuracy of each system.
    """

    task: TaskFolder
    rows: list[dict[str, Any]]


def synthesize(source: Source, rates: Mapping[str, float], correlation: float, *,
               pairs: Mapping[tuple[str, str], float], items: int | None, seed: int) -> SyntheticTask:
    """Simulate a task with systems of given accuracies and correlations.

    Every item has one label. Incorrect labels are sampled from the incorrect labels of real systems for the item, or
    else from all other labels.

    Args:
        source: Real items.
        rates: Accuracy by system.
        correlation: Correlation of two systems over items.
        pairs: Different correlations of some pairs, each pair once and in any order.
        items: Number of items that are sampled from the real ones with replacement; None for each item once.
        seed: Seed of the random numbers.

    Raises:
        InputError: A number or a pair is invalid, or no systems of these rates have these correlations.
    """
    if not rates or any(not 0 < rate < 1 for rate in rates.values()):
        raise InputError("declare systems as NAME=RATE, with rates above 0 and below 1 (--system)")
    if items is not None and not 2 <= items <= _MAX_ITEMS:
        raise InputError(f"--items {items}: expected 2 to {_MAX_ITEMS}")
    if not -1 <= correlation < 1:
        raise InputError(f"the correlation is {correlation!r}; expected a number from -1 up and below 1")
    if not 0 <= seed < 2**63:
        raise InputError(f"the seed is {seed}; expected a whole number from 0 to 2^63 - 1")
    rng = np.random.Generator(stream(seed, OUTPUTS, 1))
    n_source = len(source.keys)
    selection = np.arange(n_source) if items is None else np.sort(rng.integers(0, n_source, items))
    correlations = _make_correlations(list(rates), correlation, pairs)
    is_correct = draw_correct(np.array(list(rates.values())), correlations, source.ease, seed, selection)
    keys = _number_repeated([source.keys[n] for n in selection])
    attributes = [{}] * len(keys) if source.clusters is None else [{"cluster": source.clusters[n]} for n in selection]
    files = {"gold.jsonl": json_lines({"item": key, "label": source.labels[n][0], **values}
                                      for key, n, values in zip(keys, selection, attributes, strict=True))}
    for m in range(len(rates)):
        labels = (source.labels[n][0] if correct else str(rng.choice(source.labels[n][1]))
                  for n, correct in zip(selection, is_correct[:, m], strict=True))
        files[f"systems/{m + 1}.jsonl"] = json_lines(
            {"item": key, "label": label} for key, label in zip(keys, labels, strict=True))
    declared = ", ".join([f"correlation {correlation:g}", *(f"{a} with {b} {r:g}" for (a, b), r in pairs.items())])
    tables: dict[str, Any] = {
        "task": {"title": f"Simulated from {source.name} by evalregistry {__version__}: {declared}, seed {seed}"},
        "test_set": [{"name": "test", "gold": "gold.jsonl", "format": "labels", "options": {"syntax": "jsonl"},
                      **({} if source.clusters is None else {"cluster": "cluster"})}],
        "metric": [{"id": "accuracy", "name": "Accuracy", "primary": True}],
        "significance": {"test": "permutation", "seed": seed},
        "submit": [{"file": f"systems/{m + 1}.jsonl", "system": name, "attributes": {"rate": rate}}
                   for m, (name, rate) in enumerate(rates.items())]}
    rows = [{"system": name, "rate": rate, "accuracy": float(is_correct[:, m].mean())}
            for m, (name, rate) in enumerate(rates.items())]
    return SyntheticTask(TaskFolder(tables, files, {source.name: source.digest}), rows)


def _average_scores(scores: Floats) -> Floats:
    # undefined scores count as the mean of the system
    defined = ~np.isnan(scores)
    means = np.where(defined, scores, 0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
    ease: Floats = np.where(defined, scores, means).mean(axis=1)
    return ease


def _make_correlations(systems: Sequence[str], correlation: float, pairs: Mapping[tuple[str, str], float]) -> Floats:
    correlations = np.full((len(systems), len(systems)), correlation)
    named: set[frozenset[str]] = set()
    for pair, value in pairs.items():
        if unknown := [system for system in pair if system not in systems]:
            raise UnknownNameError("system", unknown[0], systems)
        if len({*pair}) < 2 or frozenset(pair) in named:
            raise InputError(f"the pair {' and '.join(pair)} is named twice, or is one system; name each pair of two "
                             "systems once")
        named.add(frozenset(pair))
        a, b = (systems.index(system) for system in pair)
        correlations[a, b] = correlations[b, a] = value
    return correlations


def _number_repeated(keys: Sequence[str]) -> list[str]:
    """Make the names of repeated items unique: the second `a` becomes `a#2`."""
    counts: Counter[str] = Counter()
    original, names = set(keys), []
    for key in keys:
        counts[key] += 1
        name = key if counts[key] == 1 else f"{key}#{counts[key]}"
        while name != key and name in original:
            name += "#"
        names.append(name)
    return names


def _load_labels(connection: Connection, board: Board, first: int) -> list[tuple[str, list[str]]]:
    """Return the gold label of every item, and possible incorrect labels.

    Incorrect labels are those of real systems, or else all other gold labels. If answers are not labels, the labels
    "right" and "wrong" are used.
    """
    if board.metric.takes != "label":
        return [(RIGHT, [WRONG])] * len(board.items)
    answers = load_named_answers(connection, board.key.gold.gold_revision_id)
    responses = load_responses(connection, [m.scoring_id for m in board.members], answers.ids)
    gold: dict[int, str] = {}
    wrong: dict[int, list[str]] = {}
    for item, (_, label, _), in_gold, count in zip(answers.items.tolist(), answers.names, answers.in_gold.tolist(),
                                                   responses.given.sum(axis=1).tolist(), strict=True):
        if in_gold:
            gold[item] = label
        else:
            wrong.setdefault(item, []).extend([label] * count)
    labels = sorted(set(gold.values()))
    return [(gold[item], wrong.get(item) or [label for label in labels if label != gold[item]] or [WRONG])
            for item in (first + board.items).tolist()]


MANIFEST = "submissions.toml"
_CHECKS = 4
_MAX_SAMPLE, _MAX_COPIES = 10**8, 10**5  # items of a sample, and samples of one size


@dataclass(frozen=True, eq=False)
class Training:
    """A file of training data, split into items so that they can be resampled.

    Attributes:
        name: Name of the file.
        digest: Digest of its bytes.
        header: Lines before the first item.
        items: Lines of each item.
    """

    name: str
    digest: str
    header: str
    items: list[str]

    @classmethod
    def split(cls, document: Document, reader: Reader) -> Training:
        """Split a training file into its items.

        If blank lines separate items, comments above an item belong to the item.

        Raises:
            InputError: The file is invalid, or its items are not separate blocks of lines.
        """
        gold = reader.read_gold({"gold": document})
        if not gold:
            raise InputError("the file has no items", path=document.path)
        lines = [f"{line}\n" for _, line in document.lines()]
        firsts = [item.line for item in gold]
        if any(first < 1 for first in firsts) or sorted(set(firsts)) != firsts:
            raise _explain_inseparable(reader, document.path)
        has_blank_lines = any(not lines[n].strip() for n in range(firsts[0], firsts[-1]))
        if has_blank_lines and lines[-1].strip():
            lines.append("\n")  # the last item may move to another position
        starts = list(_find_starts(firsts, lines)) if has_blank_lines else [first - 1 for first in firsts]
        items = ["".join(lines[start:end]) for start, end in pairwise([*starts, len(lines)])]
        name = PurePath(document.path).name
        training = cls(name.removesuffix(".gz"), document.digest, "".join(lines[:starts[0]]), items)
        training._check(gold, reader)
        return training

    def join(self, selection: Sequence[int]) -> bytes:
        """Return a training file that has only the selected items, in this order."""
        return (self.header + "".join(self.items[n] for n in selection)).encode()

    def _check(self, gold: Sequence[Item], reader: Reader) -> None:
        """Check that every item can be parsed without the other items of the file.

        Random halves of the file in random order must yield the same items.

        Raises:
            InputError: An item depends on other items.
        """
        rng = np.random.Generator(stream(0, TRAINING))
        for _ in range(_CHECKS):
            selection = rng.permutation(len(gold))[:(len(gold) + 1) // 2].tolist()
            try:
                items = reader.read_gold({"gold": Document(self.name, self.join(selection))})
            except InputError:
                items = []
            if [reader.content(item.gold) for item in items] != [reader.content(gold[n].gold) for n in selection]:
                raise _explain_inseparable(reader, self.name)


def _explain_inseparable(reader: Reader, path: str) -> InputError:
    return InputError(f"items of the format {reader.name!r} are not separate blocks of lines, so the file cannot be "
                      "resampled", path=path)


def _find_starts(firsts: Sequence[int], lines: Sequence[str]) -> Iterator[int]:
    """Yield the line at which each item starts, counted from 0.

    Blank lines separate items. Comments above an item belong to the item, so the item starts with them.

    Args:
        firsts: First line of each item without its comments, counted from 1.
        lines: Lines of the file.
    """
    for previous, first in zip([0, *firsts], firsts, strict=False):
        start = first - 1
        while start > previous and lines[start - 1].strip():
            start -= 1
        yield start


def resample_training(files: Sequence[Training], sizes: Sequence[int], copies: int, models: Sequence[str],
                      seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield samples with replacement of training files, as paths and contents.

    At last, a TOML file with a [[submit]] table for each trained system follows. Parallel files are resampled with the
    same items. A sample depends only on the seed, its size and its number.

    Args:
        files: The training file, or several parallel files.
        sizes: Numbers of items; by default the size of the file.
        copies: Number of samples of each size.
        models: Names of the models that will be trained on each sample.
        seed: Seed of the random numbers.

    Raises:
        InputError: Parallel files have different numbers of items, or an argument is invalid.
    """
    n = len(files[0].items)
    for file in files:
        if len(file.items) != n:
            raise InputError(f"the file has {len(file.items)} items, but {files[0].name} has {n}; parallel files need "
                             "the same number of items", path=file.name)
    if len({file.name for file in files}) < len(files):
        raise InputError(f"two files have the name {files[0].name}; rename one of them")
    for model in models:
        try:
            check_name(model)
        except ValueError as error:
            raise InputError(f"the model's name {error}") from None
    for values, noun in ((models, "the model"), (sizes, "the size")):
        if duplicates := [value for value in values if values.count(value) > 1]:
            raise InputError(f"{noun} {duplicates[0]} is named twice; name it once")
    sizes = sizes or (n,)
    if copies < 1 or min(sizes) < 1:
        raise InputError("the number of copies and the number of items must be 1 or more")
    if copies > _MAX_COPIES or max(sizes) > _MAX_SAMPLE:
        raise InputError(f"{copies} copies of {max(sizes)} items are too many; expected {_MAX_COPIES} or fewer, of "
                         f"{_MAX_SAMPLE} or fewer")
    for size, copy in product(sizes, range(1, copies + 1)):
        selection = np.random.Generator(stream(seed, TRAINING, size, copy)).integers(0, n, size).tolist()
        for file in files:
            yield f"train/{size}-{copy}/{file.name}", file.join(selection)
    yield MANIFEST, _make_manifest(files, sizes, copies, models, seed)


def _make_manifest(files: Sequence[Training], sizes: Sequence[int], copies: int, models: Sequence[str],
                   seed: int) -> bytes:
    header = [f"# Systems trained on samples with replacement (evalregistry {__version__}, seed {seed}) from",
              *(f"# {file.name} ({file.digest}, {len(file.items)} items)" for file in files),
              "# Write the output of each system to `file`, and copy these tables into the manifest. Studies group "
              "systems by `model`."]
    tables: list[Mapping[str, Any]] = [
        {"file": f"submissions/{model}.{size}-{copy}.out", "system": f"{model}-{size}-{copy}",
         "attributes": {"model": model, "training_size": size, "training_sample": copy, "training_seed": seed}}
        for model in models for size in sizes for copy in range(1, copies + 1)]
    return ("\n".join(header) + format_toml({"submit": tables})).encode()
