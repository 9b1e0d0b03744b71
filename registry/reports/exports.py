"""Scores and leaderboards in the formats of other platforms, and badges."""

from __future__ import annotations

import json
import math
import re
import unicodedata
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from xml.sax.saxutils import escape

from registry.boards.leaderboard import Leaderboard, Standing
from registry.boards.submissions import SubmissionScore
from registry.errors import InputError
from registry.importers.every_eval_ever import LIBRARY, SCHEMA
from registry.manifest.spec import FACTS, Manifest
from registry.metrics import METRICS, Metric
from registry.reports.boards import format_rank_range
from registry.values import Value, parse
from registry.version import __version__


def format_codabench(scores: Sequence[SubmissionScore]) -> str:
    """Return scores in the format of Codabench (`scores.json`)."""
    return json.dumps(_name_scores(scores), indent=2, ensure_ascii=False) + "\n"


def format_codalab(scores: Sequence[SubmissionScore]) -> str:
    """Return scores in the format of CodaLab (`scores.txt`, which is YAML)."""
    return "".join(f"{name}: {_format_yaml_number(score)}\n" for name, score in _name_scores(scores).items())


def format_evalai(scores: Sequence[SubmissionScore]) -> str:
    """Return scores in the JSON format that EvalAI's function `evaluate()` returns.

    Each test set is a split.
    """
    splits: dict[str, dict[str, float]] = {score.test_set: {} for score in scores}
    for score in scores:
        if score.score is not None:
            splits[score.test_set][score.metric] = score.score
    return json.dumps({"result": [{name: values} for name, values in splits.items()]}, indent=2,
                      ensure_ascii=False) + "\n"


def _name_scores(scores: Sequence[SubmissionScore]) -> dict[str, float]:
    has_several = len({score.test_set for score in scores}) > 1
    return {f"{score.test_set}_{score.metric}" if has_several else score.metric: score.score
            for score in scores if score.score is not None}


_RANKS = ("rank", "rank_low", "rank_high", "cluster", "wins", "losses", "runs", "run_sd")
_TESTED = ("test", "alternative", "unit", "correction", "alpha", "resamples", "seed", "n_units", "n_systems",
           "family_size")
_UNKNOWN = "unknown"


@dataclass(frozen=True)
class TaskFacts:
    """Facts about a task and a test set, for records in the format Every Eval Ever.

    Attributes:
        task, test_set: The names of the task and the test set.
        title, organisers, url: The task's title, organisers and web page.
        compared: The time at which the systems were compared, in UTC.
        details: Further facts for the field `eval_library` of the records, by name.
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
        """Time of the comparisons as text, in seconds since 1970."""
        return str(int(self.compared.replace(tzinfo=UTC).timestamp()))


def make_model_name(standing: Standing) -> str:
    """Return a submission's name: `team/system`, or `team/system@2` for version 2."""
    return f"{standing.team}/{standing.system}" + (f"@{standing.version}" if standing.version != "1" else "")


def make_evaluation_id(task: TaskFacts, standing: Standing) -> str:
    """Return the id of an evaluation: `TASK.TEST_SET/SUBMISSION/TIMESTAMP`."""
    return f"{task.task}.{task.test_set}/{make_model_name(standing)}/{task.timestamp}"


def make_file_id(evaluation: str) -> str:
    """Return the UUID that names the files of an evaluation.

    The UUID is computed from the evaluation's id, so the same evaluation always has the same UUID.
    """
    return str(uuid.UUID(bytes=sha256(evaluation.encode()).digest()[:16], version=4))


def make_result_id(board: Leaderboard) -> str:
    """Return the id of a score in a record: `TEST_SET.METRIC[:FACET]`."""
    return ".".join(filter(None, (board.test_set, board.metric))) + (f":{board.facet}" if board.facet else "")


def make_evaluation_name(board: Leaderboard) -> str:
    """Return the name of a leaderboard's evaluation: `TASK.TEST_SET[.FACET]`."""
    return f"{board.task}.{board.test_set}" + (f".{board.facet}" if board.facet else "")


