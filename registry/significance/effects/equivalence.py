"""Equivalence of two systems: two one-sided tests that their difference lies within a margin.

A difference that is not significant does not show equivalence. The margin is declared before looking at the results.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from registry.errors import InputError
from registry.messages import NO_MESSAGES, Messages
from registry.significance.base import Method, Observed, Settings
from registry.significance.distributions import log_normal_p, log_t_p, tango_interval, tango_statistic
from registry.significance.exact.ideal_bootstrap import MOST_UNDEFINED
from registry.significance.resampling.exceedances import dual_rank, monte_carlo_tail, tolerance
from registry.significance.resampling.scores import resampled_scores
from registry.significance.units import has_binary_units, unit_differences


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Whether the difference of a pair lies within a declared margin: two one-sided tests.

    Attributes:
        margin: The largest difference that does not matter, in either direction.
        p_value: The larger of the two one-sided p-values; nan where the test is undefined.
        low, high: The 1 - 2 alpha interval of the difference, which is inside the margin just when p <= alpha.
        messages: Why a value is nan.
        test: `t` (paired), `score` (Tango's) or `bootstrap` (recentred); empty where no score is defined.
        method: How the p-value is computed.
        p_low, p_high: 95 % Clopper-Pearson interval of a Monte-Carlo p-value.
        resamples: Draws behind a Monte-Carlo p-value; None for others.
    """

    margin: float
    p_value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    messages: Messages = NO_MESSAGES
    test: Literal["", "t", "score", "bootstrap"] = ""
    method: Method = "asymptotic"
    p_low: float = math.nan
    p_high: float = math.nan
    resamples: int | None = None


def equivalence(observed: Observed, margin: float, settings: Settings) -> Equivalence:
    """Test whether a pair's difference lies within a margin, by two one-sided tests (Schuirmann 1987).

    Where the score is the mean of the scores of units, these are Tango's score tests of +margin and -margin if units
    are right or wrong (Tango 1998; he proposed them for this), else paired t-tests. Any other score is tested by the
    paired bootstrap: differences d* - d of resamples, moved to either margin.

    Args:
        observed: The pair, by unit.
        margin: The largest difference that does not matter, in units of the score; declared before looking.
        settings: Alpha is 1 - `confidence`; `resamples` and `seed` are for the bootstrap.

    Raises:
        InputError: The margin is no positive number, or alpha is not below 1/2.
    """
    if not 0 < margin < math.inf:
        raise InputError(f"the margin of equivalence is {margin!r}; expected a difference of scores above 0")
    if not settings.confidence > 0.5:
        raise InputError(f"the confidence of a test of equivalence is {settings.confidence!r}; expected more than 0.5")
    if math.isnan(observed.difference):
        return Equivalence(margin, messages=Messages.of("score-undefined"))
    if observed.matrix.runs is not None or not observed.is_mean:
        return _by_bootstrap(observed, margin, settings)
    return (_by_score if has_binary_units(observed) else _by_t)(observed, margin, settings)


def _by_t(o: Observed, margin: float, settings: Settings) -> Equivalence:
    from scipy.special import stdtrit

    differences, slack = unit_differences(o)
    n = len(differences)
    if n < 2 or np.ptp(differences) <= slack:
        return Equivalence(margin, messages=Messages.of("constant-difference", over="unit"), test="t")
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(n)
    log_p = max(log_t_p((mean + margin) / error, n - 1, "greater"), log_t_p((mean - margin) / error, n - 1, "less"))
    reach = float(stdtrit(n - 1, settings.confidence)) * error
    return Equivalence(margin, math.exp(log_p), mean - reach, mean + reach, test="t")


def _by_score(o: Observed, margin: float, settings: Settings) -> Equivalence:
    if margin >= 1:
        return Equivalence(margin, messages=Messages.of("widest-margin"), test="score")
    differences, _ = unit_differences(o)
    n, only_a, only_b = len(differences), int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    log_p = max(log_normal_p(float(tango_statistic(only_a, only_b, n, -margin)), "greater"),
                log_normal_p(float(tango_statistic(only_a, only_b, n, margin)), "less"))
    low, high = map(float, tango_interval(only_a, only_b, n, 2 * settings.confidence - 1))
    return Equivalence(margin, math.exp(log_p), low, high, test="score")


def _by_bootstrap(o: Observed, margin: float, settings: Settings) -> Equivalence:
    resamples, d = settings.resamples, o.difference
    a, b = (resampled_scores(o.matrix, settings)[:, system] for system in o.pair)
    moved = o.matrix.difference(a, b) - d
    moved.sort()  # undefined ones come last
    n_undefined = int(np.count_nonzero(np.isnan(moved)))
    moved = moved[:resamples - n_undefined]
    slack = tolerance(o)
    if len(moved) and not (np.abs(moved) > slack).any():
        return Equivalence(margin, messages=Messages.of("constant-difference", over="resample"), test="bootstrap",
                           method="monte-carlo", resamples=resamples)
    # under a difference of -margin (+margin), how many would be as large (small) as observed; undefined ones count
    extremes = n_undefined + max(int(np.count_nonzero(moved >= d + margin - slack)),
                                 int(np.count_nonzero(moved <= d - margin + slack)))
    tail = monte_carlo_tail(extremes, resamples)
    low = high = math.nan
    if n_undefined <= MOST_UNDEFINED * resamples:
        # dual to the test: (c + 1) / (R + 1) <= alpha where the k-th largest of them falls short of what was observed
        k = dual_rank(settings) - n_undefined
        low, high = (d - moved[-k], d - moved[k - 1]) if k > 0 else (-math.inf, math.inf)
        low, high = (end if abs(abs(end) - margin) > slack else math.copysign(margin, end) for end in (low, high))
    messages = Messages.of("no-interval") if math.isnan(low) else NO_MESSAGES
    return Equivalence(margin, tail.p, float(low), float(high), messages, "bootstrap", "monte-carlo", tail.p_low,
                       tail.p_high, resamples)
