"""Sets of ranks that hold: which ranks every system may have, and which systems may be the best.

The largest error over all ordered pairs of systems, each in units of its own standard error, bounds all differences at
once; pairs that are told apart are dropped and the rest is looked at again, until nothing more is found (Mogstad,
Romano, Shaikh and Wilhelm 2024, "Inference for ranks with applications to mobility across neighbourhoods and academic
achievement across countries", Review of Economic Studies 91; Romano and Wolf 2005). A system's rank is then at least 1
+ the number of systems that are significantly better, and at most the number of systems less that of the worse ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.significance.base import PairResult, Settings, count_discordant
from registry.significance.matrix import Matrix
from registry.significance.multiple.corrections import adjust
from registry.significance.ranks.influences import Influences
from registry.significance.ranks.joint_errors import Bootstrapped, Flipped, JointErrors

DRAWS: dict[str, type[JointErrors]] = {"bootstrap": Bootstrapped, "flips": Flipped}

RANK_DRAWS = 1000  # as many as csranks takes
# the fewest with which sets were seen to hold (docs/validity.md)
LEAST_UNITS = {"bootstrap": 20, "flips": 50, "holm": 0}

_CLEAR = 5.0  # standard errors of a difference of more units than few
_TIED = 1e-5  # relative to a statistic: squared errors are summed in single precision
_COLUMNS = 2**10  # pairs whose errors are drawn at once
_KEPT = 2**22  # maxima over groups of pairs


@dataclass(frozen=True, eq=False)
class RankSets:
    """The ranks that systems may have, each statement at level 1 - alpha; the best has rank 1.

    Attributes:
        low, high: [systems]; the ranks of all systems at once. Each set holds, of systems that are truly equal, all
            the ranks that they share: 1 + the number of truly better ones, to n less that of the truly worse ones. All
            systems that are truly among the best t, ties included, have a `low` of t or less.
        marginal_low, marginal_high: [systems]; the same for each system by itself.
        wins: [systems, systems]; `wins[a, b]` says that a is better than b, all of them at once.
        possible: [systems]; whether the system may be the best. A system that is truly the best is among these; of
            several that are truly best, each one is, and all of them together are those with a `low` of 1.
        lead_low, lead_high: [systems]; bounds of the difference to the best of the other systems, positive where the
            system is better, all of them at once where one system is truly the best (Hsu 1984). They are constrained to
            include 0: [0, high] means that the system is the best, [low, 0] that it is not better than the best of the
            others. nan where there are none.
    """

    low: Ints
    high: Ints
    marginal_low: Ints
    marginal_high: Ints
    wins: Flags
    possible: Flags
    lead_low: Floats
    lead_high: Floats

    @classmethod
    def of(cls, wins: Flags, marginal_wins: Flags, marginal_losses: Flags, possible: Flags, leads: Floats) -> RankSets:
        """From decisions over all pairs, and over those of each system by itself ([system, other])."""
        n = len(wins)
        return cls(1 + wins.sum(axis=0), n - wins.sum(axis=1), 1 + marginal_losses.sum(axis=1),
                   n - marginal_wins.sum(axis=1), wins, possible, *leads)


def rank_sets(matrix: Matrix, settings: Settings, *, alpha: float = 0.05, method: str = "bootstrap") -> RankSets:
    """Bound the ranks of all systems by draws of the differences' errors.

    A system without a score, or without one when some unit is left out, neither wins nor loses: it may have every rank,
    and be the best. Systems that differ in no unit, or by the same in each, are never told apart.

    Args:
        matrix: By item or by unit.
        settings: The number of draws, their seed, and who draws them.
        alpha: 1 - the level, below 1/2.
        method: One of `DRAWS`.
    """
    influences = Influences.of(matrix)
    there = np.flatnonzero(influences.are_defined)
    n = len(influences.scores)
    wins, marginal_wins, marginal_losses = np.zeros((3, n, n), dtype=bool)
    possible, leads = np.ones(n, dtype=bool), np.full((2, n), np.nan)
    if len(there) > 1:
        errors = DRAWS[method](influences.defined, settings)
        square = np.ix_(there, there)
        wins[square], marginal_wins[square], marginal_losses[square], margins = _of_draws(
            errors, alpha, _differing(matrix.by_unit, errors, there))
        leads[:, there], possible[there] = _leads(influences.defined, margins)
    return RankSets.of(wins, marginal_wins, marginal_losses, possible, leads)


def rank_sets_of_tests(results: Sequence[PairResult], systems: int, *, alpha: float = 0.05,
                       one_sided: float = 0.5) -> RankSets:
    """Bound the ranks of all systems by two-sided p-values of all pairs (in the order of `combinations`), by Holm.

    As sure as the p-values are, however few units there are; they say nothing of how far the best one leads. A p-value
    that is undefined tells no systems apart.

    Args:
        results: Of a two-sided test.
        systems: How many there are.
        alpha: 1 - the level.
        one_sided: The share of a p-value that is at least the one-sided one of the better system: a half where the
            distribution under the null hypothesis is symmetric, and 1 where it need not be.
    """
    p = np.ones((systems, systems))
    better = np.zeros((systems, systems), dtype=bool)
    pairs = np.array(list(combinations(range(systems), 2)), dtype=np.int64).reshape(-1, 2)
    a, b = pairs.T
    raw = np.array([result.p_value for result in results], dtype=np.float64)
    favours = np.array([result.favours for result in results], dtype=np.int64)
    p[a, b] = p[b, a] = np.where(np.isnan(raw), 1.0, raw)
    better[a, b], better[b, a] = favours > 0, favours < 0
    wins = np.zeros_like(better)
    wins[a, b] = adjust(p[a, b], "holm") <= alpha
    wins |= wins.T
    own = np.zeros_like(better)
    for system in range(systems):
        others = np.arange(systems) != system
        own[system, others] = adjust(p[system, others], "holm") <= alpha
    least = np.where(better.T, p * one_sided, 1.0).min(axis=1)  # that another system is better
    return RankSets.of(wins & better, own & better, own & better.T, least * max(1, systems - 1) > alpha,
                       np.full((2, systems), np.nan))


def _differing(matrix: Matrix, errors: JointErrors, there: Ints) -> Ints:
    """In how many units systems differ, [systems, systems]; not counted where the difference is clear or small."""
    sizes = np.abs(errors.observed)
    counts = np.full(sizes.shape, matrix.n_units)
    a, b = np.nonzero(np.triu((sizes > 1) & (sizes < _CLEAR)))
    counts[a, b] = counts[b, a] = count_discordant(matrix, there[a], there[b])
    return counts


def _of_draws(errors: JointErrors, alpha: float, differing: Ints) -> tuple[Flags, Flags, Flags, Floats]:
    """Look at the errors of some systems' differences after the others'; the draws of a system are there at once.

    Systems that differ in m units do so in favour of one with a probability of 2^(1 - m), or 2^-m of a given one, if
    they are exchangeable. Where that is above alpha nothing is told apart: of so few units draws tell too little.

    Returns:
        What draws decide, [systems, systems] each: wins over all pairs; wins, and losses, over the pairs of each system
        by itself, [system, other]; and with each system taken for the best, the simultaneous one-sided margins of error
        of its differences to the others, [best, other], infinite on the diagonal and where nothing is known.
    """
    observed = np.where(np.exp2(1.0 - differing) > alpha, 0.0, errors.observed)
    n = len(observed)
    family = _Family.of(observed, errors.settings.resamples)
    own_wins, own_losses = np.zeros((2, n, n), dtype=bool)
    factors = np.empty(n)
    for system, drawn in _rows(errors):
        family.add(system, drawn)
        own_wins[system], own_losses[system] = _told_apart(observed[system], drawn, alpha)
        others = np.delete(drawn, system, axis=1)
        # where units that differ are few, draws are skewed against what is observed: the longer tail is right
        tails = others.max(axis=1), -others.min(axis=1)
        factors[system] = max(0.0, *(_critical(largest, alpha) for largest in tails))
    squared = errors.squared_errors
    with np.errstate(invalid="ignore"):
        margins = np.where(squared > 0, factors[:, None] * np.sqrt(squared), np.inf)
    few = np.exp2(-1.0 * differing) > alpha
    margins[few] = np.maximum(margins, np.abs(errors.influences.differences))[few]
    margins[(squared == 0) & errors.influences.are_equal] = 0.0
    np.fill_diagonal(margins, np.inf)
    return _above(observed, family.critical(alpha)), own_wins, own_losses, margins


def _rows(errors: JointErrors) -> Iterator[tuple[int, Floats]]:
    """Every system with the errors of its differences, [draws, systems]."""
    errors.prepare()
    n = len(errors.observed)
    some = max(1, _COLUMNS // n)
    groups = [slice(at, min(at + some, n)) for at in range(0, n, some)]
    found = errors.settings.execution.here.map(errors.rows, groups, "systems to rank")
    for group, drawn in zip(groups, found, strict=True):
        for at in range(group.stop - group.start):
            yield group.start + at, drawn[:, at]


@dataclass(frozen=True, eq=False)
class _Family:
    """The largest errors of all ordered pairs, which are looked at from the clearest difference down.

    Attributes:
        observed: [systems, systems].
        bars: [groups], descending: the least statistic of each group of pairs in which the first system is ahead.
        largest: [draws, groups + 1], over the pairs of a group; the last is of those in which it is not.
    """

    observed: Floats
    bars: Floats
    largest: Floats

    @classmethod
    def of(cls, observed: Floats, draws: int) -> _Family:
        ahead = np.sort(observed[observed > 0])[::-1]
        size = -(-len(ahead) // max(1, _KEPT // draws))  # of the groups: 1, unless pairs and draws are many
        bars = ahead[size - 1::size] if len(ahead) else ahead
        bars = np.unique(np.append(bars, ahead[-1:]))[::-1]
        return cls(observed, bars, np.full((draws, len(bars) + 1), -np.inf))

    def add(self, system: int, drawn: Floats) -> None:
        """Take in the errors of a system's differences, [draws, systems]."""
        observed = self.observed[system]
        group = np.where(observed > 0, np.searchsorted(-self.bars, -observed, side="left"), len(self.bars))
        order = np.argsort(group, kind="stable")
        order = order[order != system]
        groups, starts = np.unique(group[order], return_index=True)
        largest = np.maximum.reduceat(drawn[:, order], starts, axis=1)
        self.largest[:, groups] = np.maximum(self.largest[:, groups], largest)

    def critical(self, alpha: float) -> float:
        """What a difference must exceed: groups that do are dropped from the largest errors, again and again."""
        left = np.maximum.accumulate(self.largest[:, ::-1], axis=1)[:, ::-1]
        dropped = 0
        while True:
            value = _critical(left[:, dropped], alpha)
            now = int(np.count_nonzero(_above(self.bars, value)))
            if now <= dropped:
                return value
            dropped = now


