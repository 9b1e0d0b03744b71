"""Paragraphs for papers that describe how leaderboards were computed, with their references."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from registry.boards.leaderboard import IntervalMethod, Leaderboard, Ranks
from registry.boards.results import summarise_for_paper
from registry.boards.statements import describe_sample, has_observed_direction
from registry.errors import counted
from registry.evaluation.scorers import describe_scorer
from registry.messages import Message
from registry.metrics import METRICS, Metric
from registry.metrics.statistics import Formula
from registry.references import Reference, find_references, shorten_citation, split_citations
from registry.rendering.latex import escape_latex
from registry.rendering.render import escape_markdown
from registry.rendering.table import escape_controls
from registry.significance import CORRECTIONS, TESTS, Permutation, ResponsePermutation
from registry.significance.multiple import GATEKEEPING
from registry.significance.overall import OVERALL_TESTS
from registry.significance.pairwise.base import PairTest
from registry.values import get_name, parse

RANK_METHODS: dict[Ranks, str] = {
    "range": "The rank range of a system extends from the number of its significant losses plus one to the number of "
             "systems minus the number of its significant wins.",
    "cluster": "A new cluster of systems begins where every system above is significantly better than every system "
               "below.",
    "neighbour": "The rank range of a system ends at the nearest systems above and below that differ significantly "
                 "from it.",
    "simultaneous": "The rank ranges of all systems hold simultaneously at the level {level:g} %; they are bounded by "
                    "the largest studentized difference over all pairs in {resamples}, step-down (Mogstad, Romano, "
                    "Shaikh and Wilhelm 2024).",
    "bootstrap": "The rank range of a system contains the ranks that it has in all but {rest:g} % of {resamples}.",
}
_MOST_NAMES = 6  # systems with the same number of runs, in a sentence
_P_VALUES = {"exact": "exact", "ideal": "exact", "monte-carlo": "simulated", "asymptotic": "approximate"}


@dataclass(frozen=True)
class Methods:
    """Paragraph for a paper that describes how a leaderboard was computed.

    `str(methods)` returns the paragraph.

    Attributes:
        title: The title of the leaderboard.
        text: The paragraph.
        results: The results as sentences for a paper; empty if there are none.
    """

    title: str
    text: str
    results: str = ""

    @property
    def references(self) -> tuple[Reference, ...]:
        """The works that the paragraph cites, in the order of authors and year."""
        return find_references(self.text)

    def __str__(self) -> str:
        return escape_controls(self.text)

    def to_text(self) -> str:
        """Return the paragraph, the results and the list of references below the title, as plain text."""
        results = [escape_controls(self.results), ""] if self.results else []
        return "\n".join([escape_controls(self.title), "", str(self), "", *results, "References", "",
                          *map(str, self.references)]) + "\n"

    def to_markdown(self) -> str:
        """Return the paragraph, the results and the list of references below the title, as Markdown."""
        results = [escape_markdown(self.results), ""] if self.results else []
        works = [f"- {escape_markdown(work.description)}{work.link and f' <{work.link}>'}" for work in self.references]
        return "\n".join([f"**{escape_markdown(self.title)}**", "", escape_markdown(self.text), "", *results,
                          "References:", "", *works]) + "\n"

    def to_latex(self) -> str:
        r"""Return the paragraph as LaTeX with `\citep` (package natbib); comments below it have the BibTeX entries."""
        entries = "\n".join(f"% {line}" for line in self.to_bibtex().splitlines())
        parts = [escape_latex(part).replace(r"\textbar{}", r"\textbar\allowbreak{}") if isinstance(part, str) else
                 f"\\citealp{{{','.join(work.key for work in part)}}}" for part in split_citations(self.text)]
        text = re.sub(r"\(\\citealp(\{[^}]*\})\)", r"\\citep\1", "".join(parts))
        results = f"{escape_latex(self.results)}\n\n" if self.results else ""
        return f"% {escape_latex(self.title)}\n{text}\n\n{results}{entries}\n"

    def to_bibtex(self) -> str:
        """Return the BibTeX entries of the works."""
        return "".join(work.bibtex for work in self.references)

    def described(self) -> dict[str, Any]:
        """Return the paragraph, the results and the references as JSON."""
        references = [work.described() for work in self.references]
        return {"text": self.text, "results": self.results, "references": references}


def describe_methods(*boards: Leaderboard) -> Methods:
    """Return a paragraph for a paper that describes how leaderboards were computed.

    The sentences name the metrics, the test, the correction, the rank ranges and the confidence intervals, each one
    with its sources. A sentence that is true for only some of the metrics begins with their names.

    Args:
        boards: Leaderboards of the same items by different metrics; then leaderboards of facets, which are computed in
            the same way.
    """
    all_boards = boards
    facets = list({board.facet: board for board in boards if board.facet != boards[0].facet}.values())
    boards = tuple(board for board in boards if board.facet == boards[0].facet)
    title = ", ".join([boards[0].title, *(board.metric_label for board in boards[1:])])
    sentences: dict[tuple[int, str], list[str]] = {}  # metrics by the place and the text of a sentence
    for board in boards:
        for place, sentence in enumerate(_list_sentences(board)):
            name, _, _ = _describe_metric(board).partition(" (")
            sentences.setdefault((place, sentence), []).append(name)
    texts = [sentence if len(metrics) == len(boards) else
             f"For {_join_words(metrics)}, {sentence[0].lower()}{sentence[1:]}"
             for (_, sentence), metrics in sorted(sentences.items(), key=lambda entry: entry[0][0]) if sentence]
    if len(boards) > 1 and all(
            _describe_correction(board) and not board.comparison.shares_family for board in boards):
        texts.append("The p-values of each metric are corrected separately.")
    texts += [message.finding for message in boards[0].warnings if message.code == "missing-answers"]
    if facets:
        texts.append("Separate leaderboards are computed in the same way for "
                     f"{_join_words([f'the {_describe_items(board)}' for board in facets])}.")
    results = [summarise_for_paper(board) for board in boards]
    results += [f"With {board.facet.replace('=', ' ', 1)}: {summary}" for board in all_boards
                if board.facet and board.facet != boards[0].facet and (summary := summarise_for_paper(board))]
    return Methods(title, " ".join([_describe_scores(boards), *texts]), " ".join(filter(None, results)))


def _list_sentences(board: Leaderboard) -> list[str]:
    """Return the sentences about tests, corrections, ranks and intervals; a sentence that does not apply is empty."""
    has_ranks = bool(board.decisions) and board.comparison.n_systems > 2
    return [*(describe(board) if board.decisions else "" for describe in (
        _describe_tests, _describe_correction, _describe_overall_test)),
        _describe_ranks(board) if has_ranks else "", _describe_intervals(board)]


def _join_words(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def group_boards(boards: Iterable[Leaderboard]) -> list[list[Leaderboard]]:
    """Group leaderboards that differ only in their metrics: they have the same items and systems.

    Leaderboards of facets join those of the whole test set if they have the same systems and methods.
    """
    groups: dict[tuple[object, ...], list[Leaderboard]] = {}
    for board in boards:
        systems = frozenset(standing.submission for standing in board.standings)
        groups.setdefault((board.task, board.test_set, board.track, board.facet, board.comparison.n_items, systems),
                          []).append(board)
    merged: dict[tuple[object, ...], list[Leaderboard]] = {}
    for (task, test_set, track, facet, n_items, members), group in groups.items():
        methods = tuple((board.metric, *_list_sentences(board)) for board in group)
        whole = task, test_set, track, members, methods
        key = whole if facet is None or whole in merged else (*whole, facet, n_items)
        merged.setdefault(key, []).extend(group)
    return list(merged.values())


def select_citation(citation: str, options: object) -> str:
    """Select the sources of a metric or test that are relevant for its options.

    A source can begin with the values of an option to which it applies: `match=exact or ent_type: Segura-Bedmar et al.
    2013`. Numbers of chapters and sections are removed from the sources.

    Args:
        citation: The sources as the metric or test declares them.
        options: The metric or test with its options.
    """
    works = []
    for part in citation.split("; "):
        condition = re.match(r"(\w+)=([^:]+): ", part)
        if condition is None or str(getattr(options, condition[1])).lower() in condition[2].split(" or "):
            works.append(part.removeprefix(condition[0] if condition else ""))
    return shorten_citation("; ".join(works))


def _describe_scores(boards: Sequence[Leaderboard]) -> str:
    board = boards[0]
    comparison = board.comparison
    test_set = "" if board.test_set == "test" else f" {board.test_set}"
    track = f" (track {board.track})" if board.track else ""
    systems = "The system is" if comparison.n_systems == 1 else f"The {comparison.n_systems:,} systems are"
    metrics = _join_words([_describe_metric(board) for board in boards])
    return (f"{systems} scored by {metrics} on the {_describe_items(board)} of the test set{test_set}{track}."
            f"{_describe_runs(board)}")


def _describe_items(board: Leaderboard) -> str:
    comparison = board.comparison
    clusters = f" in {counted(comparison.n_units, 'cluster')}" if comparison.unit == "cluster" else ""
    facet = f" with {board.facet.replace('=', ' ', 1)}" if board.facet else ""
    return f"{counted(comparison.n_items, comparison.item_noun)}{facet}{clusters}"


def _describe_runs(board: Leaderboard) -> str:
    names: dict[int, list[str]] = {}
    for standing in board.standings:
        names.setdefault(standing.runs, []).append(standing.display_name)
    several = sorted(names.keys() - {1}, reverse=True)
    if not several:
        return ""
    if len(names) == 1:
        runs = f"{'Each' if len(board.standings) > 1 else 'The'} system has {several[0]} runs"
    else:
        numbers = [f"{_join_words(names[n]) if len(names[n]) <= _MOST_NAMES else counted(len(names[n]), 'system')} "
                   f"{'has' if len(names[n]) == 1 else 'have'} {n} runs{' each' * (len(names[n]) > 1)}"
                   for n in several]
        runs = ", ".join(numbers) + (", and every other system has one run" if 1 in names else "")
    scope = " The results hold for these runs, not for new ones." if (
        board.decisions and board.comparison.runs == "fixed") else ""
    return f" {runs}. A score is computed from the statistics of each item, averaged over the runs.{scope}"


def _describe_metric(board: Leaderboard) -> str:
    metric: Metric = parse("metric", METRICS, board.metric_name).original
    settings = f" ({', '.join(f'{option}={value}' for option, value in metric.shown_options)})"
    name, options = metric.title, list[str]()
    if name.endswith(settings):
        name = name.removesuffix(settings)
        options = [f"{option.replace('_', ' ')} {value.strip('[]')}" for option, value in metric.shown_options]
    if metric.signature:
        options = [metric.signature + _describe_version(board, metric)]
    if isinstance(metric, Formula):
        name = f"the formula {name}"
    elif name == repr(metric) != metric.name:  # a metric without a usual name
        name, options = f"the metric {board.metric}", [name]
    elif re.match(r"mean |.* (?:score|rate|error|coefficient)$", name):
        name = f"the {name}"
    if declared := board.declared_title:
        usual = name.removeprefix("the ")
        name, options = declared, options if declared.casefold() == usual.casefold() else [usual, *options]
    direction = "lower is better" if board.better == "lower" else ""
    details = [*options, select_citation(metric.citation, metric), direction]
    return f"{name} ({'; '.join(filter(None, details))})" if any(details) else name


def _describe_version(board: Leaderboard, metric: Metric) -> str:
    """Return the version of a metric's scorer as the end of its signature; empty if it did not compute the scores."""
    version = describe_scorer(metric).get(metric.scorer, "none")
    is_installed = version != "none" and "other-code" not in board.warnings.codes
    is_recorded = get_name(board.metric_name) == "Recorded"
    return f"|version:{version}" if is_installed and not is_recorded else ""


