"""Exports for other platforms: Every Eval Ever and the Hugging Face Hub.

Each submission to a test set is exported as one aggregate record. A second file contains the samples of the submission.
The file has one line per item, metric and run, with the score and the statistics of the item. Inputs are empty, because
a registry does not store the texts of items. Equal registries give equal bytes.
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
from sqlalchemy import Connection, text

from registry.arrays import Flags, Floats
from registry.boards.choose import load_metric_leaderboards
from registry.boards.leaderboard import Leaderboard, Standing
from registry.boards.load import BOARD_PAIRS
from registry.boards.snapshot import load_snapshot
from registry.errors import InputError
from registry.evaluation.scoring.label_codes import load_labels
from registry.families import FAMILIES
from registry.files import new_folder, portable_name
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
from registry.manifest import Manifest, decode_manifest
from registry.metrics import METRICS, AdditiveMetric, ConfusionMetric, CorrelationMetric, Metric
from registry.releases.tables import require_current, select_release
from registry.reports.exports import (
    Benchmark,
    TaskFacts,
    choose_dataset,
    make_aggregate_record,
    make_evaluation_id,
    make_file_id,
    make_hub_entries,
    make_model_name,
)
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.store.database import Database
from registry.store.statistics import load_statistics
from registry.submission_fields import SUBMISSION_FIELDS
from registry.values import parse

Answers = list[tuple[str, str, float | None]]  # key, type and score of each answer

_PERCENT = ("bleu", "chrf")  # families with scores up to 100
_ATTRIBUTES = """
    SELECT item_id, name, "value" FROM item_attribute JOIN released_attribute USING (name)
    WHERE gold_revision_id = ? ORDER BY item_id, name"""
_GOLD = """
    SELECT item_id, answer.key, answer.type FROM answer JOIN item USING (item_id)
    WHERE answer.gold_revision_id = ? AND in_gold ORDER BY item_id, answer.key, answer.type"""
_RESPONSES = """
    SELECT item_id, replicate, answer.key, answer.type, response.score
    FROM response JOIN answer USING (answer_id) WHERE scoring_id = ?
    ORDER BY item_id, answer.key, answer.type"""
_SUBMISSIONS = """
    SELECT s.*, gold_revision_id FROM released_submission AS s JOIN released_gold USING (test_set)
    ORDER BY s.test_set, submission"""
_COMPARED = text("SELECT max(created_at) FROM latest_comparison WHERE task = :task")


@dataclass(frozen=True)
class DeclaredMetric:
    """A metric that a task declares; `alias` is its name in the task's manifest."""

    metric_id: int
    alias: str
    metric: Metric


def choose_layout(metrics: Sequence[DeclaredMetric]) -> Layout:
    """Choose which data about items to export, so that others can import the task.

    Returns:
        `labels`, `scores`, `answers`, or `statistics` (the numbers from which metrics compute scores). The kind depends
            on what the metrics need.
    """
    if any(isinstance(declared.metric.original, ConfusionMetric) for declared in metrics):
        return "labels"
    if any(isinstance(declared.metric, CorrelationMetric) for declared in metrics):
        return "scores"
    return "answers" if all(declared.metric.takes == "answer" for declared in metrics) else "statistics"


