"""What an automatic judge is worth where people looked at some of the items only.

A judge's mean is wrong by the judge's bias; corrected by what people say of a sample it is right, whatever the judge
(Angelopoulos et al. 2023). What its scores add is as if people had looked at more items. A bias that all systems share
does no harm to their order; one of some systems alone does, where nobody corrects it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import ClassVar

import numpy as np

from registry.arrays import Floats, Ints
from registry.errors import InputError, counted
from registry.judged import (
    FEW_LABELLED,
    ITEMS,
    JUDGE,
    LABELLED,
    SLOPE_WEIGHT,
    WEIGHT,
    WEIGHTED_HUMAN,
    WEIGHTED_JUDGE,
    error_of,
    estimate,
    influences,
    is_random,
)
from registry.messages import Message
from registry.metrics import JudgedMean
from registry.significance.diagnostics.judges import hangs_on_few_errors, judged_items
from registry.significance.distributions import log_normal_ps
from registry.significance.matrix import JudgedItems
from registry.significance.multiple import adjust
from registry.studies.study import BoardStudy, Case, Finding, Row, name_systems

_UNLIKELY = 1e-4  # a p-value of the sample below which it is said to be none


class Judge(BoardStudy):
    """The judge's agreement with people by system, its bias, and all scores and differences corrected for it.

    The table `systems` has every system's corrected score with its interval, the slope, and lambda, the slope times the
    share of items that people did not look at; how many items people looked at, and how many they would have to look at
    for the same error without a judge (`effective`); the correlation of both scores, and how much higher the judge's
    are (`bias`). `beyond` is the bias less the mean of all systems', and `p_beyond` its p-value, adjusted over the
    systems. `pairs` has every difference, with a slope of its own, and its p-value, adjusted over the pairs; beside it
    `error_of_scores`, the error of the board's difference, which is of two scores with a slope each.
    """

    name: ClassVar[str] = "judge"
    title: ClassVar[str] = "How far does the judge agree with people, and what is it worth?"
    citation: ClassVar[str] = "Angelopoulos et al. 2023; Angelopoulos, Duchi and Zrnic 2023"
    settings: ClassVar = ("unit", "alpha")
    is_slow: ClassVar = False
    supports_responses: ClassVar = False

    def run(self, case: Case) -> Finding:
        board, metric = case.board, case.board.metric.original
        if not isinstance(metric, JudgedMean):
            raise InputError(f"{board.key.metric.alias} is no JudgedMean: there is no judge to study")
        items = judged_items(board.matrix)
        scored = np.stack([items.of(n) for n in range(len(board.members))])
        names = name_systems(board.members)
        looked = scored[:, :, LABELLED].sum(axis=1)
        if not np.isin(scored[:, :, LABELLED], (0, 1)).all():
            raise InputError("systems with several runs are averaged; make each run a system of its own")
        if (looked < 2).any():
            raise InputError(f"people looked at fewer than two items of {names[int(looked.argmin())]}")
        alpha = case.request.significance.alpha
        units = board.matrix.units
        systems = [make_corrected_row(of, metric, units, alpha) for of in scored]
        pairs = [make_corrected_row(items.apart(a, b), metric, units, alpha)
                 for a, b in combinations(range(len(names)), 2)]
        moved = [influences(of, np.array(row["slope"])) for of, row in zip(scored, systems, strict=True)]
        adjusted = case.adjust([row["p_value"] for row in pairs])
        biases = _biases(scored, units)
        told = [{"system": name, **{key: value for key, value in row.items() if key != "p_value"}, **bias}
                for name, row, bias in zip(names, systems, biases, strict=True)]
        compared = [{"system_a": names[a], "system_b": names[b], "difference": row.pop("score"), **row, "p_adjusted": p,
                     "error_of_scores": error_of(moved[a] - moved[b], units)}
                    for (a, b), row, p in zip(combinations(range(len(names)), 2), pairs, adjusted, strict=True)]
        return Finding({"systems": told, "pairs": compared}, _reading(told, compared, alpha),
                       [*_doubts(case, told, scored, items)])


def make_corrected_row(statistics: Floats, metric: JudgedMean, units: Ints | None, alpha: float) -> Row:
    """A score with its normal interval, and what the judge adds to people's scores."""
    from scipy.special import ndtri

    of = estimate(statistics, metric.slope, units)
    reach = float(-ndtri(alpha / 2)) * of.error
    p = math.exp(float(log_normal_ps(np.array(of.score / of.error), "two-sided"))) if of.error else math.nan
    return {"score": of.score, "error": of.error, "low": of.score - reach, "high": of.score + reach, "slope": of.slope,
            "lambda": of.slope * (1 - of.labelled / len(statistics)), "labelled": of.labelled,
            "effective": of.labelled * (of.alone / of.error) ** 2 if of.error else math.nan, "p_value": p}