def _describe_tests(board: Leaderboard) -> str:
    comparison = board.comparison
    test = parse("test", TESTS, comparison.test)
    n_pairs = len(board.decisions)
    sides = ("one-sided in the observed direction " if has_observed_direction(comparison)
             else "" if board.direction else "two-sided ")
    pairs = ("The difference is" if n_pairs == 1 else
             f"The differences of the {n_pairs:,} pairs of systems are")
    units = f"{comparison.unit}s"
    sample = "" if comparison.unit in ("response", "judgment") else f" over {describe_sample(comparison, units)}"
    sources = _cite(_select_test_citation(test, board))
    p_values = _describe_p_values(board, test)
    decision = ("" if comparison.family_size > 1 else
                f"{',' if p_values else ''} and called significant if p is at most {comparison.alpha:g}")
    direction = f" {board.direction}" if board.direction else ""
    return f"{pairs} tested {sides}by {_describe_test(board, test)}{sample}{sources}{p_values}{decision}.{direction}"


def _describe_test(board: Leaderboard, test: PairTest) -> str:
    """Return the test in words; a test of votes or ratings names the groups of dependent judgments."""
    groups = next((message.parameters for message in board.statements
                   if isinstance(message, Message) and message.code == "judgment-groups"), None)
    if groups is None:
        return test.description
    kinds = [kind.replace("rated", "rated item") for kind in groups["random"]]
    numbers = [counted(n, kind.replace("rated", "rated item")) for kind, n in groups["groups"].items()]
    counts = _join_words(numbers) if numbers else ""
    clustered = f" with standard errors clustered by {_join_words(kinds)}" if kinds else " with robust standard errors"
    return f"a Wald test{clustered}{f' ({counts})' if counts else ''}"


