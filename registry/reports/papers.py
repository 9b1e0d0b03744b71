"""What a paper prints of a leaderboard: the table in LaTeX, its methods, and what to cite."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence

from registry.boards.leaderboard import Leaderboard, Ranks
from registry.boards.statements import describe_sample, has_observed_direction
from registry.errors import counted
from registry.manifest.spec import Task
from registry.messages import sentence
from registry.metrics import METRICS
from registry.rendering.render import escape_latex, render_latex_environment
from registry.rendering.table import make_number_format
from registry.reports.boards import add_cluster_rules, format_rank_ranges
from registry.reports.columns import format_interval, make_heading, select_fields
from registry.significance import CORRECTIONS, TESTS
from registry.significance.ranks import name_group
from registry.values import parse

_NAMED = 26  # systems that a letter each still tells apart at a glance


def render_latex_board(board: Leaderboard) -> str:
    """A leaderboard in LaTeX.

    A rule parts the clusters, the best score (or scores) is bold, and the superscripts of a score name the systems
    that it beats significantly, as long as a letter names each. Footnotes stand below the table.
    """
    named = len(board.standings) <= _NAMED and bool(board.decisions)
    columns = select_fields(board, "latex")
    headings = [""] * named + [escape_latex(make_heading(of, board, "latex")) for of in columns]
    # Scores are on the left, because superscripts of different lengths follow them.
    spec = "l" * named + "".join("r" if of.right and of.name != "score" else "l" for of in columns)
    caption = [escape_latex(f"{board.title}."), *map(escape_latex, board.sentences)]
    caption += ["Superscripts name the systems that a score is significantly better than."] if named else []
    rows = add_cluster_rules(board.clusters, _rows(board, [of.name for of in columns], named=named))
    return render_latex_environment(spec, headings, rows, " ".join(caption), board.signature,
                             list(map(escape_latex, board.footnotes)))


def _rows(board: Leaderboard, columns: Sequence[str], *, named: bool) -> Iterator[str]:
    best = next((of.score for of in board.standings if of.rank == 1), None)
    for n, (of, left) in enumerate(zip(board.standings, format_rank_ranges(board), strict=True)):
        score = make_number_format(board.decimals)(of.score).replace("-", "$-$")
        score = rf"\textbf{{{score}}}" if best is not None and of.score == best else score
        beaten = "".join(name_group(worse) for worse in board.beaten_places[n]) if named else ""
        row = {"rank": "--" if of.rank is None else str(of.rank), "range": left.replace("-", "--"),
               "system": escape_latex(of.display_name) + "*" * of.late, "team": escape_latex(of.team),
               "score": score + (rf"\textsuperscript{{{beaten}}}" if beaten else ""),
               "interval": _short(format_interval(of.ci_low, of.ci_high, board.decimals))}
        yield " & ".join([*([name_group(n)] if named else []), *(row[column] for column in columns)]) + r" \\"


def _short(written: str) -> str:
    """An interval as a column of a paper has room for it; where an end is below 0 a dash would be taken for a minus."""
    return written.replace("-", "$-$") if "-" in written else written.replace(" to ", "--")


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
    """Say by what systems are scored, compared and ranked, with the sources of the methods."""
    by = board.comparison
    metric = parse("metric", METRICS, board.metric_name)
    clusters = f" in {counted(by.n_units, 'cluster')}" if by.unit == "cluster" else ""
    facet = f" with {board.facet}" if board.facet else ""
    exact, called = board.metric_name, board.metric_title.partition(" (")[0]
    name = exact if exact.lower().startswith(called.lower()) else f"{called}, {exact}"
    said = [f"Systems are scored by {name} ({metric.citation}) on the {counted(by.n_items, 'item')}{facet}"
            f"{clusters} of test set {board.test_set}; {board.better} is better."]
    if not board.decisions:
        return said[0]
    said += [_tests(board), _correction(board), _RANKS[board.ranks].format(
        rest=100 * (1 - by.confidence), level=100 * (1 - by.alpha))]
    said += map(sentence, board.intervals.statements(by))
    return " ".join(said)


def _tests(board: Leaderboard) -> str:
    by = board.comparison
    test = parse("test", TESTS, by.test)
    ways = sorted({method for method in board.decisions.columns["method"].tolist() if method})
    drawn = f", {by.resamples:,} draws with seed {by.seed}" if "monte-carlo" in ways else ""
    units = describe_sample(by, f"{by.unit}s")
    sided = ("two-sided" if not board.direction else
             "one-sided in the observed direction" if has_observed_direction(by) else
             "one-sided where a direction was declared")
    return (f"The {counted(len(board.decisions), 'pair')} of {counted(by.n_systems, 'system')} are compared by the "
            f"test {by.test} ({test.citation}; {', '.join(ways)}{drawn}) over {units}, {sided}. "
            f"{board.direction}{' ' if board.direction else ''}The null hypothesis of each: {test.null}.")


def _correction(board: Leaderboard) -> str:
    by = board.comparison
    correction = CORRECTIONS[by.correction]
    if by.correction == "none":
        return f"p-values are not corrected; a difference is called significant where p is at most {by.alpha:g}."
    together = by.family_size > math.comb(by.n_systems, 2)
    family = f"the family of {by.family_size:,} pairs of several boards" if together else "this family"
    where = f" where {correction.assumes}" if correction.instead else ""
    return (f"p-values are adjusted for {family} by {correction.title} ({correction.citation}), which controls the "
            f"{correction.controls}{where}; a difference is called significant where the adjusted p is at most "
            f"{by.alpha:g}.")


CITATION = "CITATION.cff"

_BRACES = {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_CITE = "If you use this shared task or its results, please cite it as below."


def bibtex(task: Task, date: str | None) -> str:
    """An entry of BibTeX; `date` is the day of publication, as ISO 8601 writes it."""
    title = _plain(task.title) or task.id
    authors = " and ".join(f"{{{_tex(name)}}}" for name in task.organisers)
    cited = filter(None, [_tex(task.citation or "")])
    fields = {
        "title": f"{{{_tex(title)}}}", "author": authors, "year": (date or "")[:4],
        "url": re.sub(r"[{}\\]", lambda found: f"%{ord(found[0]):02X}", task.url or ""),
        "note": ". ".join((f"Shared task, version {_tex(task.version)}", *cited))}
    written = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@misc{{{task.id}-{task.version},\n{written}\n}}\n"


def citation_file(task: Task, date: str | None) -> str:
    """CITATION.cff, of a data set; without organisers its author is "The organisers of" the task."""
    title = _plain(task.title) or task.id
    fields = {
        "cff-version": "1.2.0", "type": "dataset", "message": _plain(task.citation or "") or _CITE,
        "title": title, "abstract": _plain(task.description), "version": task.version, "date-released": date,
        "url": task.url, "license": _listed(task.licence), "keywords": ["shared task", "evaluation", "leaderboard"],
        "authors": [{"name": name} for name in task.organisers or [f"The organisers of {title}"]]}
    return "".join(_yaml(name, value) for name, value in fields.items() if value)


def _listed(licence: str | None) -> list[str] | None:
    """The licences between which there is a choice, all of which SPDX lists: what the format can say of them."""
    names = (licence or "").split(" OR ")
    return names if all(re.fullmatch(r"(?!LicenseRef-)[A-Za-z0-9.+-]+", name) for name in names) else None


def _yaml(name: str, value: str | list[str] | list[dict[str, str]]) -> str:
    if isinstance(value, str):
        return f"{name}: {_quoted(value)}\n"
    return f"{name}:\n" + "".join(
        f"  - {_quoted(one)}\n" if isinstance(one, str) else f"  - name: {_quoted(one['name'])}\n" for one in value)


def _quoted(text: str) -> str:
    return json.dumps(_plain(text), ensure_ascii=False)


def _tex(text: str) -> str:
    return "".join(_BRACES.get(c) or (escape_latex(c) if c.isascii() else c) for c in _plain(text))


def _plain(text: str) -> str:
    """A text on one line, without what cannot be seen."""
    return "".join(c for c in " ".join(text.split()) if unicodedata.category(c) not in _INVISIBLE)
