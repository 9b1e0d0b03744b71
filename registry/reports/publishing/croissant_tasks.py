"""A task, its systems and their scores in the vocabulary of Croissant Tasks (MLCommons; Benjelloun et al. 2026).

The task is a problem that gives items and asks for an answer to each. Every submission is a solution, whose evaluation
has its score on every board. What the vocabulary has no word for stands in schema.org's: the interval of a score, its
rank, and the signature of the board.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from registry.boards.leaderboard import Leaderboard, Standing
from registry.manifest.spec import Manifest
from registry.reports.boards import rank_range

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
            rank = {} if of.rank is None else {"sc:position": rank_range(board, of)}
            yield {"@type": "cr:EvaluationResult", "cr:metric": board.metric_name, "sc:name": board.title,
                   "sc:identifier": board.signature, **rank, "cr:value": {
                       "@type": "sc:QuantitativeValue", "sc:value": of.score,
                       **{key: end for key, end in ends.items() if end is not None}}}