def _select_test_citation(test: PairTest, board: Leaderboard) -> str:
    """Return the sources of a test that concern its options and the metric."""
    metric: Metric = parse("metric", METRICS, board.metric_name).original
    kept = [part for part in test.citation.split("; ")
            if not part.startswith("correlations: ") or metric.family == "pair"]
    return select_citation("; ".join(kept).replace("correlations: ", ""), test)


def _describe_p_values(board: Leaderboard, test: PairTest) -> str:
    counts = Counter(_P_VALUES.get(method, "") for method in board.decisions.columns["method"].tolist() if method)
    simulation = f" with {_describe_resamples(board, test)}" if "simulated" in counts else ""
    if len(counts) > 1:
        kinds = [f"{kind} for {counted(n, 'pair')}{simulation if kind == 'simulated' else ''}"
                 for kind, n in sorted(counts.items())]
        return f"; p-values are {', '.join(kinds[:-1])} and {kinds[-1]}"
    kind = next(iter(counts), "")
    if kind == "simulated":
        return f", with {_describe_resamples(board, test)}"
    article, plural = ("an ", "") if len(board.decisions) == 1 else ("", "s")
    return f", with {article}exact p-value{plural}" if kind == "exact" else ""


def _describe_resamples(board: Leaderboard, test: PairTest) -> str:
    comparison = board.comparison
    resamples = board.decisions.numbers("resamples")
    is_simulated = np.ma.filled(board.decisions.columns["method"] == "monte-carlo", False).astype(bool)
    numbers = set(resamples[is_simulated & ~np.isnan(resamples)].astype(int)) or {comparison.resamples}
    number = f"{min(numbers):,}" if len(numbers) == 1 else f"{min(numbers):,} to {max(numbers):,}"
    kind = "random permutations" if isinstance(test, Permutation | ResponsePermutation) else "bootstrap resamples"
    return f"{number} {kind} (seed {comparison.seed})"