def make_aggregate_record(task: TaskFacts, results: Sequence[tuple[Leaderboard, Standing]],
                          samples: Mapping[str, Any] | None) -> str:
    """Return the scores of one submission as JSON in the format Every Eval Ever.

    Args:
        task: Facts about the task and the test set.
        results: The leaderboards of the test set, each with the submission's entry.
        samples: The description of the file with results per item; None if there is no file.
    """
    standing = results[0][1]
    record: dict[str, Any] = {
        "schema_version": SCHEMA,
        "evaluation_id": make_evaluation_id(task, standing),
        "evaluation_timestamp": task.timestamp,
        "retrieved_timestamp": task.timestamp,
        "source_metadata": {
            "source_name": task.title or task.task, "source_type": "evaluation_run",
            "source_organization_name": task.organisers or _UNKNOWN,
            **({"source_organization_url": task.url} if task.url else {}),
            "evaluator_relationship": "third_party"},
        "eval_library": {"name": LIBRARY, "version": __version__, "additional_details": dict(task.details)},
        "model_info": {
            "name": standing.system, "id": make_model_name(standing), "developer": standing.team,
            "additional_details": {"deployment_type": _UNKNOWN, "model_availability": _UNKNOWN} | {
                name: _format_json_text(standing.attributes[name]) for name in FACTS if name in standing.attributes}},
        "evaluation_results": [_make_result(task, board, board_standing) for board, board_standing in results
                               if board_standing.score is not None and math.isfinite(board_standing.score)],
    }
    if samples is not None:
        record["detailed_evaluation_results"] = samples
    return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _make_result(task: TaskFacts, board: Leaderboard, standing: Standing) -> dict[str, Any]:
    metric = parse("metric", METRICS, board.metric_name).original
    settings = board.comparison._asdict()
    details = {name: getattr(standing, name) for name in _RANKS} | {name: settings[name] for name in _TESTED} | {
        "track": board.track, "facet": board.facet, "signature": board.signature, "kind": standing.kind}
    source = {"source_type": "url", "url": [task.url]} if task.url else {"source_type": "other"}
    return {
        "evaluation_result_id": make_result_id(board),
        "evaluation_name": make_evaluation_name(board),
        "source_data": {"dataset_name": f"{task.task}.{task.test_set}", **source},
        "metric_config": {
            "metric_id": board.metric, "metric_name": board.metric_title, "metric_kind": metric.name.lower(),
            **_make_parameters(metric), "lower_is_better": board.better == "lower",
            "additional_details": {"metric": repr(metric)}},
        "score_details": {
            "score": standing.score,
            "details": {name: _format_json_text(value) for name, value in details.items() if value is not None},
            "uncertainty": _make_uncertainty(board, standing)},
    }


def _make_uncertainty(board: Leaderboard, standing: Standing) -> dict[str, Any]:
    size = {"num_samples": board.comparison.n_items}
    if standing.ci_low is None or standing.ci_high is None:
        return size
    methods = " or ".join(method.plural for method in board.intervals.score_methods)
    return {"confidence_interval": {
        "lower": standing.ci_low, "upper": standing.ci_high, "confidence_level": board.comparison.confidence,
        "method": methods or board.comparison.test}, **size}


def _make_parameters(metric: Metric) -> dict[str, Any]:
    """Return the options of a metric that the exported format can represent.

    The format can represent texts, numbers and booleans.
    """
    assert isinstance(metric, Value)
    options = {name: value for name, value in asdict(metric).items() if isinstance(value, str | int | float)}
    return {"metric_parameters": options} if options else {}


def _format_json_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


_DATASET = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_OF_HUB = re.compile(r"https://(?:huggingface\.co|hf\.co)/datasets/([^/?#]+/[^/?#]+)/?")


@dataclass(frozen=True)
class Benchmark:
    """Facts that all entries of a benchmark on the Hugging Face Hub share.

    Attributes:
        dataset: The benchmark's data set on the Hub, such as `acme/benchmark`. Each of our test sets is a task there.
        title, url: The title and the web page of our task, which the Hub names as the source of the scores.
        compared: The time at which the systems were compared.
    """

    dataset: str
    title: str
    url: str | None
    compared: datetime


def choose_dataset(name: str | None, url: str | None) -> str:
    """Return the name of the benchmark's data set on the Hugging Face Hub.

    Args:
        name: A name such as `acme/benchmark`; None: the name is part of `url`.
        url: The web page of the task, which can be the page of the data set on the Hub.

    Raises:
        InputError: Neither argument contains a name, or the name is not valid for a data set.
    """
    dataset = name or (page[1] if url and (page := _OF_HUB.fullmatch(url)) else None)
    if dataset is None:
        raise InputError("the benchmark's data set on the Hugging Face Hub is unknown; set --dataset "
                         "ORGANISATION/NAME, or the key url of the task")
    if not _DATASET.fullmatch(dataset):
        raise InputError(f"{dataset!r} is not the name of a data set; give a name such as acme/benchmark")
    return dataset


