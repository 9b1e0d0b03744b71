"""What it does to take items of one document for independent (Yeh 2000, section 4; Dror et al. 2018, section 5).

Sentences of a document share its author, topic and luck. Where they agree in what they say of two systems, a test of
single items sees more evidence than there is; resampled or permuted as whole documents they are counted for what they
are.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from statistics import median
from typing import ClassVar

from registry.errors import InputError, counted
from registry.significance.effects import design_effect
from registry.studies.board_study import BoardStudy, Case, called
from registry.studies.study import Finding, Row

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
    fixed: ClassVar = {"unit": "cluster"}
    figures: ClassVar = ("dependence",)
    every_metric: ClassVar = True

    def run(self, case: Case) -> Finding:
        """Test every pair by item and by cluster.

        Raises:
            InputError: Clusters are not asked for, or the test does not apply.
        """
        board, alpha = case.board, case.request.significance.alpha
        if board.matrix.units is None:
            raise InputError("items are the units; ask for clusters (--unit cluster)")
        pairs = list(combinations(range(len(board.members)), 2))
        by = {}
        for unit, matrix in (("items", replace(board.matrix, units=None)), ("clusters", board.matrix.by_unit)):
            if reason := case.test.refusal(matrix):
                raise InputError(reason)
            found = case.test.run(matrix, pairs, case.settings)
            by[unit] = case.adjusted([result.p_value for result in found])
        names = called(board.members)
        rows = []
        for n, (a, b) in enumerate(pairs):
            clustering = design_effect(board.matrix, (a, b))
            rows.append({
                "system_a": names[a], "system_b": names[b],
                "difference": float(board.matrix.difference(board.scores[a], board.scores[b])),
                "intra_cluster_correlation": clustering.intra_cluster_correlation,
                "design_effect": clustering.design_effect,
                "p_items": by["items"][n], "p_clusters": by["clusters"][n],
                "changes": _CHANGES[by["items"][n] <= alpha, by["clusters"][n] <= alpha]})
        summary = _summary(case, rows, alpha)
        return Finding({"pairs": rows, "summary": [summary]}, _reading(summary, rows, alpha))


def _summary(case: Case, rows: list[Row], alpha: float) -> Row:
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


def _reading(summary: Row, rows: list[Row], alpha: float) -> list[str]:
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
