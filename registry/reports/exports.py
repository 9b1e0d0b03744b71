"""Scores and leaderboards in the formats of other platforms, catalogues and badges."""

from __future__ import annotations

import json
import math
import re
import unicodedata
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
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
from registry.rendering.render import escape_latex, render_latex_environment
from registry.rendering.table import make_number_format
from registry.reports.boards import add_cluster_rules, format_rank_range, format_rank_ranges
from registry.values import Value, parse
from registry.version import __version__


def codabench(scores: Sequence[SubmissionScore]) -> str:
    """`scores.json` of Codabench."""
    return json.dumps(_by_key(scores), indent=2, ensure_ascii=False) + "\n"


def codalab(scores: Sequence[SubmissionScore]) -> str:
    """`scores.txt` of CodaLab, in numbers that YAML takes as such: it knows none with an exponent but no point."""
    written = {key: repr(score) for key, score in _by_key(scores).items()}
    return "".join(f"{key}: {digits if '.' in digits else digits.replace('e', '.0e')}\n"
                   for key, digits in written.items())


def evalai(scores: Sequence[SubmissionScore]) -> str:
    """The result of EvalAI's `evaluate()`: test sets are the splits, by their codenames."""
    by_split: dict[str, dict[str, float]] = {of.test_set: {} for of in scores}
    for of in scores:
        if of.score is not None:
            by_split[of.test_set][of.metric] = of.score
    return json.dumps({"result": [{split: found} for split, found in by_split.items()]}, indent=2,
                      ensure_ascii=False) + "\n"


def wmt(board: Leaderboard) -> str:
    """A leaderboard in LaTeX as WMT's findings print it: rank ranges, scores, systems; lines part the clusters."""
    board = replace(board, ranks="range")  # as the findings define them
    body = add_cluster_rules(board.clusters, (
        f"{left.replace('-', '--')} & {make_number_format(3)(of.score).replace('-', '$-$')} & "
        f"{escape_latex(of.display_name)}{'*' if of.late else ''} \\\\" for of, left in zip(
            board.standings, format_rank_ranges(board), strict=True)))
    said = (f"{board.title}. Systems ordered by score; lines part clusters, and ranges are the ranks that significant "
            "wins and losses leave open.")
    caption = " ".join(map(escape_latex, (said, *board.sentences)))
    return render_latex_environment("ccl", ["Rank", escape_latex(board.metric_label), "System"], body, caption,
                             board.signature, list(map(escape_latex, board.footnotes)))


def _by_key(scores: Sequence[SubmissionScore]) -> dict[str, float]:
    """Scores by metric, or by test set and metric where there are several test sets."""
    several = len({of.test_set for of in scores}) > 1
    return {f"{of.test_set}_{of.metric}" if several else of.metric: of.score
            for of in scores if of.score is not None}


_RANKS = ("rank", "rank_low", "rank_high", "cluster", "wins", "losses", "runs", "run_sd")
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
                name: _json_text(standing.attributes[name]) for name in FACTS if name in standing.attributes}},
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
            "details": {name: _json_text(value) for name, value in details.items() if value is not None},
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


def _json_text(value: Any) -> str:
    """A value as text: JSON, but for text itself."""
    return value if isinstance(value, str) else json.dumps(value)


_DATASET = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_OF_HUB = re.compile(r"https://(?:huggingface\.co|hf\.co)/datasets/([^/?#]+/[^/?#]+)/?")


@dataclass(frozen=True)
class Benchmark:
    """What all entries of a task say.

    Attributes:
        dataset: The Hub's data set that is the benchmark; the task's test sets are its tasks.
        title, url: Of the task, the source of the values.
        compared: When its boards were compared.
    """

    dataset: str
    title: str
    url: str | None
    compared: datetime


def dataset_of(given: str | None, url: str | None) -> str:
    """The Hub's data set that is the benchmark: the one that is given, else the task's page if that is one.

    Raises:
        InputError: It is neither, or cannot be one.
    """
    found = given or (page[1] if url and (page := _OF_HUB.fullmatch(url)) else None)
    if found is None:
        raise InputError("a result names the benchmark's data set on the Hugging Face Hub: give it by --dataset "
                         "ORGANISATION/NAME, or as url of the task")
    if not _DATASET.fullmatch(found):
        raise InputError(f"{found!r} is no data set such as acme/benchmark")
    return found