def make_hub_entries(boards: Sequence[Leaderboard], benchmark: Benchmark) -> Iterator[tuple[str, str, str]]:
    """Yield team, model name and file content (YAML) for each model with a score.

    The file has results for the Hugging Face Hub. All boards must be by the same metric.
    """
    models: dict[tuple[str, str, str], list[tuple[Leaderboard, Standing]]] = {}
    for board in boards:
        for standing in board.standings:
            if standing.score is not None and math.isfinite(standing.score):
                models.setdefault((standing.team, standing.system, standing.version), []).append((board, standing))
    for (team, system, version), results in models.items():
        name = system if version == "1" else f"{system}@{version}"
        yield team, name, "".join(_make_hub_entry(board, standing, benchmark) for board, standing in results)


def _make_hub_entry(board: Leaderboard, standing: Standing, benchmark: Benchmark) -> str:
    assert standing.score is not None
    source = (f"  source:\n    url: {_quote_yaml(benchmark.url)}\n    name: {_quote_yaml(benchmark.title)}\n"
              if benchmark.url else "")
    return (f"- dataset:\n    id: {_quote_yaml(benchmark.dataset)}\n    task_id: {_quote_yaml(board.test_set)}\n"
            f'  value: {_format_yaml_number(standing.score)}\n  date: "{benchmark.compared:%Y-%m-%d}"\n{source}'
            f"  notes: {_quote_yaml(_describe_result(board, standing))}\n")


def _describe_result(board: Leaderboard, standing: Standing) -> str:
    comparison, better = board.comparison, "lower" if board.better == "lower" else "higher"
    interval = "" if standing.ci_low is None or standing.ci_high is None else (
        f", {comparison.confidence:.0%} interval {standing.ci_low:.4g} to {standing.ci_high:.4g}")
    rank = "" if standing.rank is None else (
        f"; rank {format_rank_range(board, standing)} of {len(board.standings)} by {comparison.test}, "
        f"{comparison.correction}, alpha {comparison.alpha:g}")
    return f"{board.metric} ({board.metric_title}), {better} is better{interval}{rank}; {board.signature}"


def _quote_yaml(text: str) -> str:
    return json.dumps(text)  # JSON texts are YAML texts


def _format_yaml_number(value: float) -> str:
    digits = repr(value)
    return digits if "." in digits else digits.replace("e", ".0e")  # YAML 1.1 has no number such as 1e-05


_LONGEST = 60  # characters of one side of a badge
_WIDTH, _PADDING, _HEIGHT = 7, 8, 20  # pixels: of a character, next to a text, of the badge

