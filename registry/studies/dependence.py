"""Studies of dependence: of systems on the same items, of items in one document, and of runs of one system.

`Correlation` counts the significant differences that a test of independent samples misses (Yeh 2000, section 2.1).
`Dependence` compares tests of items with tests of whole clusters. `Variance` splits the error of a difference into the
parts of items, runs, prompts and annotators.
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
from registry.significance.pairwise.independent import correlation, understatement
from registry.studies.study import BoardStudy, Case, Finding, Row, name_systems


class Correlation(BoardStudy):
    """The correlation r12 of every pair, its factor, and the significant pairs that an independent test would miss.

    For every pair the correlation r12 of the systems' results and the factor that it makes (Yeh 2000, section 2.1).

    Significant is what the task's test finds after the board's correction. The difference of the two scores is also
    compared with its standard error under independence, the root of the two variances added (`p_independent`), and
    with its own (`p_paired`), both by Student's t and with the same correction. For means of units these are the
    two-sample and the matched-pair t-test.
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
            raise InputError(f"{test.name} assumes independent results itself; name a paired one, such as --test "
                             "permutation")
        if matrix.runs is not None:
            raise InputError('the correlation is that of units, and not of runs: set runs = "fixed"')
        pairs = list(combinations(range(len(case.board.members)), 2))
        influence = influences(matrix)
        observed = Observed.of(matrix, pairs)
        tested = [result.p_value for result in test.run(matrix, pairs, case.settings)]
        by_t = [_test_both(influence, o) for o in observed]
        adjusted = [case.adjust(p) for p in (tested, *zip(*by_t, strict=True))]
        names = name_systems(case.board.members)
        rows: list[Row] = []
        for o, p, paired, independent in zip(observed, *adjusted, strict=True):
            a, b = (influence[:, system] for system in o.pair)
            rows.append({
                "system_a": names[o.pair[0]], "system_b": names[o.pair[1]], "difference": o.difference,
                "r12": correlation(a, b), "factor": understatement(a, b), "p_adjusted": p, "p_paired": paired,
                "p_independent": independent, "missed": p <= alpha < independent})
        return Finding({"pairs": rows}, _describe_correlation(rows, alpha))


def _test_both(influence: Floats, o: Observed) -> tuple[float, float]:
    """The p-values of a pair's difference with its own standard error, and with that of independent samples."""
    a, b = (influence[:, system] for system in o.pair)
    if not o.n_discordant:
        return 1.0, 1.0
    n, apart = len(a), float(np.hypot(standard_errors(a), standard_errors(b)))
    return _t_test(o.difference, float(standard_errors(a - b)), n - 1), _t_test(o.difference, apart, 2 * n - 2)


def _t_test(difference: float, error: float, degrees: int) -> float:
    if not difference:
        return 1.0
    return math.exp(log_t_p(difference / error, degrees, "two-sided")) if error > 0 else math.nan


def _describe_correlation(rows: list[Row], alpha: float) -> list[str]:
    missed, found = [row for row in rows if row["missed"]], sum(row["p_adjusted"] <= alpha for row in rows)
    said = [f"Of {counted(found, 'pair')} that the paired test finds different at {100 * alpha:g} %, a test that takes "
            f"the systems for independent misses {len(missed)}."]
    if also := sum(not row["p_paired"] <= alpha for row in missed):
        said.append(f"Of those, {also} are missed by a paired t-test of the same difference too, so it is not "
                    "independence alone that loses them.")
    if known := [row["r12"] for row in rows if not math.isnan(row["r12"])]:
        said.append(f"The middle correlation of two systems is {median(known):.2f} (from {min(known):.2f} to "
                    f"{max(known):.2f}); the factor says by how much the independent test takes the standard error of "
                    "the difference for too large.")
    said.append("Correlations are those of what single units do to the score; systems of one team are often far closer "
                "than others, so the middle one says little of them.")
    return said


# What becomes of a decision, by whether a pair is significant by item and by cluster.
_CHANGES = {(True, True): "", (True, False): "lost", (False, True): "gained", (False, False): ""}