@dataclass(frozen=True)
class GoldItems:
    """The items of one version of the gold, loaded from the registry on demand.

    The position of an item is its index in the order of the gold, from 0.
    """

    connection: Connection
    gold_revision_id: int

    @cached_property
    def keys(self) -> list[str]:
        """Keys of the items."""
        return catalog.item_keys(self.connection, self.gold_revision_id)

    @cached_property
    def ids(self) -> tuple[int, int]:
        """Id of the first item, and number of items; the ids are consecutive."""
        return catalog.item_ids(self.connection, self.gold_revision_id)

    @cached_property
    def attributes(self) -> dict[int, dict[str, str]]:
        """Released attributes, such as the genre, of each item that has any, by position."""
        attributes: dict[int, dict[str, str]] = defaultdict(dict)
        for row in self.connection.exec_driver_sql(_ATTRIBUTES, (self.gold_revision_id,)):
            attributes[row.item_id - self.ids[0]][row.name] = row.value
        return attributes

    @cached_property
    def gold(self) -> Mapping[int, Answers]:
        """Gold answers of each item, by position of the item."""
        answers: dict[int, Answers] = defaultdict(list)
        for row in self.connection.exec_driver_sql(_GOLD, (self.gold_revision_id,)):
            answers[row.item_id - self.ids[0]].append((row.key, row.type, None))
        return answers

    @cached_property
    def labels(self) -> Mapping[int, str]:
        """Names of labels by their numbers; stored statistics contain numbers of labels."""
        numbers = load_labels(self.connection, self.gold_revision_id).numbers
        return {number: name for name, number in numbers.items()}

    def load_answers(self, scoring_id: int) -> Mapping[tuple[int, int], Answers]:
        """Load the answers of a submission, by position of the item and index of the run."""
        answers: dict[tuple[int, int], Answers] = defaultdict(list)
        for row in self.connection.exec_driver_sql(_RESPONSES, (scoring_id,)):
            answers[row.item_id - self.ids[0], row.replicate].append((row.key, row.type, row.score))
        return answers


def render_samples(items: GoldItems, metrics: Sequence[DeclaredMetric], scoring_id: int, common: dict[str, Any],
                 layout: str) -> Iterator[str]:
    """Yield the record of each item that a submission answers, as a line of JSON.

    The lines are sorted by metric, then by run, then by item.

    Args:
        items: Items of the test set.
        metrics: Metrics of the task.
        scoring_id: Id of the scoring of the submission.
        common: Fields that all lines have. The alias of the metric is appended to the field `evaluation_result_id`.
        layout: Contents of the records: `labels`, `scores`, `answers` or `statistics`.
    """
    answers = items.load_answers(scoring_id)
    for declared in metrics:
        metric = declared.metric
        (statistics,), present = load_statistics(
            items.connection, metric.family, declared.metric_id, [scoring_id], *items.ids)
        result = common | {"evaluation_result_id": f"{common['evaluation_result_id']}.{declared.alias}"}
        for run in range(statistics.shape[1]):
            run_statistics = statistics[:, run]
            scores, is_best = _score_items(metric, run_statistics)
            for n in np.flatnonzero(present[:, run]).tolist():
                item_answers = answers.get((n, run), [])
                columns = run_statistics[n].tolist()[:len(metric.used_columns)]
                metadata = {STATISTICS: to_json_line(_format_statistics(metric, columns, items))}
                if statistics.shape[1] > 1:
                    metadata[RUN] = str(run + 1)
                if n in items.attributes:
                    metadata[ATTRIBUTES] = to_json_line(items.attributes[n])
                if layout == "answers":
                    metadata |= {GOLD: to_json_line(items.gold.get(n, [])), ANSWERS: to_json_line(item_answers)}
                score = float(scores[n])
                if not np.isfinite(score):
                    metadata[UNDEFINED], score = "the metric has no score of this item alone", 0.0
                yield to_json_line({
                    **result, "sample_id": items.keys[n], "interaction_type": "single_turn",
                    "input": {"raw": "", "reference": _format_answers(items.gold.get(n, []))},
                    "output": {"raw": _format_answers(item_answers)}, "answer_attribution": [],
                    "evaluation": {"score": score, "is_correct": bool(is_best[n])}, "metadata": metadata}) + "\n"


def _score_items(metric: Metric, statistics: Floats) -> tuple[Floats, Flags]:
    """Return the score of each item, and whether it is the best possible score.

    Args:
        metric: The metric.
        statistics: Sufficient statistics of the items, [items, columns].
    """
    if isinstance(metric.original, ConfusionMetric):
        is_correct = statistics[:, 0] == statistics[:, 1]
        return is_correct.astype(np.float64), is_correct
    if isinstance(metric, CorrelationMetric):
        return statistics[:, 0], statistics[:, 0] == statistics[:, 1]
    assert isinstance(metric, AdditiveMetric)
    with np.errstate(over="ignore"):  # the perplexity of one item may exceed the largest float
        scores = metric.score(statistics)
    best = 0.0 if metric.better == "lower" else 100.0 if metric.family in _PERCENT else 1.0
    return scores, scores == best


