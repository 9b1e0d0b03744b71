"""Instance records of Every Eval Ever: a line for every item, metric and run of a submission.

A line has the score of the item alone, and in its metadata what the metric counts in it, so that scores that are no
mean of items' scores follow from the lines too. What the items say is not in a registry: inputs are empty.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from registry.arrays import Flags, Floats
from registry.evaluation.scoring.label_codes import stored_labels
from registry.families import FAMILIES
from registry.importers.every_eval_ever import (
    ANSWERS,
    ATTRIBUTES,
    GOLD,
    RUN,
    STATISTICS,
    UNDEFINED,
    Layout,
)
from registry.metrics import METRICS, AdditiveMetric, ConfusionMetric, CorrelationMetric, Metric
from registry.store import catalog, models
from registry.store.statistics import load_statistics
from registry.values import parse

Told = list[tuple[str, str, float | None]]  # answers: key, type and score of each

_PERCENT = ("bleu", "chrf")  # families of scores up to 100
_GOLD = """
    SELECT item_id, answer.key, answer.type FROM answer JOIN item USING (item_id)
    WHERE answer.gold_revision_id = ? AND in_gold ORDER BY item_id, answer.key, answer.type"""
_GIVEN = """
    SELECT item_id, replicate, answer.key, answer.type, response.score
    FROM response JOIN answer USING (answer_id) WHERE scoring_id = ?
    ORDER BY item_id, answer.key, answer.type"""


@dataclass(frozen=True)
class DeclaredMetric:
    """A metric of a task: its number, its alias, and the id of its result in records of a test set."""

    metric_id: int
    alias: str
    metric: Metric


def declared_metrics(connection: Connection) -> list[DeclaredMetric]:
    """The metrics that are released, in the order of the manifest."""
    rows = connection.exec_driver_sql(
        "SELECT metric_id, metric, name FROM released_metric JOIN metric USING (metric_id) ORDER BY position")
    return [DeclaredMetric(row.metric_id, row.metric, parse("metric", METRICS, row.name)) for row in rows]


def layout_of(metrics: Sequence[DeclaredMetric]) -> Layout:
    """What a task is made of again: labels, numbers or answers where metrics do not add up or tests look at answers."""
    if any(isinstance(of.metric.original, ConfusionMetric) for of in metrics):
        return "labels"
    if any(isinstance(of.metric, CorrelationMetric) for of in metrics):
        return "scores"
    return "answers" if all(of.metric.takes == "answer" for of in metrics) else "statistics"


@dataclass(frozen=True)
class Items:
    """The items of a test set, with what all submissions' lines have in common."""

    connection: Connection
    gold_revision_id: int

    @cached_property
    def keys(self) -> list[str]:
        """In the order of the gold."""
        return catalog.item_keys(self.connection, self.gold_revision_id)

    @cached_property
    def ids(self) -> tuple[int, int]:
        """The first id and the number of items."""
        return catalog.item_ids(self.connection, self.gold_revision_id)

    @cached_property
    def attributes(self) -> dict[int, dict[str, str]]:
        """By the item's place."""
        found: dict[int, dict[str, str]] = defaultdict(dict)
        table = models.item_attribute
        for row in self.connection.execute(select(table.c.item_id, table.c.name, table.c.value).where(
                table.c.gold_revision_id == self.gold_revision_id).order_by(table.c.item_id, table.c.name)):
            found[row.item_id - self.ids[0]][row.name] = row.value
        return found

    @cached_property
    def gold(self) -> Mapping[int, Told]:
        """The answers of the gold, by the item's place."""
        found: dict[int, Told] = defaultdict(list)
        for row in self.connection.exec_driver_sql(_GOLD, (self.gold_revision_id,)):
            found[row.item_id - self.ids[0]].append((row.key, row.type, None))
        return found

    @cached_property
    def labels(self) -> Mapping[int, str]:
        """The labels that measures by class count, by their numbers."""
        numbers = stored_labels(self.connection, self.gold_revision_id).numbers
        return {number: name for name, number in numbers.items()}

    def given(self, scoring_id: int) -> Mapping[tuple[int, int], Told]:
        """What a submission answers, by the item's place and the run."""
        found: dict[tuple[int, int], Told] = defaultdict(list)
        for row in self.connection.exec_driver_sql(_GIVEN, (scoring_id,)):
            found[row.item_id - self.ids[0], row.replicate].append((row.key, row.type, row.score))
        return found


def lines(items: Items, metrics: Sequence[DeclaredMetric], scoring_id: int, common: dict[str, Any],
          layout: str) -> Iterator[str]:
    """Give the lines of one submission, metric by metric and run by run.

    Args:
        items: Of the test set.
        metrics: The task's.
        scoring_id: The submission's statistics.
        common: What all of its lines say; of `evaluation_result_id` the part before the metric.
        layout: What the task is made of again.
    """
    given = items.given(scoring_id)
    for of in metrics:
        (statistics,), present = load_statistics(
            items.connection, of.metric.family, of.metric_id, [scoring_id], *items.ids)
        filled = len(of.metric.filled)
        result = common | {"evaluation_result_id": f"{common['evaluation_result_id']}.{of.alias}"}
        for run in range(statistics.shape[1]):
            counted = statistics[:, run]
            scores, right = _scores(of.metric, counted)
            for n in np.flatnonzero(present[:, run]).tolist():
                told = given.get((n, run), [])
                metadata = {STATISTICS: one_line(_counted(of.metric, counted[n].tolist()[:filled], items))}
                if statistics.shape[1] > 1:
                    metadata[RUN] = str(run + 1)
                if n in items.attributes:
                    metadata[ATTRIBUTES] = one_line(items.attributes[n])
                if layout == "answers":
                    metadata |= {GOLD: one_line(items.gold.get(n, [])), ANSWERS: one_line(told)}
                score = float(scores[n])
                if not np.isfinite(score):
                    metadata[UNDEFINED], score = "the metric has no score of this item alone", 0.0
                yield one_line({
                    **result, "sample_id": items.keys[n], "interaction_type": "single_turn",
                    "input": {"raw": "", "reference": _shown(items.gold.get(n, []))},
                    "output": {"raw": _shown(told)}, "answer_attribution": [],
                    "evaluation": {"score": score, "is_correct": bool(right[n])}, "metadata": metadata}) + "\n"


def _scores(metric: Metric, counted: Floats) -> tuple[Floats, Flags]:
    """The scores of single items, and whether these are the best that there are."""
    if isinstance(metric.original, ConfusionMetric):
        right = counted[:, 0] == counted[:, 1]
        return right.astype(np.float64), right
    if isinstance(metric, CorrelationMetric):
        return counted[:, 0], counted[:, 0] == counted[:, 1]
    assert isinstance(metric, AdditiveMetric)
    with np.errstate(over="ignore"):  # of one item a perplexity may be beyond all numbers
        scores = metric.score(counted)
    best = 0.0 if metric.better == "lower" else 100.0 if metric.family in _PERCENT else 1.0
    return scores, scores == best


def _counted(metric: Metric, counted: list[float], items: Items) -> list[Any]:
    """What a metric counts in an item; labels by their names, null for none."""
    if isinstance(metric.original, ConfusionMetric):
        return [items.labels.get(int(label)) for label in counted]
    return [int(value) for value in counted] if FAMILIES[metric.family].integer else counted


def _shown(answers: Told) -> list[str]:
    return [f"{key} {type_}".rstrip() for key, type_, _ in answers]


def one_line(value: Any) -> str:
    """A value as JSON in one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