def eval_results(boards: Sequence[Leaderboard], of: Benchmark) -> Iterator[tuple[str, str, str]]:
    """Give the entries of every model on boards by one metric: its team and name, and the text of its file."""
    stands: dict[tuple[str, str, str], list[tuple[Leaderboard, Standing]]] = {}
    for board in boards:
        for at in board.standings:
            if at.score is not None and math.isfinite(at.score):
                stands.setdefault((at.team, at.system, at.version), []).append((board, at))
    for (team, system, version), found in stands.items():
        name = system if version == "1" else f"{system}@{version}"
        yield team, name, "".join(_entry(board, at, of) for board, at in found)


def _entry(board: Leaderboard, at: Standing, of: Benchmark) -> str:
    assert at.score is not None
    source = f"  source:\n    url: {_yaml_text(of.url)}\n    name: {_yaml_text(of.title)}\n" if of.url else ""
    return (f"- dataset:\n    id: {_yaml_text(of.dataset)}\n    task_id: {_yaml_text(board.test_set)}\n"
            f'  value: {_number(at.score)}\n  date: "{of.compared:%Y-%m-%d}"\n{source}'
            f"  notes: {_yaml_text(_notes(board, at))}\n")


def _notes(board: Leaderboard, at: Standing) -> str:
    """What the value is, its interval, and the ranks that significant differences leave open."""
    of, better = board.comparison, "lower" if board.better == "lower" else "higher"
    interval = "" if at.ci_low is None or at.ci_high is None else (
        f", {of.confidence:.0%} interval {at.ci_low:.4g} to {at.ci_high:.4g}")
    rank = "" if at.rank is None else (f"; rank {format_rank_range(board, at)} of {len(board.standings)} by {of.test}, "
                                       f"{of.correction}, alpha {of.alpha:g}")
    return (f"{board.metric} ({board.metric_title}), {better} is better{interval}"
            f"{rank}; {board.signature}")


def _yaml_text(text: str) -> str:
    """A text as YAML takes JSON's."""
    return json.dumps(text)


def _number(value: float) -> str:
    """A number that YAML 1.1 takes as such: it knows none with an exponent but no point."""
    digits = repr(value)
    return digits if "." in digits else digits.replace("e", ".0e")


_LONGEST = 60  # characters of a side
_WIDTH, _PADDING, _HEIGHT = 7, 8, 20  # pixels of a character, beside a text, and of the whole