class Dependence(BoardStudy):
    """The clustering of every pair's difference, and the decisions that change once clusters are the units.

    Intra-cluster correlation and design effect of every pair, and which decisions change once whole clusters are units
    (Yeh 2000, section 4; Dror et al. 2018, section 5). Both decisions are those of the task's test, with the correction
    of the board.
    """

    name: ClassVar[str] = "dependence"
    title: ClassVar[str] = "What does it do to take items of one cluster for independent?"
    citation: ClassVar[str] = "Yeh 2000, section 4; Dror et al. 2018, section 5; Kish 1965"
    settings: ClassVar = ("test", "alpha", "resamples", "seed")
    fixed_settings: ClassVar = {"unit": "cluster"}
    figures: ClassVar = ("dependence",)
    every_metric: ClassVar = True

    def run(self, case: Case) -> Finding:
        board, alpha = case.board, case.request.significance.alpha
        if board.matrix.units is None:
            raise InputError("items are the units; ask for clusters (--unit cluster)")
        pairs = list(combinations(range(len(board.members)), 2))
        by = {}
        for unit, matrix in (("items", replace(board.matrix, units=None)), ("clusters", board.matrix.by_unit)):
            if reason := case.test.refusal(matrix):
                raise InputError(reason)
            found = case.test.run(matrix, pairs, case.settings)
            by[unit] = case.adjust([result.p_value for result in found])
        names = name_systems(board.members)
        rows = []
        for n, (a, b) in enumerate(pairs):
            clustering = measure_design_effect(board.matrix, (a, b))
            rows.append({
                "system_a": names[a], "system_b": names[b],
                "difference": float(board.matrix.difference(board.scores[a], board.scores[b])),
                "intra_cluster_correlation": clustering.intra_cluster_correlation,
                "design_effect": clustering.design_effect,
                "p_items": by["items"][n], "p_clusters": by["clusters"][n],
                "changes": _CHANGES[by["items"][n] <= alpha, by["clusters"][n] <= alpha]})
        summary = _summarize_dependence(case, rows, alpha)
        return Finding({"pairs": rows, "summary": [summary]}, _describe_dependence(summary, rows, alpha))


def _summarize_dependence(case: Case, rows: list[Row], alpha: float) -> Row:
    matrix = case.board.matrix

    def middle(key: str) -> float:
        known = [row[key] for row in rows if not math.isnan(row[key])]
        return median(known) if known else math.nan

    return {"metric": case.board.key.metric.alias, "items": len(matrix.statistics), "clusters": matrix.n_units,
            "pairs": len(rows), "intra_cluster_correlation": middle("intra_cluster_correlation"),
            "design_effect": middle("design_effect"),
            "largest": max((row["design_effect"] for row in rows if not math.isnan(row["design_effect"])),
                           default=math.nan),
            **{f"significant_by_{unit}": sum(row[f"p_{unit}"] <= alpha for row in rows)
               for unit in ("items", "clusters")},
            **{change: sum(row["changes"] == change for row in rows) for change in ("lost", "gained")}}


def _describe_dependence(summary: Row, rows: list[Row], alpha: float) -> list[str]:
    said = [f"{counted(summary['items'], 'item')} in {counted(summary['clusters'], 'cluster')}: at {100 * alpha:g} %, "
            f"{summary['significant_by_items']} of {counted(len(rows), 'pair')} differ by item and "
            f"{summary['significant_by_clusters']} by cluster; {summary['lost']} are lost and {summary['gained']} "
            "gained."]
    if not math.isnan(effect := summary["design_effect"]):
        factor = math.sqrt(max(effect, 1 / effect)) if effect else math.inf
        said.append(f"The middle design effect is {effect:.2f}, the largest {summary['largest']:.2f}: a test of items "
                    f"takes the middle pair's standard error for too {'small' if effect > 1 else 'large'} by a factor "
                    f"of {factor:.2f}"
                    + (f"; {summary['items']} items tell as much as {summary['items'] / effect:.0f} independent ones."
                       if effect else ": within clusters what items say cancels out."))
    said.append("An effect near 1 says that clusters as declared matter little for differences. It does not say that "
                "they matter little for scores, nor that items are independent in other ways, and from few clusters it "
                "is itself uncertain.")
    return said


