"""Agreement of an automatic judge with people, and the value of its scores.

The judge's mean score is biased. With human judgements of a sample of items the bias can be corrected, whatever the
judge (Angelopoulos et al. 2023); the judge's scores then increase the effective sample size of the human judgements. A
bias that all systems share does not change their order; a bias towards some systems does, unless it is corrected.
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
    compute_error,
    compute_influences,
    estimate,
    is_random,
)
from registry.messages import Message
from registry.metrics import JudgedMean
from registry.significance.diagnostics.judges import depends_on_few_errors, get_judged_items
from registry.significance.distributions import log_normal_ps
from registry.significance.matrix import JudgedItems
from registry.significance.multiple import adjust
from registry.studies.study import BoardStudy, Case, Finding, Row, name_systems

_MIN_SAMPLE_P = 1e-4  # below this p-value the judged items are reported not to be a sample


class Judge(BoardStudy):
    """Agreement of an automatic judge with people, and scores that correct its bias.

    A judge is a program that scores all items; people judged a sample of them. The table `systems` has every system's
    corrected score with its interval, the slope, and lambda: the slope times the share of items without human
    judgement. `labelled` is the number of items with human judgement, and `effective` the number that would be needed
    for the same error without a judge. `correlation` compares both scores, and `bias` is how much higher the judge
    scores a system than people do. `beyond` is the bias minus the mean bias of all systems, and `p_beyond` its p-value,
    adjusted over the systems. The table `pairs` has every difference with its own slope, and its p-value, adjusted over
    the pairs. `error_of_scores` is the error of the difference on the board, whose scores have one slope each.
    """

    name: ClassVar[str] = "judge"
    title: ClassVar[str] = "How well does the judge agree with people, and what is the value of its scores?"
    citation: ClassVar[str] = "Angelopoulos et al. 2023; Angelopoulos, Duchi and Zrnic 2023"
    settings: ClassVar = ("unit", "alpha")
    is_slow: ClassVar = False
    supports_responses: ClassVar = False

    def run(self, case: Case) -> Finding:
        board, metric = case.board, case.board.metric.original
        if not isinstance(metric, JudgedMean):
            raise InputError(f"{board.key.metric.alias} has no judge; select a metric JudgedMean by --metric")
        items = get_judged_items(board.matrix)
        scored = np.stack([items.get_statistics(n) for n in range(len(board.members))])
        names = name_systems(board.members)
        n_labelled = scored[:, :, LABELLED].sum(axis=1)
        if not np.isin(scored[:, :, LABELLED], (0, 1)).all():
            raise InputError("this study does not support several runs; submit each run as a separate system")
        if (n_labelled < 2).any():
            raise InputError(f"people judged fewer than two items of {names[int(n_labelled.argmin())]}")
        alpha = case.request.significance.alpha
        units = board.matrix.units
        systems = [make_corrected_row(statistics, metric, units, alpha) for statistics in scored]
        pairs = [make_corrected_row(items.subtract(a, b), metric, units, alpha)
                 for a, b in combinations(range(len(names)), 2)]
        influence = [compute_influences(statistics, np.array(row["slope"]))
                     for statistics, row in zip(scored, systems, strict=True)]
        adjusted = case.adjust([row["p_value"] for row in pairs])
        biases = _measure_biases(scored, units)
        system_rows = [{"system": name, **{key: value for key, value in row.items() if key != "p_value"}, **bias}
                       for name, row, bias in zip(names, systems, biases, strict=True)]
        pair_rows = [{"system_a": names[a], "system_b": names[b], "difference": row.pop("score"), **row,
                      "p_adjusted": p, "error_of_scores": compute_error(influence[a] - influence[b], units)}
                     for (a, b), row, p in zip(combinations(range(len(names)), 2), pairs, adjusted, strict=True)]
        return Finding({"systems": system_rows, "pairs": pair_rows}, _describe(system_rows, pair_rows, alpha),
                       [*_warn(case, system_rows, scored, items)])


def make_corrected_row(statistics: Floats, metric: JudgedMean, units: Ints | None, alpha: float) -> Row:
    """Return a judge's mean score, corrected by human judgements, with its interval.

    The row also has the effective number of human judgements: the number that would give the same error without a
    judge.

    Args:
        statistics: The judge's and people's scores of each item, [items, columns].
        metric: The metric, which can fix the slope of the correction.
        units: Cluster of each item; None if items are independent.
        alpha: Significance level; the normal interval has the confidence 1 - alpha.
    """
    from scipy.special import ndtri

    mean = estimate(statistics, metric.slope, units)
    half_width = float(-ndtri(alpha / 2)) * mean.error
    p = math.exp(float(log_normal_ps(np.array(mean.score / mean.error), "two-sided"))) if mean.error else math.nan
    return {"score": mean.score, "error": mean.error, "low": mean.score - half_width, "high": mean.score + half_width,
            "slope": mean.slope, "lambda": mean.slope * (1 - mean.labelled / len(statistics)),
            "labelled": mean.labelled,
            "effective": mean.labelled * (mean.alone / mean.error) ** 2 if mean.error else math.nan, "p_value": p}


def _measure_biases(scored: Floats, units: Ints | None) -> list[Row]:
    """Return for each system how much higher the judge scores it than people do.

    Only items that both the automatic judge and people scored count.

    Args:
        scored: The judge's and people's scores of each system, [systems, items, columns].
        units: Cluster of each item; None if items are independent.
    """
    weights, excess = scored[:, :, WEIGHT], scored[:, :, WEIGHTED_JUDGE] - scored[:, :, WEIGHTED_HUMAN]
    total = weights.sum(axis=1)
    bias = excess.sum(axis=1) / total
    influence = (excess - bias[:, None] * weights) / total[:, None]
    relative, relative_influence = bias - bias.mean(), influence - influence.mean(axis=0)
    error = np.array([compute_error(values, units) for values in relative_influence])
    # Few observed errors of a system make its standard error too small, so no error is below the mean of all systems.
    error = np.maximum(error, np.sqrt((error**2).mean()))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(error > 0, np.exp(log_normal_ps(relative / error, "two-sided")), np.nan)
    return [{"correlation": _correlate(statistics), "bias": float(bias[n]), "bias_error": compute_error(
                influence[n], units),
             "beyond": float(relative[n]), "p_beyond": p_holm}
            for n, (statistics, p_holm) in enumerate(zip(scored, adjust(p, "holm").tolist(), strict=True))]


def _correlate(statistics: Floats) -> float:
    # items are weighted by the inverse of their sampling probabilities
    labelled = statistics[statistics[:, LABELLED] > 0]
    w, (x, y) = labelled[:, WEIGHT], (labelled[:, n] / labelled[:, WEIGHT] for n in (WEIGHTED_HUMAN, WEIGHTED_JUDGE))
    x, y = (values - (w * values).sum() / w.sum() for values in (x, y))
    spread = math.sqrt(float((w * x * x).sum() * (w * y * y).sum()))
    return float((w * x * y).sum()) / spread if spread else math.nan


def _warn(case: Case, rows: Sequence[Row], scored: Floats, items: JudgedItems) -> Iterator[Message]:
    """Warn if an automatic judge favours systems, or human scores are insufficient.

    Human scores are insufficient if they are few, are not a random sample of the items, or show few errors of the
    judge.
    """
    alpha, matrix = case.request.significance.alpha, case.board.matrix
    names, sign = [row["system"] for row in rows], -1 if matrix.lower_is_better else 1
    if favoured := [f"{row['system']} ({sign * row['beyond']:+.3g})" for row in rows if row["p_beyond"] <= alpha]:
        yield Message("judge-favours-systems", {"systems": favoured})
    yield from _warn_of_no_sample(scored, names, matrix.units)
    if (fewest := min(row["labelled"] for row in rows)) < FEW_LABELLED:
        yield Message("few-judged-items", {"items": int(fewest), "least": FEW_LABELLED})
    if uncertain := [name for name, statistics in zip(names, scored, strict=True)
                     if depends_on_few_errors(statistics, items)]:
        yield Message("few-judge-errors-systems", {"systems": ", ".join(uncertain)})


def _warn_of_no_sample(scored: Floats, names: Sequence[str], units: Ints | None) -> list[Message]:
    """Warn of systems whose human-judged items are not the declared random sample.

    On these items the judge's mean score differs too much from its mean over all items.
    """
    systems = [name for name, statistics in zip(names, scored, strict=True)
               if not statistics[:, LABELLED].all()
               and _compute_max_sample_p(statistics, units) < _MIN_SAMPLE_P / len(names)]
    return [Message("judged-not-sample", {"systems": ", ".join(systems)})] if systems else []


def _compute_max_sample_p(statistics: Floats, units: Ints | None) -> float:
    """Test whether the items that people judged are a random sample of all items.

    The test compares the automatic judge's mean over the sample with its mean over all items. The judge scored all
    items, so the variance of the sample mean is known. Bernstein's inequality holds for samples of any size, even if
    people judged none of a few exceptional items. With clusters the variance is at least the one between clusters.

    Args:
        statistics: The judge's and people's scores of each item, [items, columns].
        units: Cluster of each item; None if items are independent.

    Returns:
        An upper bound of the p-value.
    """
    items, judge, _, _, _, labelled, w, _, w_judge = statistics.sum(axis=0)[:9]
    centred = statistics[:, JUDGE] - statistics[:, ITEMS] * judge / items
    slope_weights = statistics[:, SLOPE_WEIGHT]
    weights = 1.0 if is_random(statistics) else slope_weights + 1
    variance = ((centred**2).mean() / labelled if is_random(statistics) else
                (slope_weights * centred**2).sum() / w**2)
    if units is not None:
        influence = (statistics[:, WEIGHTED_JUDGE] - w_judge / w * statistics[:, WEIGHT]) / w - centred / items
        variance = max(variance, compute_error(influence, units) ** 2)
    difference = abs(w_judge / w - judge / items)
    if not difference:
        return 1.0
    largest = float((weights * np.abs(centred)).max() / w)
    return min(1.0, 2 * math.exp(-difference**2 / 2 / (variance + largest * difference / 3)))


def _describe(systems: Sequence[Row], pairs: Sequence[Row], alpha: float) -> list[str]:
    median = sorted(systems, key=lambda row: row["effective"] / row["labelled"])[len(systems) // 2]
    gains = sorted(row["effective"] / row["labelled"] for row in pairs if row["labelled"])
    n_worse = sum(row["error_of_scores"] > row["error"] * math.sqrt(row["effective"] / row["labelled"])
                  for row in pairs if row["labelled"] and row["error"])
    n_significant = sum(row["p_adjusted"] <= alpha for row in pairs)
    return [f"People judged {counted(median['labelled'], 'item')} of {median['system']}; with the judge's scores the "
            f"effective sample size is {median['effective']:.0f}.",
            *(["For the median difference it increases by a factor of "
               f"{gains[len(gains) // 2]:.2f}."] if gains else []),
            *([f"In {n_worse} of {counted(len(pairs), 'pair')} the difference on the board, whose scores have one "
               "slope each, has a larger error than the human judgements alone; use the differences of this study for "
               "these."]
              if n_worse else []),
            f"At {100 * alpha:g} %, {n_significant} of {counted(len(pairs), 'pair')} differ.",
            "Corrected scores are unbiased for every judge, if the items with human judgement are a sample as "
            "declared. Errors account for other items, not for other people or another judge."]
