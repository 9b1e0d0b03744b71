"""Exports for other platforms: records of Every Eval Ever, and result files of the Hugging Face Hub.

An aggregate record for every submission to every test set, with its samples in a file beside it: a line for every item,
metric and run, with the score of the item and what the metric counts in it. A registry has no texts of items, so inputs
are empty. The same registry gives the same bytes.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, select, text

from registry.arrays import Flags, Floats
from registry.boards.choose import leaderboards_by
from registry.boards.leaderboard import Leaderboard, Standing
from registry.boards.load import BOARD_PAIRS
from registry.boards.snapshot import snapshot
from registry.errors import InputError
from registry.evaluation.scoring.label_codes import load_labels
from registry.families import FAMILIES
from registry.files import new_folder, portable
from registry.importers.every_eval_ever import (
    ANSWERS,
    ATTRIBUTES,
    GOLD,
    LAYOUT,
    RUN,
    SAMPLES,
    SCHEMA,
    STATISTICS,
    SUBMISSION,
    TASK,
    TEST_SET,
    UNDEFINED,
    Layout,
)
from registry.manifest import Manifest, stored_manifest
from registry.metrics import METRICS, AdditiveMetric, ConfusionMetric, CorrelationMetric, Metric
from registry.releases.tables import choose, require_current
from registry.reports.exports import (
    Benchmark,
    Described,
    aggregate_record,
    dataset_of,
    eval_results,
    evaluation_id,
    file_number,
    model_of,
)
from registry.store import catalog, models
from registry.store.catalog import TaskRow
from registry.store.database import Database
from registry.store.statistics import load_statistics
from registry.submission_fields import SUBMISSION_FIELDS
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
        numbers = load_labels(self.connection, self.gold_revision_id).numbers
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


_SUBMISSIONS = """
    SELECT s.*, gold_revision_id FROM released_submission AS s JOIN released_gold USING (test_set)
    ORDER BY s.test_set, submission"""


@dataclass(frozen=True)
class Written:
    """How many records were written, and how many lines of samples."""

    records: int = 0
    samples: int = 0


def write_records(database: Database, task: str, output: Path) -> Written:
    """Write the records of a task's boards as they stand into a new folder.

    Args:
        database: The registry.
        task: The task's id.
        output: The folder; there must be none of that name.

    Raises:
        UnknownNameError: There is no such task.
        MismatchError: There is no board, or one is out of date.
        HiddenError: Scores are.
        InputError, StoreError: The folder is there already, or cannot be written.
    """
    with database.reading() as connection:
        (row,) = catalog.tasks(connection, task)
        require_current(connection, row)
        choose(connection, row)
        with new_folder(output) as folder:
            written = list(_records(connection, row, folder))
    return Written(len(written), sum(written))


def _records(connection: Connection, row: TaskRow, folder: Path) -> Iterator[int]:
    """Write every record; give the number of its samples."""
    manifest = stored_manifest(row.manifest)
    (boards,) = snapshot(connection, row.slug, pairs=BOARD_PAIRS).tasks
    stands: dict[tuple[str, str], list[tuple[Leaderboard, Standing]]] = {}
    for board in boards.boards:
        for at in board.standings:
            stands.setdefault((board.test_set, at.submission), []).append((board, at))
    metrics = declared_metrics(connection)
    compared: dict[str, datetime] = {of.test_set: of.at for of in connection.exec_driver_sql(
        'SELECT test_set, max(compared_at) AS "at" FROM released_board GROUP BY ALL')}
    submissions = connection.exec_driver_sql(_SUBMISSIONS).all()
    factors = catalog.replicate_factors(connection, [of.submission_id for of in submissions])
    items = dict[int, Items]()
    for of in submissions:
        details = {
            TASK: one_line(_declared(row, manifest, metrics)), TEST_SET: of.test_set, LAYOUT: layout_of(metrics),
            SUBMISSION: one_line(_submission(of, factors.get(of.submission_id, ())))}
        described = Described(row.slug, of.test_set, row.title, ", ".join(manifest.task.organisers), manifest.task.url,
                              compared[of.test_set], details)
        of_gold = items.setdefault(of.gold_revision_id, Items(connection, of.gold_revision_id))
        yield _write(folder, described, stands[of.test_set, of.submission],
                     (of_gold, metrics, of.scoring_id) if manifest.release.gold else None)


def _write(folder: Path, of: Described, stands: Sequence[tuple[Leaderboard, Standing]],
           samples: tuple[Items, list[DeclaredMetric], int] | None) -> int:
    """Write one record and its samples, if they may be; give the number of these."""
    standing, evaluation = stands[0][1], evaluation_id(of, stands[0][1])
    within = Path("data", portable(of.task), portable(standing.team), portable(
        standing.system + (f"@{standing.version}" if standing.version != "1" else "")))
    (folder / within).mkdir(parents=True, exist_ok=True)
    number, told = file_number(evaluation), None
    n, name = 0, within / f"{number}{SAMPLES}"
    if samples is not None:
        items, metrics, scoring_id = samples
        common = {"schema_version": SCHEMA, "evaluation_id": evaluation, "model_id": model_of(standing),
                  "evaluation_name": f"{of.task}.{of.test_set}", "evaluation_result_id": of.test_set}
        checksum = sha256()
        with (folder / name).open("xb") as file:
            for line in lines(items, metrics, scoring_id, common, of.details[LAYOUT]):
                n += file.write(content := line.encode()) > 0
                checksum.update(content)
        told = {"format": "jsonl", "file_path": name.as_posix(), "hash_algorithm": "sha256",
                "checksum": checksum.hexdigest(), "total_rows": n}
    (folder / within / f"{number}.json").write_text(aggregate_record(of, stands, told), "utf-8", newline="\n")
    return n


def _declared(row: TaskRow, manifest: Manifest, metrics: Sequence[DeclaredMetric]) -> dict[str, Any]:
    """What a task declares, as far as it is made again."""
    forms = {of.id: of.model_dump(include={"title", "decimals"}, exclude_none=True) for of in manifest.metric}
    return {
        "id": row.slug, "title": row.title, "version": row.version,
        "test_sets": [{"name": of.name, "cluster": of.cluster, "facets": of.facets} for of in manifest.test_set],
        "metrics": [{"id": of.alias, "name": repr(of.metric), "primary": of.alias == manifest.primary.id,
                     **forms[of.alias]} for of in metrics],
        "significance": manifest.significance.model_dump(mode="json", exclude_none=True) | {"seed": row.seed},
        "board": {"rank_baselines": manifest.board.rank_baselines, "rank_late": manifest.board.rank_late,
                  "ranks": manifest.board.ranks},
    }


def _submission(of: Any, factors: Sequence[dict[str, str]]) -> dict[str, Any]:
    """What a task declares of a submission, as far as it is made again."""
    facts = {field.name: getattr(of, field.name) for field in SUBMISSION_FIELDS
             if field.is_released and field.name != "digest"}
    return {"team": of.team, "system": of.system, **facts, "attributes": json.loads(of.attributes),
            **({"factors": list(factors)} if factors else {})}


_COMPARED = text("SELECT max(created_at) FROM latest_comparison WHERE task = :task")


def write_results(database: Database, task: str, output: Path, *, metric: str | None = None,
                  dataset: str | None = None) -> int:
    """Write `TEAM/SYSTEM/.eval_results/TASK.yaml` for every model on the boards of one metric; gives their number.

    Args:
        database: The registry.
        task: The task's id.
        output: The folder; there must be none of that name.
        metric: The metric's alias; None: the primary one.
        dataset: The data set of the Hub that is the benchmark; None: the one that is the task's page.

    Raises:
        UnknownNameError: There is no such task or metric.
        MismatchError: There is no board, or one is out of date.
        HiddenError: Scores are.
        InputError, StoreError: There is no data set, or the folder is there already or cannot be written.
    """
    with database.reading() as connection:
        (row,) = catalog.tasks(connection, task)
        require_current(connection, row)
        manifest = stored_manifest(row.manifest)
        boards = [board for board in leaderboards_by(connection, row, metric) if board.facet is None]
        of = Benchmark(dataset_of(dataset, manifest.task.url), row.title or row.slug, manifest.task.url,
                       connection.execute(_COMPARED, {"task": row.slug}).scalar_one())
        with new_folder(output) as folder:
            written = set()
            for team, system, content in eval_results(boards, of):
                path = folder / portable(team) / portable(system) / ".eval_results" / f"{row.slug}.yaml"
                if path in written:
                    raise InputError(f"{team}/{system} and another system would be the same folder")
                written.add(path)
                path.parent.mkdir(parents=True)
                path.write_text(content, "utf-8", newline="\n")
    return len(written)