def _biases(scored: Floats, units: Ints | None) -> list[Row]:
    """How far the judge agrees with people on what both looked at, by system, [systems, items, columns]."""
    w, above = scored[:, :, WEIGHT], scored[:, :, WEIGHTED_JUDGE] - scored[:, :, WEIGHTED_HUMAN]
    weight = w.sum(axis=1)
    bias = above.sum(axis=1) / weight
    moved = (above - bias[:, None] * w) / weight[:, None]
    beyond, moved_beyond = bias - bias.mean(), moved - moved.mean(axis=0)
    error = np.array([error_of(of, units) for of in moved_beyond])
    # a system of whose errors few were seen seems surer than it is: none is surer than all are on average
    error = np.maximum(error, np.sqrt((error**2).mean()))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(error > 0, np.exp(log_normal_ps(beyond / error, "two-sided")), np.nan)
    return [{"correlation": _correlation(of), "bias": float(bias[n]), "bias_error": error_of(moved[n], units),
             "beyond": float(beyond[n]), "p_beyond": holm}
            for n, (of, holm) in enumerate(zip(scored, adjust(p, "holm").tolist(), strict=True))]


def _correlation(statistics: Floats) -> float:
    """Pearson's r of the judge's and people's scores, weighted as the items were drawn."""
    both = statistics[statistics[:, LABELLED] > 0]
    w, (x, y) = both[:, WEIGHT], (both[:, n] / both[:, WEIGHT] for n in (WEIGHTED_HUMAN, WEIGHTED_JUDGE))
    x, y = (of - (w * of).sum() / w.sum() for of in (x, y))
    spread = math.sqrt(float((w * x * x).sum() * (w * y * y).sum()))
    return float((w * x * y).sum()) / spread if spread else math.nan


def _doubts(case: Case, rows: Sequence[Row], scored: Floats, items: JudgedItems) -> Iterator[Message]:
    """Warn of favoured systems, of items that are no sample or few, and of a judge that hardly ever errs."""
    alpha, matrix = case.request.significance.alpha, case.board.matrix
    names, sign = [row["system"] for row in rows], -1 if matrix.lower_is_better else 1
    if told := [f"{row['system']} ({sign * row['beyond']:+.3g})" for row in rows if row["p_beyond"] <= alpha]:
        yield Message("judge-favours-systems", {"systems": told})
    yield from _no_sample(scored, names, matrix.units)
    if (least := min(row["labelled"] for row in rows)) < FEW_LABELLED:
        yield Message("few-judged-items", {"items": int(least), "least": FEW_LABELLED})
    if told := [name for name, of in zip(names, scored, strict=True) if hangs_on_few_errors(of, items)]:
        yield Message("few-judge-errors-systems", {"systems": ", ".join(told)})


def _no_sample(scored: Floats, names: Sequence[str], units: Ints | None) -> list[Message]:
    """Warn of systems whose judged items differ from the rest by more than chance, in the judge's mean."""
    found = [name for name, of in zip(names, scored, strict=True)
             if not of[:, LABELLED].all() and _chance_as_sample(of, units) < _UNLIKELY / len(names)]
    return [Message("judged-not-sample", {"systems": ", ".join(found)})] if found else []


def _chance_as_sample(of: Floats, units: Ints | None) -> float:
    """How likely the judge's mean is so far off over a sample as declared, at the most, from [items, columns].

    The judge scored all items, so that the variance of that mean is known, and Bernstein's inequality holds for samples
    of any size: people may well have looked at none of the few that the judge scores otherwise than the rest. Of
    clusters the variance is no less than it is seen to be.
    """
    items, judge, _, _, _, labelled, w, _, w_judge = of.sum(axis=0)[:9]
    above = of[:, JUDGE] - of[:, ITEMS] * judge / items
    weights = 1.0 if is_random(of) else of[:, SLOPE_WEIGHT] + 1
    variance = (above**2).mean() / labelled if is_random(of) else (of[:, SLOPE_WEIGHT] * above**2).sum() / w**2
    if units is not None:
        moved = (of[:, WEIGHTED_JUDGE] - w_judge / w * of[:, WEIGHT]) / w - above / items
        variance = max(variance, error_of(moved, units) ** 2)
    off = abs(w_judge / w - judge / items)
    if not off:
        return 1.0
    largest = float((weights * np.abs(above)).max() / w)
    return min(1.0, 2 * math.exp(-off**2 / 2 / (variance + largest * off / 3)))


def _reading(systems: Sequence[Row], pairs: Sequence[Row], alpha: float) -> list[str]:
    middle = sorted(systems, key=lambda row: row["effective"] / row["labelled"])[len(systems) // 2]
    of_pairs = sorted(row["effective"] / row["labelled"] for row in pairs if row["labelled"])
    worse = sum(row["error_of_scores"] > row["error"] * math.sqrt(row["effective"] / row["labelled"])
                for row in pairs if row["labelled"] and row["error"])
    differ = sum(row["p_adjusted"] <= alpha for row in pairs)
    return [f"People looked at {counted(middle['labelled'], 'item')} of {middle['system']}; with the judge they tell "
            f"as much of its score as {middle['effective']:.0f} without.",
            *([f"Of the middle difference they tell {of_pairs[len(of_pairs) // 2]:.2f} times as much."]
              if of_pairs else []),
            *([f"In {worse} of {counted(len(pairs), 'pair')} the board's difference, of two scores with a slope each, "
               "has a larger error than people's scores alone: there take what is said here."] if worse else []),
            f"At {100 * alpha:g} %, {differ} of {counted(len(pairs), 'pair')} differ.",
            "Corrected scores are right on average whatever the judge, if people looked at a sample as declared. "
            "Errors are those of other items, not of other people or of another judge."]
