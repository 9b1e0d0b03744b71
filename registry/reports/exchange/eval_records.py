"""Aggregate records of Every Eval Ever: the scores of one submission on the leaderboards of a test set.

The format has a place for score and interval; test, ranks and signature stand in the score's details, as text. A score
that is undefined has no place in it, and is left out.
"""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from registry.importers.every_eval_ever import LIBRARY, SCHEMA
from registry.leaderboards.leaderboard import Leaderboard, Standing
from registry.manifest.spec import FACTS
from registry.metrics import METRICS, Metric
from registry.values import Value, parse
from registry.version import __version__

_RANKS = ("rank", "rank_low", "rank_high", "cluster", "wins", "losses", "runs", "run_deviation")
_TESTED = ("test", "alternative", "unit", "correction", "alpha", "resamples", "seed", "n_units", "n_systems",
           "family_size")
_UNKNOWN = "unknown"


@dataclass(frozen=True)
class Described:
    """What a record says of a task.

    Attributes:
        task, test_set: Their names.
        title, organisers, url: Of the task.
        compared: When its boards were compared, in UTC.
        details: What else the record says of the library that evaluated, as text.
    """

    task: str
    test_set: str
    title: str
    organisers: str
    url: str | None
    compared: datetime
    details: Mapping[str, str]

    @property
    def timestamp(self) -> str:
        """The time in seconds since 1970, as text."""
        return str(int(self.compared.replace(tzinfo=UTC).timestamp()))


def model_of(standing: Standing) -> str:
    """What a submission is called: `team/system`, with every version but the first."""
    return f"{standing.team}/{standing.system}" + (f"@{standing.version}" if standing.version != "1" else "")


def evaluation_id(of: Described, standing: Standing) -> str:
    """What names the evaluation of one submission."""
    return f"{of.task}.{of.test_set}/{model_of(standing)}/{of.timestamp}"


def file_number(evaluation: str) -> str:
    """A UUID for an evaluation's files, which is the same whenever it is written."""
    return str(uuid.UUID(bytes=sha256(evaluation.encode()).digest()[:16], version=4))


def result_id(board: Leaderboard) -> str:
    """What names a result within a record."""
    return ".".join(filter(None, (board.test_set, board.metric))) + (f":{board.facet}" if board.facet else "")


def evaluation_name(board: Leaderboard) -> str:
    """What was evaluated: task, test set, and the part of its items if it is not all."""
    return f"{board.task}.{board.test_set}" + (f".{board.facet}" if board.facet else "")


def aggregate_record(of: Described, stands: Sequence[tuple[Leaderboard, Standing]],
                     samples: Mapping[str, Any] | None) -> str:
    """The aggregate record of one submission, as JSON.

    Args:
        of: The task.
        stands: Where it stands on every board of the test set.
        samples: What the record says of the file of its samples, if there is one.
    """
    standing = stands[0][1]
    record: dict[str, Any] = {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation_id(of, standing),
        "evaluation_timestamp": of.timestamp,
        "retrieved_timestamp": of.timestamp,
        "source_metadata": {
            "source_name": of.title or of.task, "source_type": "evaluation_run",
            "source_organization_name": of.organisers or _UNKNOWN,
            **({"source_organization_url": of.url} if of.url else {}),
            "evaluator_relationship": "third_party"},
        "eval_library": {"name": LIBRARY, "version": __version__, "additional_details": dict(of.details)},
        "model_info": {
            "name": standing.system, "id": model_of(standing), "developer": standing.team,
            "additional_details": {"deployment_type": _UNKNOWN, "model_availability": _UNKNOWN} | {
                name: _text(standing.attributes[name]) for name in FACTS if name in standing.attributes}},
        "evaluation_results": [_result(of, board, at) for board, at in stands
                               if at.score is not None and math.isfinite(at.score)],
    }
    if samples is not None:
        record["detailed_evaluation_results"] = samples
    return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _result(of: Described, board: Leaderboard, at: Standing) -> dict[str, Any]:
    metric = parse("metric", METRICS, board.metric_name).original
    settings = board.comparison._asdict()
    details = {name: getattr(at, name) for name in _RANKS} | {name: settings[name] for name in _TESTED} | {
        "track": board.track, "facet": board.facet, "signature": board.signature, "kind": at.kind}
    source = {"source_type": "url", "url": [of.url]} if of.url else {"source_type": "other"}
    return {
        "evaluation_result_id": result_id(board),
        "evaluation_name": evaluation_name(board),
        "source_data": {"dataset_name": f"{of.task}.{of.test_set}", **source},
        "metric_config": {
            "metric_id": board.metric, "metric_name": board.metric_title, "metric_kind": metric.name.lower(),
            **_parameters(metric), "lower_is_better": board.better == "lower",
            "additional_details": {"metric": repr(metric)}},
        "score_details": {
            "score": at.score,
            "details": {name: _text(value) for name, value in details.items() if value is not None},
            "uncertainty": _uncertainty(board, at)},
    }


def _uncertainty(board: Leaderboard, at: Standing) -> dict[str, Any]:
    of_items = {"num_samples": board.comparison.n_items}
    if at.ci_low is None or at.ci_high is None:
        return of_items
    return {"confidence_interval": {
        "lower": at.ci_low, "upper": at.ci_high, "confidence_level": board.comparison.confidence,
        "method": board.intervals.scores or board.comparison.test}, **of_items}


def _parameters(metric: Metric) -> dict[str, Any]:
    """The options of a metric that the format can hold: one text, number or truth value each."""
    assert isinstance(metric, Value)
    found = {name: value for name, value in asdict(metric).items() if isinstance(value, str | int | float)}
    return {"metric_parameters": found} if found else {}


def _text(value: Any) -> str:
    """A value as text: JSON, but for text itself."""
    return value if isinstance(value, str) else json.dumps(value)