def _describe_correction(board: Leaderboard) -> str:
    comparison = board.comparison
    correction = CORRECTIONS[comparison.correction]
    if comparison.family_size == 1:
        return ""
    if comparison.correction == "none":
        return ("The p-values are not corrected for the number of pairs; a difference is called significant if p is at "
                f"most {comparison.alpha:g}.")
    family = f" for the {comparison.family_size:,} pairs of several leaderboards" if comparison.shares_family else ""
    article = "the " if correction.title[0].islower() and comparison.correction != GATEKEEPING else ""
    # The sentence before names the resamples if p-values are simulated.
    is_simulated = "monte-carlo" in board.decisions.columns["method"].tolist()
    joint = "" if correction.function is not None or is_simulated else (
        f" in {_describe_resamples(board, parse('test', TESTS, comparison.test))} of all pairs together")
    order = ("; a pair is tested by a metric only if it differs significantly by all metrics before it"
             if comparison.correction == GATEKEEPING else "")
    condition = f" if {correction.assumes}" if correction.instead else ""
    rate = correction.controls.replace("error", "error rate")
    return (f"The p-values are adjusted{family} by {article}{correction.title}{_cite(correction.citation)}{joint}, "
            f"which controls the {rate}{condition}{order}. A difference is called significant if its adjusted p-value "
            f"is at most {comparison.alpha:g}.")


def _describe_overall_test(board: Leaderboard) -> str:
    if board.comparison.overall is None:
        return ""
    test = parse("test", OVERALL_TESTS, board.comparison.overall)
    return f"All systems together are compared by {test.called}{_cite(test.citation)}."


def _describe_ranks(board: Leaderboard) -> str:
    comparison = board.comparison
    resamples = "bootstrap resamples"
    if board.rank_resamples is not None:
        resamples = f"{board.rank_resamples[0]:,} {resamples} (seed {board.rank_resamples[1]})"
    return RANK_METHODS[board.ranks].format(rest=100 * (1 - comparison.confidence), level=100 * (1 - comparison.alpha),
                                            resamples=resamples)


def _describe_intervals(board: Leaderboard) -> str:
    scores, differences = board.intervals.score_methods, board.intervals.difference_methods
    by_values = {"scores and differences": scores} if scores == differences else {
        "scores": scores, "differences": differences}
    parts = [f"of {values} are {_list_methods(methods)}" for values, methods in by_values.items() if methods]
    if not parts:
        return ""
    uncorrected = "; they are not corrected for the number of pairs" if (
        differences and board.comparison.family_size > 1) else ""
    return (f"The {100 * board.comparison.confidence:g} % confidence intervals {', and those '.join(parts)}"
            f"{uncorrected}.")


def _list_methods(methods: Sequence[IntervalMethod]) -> str:
    return " or ".join(f"{method.plural}{_cite(method.citation)}" for method in methods)


def _cite(citation: str) -> str:
    sources = shorten_citation(citation)
    return sources and f" ({sources})"