_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-label="{said}">
<title>{title}</title>
<rect width="{width}" height="{height}" rx="3" fill="#334"/>
<path d="M{left} 0h{fill}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{left}z" fill="#06a"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{padding}" y="14" textLength="{left_text}" lengthAdjust="spacingAndGlyphs">{of}</text>
<text x="{right}" y="14" textLength="{right_text}" lengthAdjust="spacingAndGlyphs">{stands}</text>
</g>
</svg>
"""


def badge(board: Leaderboard, standing: Standing, name: str) -> str:
    """Draw where a system stands: the places that significant differences leave open, by the board's convention.

    Args:
        board: The leaderboard.
        standing: The system, one of its standings.
        name: What the task is called.
    """
    n = sum(of.rank is not None for of in board.standings)
    if standing.rank is None:
        stands = "not ranked"
    elif board.ranks == "cluster":
        stands = f"cluster {standing.cluster} of {max(of.cluster or 0 for of in board.standings)}"
    else:
        stands = f"rank {format_rank_range(board, standing)} of {n}"
    of, stands = _visible_line(name), _visible_line(stands)
    left, right = (_width(text) + 2 * _PADDING for text in (of, stands))
    said = _visible_line(f"{of}: {stands}")
    return _SVG.format(
        width=left + right, height=_HEIGHT, left=left, fill=right - 3, padding=_PADDING, left_text=left - 2 * _PADDING,
        right=left + _PADDING, right_text=right - 2 * _PADDING, said=_xml(said), of=_xml(of), stands=_xml(stands),
        title=_xml(f"{_visible_line(standing.display_name)}: {stands} ({_visible_line(board.title)})"))


def _visible_line(text: str) -> str:
    """What can be seen of a text, on one line, cut where it is long."""
    seen = "".join(c for c in " ".join(text.split()) if not unicodedata.category(c).startswith("C"))
    return seen if len(seen) <= _LONGEST else f"{seen[:_LONGEST - 1]}…"


def _width(text: str) -> int:
    return _WIDTH * sum(2 if unicodedata.east_asian_width(c) in "FW" else 1 for c in text)


def _xml(text: str) -> str:
    return escape(text, {'"': "&quot;"})


CROISSANT_TASKS = "croissant-tasks.json"

Entity = dict[str, Any]

_OF_SYSTEM = {"description": "sc:description", "paper": "sc:citation", "code": "sc:url", "licence": "sc:license"}
_CONTEXT = {"cr": "http://mlcommons.org/croissant/", "sc": "https://schema.org/"}


def croissant_tasks(manifest: Manifest, boards: Sequence[Leaderboard]) -> str:
    """Write the problem, the solutions in the order of the boards, and their evaluations, as JSON-LD."""
    stands: dict[str, list[tuple[Leaderboard, Standing]]] = {}
    for board in boards:
        for of in board.standings:
            stands.setdefault(of.submission, []).append((board, of))
    graph = [_problem(manifest)]
    for n, of_one in enumerate(stands.values(), 1):
        graph += [_solution(n, of_one[0][1]), _evaluation(n, of_one)]
    base = {"@base": manifest.task.url} if manifest.task.url else {}  # which names the entities everywhere
    return json.dumps({"@context": {**base, **_CONTEXT}, "@graph": graph}, indent=2, ensure_ascii=False) + "\n"


def _problem(manifest: Manifest) -> Entity:
    task = manifest.task
    told = {"sc:name": task.title or task.id, "sc:description": task.description, "sc:version": task.version,
            "sc:url": task.url, "sc:license": task.licence, "sc:creditText": task.citation,
            "sc:datePublished": task.date,
            "sc:creator": [{"@type": "sc:Person", "sc:name": name} for name in task.organisers]}
    return {
        "@id": "#task", "@type": "cr:TaskProblem", **{key: value for key, value in told.items() if value},
        "cr:input": [{"@id": f"#items-{of.name}", "@type": "sc:Dataset", "sc:name": f"The items of {of.name}"}
                     for of in manifest.test_set],
        "cr:output": {"@id": "#answers", "@type": "cr:OutputSpec", "sc:name": "An answer to every item",
                      "cr:schema": {"@id": "#answer", "@type": "cr:RecordSet", "cr:field": [
                          {"@id": f"#answer/{name}", "@type": "cr:Field", "sc:name": name,
                           "cr:dataType": {"@id": "sc:Text"}} for name in ("item", "answer")]}}}


def _solution(n: int, of: Standing) -> Entity:
    return {"@id": f"#solution-{n}", "@type": "cr:TaskSolution", "sc:isBasedOn": {"@id": "#task"},
            "sc:name": of.submission, "sc:version": of.version, "sc:creator": {
                "@type": "sc:Organization", "sc:name": of.team},
            "cr:implementation": {"@id": f"#system-{n}", "@type": "sc:SoftwareApplication", "sc:name": of.system, **{
                term: of.attributes[name] for name, term in _OF_SYSTEM.items() if name in of.attributes}}}


def _evaluation(n: int, stands: Sequence[tuple[Leaderboard, Standing]]) -> Entity:
    return {"@id": f"#evaluation-{n}", "@type": "cr:EvaluationTask", "cr:evaluatedSolution": {"@id": f"#solution-{n}"},
            "cr:evaluationResults": list(_results(stands))}


def _results(stands: Sequence[tuple[Leaderboard, Standing]]) -> Iterator[Entity]:
    """The scores that are defined, in quantities with the ends of their interval."""
    for board, of in stands:
        if of.score is not None:
            ends = {"sc:minValue": of.ci_low, "sc:maxValue": of.ci_high}
            rank = {} if of.rank is None else {"sc:position": format_rank_range(board, of)}
            yield {"@type": "cr:EvaluationResult", "cr:metric": board.metric_name, "sc:name": board.title,
                   "sc:identifier": board.signature, **rank, "cr:value": {
                       "@type": "sc:QuantitativeValue", "sc:value": of.score,
                       **{key: end for key, end in ends.items() if end is not None}}}
