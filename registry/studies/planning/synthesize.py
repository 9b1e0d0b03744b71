"""A task that nobody has submitted to yet, made of the items of one that exists.

What a planned task will show depends on how hard its items are and how far systems agree, and no formula knows the
former. So systems of declared accuracies are drawn on the items of a real task, as hard for them as they were for the
real ones: with its boards, thresholds and studies everything can be tried before anyone submits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Floats
from registry.errors import InputError, UnknownNameError
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.settings import declared_request
from registry.manifest.folder import TaskFolder, json_lines
from registry.significance import PairMatrix
from registry.significance.matrix import additive
from registry.significance.power import draw_correct
from registry.significance.resampling.draws import OUTPUTS, stream
from registry.store import catalog
from registry.store.statistics import load_named_answers, load_responses
from registry.studies.board_study import chosen_board
from registry.studies.run import chosen_metrics
from registry.studies.study import Choice
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
        request = declared_request(row, {"unit": "item", "test": "permutation", "runs": "fixed"},
                                   chosen_metrics(connection, row, choice.metric))
        board = chosen_board(connection, row, request, choice)
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