_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-label="{label}">
<title>{title}</title>
<rect width="{width}" height="{height}" rx="3" fill="#334"/>
<path d="M{left} 0h{fill}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{left}z" fill="#06a"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{padding}" y="14" textLength="{left_text}" lengthAdjust="spacingAndGlyphs">{name}</text>
<text x="{right}" y="14" textLength="{right_text}" lengthAdjust="spacingAndGlyphs">{place}</text>
</g>
</svg>
"""


def draw_badge(board: Leaderboard, standing: Standing, name: str) -> str:
    """Draw a badge with the rank range of a system as SVG, such as `rank 2-3 of 10`.

    Args:
        board: The leaderboard.
        standing: The system's entry on the leaderboard.
        name: The name of the task, for the left side of the badge.
    """
    if standing.rank is None:
        place = "not ranked"
    elif board.ranks == "cluster":
        place = f"cluster {standing.cluster} of {max(other.cluster or 0 for other in board.standings)}"
    else:
        n_ranked = sum(other.rank is not None for other in board.standings)
        place = f"rank {format_rank_range(board, standing)} of {n_ranked}"
    name, place = _make_line(name), _make_line(place)
    left, right = (_compute_width(text) + 2 * _PADDING for text in (name, place))
    return _SVG.format(
        width=left + right, height=_HEIGHT, left=left, fill=right - 3, padding=_PADDING, left_text=left - 2 * _PADDING,
        right=left + _PADDING, right_text=right - 2 * _PADDING, label=_escape_xml(_make_line(f"{name}: {place}")),
        name=_escape_xml(name), place=_escape_xml(place),
        title=_escape_xml(f"{_make_line(standing.display_name)}: {place} ({_make_line(board.title)})"))


def _make_line(text: str) -> str:
    line = "".join(c for c in " ".join(text.split()) if not unicodedata.category(c).startswith("C"))
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST - 1]}…"


def _compute_width(text: str) -> int:
    return _WIDTH * sum(2 if unicodedata.east_asian_width(c) in "FW" else 1 for c in text)


def _escape_xml(text: str) -> str:
    return escape(text, {'"': "&quot;"})


CROISSANT_TASKS = "croissant-tasks.json"

Entity = dict[str, Any]

_SYSTEM_TERMS = {"description": "sc:description", "paper": "sc:citation", "code": "sc:url", "licence": "sc:license"}
_CONTEXT = {"cr": "http://mlcommons.org/croissant/", "sc": "https://schema.org/"}


def make_croissant_tasks(manifest: Manifest, boards: Sequence[Leaderboard]) -> str:
    """Return a task and its results in the format Croissant Tasks, as JSON-LD.

    The file describes the task as a problem, each submission as a solution, and its scores as an evaluation.
    """
    submissions: dict[str, list[tuple[Leaderboard, Standing]]] = {}
    for board in boards:
        for standing in board.standings:
            submissions.setdefault(standing.submission, []).append((board, standing))
    graph = [_make_problem(manifest)]
    for n, results in enumerate(submissions.values(), 1):
        graph += [_make_solution(n, results[0][1]), {
            "@id": f"#evaluation-{n}", "@type": "cr:EvaluationTask",
            "cr:evaluatedSolution": {"@id": f"#solution-{n}"}, "cr:evaluationResults": list(_make_results(results))}]
    base = {"@base": manifest.task.url} if manifest.task.url else {}  # makes the names of entities unique
    return json.dumps({"@context": {**base, **_CONTEXT}, "@graph": graph}, indent=2, ensure_ascii=False) + "\n"


def _make_problem(manifest: Manifest) -> Entity:
    task = manifest.task
    facts = {"sc:name": task.title or task.id, "sc:description": task.description, "sc:version": task.version,
             "sc:url": task.url, "sc:license": task.licence, "sc:creditText": task.citation,
             "sc:datePublished": task.date,
             "sc:creator": [{"@type": "sc:Person", "sc:name": name} for name in task.organisers]}
    return {
        "@id": "#task", "@type": "cr:TaskProblem", **{key: value for key, value in facts.items() if value},
        "cr:input": [{"@id": f"#items-{test_set.name}", "@type": "sc:Dataset",
                      "sc:name": f"The items of {test_set.name}"} for test_set in manifest.test_set],
        "cr:output": {"@id": "#answers", "@type": "cr:OutputSpec", "sc:name": "An answer to every item",
                      "cr:schema": {"@id": "#answer", "@type": "cr:RecordSet", "cr:field": [
                          {"@id": f"#answer/{name}", "@type": "cr:Field", "sc:name": name,
                           "cr:dataType": {"@id": "sc:Text"}} for name in ("item", "answer")]}}}


def _make_solution(n: int, standing: Standing) -> Entity:
    facts = {term: standing.attributes[name] for name, term in _SYSTEM_TERMS.items() if name in standing.attributes}
    return {"@id": f"#solution-{n}", "@type": "cr:TaskSolution", "sc:isBasedOn": {"@id": "#task"},
            "sc:name": standing.submission, "sc:version": standing.version, "sc:creator": {
                "@type": "sc:Organization", "sc:name": standing.team},
            "cr:implementation": {"@id": f"#system-{n}", "@type": "sc:SoftwareApplication",
                                  "sc:name": standing.system, **facts}}


def _make_results(results: Sequence[tuple[Leaderboard, Standing]]) -> Iterator[Entity]:
    """Yield each score of a submission as an entity in the format Croissant Tasks.

    An entity also has the confidence interval and the rank range. Undefined scores are left out.
    """
    for board, standing in results:
        if standing.score is not None:
            ends = {"sc:minValue": standing.ci_low, "sc:maxValue": standing.ci_high}
            rank = {} if standing.rank is None else {"sc:position": format_rank_range(board, standing)}
            yield {"@type": "cr:EvaluationResult", "cr:metric": board.metric_name, "sc:name": board.title,
                   "sc:identifier": board.signature, **rank, "cr:value": {
                       "@type": "sc:QuantitativeValue", "sc:value": standing.score,
                       **{key: end for key, end in ends.items() if end is not None}}}
