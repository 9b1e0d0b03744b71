"""Texts for papers: methods of leaderboards, and citations."""

from __future__ import annotations

import json
import math
import re
import unicodedata

from registry.boards.leaderboard import Leaderboard, Ranks
from registry.boards.statements import describe_sample, has_observed_direction
from registry.errors import counted
from registry.manifest.spec import Task
from registry.metrics import METRICS
from registry.rendering.latex import escape_latex
from registry.significance import CORRECTIONS, TESTS
from registry.values import parse

_RANKS: dict[Ranks, str] = {
    "range": "The ranks that are left open for a system go from its significant losses + 1 to the number of systems "
             "less its significant wins.",
    "cluster": "A new cluster begins where every system above beats every system below.",
    "neighbour": "The ranks that are left open for a system end at the nearest systems above and below that differ "
                 "significantly.",
    "simultaneous": "The ranks that are left open for all systems at once are bounded by the largest studentized "
                    "difference over all pairs in resamples, step-down (Mogstad, Romano, Shaikh and Wilhelm 2024), at "
                    "{level:g} %.",
    "bootstrap": "The ranks that are left open for a system are those that all but {rest:g} % of the resamples give "
                 "it.",
}


def describe_methods(board: Leaderboard) -> str:
    """Return a paragraph for a paper that describes how a leaderboard was computed.

    The sentences name the metric, the test, the correction and the kind of rank ranges, with references.
    """
    comparison = board.comparison
    metric = parse("metric", METRICS, board.metric_name)
    clusters = f" in {counted(comparison.n_units, 'cluster')}" if comparison.unit == "cluster" else ""
    facet = f" with {board.facet}" if board.facet else ""
    full_name, title = board.metric_name, board.metric_title.partition(" (")[0]
    name = full_name if full_name.lower().startswith(title.lower()) else f"{title}, {full_name}"
    scoring = (f"Systems are scored by {name} ({metric.citation}) on the {counted(comparison.n_items, 'item')}{facet}"
               f"{clusters} of test set {board.test_set}; {board.better} is better.")
    if not board.decisions:
        return scoring
    ranks = _RANKS[board.ranks].format(rest=100 * (1 - comparison.confidence), level=100 * (1 - comparison.alpha))
    return " ".join([scoring, _describe_tests(board), _describe_correction(board), ranks,
                     *(statement if isinstance(statement, str) else statement.finding
                       for statement in board.intervals.statements(comparison))])


def _describe_tests(board: Leaderboard) -> str:
    comparison = board.comparison
    test = parse("test", TESTS, comparison.test)
    methods = sorted({method for method in board.decisions.columns["method"].tolist() if method})
    draws = (f", {comparison.resamples:,} draws with seed {comparison.seed}" if "monte-carlo" in methods else "")
    sample = describe_sample(comparison, f"{comparison.unit}s")
    sides = ("two-sided" if not board.direction else
             "one-sided in the observed direction" if has_observed_direction(comparison) else
             "one-sided where a direction was declared")
    direction = f"{board.direction} " if board.direction else ""
    return (f"The {counted(len(board.decisions), 'pair')} of {counted(comparison.n_systems, 'system')} are compared by "
            f"the test {comparison.test} ({test.citation}; {', '.join(methods)}{draws}) over {sample}, {sides}. "
            f"{direction}The null hypothesis of each: {test.null}.")


def _describe_correction(board: Leaderboard) -> str:
    comparison = board.comparison
    correction = CORRECTIONS[comparison.correction]
    if comparison.correction == "none":
        return ("p-values are not corrected; a difference is called significant where p is at most "
                f"{comparison.alpha:g}.")
    has_other_boards = comparison.family_size > math.comb(comparison.n_systems, 2)
    family = f"the family of {comparison.family_size:,} pairs of several boards" if has_other_boards else "this family"
    condition = f" where {correction.assumes}" if correction.instead else ""
    return (f"p-values are adjusted for {family} by {correction.title} ({correction.citation}), which controls the "
            f"{correction.controls}{condition}; a difference is called significant where the adjusted p is at most "
            f"{comparison.alpha:g}.")


CITATION = "CITATION.cff"

_BRACES = {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_CITE = "If you use this shared task or its results, please cite it as below."


def bibtex(task: Task, date: str | None) -> str:
    """Return the BibTeX entry with which papers cite a task.

    `date` is the day of publication, such as `2026-03-01`; None: the entry has no year.
    """
    title = _make_line(task.title) or task.id
    authors = " and ".join(f"{{{_escape_bibtex(name)}}}" for name in task.organisers)
    citation = filter(None, [_escape_bibtex(task.citation or "")])
    fields = {
        "title": f"{{{_escape_bibtex(title)}}}", "author": authors, "year": (date or "")[:4],
        "url": re.sub(r"[{}\\]", lambda match: f"%{ord(match[0]):02X}", task.url or ""),
        "note": ". ".join((f"Shared task, version {_escape_bibtex(task.version)}", *citation))}
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@misc{{{task.id}-{task.version},\n{lines}\n}}\n"


def citation_file(task: Task, date: str | None) -> str:
    """Return the content of CITATION.cff, the file with which papers cite a task.

    Args:
        task: The task. If it names no organisers, the author is "The organisers of" the task.
        date: The day of publication, such as `2026-03-01`; None: the file has no date.
    """
    title = _make_line(task.title) or task.id
    fields = {
        "cff-version": "1.2.0", "type": "dataset", "message": _make_line(task.citation or "") or _CITE,
        "title": title, "abstract": _make_line(task.description), "version": task.version, "date-released": date,
        "url": task.url, "license": _split_licences(task.licence),
        "keywords": ["shared task", "evaluation", "leaderboard"],
        "authors": [{"name": name} for name in task.organisers or [f"The organisers of {title}"]]}
    return "".join(_format_yaml(name, value) for name, value in fields.items() if value)


def _split_licences(licence: str | None) -> list[str] | None:
    """Split a licence such as `MIT OR Apache-2.0` into its identifiers.

    The result is None if a part is not an SPDX identifier, because CITATION.cff supports no other licences.
    """
    names = (licence or "").split(" OR ")
    return names if all(re.fullmatch(r"(?!LicenseRef-)[A-Za-z0-9.+-]+", name) for name in names) else None


def _format_yaml(name: str, value: str | list[str] | list[dict[str, str]]) -> str:
    if isinstance(value, str):
        return f"{name}: {_quote(value)}\n"
    return f"{name}:\n" + "".join(
        f"  - {_quote(entry)}\n" if isinstance(entry, str) else f"  - name: {_quote(entry['name'])}\n"
        for entry in value)


def _quote(text: str) -> str:
    return json.dumps(_make_line(text), ensure_ascii=False)


def _escape_bibtex(text: str) -> str:
    return "".join(_BRACES.get(c) or (escape_latex(c) if c.isascii() else c) for c in _make_line(text))


def _make_line(text: str) -> str:
    return "".join(c for c in " ".join(text.split()) if unicodedata.category(c) not in _INVISIBLE)
