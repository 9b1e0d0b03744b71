"""The evaluation of rankings of Evert (2004): n-best precision and recall, and where two systems differ in it.

The n best candidates of every system are its acceptance set. Each precision has a binomial interval (section 3.2).
Two systems can differ only in the candidates that one of them accepts: D1, what only A accepts, and D2, what only B
accepts; Fisher's test compares the shares of right ones in the two (section 3.3).

As acceptance sets are nested, the first cut-off of the grid at which a system accepts a candidate says all: a pair
shares it from the later one of the two on. So all cut-offs of a pair take one pass over the candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.metrics.sets import Ties, count_accepted, sort_best_first
from registry.significance.distributions import clopper_pearson
from registry.significance.pairwise.independent import fisher_tail

Counts = Ints


@dataclass(frozen=True, eq=False)
class Ranked:
    """The candidates of a test set with the scores of its systems.

    Attributes:
        systems: Their names, [systems].
        right: Which candidates the gold has, [candidates].
        scores: Higher is better, nan where a system does not return a candidate, [candidates, systems].
        order: The place of each candidate in the random order that breaks ties (`acceptance.tie_order`), [candidates].
    """

    systems: tuple[str, ...]
    right: Flags
    scores: Floats
    order: Counts

    @property
    def baseline(self) -> float:
        """The precision of a random selection: the share of candidates that are right."""
        return float(self.right.mean())


@dataclass(frozen=True, eq=False)
class Curve:
    """One system's n-best lists; arrays are over the cut-offs.

    `accepted` is what a list really has: fewer than n where the system returns fewer, and by the rule for ties.
    `ci_low` and `ci_high` are the Clopper-Pearson interval of the precision of the acceptance region that this cut-off
    makes.
    """

    system: str
    n: Counts
    accepted: Counts
    right: Counts
    ci_low: Floats
    ci_high: Floats
    recall: Floats

    @property
    def precision(self) -> Floats:
        """The share of accepted candidates that are right; nan where none is accepted."""
        shares: Floats = np.divide(self.right, self.accepted, out=np.full(len(self.n), np.nan),
                                   where=self.accepted > 0)
        return shares


@dataclass(frozen=True, eq=False)
class Contest:
    """Two systems at every cut-off; arrays are over the cut-offs.

    Attributes:
        system_a, system_b: The two.
        n: The cut-offs.
        only_a, only_b: How many candidates are in D1 and in D2.
        right_a, right_b: How many of them are right.
        p_value, log10_p: Of Fisher's test, two-sided by point probabilities.
        significant: Whether p <= alpha.
    """

    system_a: str
    system_b: str
    n: Counts
    only_a: Counts
    only_b: Counts
    right_a: Counts
    right_b: Counts
    p_value: Floats
    log10_p: Floats
    significant: Flags

    @property
    def favours(self) -> Counts:
        """1 where the share of right ones is larger in D1, -1 where it is in D2, else 0."""
        return np.sign(self.right_a * self.only_b - self.right_b * self.only_a)

    @property
    def differs_up_to(self) -> int | None:
        """The last cut-off up to which all are significant, for one and the same system; None if the first is not."""
        same = self.significant & (self.favours == self.favours[0])
        first = int(np.argmin(same)) if not same.all() else len(same)
        return int(self.n[first - 1]) if first else None


@dataclass(frozen=True)
class Evaluation:
    """Curves of all systems, and contests of all pairs in the order of the systems."""

    baseline: float
    curves: tuple[Curve, ...]
    contests: tuple[Contest, ...]


def evaluate(ranked: Ranked, grid: Counts, *, ties: Ties = "random", confidence: float = 0.95,
          alpha: float = 0.05) -> Evaluation:
    """Evaluate the n-best lists of all systems at every n of the `grid`, which rises.

    Candidates that a system does not return stand on none of its lists.
    """
    lists = [_lists(ranked, system, grid, ties) for system in range(len(ranked.systems))]
    total, curves = int(ranked.right.sum()) or np.nan, []
    for name, (entry, sizes) in zip(ranked.systems, lists, strict=True):
        right = _by_cut_off(entry[ranked.right], len(grid))
        low, high = clopper_pearson(right, sizes, confidence)
        curves.append(Curve(name, grid, sizes, right, low, high, right / total))
    contests = []
    for a, b in combinations(range(len(curves)), 2):
        shared = np.maximum(lists[a][0], lists[b][0])
        both, right_both = (_by_cut_off(of, len(grid)) for of in (shared, shared[ranked.right]))
        contests.append(_contest(curves[a], curves[b], both, right_both, alpha))
    return Evaluation(ranked.baseline, tuple(curves), tuple(contests))


def _lists(ranked: Ranked, system: int, grid: Counts, ties: Ties) -> tuple[Counts, Counts]:
    """The cut-off (by its position) from which on the system accepts each candidate, and the sizes of its lists."""
    returned = np.flatnonzero(~np.isnan(ranked.scores[:, system]))
    scores = ranked.scores[returned, system]
    positions = sort_best_first(scores, ranked.order[returned])
    sizes = count_accepted(scores[positions], grid, ties)
    entry = np.full(len(ranked.right), len(grid), dtype=np.int64)
    entry[returned[positions]] = np.searchsorted(sizes, np.arange(len(positions)), side="right")
    return entry, sizes


def _by_cut_off(entry: Counts, n: int) -> Counts:
    """How many candidates are accepted at each of n cut-offs, given the one from which on each of them is."""
    return np.cumsum(np.bincount(entry, minlength=n + 1)[:n])


def _contest(a: Curve, b: Curve, both: Counts, right_both: Counts, alpha: float) -> Contest:
    only_a, only_b = a.accepted - both, b.accepted - both
    right_a, right_b = a.right - right_both, b.right - right_both
    tails = [fisher_tail([[ra, na - ra], [rb, nb - rb]]) for ra, na, rb, nb in zip(
        *(counts.tolist() for counts in (right_a, only_a, right_b, only_b)), strict=True)]
    p_values = np.array([tail.p for tail in tails], dtype=np.float64)
    log10_p = np.array([tail.log_p for tail in tails]) / np.log(10)
    return Contest(a.system, b.system, a.n, only_a, only_b, right_a, right_b, p_values, log10_p, p_values <= alpha)