def _told_apart(observed: Floats, drawn: Floats, alpha: float) -> tuple[Flags, Flags]:
    """Which others a system is better than, and which it is worse than, step-down over its own pairs."""
    wins, losses = np.zeros((2, len(observed)), dtype=bool)
    while True:
        value = _critical(np.maximum(drawn[:, ~wins].max(axis=1, initial=-np.inf),
                                     -drawn[:, ~losses].min(axis=1, initial=np.inf)), alpha)
        found = _above(observed, value), _above(-observed, value)
        if found[0].sum() + found[1].sum() == wins.sum() + losses.sum():
            return found
        wins, losses = found


def _critical(largest: Floats, alpha: float) -> float:
    """The value that the largest error exceeds in a share of alpha of the draws; the test set counts as one more."""
    k = math.floor(alpha * (len(largest) + 1) * (1 + 1e-12))
    return math.inf if k < 1 else float(np.partition(largest, -k)[-k])


def _above(observed: Floats, value: float) -> Flags:
    return np.asarray(observed - _TIED * np.abs(observed) > value)


def _leads(influences: Influences, margins: Floats) -> tuple[Floats, Flags]:
    """Bounds of the differences to the best of the others, [2, systems], and which systems may be the best.

    Hsu 1996, chapter 4: constrained intervals. Each system in turn is taken for the best, which needs no correction:
    the bounds of the true best hold at level 1 - alpha.
    """
    upper = (influences.differences + margins).min(axis=1)
    may_be = upper >= -influences.tolerance
    least = np.where(may_be, influences.differences - margins.T, np.inf)
    np.fill_diagonal(least, np.inf)
    return np.array([np.minimum(least.min(axis=1), 0), np.maximum(upper, 0)]), may_be