class Variance(BoardStudy):
    """Variance components of every pair's difference, and the pair's tests over items, over runs, and over both.

    Every system needs two runs or more. The table `pairs` has the standard error of each difference where only items
    are others, only runs, or both, with p-values that are adjusted over the pairs. `sources` has the components: the
    deviation of items, of either system's runs, of prompts and annotators where runs differ by those, and of their
    interactions, with what each adds to the squared error, and its share of that. `more` says what the error would be
    with one more of something, and with twice as many.
    """

    name: ClassVar[str] = "variance"
    title: ClassVar[str] = "What do items, runs and prompts add to the error of differences?"
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
            return Finding({"pairs": [], "sources": [], "more": []}, ["One unit says nothing of others."])
        places = list(combinations(range(len(board.members)), 2))
        crossed, names = cross_runs(matrix), name_systems(board.members)
        overs: list[Over] = ["all", *crossed.names]  # type: ignore[list-item]
        p = {over: case.adjust([of.p_value for of in Crossed(over=over).run(matrix, places, case.settings)])
             for over in overs}
        found: dict[str, list[Row]] = {"pairs": [], "sources": [], "more": []}
        for n, (a, b) in enumerate(places):
            pair, said = crossed.pair(a, b), {"system_a": names[a], "system_b": names[b]}
            found["pairs"].append(
                said | {"difference": float(matrix.difference(board.scores[a], board.scores[b]))}
                | {f"error_{over}": math.sqrt(sum(of.squared for of in pair.bounds(crossed.axes(over))))
                   for over in overs}
                | {f"p_{over}": p[over][n] for over in overs})
            components = list(pair.components())
            found["sources"] += [said | row for row in _sources(pair, components, crossed.names, (names[a], names[b]))]
            found["more"] += [said | row for row in _more(pair, components, crossed.names)]
        return Finding(found, _describe_variance(case, *found.values()))


def _sources(pair: CrossedPair, sources: list[Source], axes: Sequence[str], names: tuple[str, str]) -> Iterator[Row]:
    total = sum(max(0.0, source.squared) for source in sources)
    for source in sources:
        squared = max(0.0, source.squared)
        levels = math.prod(pair.tables[source.side or 0].shape[axis] for axis in source.axes)
        yield {"source": " x ".join(axes[axis] for axis in source.axes),
               "of": "" if source.side is None else names[source.side],
               "levels": levels, "degrees": source.degrees, "deviation": math.sqrt(squared * levels),
               "squared_error": squared, "share": squared / total if total else math.nan}


def _more(pair: CrossedPair, sources: list[Source], names: Sequence[str]) -> Iterator[Row]:
    """Yield the errors with more levels of each factor, in both systems if each has its own."""
    for axis in pair.axes:
        levels = [table.shape[axis] for table in pair.tables]

        def error(wanted: list[int], axis: int = axis, levels: list[int] = levels) -> float:
            ratios = [n / more for n, more in zip(levels, wanted, strict=True)]
            return math.sqrt(sum(max(0.0, source.squared) * (ratios[source.side or 0] if axis in source.axes else 1)
                                 for source in sources))

        yield {"more": names[axis], "levels": min(levels), "error": error(levels),
               "error_one_more": error([n + 1 for n in levels]), "error_twice": error([2 * n for n in levels])}


def _describe_variance(case: Case, pairs: list[Row], sources: list[Row], more: list[Row]) -> list[str]:
    of_pair = len(sources) // len(pairs)
    shares = {name: median(sum(row["share"] for row in sources[at:at + of_pair] if row["source"] == name)
                           for at in range(0, len(sources), of_pair))
              for name in dict.fromkeys(row["source"] for row in sources)}
    matrix, names = case.board.matrix, name_axes(case.board.matrix)
    units = "clusters" if matrix.units is not None else "items"
    levels = {name: [row["levels"] for row in more if row["more"] == name] for name in names[1:]}
    said = [f"{matrix.n_units} {units}, " + ", ".join(
        " to ".join(map(str, sorted({min(numbers), max(numbers)}))) + f" {name}" for name, numbers in levels.items())
        + ". Of the squared error of the middle pair, " + ", ".join(
            f"{100 * share:.0f} % come of {name.replace('items', units)}" for name, share in shares.items()) + "."]
    for name in names:
        of = [row for row in more if row["more"] == name]
        one, twice = (median(1 - row[key] / row["error"] if row["error"] else 0.0 for row in of)
                      for key in ("error_one_more", "error_twice"))
        said.append(f"One more of the {name.replace('items', units)} would make the middle error "
                    f"{_format_percent(one)} smaller, twice as many {_format_percent(twice)}.")
    alpha = case.request.significance.alpha
    by = {over: sum(row[f"p_{over}"] <= alpha for row in pairs) for over in ("all", *names)}
    return [*said, f"At {100 * alpha:g} %, of {counted(len(pairs), 'pair')}, " + ", ".join(
                f"{by[name]} differ where only {name} are others" for name in names)
            + f", and {by['all']} where all are.",
            "Components are estimated without bias, and those below 0 shown as 0. With few runs they are uncertain: of "
            "two runs a deviation is estimated with one degree of freedom."]


def _format_percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"
