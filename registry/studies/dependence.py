"""Studies of the dependence of systems on the same items, of items in one document, and of runs of one system.

`Correlation` counts the significant differences that a test of independent samples misses (Yeh 2000, section 2.1).
`Dependence` compares tests of items with tests of whole clusters. `Variance` estimates the variance components of
items, runs, prompts and annotators.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import median
from typing import ClassVar

import numpy as np

from registry.arrays import Floats
from registry.errors import InputError, counted
from registry.significance import Crossed
from registry.significance.base import Observed
from registry.significance.crossed import CrossedPair, Source, cross_runs, name_axes
from registry.significance.distributions import log_t_p
from registry.significance.effects import measure_design_effect
from registry.significance.intervals import influences, standard_errors
from registry.significance.pairwise.crossed import Over
from registry.significance.pairwise.independent import compute_error_ratio, correlation
from registry.studies.study import BoardStudy, Case, Finding, Row, name_systems


class Correlation(BoardStudy):
    """Correlations between systems, and significant pairs that are missed without them.

    For every pair, the table has the correlation r12 of the two systems' results. It also has the ratio of the standard
    errors with and without the assumption of independence (Yeh 2000, section 2.1). A pair is significant by the test
    and the correction of the task. Two further p-values use Student's t and the same correction: `p_independent`
    assumes independent systems, and `p_paired` uses the standard error of the difference. For means of units these are
    the two-sample and the matched-pair t-test.
    """

    name: ClassVar[str] = "correlation"
    title: ClassVar[str] = "What would tests that assume independent results miss?"
    citation: ClassVar[str] = "Yeh 2000, section 2.1"
    settings: ClassVar = ("test", "unit", "alpha", "resamples", "seed")
    figures: ClassVar = ("correlation",)

    def run(self, case: Case) -> Finding:
        matrix, test, alpha = case.board.matrix.by_unit, case.test, case.request.significance.alpha
        if reason := test.refusal(matrix):
            raise InputError(reason)
        if test.independent:
            raise InputError(f"this study needs a paired test, but {test.name} is a test of independent samples; use "
                             "another one, such as --test permutation")
        if matrix.runs is not None:
            raise InputError('the correlation is defined for fixed runs only; set runs = "fixed"')
        pairs = list(combinations(range(len(case.board.members)), 2))
        influence = influences(matrix)
        observed = Observed.compare(matrix, pairs)
        tested = [result.p_value for result in test.run(matrix, pairs, case.settings)]
        t_tests = [_run_t_tests(influence, o) for o in observed]
        adjusted = [case.adjust(p) for p in (tested, *zip(*t_tests, strict=True))]
        names = name_systems(case.board.members)
        rows: list[Row] = []
        for o, p, paired, independent in zip(observed, *adjusted, strict=True):
            a, b = (influence[:, system] for system in o.pair)
            rows.append({
                "system_a": names[o.pair[0]], "system_b": names[o.pair[1]], "difference": o.difference,
                "r12": correlation(a, b), "factor": compute_error_ratio(a, b), "p_adjusted": p, "p_paired": paired,
                "p_independent": independent, "missed": p <= alpha < independent})
        return Finding({"pairs": rows}, _describe_correlation(rows, alpha))


def _run_t_tests(influence: Floats, observed: Observed) -> tuple[float, float]:
    """Return the p-values of a paired and of a two-sample t-test of two systems.

    Args:
        influence: The effect of each unit on the score of each system, [units, systems].
        observed: The two systems and their observed difference.
    """
    a, b = (influence[:, system] for system in observed.pair)
    if not observed.n_discordant:
        return 1.0, 1.0
    n, independent_error = len(a), float(np.hypot(standard_errors(a), standard_errors(b)))
    return (_compute_t_p(observed.difference, float(standard_errors(a - b)), n - 1),
            _compute_t_p(observed.difference, independent_error, 2 * n - 2))


def _compute_t_p(difference: float, error: float, degrees: int) -> float:
    if not difference:
        return 1.0
    return math.exp(log_t_p(difference / error, degrees, "two-sided")) if error > 0 else math.nan


def _describe_correlation(rows: list[Row], alpha: float) -> list[str]:
    missed, n_significant = [row for row in rows if row["missed"]], sum(row["p_adjusted"] <= alpha for row in rows)
    sentences = [f"Of {counted(n_significant, 'pair')} with a significant difference by the paired test at "
                 f"{100 * alpha:g} %, a test that assumes independent systems misses {len(missed)}."]
    if n_missed_by_both := sum(not row["p_paired"] <= alpha for row in missed):
        sentences.append(f"A paired t-test of the same difference also misses {n_missed_by_both} of these, so the "
                         "assumption of independence is not the only reason.")
    if r12 := [row["r12"] for row in rows if not math.isnan(row["r12"])]:
        sentences.append(f"The median correlation of two systems is {median(r12):.2f} (from {min(r12):.2f} to "
                         f"{max(r12):.2f}). The independent test overestimates the standard error of the difference by "
                         "the factor in the table.")
    sentences.append("Correlations compare the effects of single units on the scores. Systems of one team are "
                     "often correlated much more than others, so the median does not describe them.")
    return sentences


# How a decision changes, by whether a pair is significant by item and by cluster.
_CHANGES = {(True, True): "", (True, False): "lost", (False, True): "gained", (False, False): ""}


class Dependence(BoardStudy):
    """How test results change if clusters of items are the units instead of items.

    The study tests every pair twice, with items and with whole clusters as the units, by the test and the correction of
    the task (Yeh 2000, section 4; Dror et al. 2018, section 5). It reports the intra-cluster correlation, the design
    effect, and pairs that become significant or not significant.
    """

    name: ClassVar[str] = "dependence"
    title: ClassVar[str] = "What is the effect of testing items of one cluster as if they were independent?"
    citation: ClassVar[str] = "Yeh 2000, section 4; Dror et al. 2018, section 5; Kish 1965"
    settings: ClassVar = ("test", "alpha", "resamples", "seed")
    fixed_settings: ClassVar = {"unit": "cluster"}
    figures: ClassVar = ("dependence",)
    every_metric: ClassVar = True

    def run(self, case: Case) -> Finding:
        board, alpha = case.board, case.request.significance.alpha
        if board.matrix.units is None:
            raise InputError("this study compares items with clusters, but the unit of the test is the item; use "
                             "--unit cluster")
        pairs = list(combinations(range(len(board.members)), 2))
        p_values = {}
        for unit, matrix in (("items", replace(board.matrix, units=None)), ("clusters", board.matrix.by_unit)):
            if reason := case.test.refusal(matrix):
                raise InputError(reason)
            results = case.test.run(matrix, pairs, case.settings)
            p_values[unit] = case.adjust([result.p_value for result in results])
        names = name_systems(board.members)
        rows = []
        for n, (a, b) in enumerate(pairs):
            clustering = measure_design_effect(board.matrix, (a, b))
            rows.append({
                "system_a": names[a], "system_b": names[b],
                "difference": float(board.matrix.difference(board.scores[a], board.scores[b])),
                "intra_cluster_correlation": clustering.intra_cluster_correlation,
                "design_effect": clustering.design_effect,
                "p_items": p_values["items"][n], "p_clusters": p_values["clusters"][n],
                "changes": _CHANGES[p_values["items"][n] <= alpha, p_values["clusters"][n] <= alpha]})
        summary = _summarize_dependence(case, rows, alpha)
        return Finding({"pairs": rows, "summary": [summary]}, _describe_dependence(summary, rows, alpha))


def _summarize_dependence(case: Case, rows: list[Row], alpha: float) -> Row:
    matrix = case.board.matrix

    def compute_median(key: str) -> float:
        defined = [row[key] for row in rows if not math.isnan(row[key])]
        return median(defined) if defined else math.nan

    return {"metric": case.board.key.metric.alias, "items": len(matrix.statistics), "clusters": matrix.n_units,
            "pairs": len(rows), "intra_cluster_correlation": compute_median("intra_cluster_correlation"),
            "design_effect": compute_median("design_effect"),
            "largest": max((row["design_effect"] for row in rows if not math.isnan(row["design_effect"])),
                           default=math.nan),
            **{f"significant_by_{unit}": sum(row[f"p_{unit}"] <= alpha for row in rows)
               for unit in ("items", "clusters")},
            **{change: sum(row["changes"] == change for row in rows) for change in ("lost", "gained")}}


def _describe_dependence(summary: Row, rows: list[Row], alpha: float) -> list[str]:
    sentences = [f"{counted(summary['items'], 'item')} in {counted(summary['clusters'], 'cluster')}: at "
                 f"{100 * alpha:g} %, {summary['significant_by_items']} of {counted(len(rows), 'pair')} differ by item "
                 f"and {summary['significant_by_clusters']} by cluster; {summary['lost']} are lost and "
                 f"{summary['gained']} gained."]
    if not math.isnan(effect := summary["design_effect"]):
        factor = math.sqrt(max(effect, 1 / effect)) if effect else math.inf
        sentences.append(f"The median design effect is {effect:.2f}, the largest {summary['largest']:.2f}: a test of "
                         f"items {'under' if effect > 1 else 'over'}estimates the standard error of the median pair by "
                         f"a factor of {factor:.2f}"
                         + (f"; the effective sample size is {summary['items'] / effect:.0f} ({summary['items']} "
                            "items)."
                            if effect else ": the effects of items cancel out within clusters."))
    sentences.append("A design effect near 1 means that the declared clusters hardly affect differences. They may "
                     "still affect scores, and items may depend on each other in other ways. With few clusters the "
                     "design effect is uncertain.")
    return sentences


class Variance(BoardStudy):
    """How much items, runs and prompts contribute to the error of every difference.

    Every system needs at least two runs. The table `pairs` has the standard error of each difference if only items are
    random, only runs, or both, with adjusted p-values. The table `sources` has the standard deviations of items, of the
    runs of either system, of prompts and annotators if runs differ by these, and of their interactions. It also has the
    contribution of each source to the squared error. The table `more` has the error with one more level of a factor,
    such as one more run, and with twice as many levels.
    """

    name: ClassVar[str] = "variance"
    title: ClassVar[str] = "How much do items, runs and prompts contribute to the error of differences?"
    citation: ClassVar[str] = "Cornfield and Tukey 1956; Searle, Casella and McCulloch 1992, chapter 4; Banerjee 1961"
    settings: ClassVar = ("unit", "alpha")
    fixed_settings: ClassVar = {"runs": "random", "test": "crossed", "interval": "dual", "overall": None,
                                "strata": None}
    is_slow: ClassVar = False
    every_metric: ClassVar = True
    supports_responses: ClassVar = False

    def run(self, case: Case) -> Finding:
        board, matrix = case.board, case.board.matrix.by_unit
        if reason := Crossed().refusal(matrix):
            raise InputError(reason)
        if matrix.n_units < 2:
            return Finding({"pairs": [], "sources": [], "more": []}, ["The variance over units cannot be estimated "
                                                                      "from one unit."])
        pairs = list(combinations(range(len(board.members)), 2))
        crossed, names = cross_runs(matrix), name_systems(board.members)
        factors: list[Over] = ["all", *crossed.names]  # type: ignore[list-item]
        p = {factor: case.adjust([result.p_value for result in Crossed(over=factor).run(matrix, pairs, case.settings)])
             for factor in factors}
        tables: dict[str, list[Row]] = {"pairs": [], "sources": [], "more": []}
        for n, (a, b) in enumerate(pairs):
            pair, identity = crossed.pair(a, b), {"system_a": names[a], "system_b": names[b]}
            tables["pairs"].append(
                identity | {"difference": float(matrix.difference(board.scores[a], board.scores[b]))}
                | {f"error_{factor}": math.sqrt(sum(bound.squared for bound in pair.bounds(crossed.axes(factor))))
                   for factor in factors}
                | {f"p_{factor}": p[factor][n] for factor in factors})
            components = list(pair.components())
            tables["sources"] += [identity | row for row in _make_source_rows(pair, components, crossed.names,
                                                                              (names[a], names[b]))]
            tables["more"] += [identity | row for row in _make_more_rows(pair, components, crossed.names)]
        return Finding(tables, _describe_variance(case, *tables.values()))


def _make_source_rows(pair: CrossedPair, sources: list[Source], axes: Sequence[str],
                      names: tuple[str, str]) -> Iterator[Row]:
    total = sum(max(0.0, source.squared) for source in sources)
    for source in sources:
        squared = max(0.0, source.squared)
        levels = math.prod(pair.tables[source.side or 0].shape[axis] for axis in source.axes)
        yield {"source": " x ".join(axes[axis] for axis in source.axes),
               "of": "" if source.side is None else names[source.side],
               "levels": levels, "degrees": source.degrees, "deviation": math.sqrt(squared * levels),
               "squared_error": squared, "share": squared / total if total else math.nan}


def _make_more_rows(pair: CrossedPair, sources: list[Source], names: Sequence[str]) -> Iterator[Row]:
    """Yield the standard errors that a difference would have with more runs.

    Each row is about one factor, such as runs or prompts: the error now, with one more level, and with twice as many
    levels. If each system has its own levels, both systems get more.
    """
    for axis in pair.axes:
        levels = [table.shape[axis] for table in pair.tables]

        def compute_error(new_levels: list[int], axis: int = axis, levels: list[int] = levels) -> float:
            ratios = [old / new for old, new in zip(levels, new_levels, strict=True)]
            return math.sqrt(sum(max(0.0, source.squared) * (ratios[source.side or 0] if axis in source.axes else 1)
                                 for source in sources))

        yield {"more": names[axis], "levels": min(levels), "error": compute_error(levels),
               "error_one_more": compute_error([n + 1 for n in levels]),
               "error_twice": compute_error([2 * n for n in levels])}


def _describe_variance(case: Case, pairs: list[Row], sources: list[Row], more: list[Row]) -> list[str]:
    n_sources = len(sources) // len(pairs)
    shares = {name: median(sum(row["share"] for row in sources[start:start + n_sources] if row["source"] == name)
                           for start in range(0, len(sources), n_sources))
              for name in dict.fromkeys(row["source"] for row in sources)}
    matrix, names = case.board.matrix, name_axes(case.board.matrix)
    units = "clusters" if matrix.units is not None else "items"
    levels = {name: [row["levels"] for row in more if row["more"] == name] for name in names[1:]}
    sentences = [f"{matrix.n_units} {units}, " + ", ".join(
        " to ".join(map(str, sorted({min(numbers), max(numbers)}))) + f" {name}" for name, numbers in levels.items())
        + ". In the median pair, the shares of the squared error are " + ", ".join(
            f"{100 * share:.0f} % for {name.replace('items', units)}" for name, share in shares.items()) + "."]
    for name in names:
        one_more, twice = (median(1 - row[key] / row["error"] if row["error"] else 0.0
                                  for row in more if row["more"] == name) for key in ("error_one_more", "error_twice"))
        sentences.append(f"One more of the {name.replace('items', units)} would reduce the median error by "
                         f"{_format_percent(one_more)}, twice as many by {_format_percent(twice)}.")
    alpha = case.request.significance.alpha
    significant = {factor: sum(row[f"p_{factor}"] <= alpha for row in pairs) for factor in ("all", *names)}
    return [*sentences, f"At {100 * alpha:g} %, of {counted(len(pairs), 'pair')}, " + ", ".join(
                f"{significant[name]} differ if only {name} are random" for name in names)
            + f", and {significant['all']} if all are random.",
            "Components are unbiased estimates; negative ones are shown as 0. With few runs they are uncertain: two "
            "runs yield one degree of freedom."]


def _format_percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"