def _format_statistics(metric: Metric, columns: list[float], items: GoldItems) -> list[Any]:
    """Convert the statistics of one item to values for JSON.

    Some statistics are numbers of labels. They become the names of the labels, or None for a missing label.
    """
    if isinstance(metric.original, ConfusionMetric):
        return [items.labels.get(int(label)) for label in columns]
    return [int(value) for value in columns] if FAMILIES[metric.family].integer else columns


def _format_answers(answers: Answers) -> list[str]:
    return [f"{key} {type_}".rstrip() for key, type_, _ in answers]


def to_json_line(value: Any) -> str:
    """Return a value as JSON in one line, without nan and infinity."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True)
class RecordCounts:
    """How many records were written, and how many samples belong to them."""

    records: int = 0
    samples: int = 0


def write_records(database: Database, task: str, output: Path) -> RecordCounts:
    """Write a record of the scores of each submission on the current leaderboards.

    The records are JSON files of the schema "Every Eval Ever" in a new folder. If the gold is public, samples with
    single items are added.

    Args:
        database: The registry, or a public file.
        task: Id of the task.
        output: Path of the folder, which must not exist.

    Raises:
        UnknownNameError: No task has this id.
        MismatchError: The task has no board, or a board is out of date.
        HiddenError: The scores are under an embargo.
        InputError, StoreError: The folder exists or cannot be written.
    """
    with database.reading() as connection:
        (row,) = catalog.tasks(connection, task)
        require_current(connection, row)
        select_release(connection, row)
        with new_folder(output) as folder:
            counts = list(_write_submissions(connection, row, folder))
    return RecordCounts(len(counts), sum(counts))


def _write_submissions(connection: Connection, row: TaskRow, folder: Path) -> Iterator[int]:
    manifest = decode_manifest(row.manifest)
    (boards,) = load_snapshot(connection, row.slug, pairs=BOARD_PAIRS).tasks
    standings: dict[tuple[str, str], list[tuple[Leaderboard, Standing]]] = {}
    for board in boards.boards:
        for standing in board.standings:
            standings.setdefault((board.test_set, standing.submission), []).append((board, standing))
    metrics = [DeclaredMetric(metric.metric_id, metric.metric, parse("metric", METRICS, metric.name))
               for metric in connection.exec_driver_sql(
                   "SELECT metric_id, metric, name FROM released_metric JOIN metric USING (metric_id) "
                   "ORDER BY position")]
    compared: dict[str, datetime] = {board.test_set: board.at for board in connection.exec_driver_sql(
        'SELECT test_set, max(compared_at) AS "at" FROM released_board GROUP BY ALL')}
    submissions = connection.exec_driver_sql(_SUBMISSIONS).all()
    factors = catalog.replicate_factors(connection, [submission.submission_id for submission in submissions])
    items = dict[int, GoldItems]()
    for submission in submissions:
        facts = {field.name: getattr(submission, field.name) for field in SUBMISSION_FIELDS
                 if field.is_released and field.name != "digest"}
        declared = {"team": submission.team, "system": submission.system, **facts,
                    "attributes": json.loads(submission.attributes)}
        if runs := factors.get(submission.submission_id):
            declared["factors"] = list(runs)
        details = {
            TASK: to_json_line(_describe_task(row, manifest, metrics)), TEST_SET: submission.test_set,
            LAYOUT: choose_layout(metrics), SUBMISSION: to_json_line(declared)}
        described = TaskFacts(row.slug, submission.test_set, row.title, ", ".join(manifest.task.organisers),
                              manifest.task.url, compared[submission.test_set], details)
        gold_items = items.setdefault(submission.gold_revision_id, GoldItems(
            connection, submission.gold_revision_id))
        yield _write_record(folder, described, standings[submission.test_set, submission.submission],
                            (gold_items, metrics, submission.scoring_id) if manifest.release.gold else None)


def _write_record(folder: Path, described: TaskFacts, standings: Sequence[tuple[Leaderboard, Standing]],
                  samples: tuple[GoldItems, list[DeclaredMetric], int] | None) -> int:
    """Write the record of one submission and, if the gold is public, its samples.

    Args:
        folder: Folder of all records.
        described: Facts about the task and the submission.
        standings: The submission's rows on the leaderboards.
        samples: Items, metrics and scoring id from which samples are made; None to write no samples.

    Returns:
        Number of samples.
    """
    standing, evaluation = standings[0][1], make_evaluation_id(described, standings[0][1])
    subfolder = Path("data", portable_name(described.task), portable_name(standing.team), portable_name(
        standing.system + (f"@{standing.version}" if standing.version != "1" else "")))
    (folder / subfolder).mkdir(parents=True, exist_ok=True)
    number, samples_file = make_file_id(evaluation), None
    n_samples, name = 0, subfolder / f"{number}{SAMPLES}"
    if samples is not None:
        items, metrics, scoring_id = samples
        common = {"schema_version": SCHEMA, "evaluation_id": evaluation, "model_id": make_model_name(standing),
                  "evaluation_name": f"{described.task}.{described.test_set}",
                  "evaluation_result_id": described.test_set}
        checksum = sha256()
        with (folder / name).open("xb") as file:
            for line in render_samples(items, metrics, scoring_id, common, described.details[LAYOUT]):
                content = line.encode()
                file.write(content)
                checksum.update(content)
                n_samples += 1
        samples_file = {"format": "jsonl", "file_path": name.as_posix(), "hash_algorithm": "sha256",
                        "checksum": checksum.hexdigest(), "total_rows": n_samples}
    record = make_aggregate_record(described, standings, samples_file)
    (folder / subfolder / f"{number}.json").write_text(record, "utf-8", newline="\n")
    return n_samples


def _describe_task(row: TaskRow, manifest: Manifest, metrics: Sequence[DeclaredMetric]) -> dict[str, Any]:
    """Return the settings of a task that are necessary to import it again."""
    forms = {metric.id: metric.model_dump(include={"title", "decimals"}, exclude_none=True)
             for metric in manifest.metric}
    return {
        "id": row.slug, "title": row.title, "version": row.version,
        "test_sets": [{"name": test_set.name, "cluster": test_set.cluster, "facets": test_set.facets}
                      for test_set in manifest.test_set],
        "metrics": [{"id": declared.alias, "name": repr(declared.metric),
                     "primary": declared.alias == manifest.primary.id, **forms[declared.alias]}
                    for declared in metrics],
        "significance": manifest.significance.model_dump(mode="json", exclude_none=True) | {"seed": row.seed},
        "board": {"rank_baselines": manifest.board.rank_baselines, "rank_late": manifest.board.rank_late,
                  "ranks": manifest.board.ranks},
    }


def write_results(database: Database, task: str, output: Path, *, metric: str | None = None,
                  dataset: str | None = None) -> int:
    """Write each system's score in the format of the Hugging Face Hub.

    The path of a file is `TEAM/SYSTEM/.eval_results/TASK.yaml`.

    Args:
        database: The registry, or a public file.
        task: Id of the task.
        output: Path of the folder, which must not exist.
        metric: Alias of the metric; None means the primary metric.
        dataset: Name of the benchmark, a data set of the Hub. None means that the page of the task is this data set.

    Returns:
        Number of files.

    Raises:
        UnknownNameError: No task or metric has this name.
        MismatchError: The task has no board, or a board is out of date.
        HiddenError: The scores are under an embargo.
        InputError, StoreError: No data set is named, or the folder exists or cannot be written.
    """
    with database.reading() as connection:
        (row,) = catalog.tasks(connection, task)
        require_current(connection, row)
        manifest = decode_manifest(row.manifest)
        boards = [board for board in load_metric_leaderboards(connection, row, metric) if board.facet is None]
        benchmark = Benchmark(choose_dataset(dataset, manifest.task.url), row.title or row.slug, manifest.task.url,
                              connection.execute(_COMPARED, {"task": row.slug}).scalar_one())
        with new_folder(output) as folder:
            paths = set()
            for team, system, content in make_hub_entries(boards, benchmark):
                path = folder.joinpath(portable_name(team), portable_name(system), ".eval_results",
                                       f"{portable_name(row.slug)}.yaml")
                if str(path).casefold() in paths:  # some systems do not distinguish upper and lower case
                    raise InputError(f"{team}/{system} and another system have the same folder name; rename a system")
                paths.add(str(path).casefold())
                path.parent.mkdir(parents=True)
                path.write_text(content, "utf-8", newline="\n")
    return len(paths)
