"""Fisher's exact test of a 2 x 2 table, and of the regions that only one of two systems accepts (Evert 2004)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from typing import ClassVar, Literal

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.significance.base import Alternative, Observed, Settings, Tail, Unit
from registry.significance.matrix import Matrix
from registry.significance.pairwise.base import PairTest

Rule = Literal["point", "doubling"]
PRECISION = ((1, 0, 0), (0, 1, 0))

_SMALL = 200  # up to so many things, whole numbers are as fast


def fisher_exact(table: Sequence[Sequence[int]], alternative: Alternative = "two-sided",
                 rule: Rule = "point") -> Fraction:
    """The exact p-value of a 2 x 2 table given its margins, in whole numbers throughout.

    Args:
        table: [[a, b], [c, d]].
        alternative: `greater` means that a is larger than its margins make likely.
        rule: The two-sided p-value: `point` adds up all tables that are no more likely than the observed one, as R and
            scipy do; `doubling` is twice the smaller one-sided p-value. They differ where the margins are uneven.
    """
    (a, b), (c, d) = ((int(n) for n in row) for row in table)
    first, second, column = a + b, c + d, a + c
    low, high = max(0, column - second), min(first, column)
    weights = list(accumulate(  # of every table with these margins, by its first cell; each from the one before
        range(low, high), lambda ways, k: ways * (first - k) * (column - k) // ((k + 1) * (second - column + k + 1)),
        initial=math.comb(first, low) * math.comb(second, column - low)))
    total, at = sum(weights), a - low
    below, above = sum(weights[:at + 1]), sum(weights[at:])
    if alternative != "two-sided":
        return Fraction(above if alternative == "greater" else below, total)
    if rule == "doubling":
        return Fraction(min(total, 2 * min(below, above)), total)
    return Fraction(sum(w for w in weights if w <= weights[at]), total)


def fisher_tail(table: Sequence[Sequence[int]], alternative: Alternative = "two-sided", rule: Rule = "point") -> Tail:
    """The p-value of `fisher_exact` to 10 digits, fast enough for thousands of large tables.

    Small tables are counted in whole numbers, so that p = alpha is exact. For large ones the logarithms of
    probabilities are summed; where two of them are nearly equal, whole numbers decide which is larger.
    """
    (a, b), (c, d) = ((int(n) for n in row) for row in table)
    if a + b + c + d <= _SMALL:
        exact = fisher_exact(table, alternative, rule)
        return Tail(math.log(exact.numerator) - math.log(exact.denominator), "exact", p=float(exact))
    first, second, column = a + b, c + d, a + c
    low, logs = _log_probabilities(a, first, second, column)
    at = a - low
    if alternative == "two-sided" and rule == "point":
        within = logs < logs[at]
        for k in np.flatnonzero(np.abs(logs - logs[at]) <= 1e-9 * (1 + abs(logs[at]))):
            within[k] = _no_likelier(low + int(k), a, first, second, column)
        log_p = 0.0 if within.all() else _log_sum(logs[within])
    else:
        below, above = _log_sum(logs[:at + 1]), _log_sum(logs[at:])
        log_p = {"greater": above, "less": below, "two-sided": math.log(2) + min(below, above)}[alternative]
    log_p = min(0.0, log_p)
    return Tail(log_p, "exact", p=math.exp(log_p))


def _log_probabilities(a: int, first: int, second: int, column: int) -> tuple[int, Floats]:
    """The first cell of the first table that is kept, and the log probabilities of the tables from there on.

    Tables are kept up to where they are e^60 times less likely than the one with a; beyond, probabilities fall faster.
    """
    low, high = max(0, column - second), min(first, column)
    mode = min(max((first + 1) * (column + 1) // (first + second + 2), low), high)
    reach = abs(a - mode) + 64
    while True:
        start, end = max(low, mode - reach), min(high, mode + reach)
        k = np.arange(start, end, dtype=np.float64)
        steps = np.log((first - k) * (column - k) / ((k + 1) * (second - column + k + 1)))
        logs = np.concatenate([-np.cumsum(steps[:mode - start][::-1])[::-1], [0.0], np.cumsum(steps[mode - start:])])
        least = logs[a - start] - 60
        if (start == low or logs[0] < least) and (end == high or logs[-1] < least):
            return start, logs - _log_sum(logs)
        reach *= 2


def _log_sum(logs: Floats) -> float:
    most = float(logs.max())
    return most + math.log(float(np.exp(logs - most).sum()))


def _no_likelier(k: int, a: int, first: int, second: int, column: int) -> bool:
    """Whether the table with first cell k is at most as likely as the one with a, in whole numbers."""
    mirrored = (first == second and k == column - a) or (2 * column == first + second and k == first - a)
    if k == a or mirrored:
        return True
    cells = range(min(k, a), max(k, a))
    up = math.prod((first - n) * (column - n) for n in cells)
    down = math.prod((n + 1) * (second - column + n + 1) for n in cells)
    return up >= down if k < a else up <= down


class Fisher(PairTest):
    """Fisher's test of precision in D1 and D2, the candidates that only A and that only B accepts.

    `rule` says what two-sided means, see `fisher_exact`.
    """

    name: ClassVar[str] = "fisher"
    null: ClassVar[str] = "a candidate that only one system accepts is as likely to be right, whichever accepts it"
    assumes: ClassVar[str] = "every candidate is judged once, so that the two regions are independent samples"
    citation: ClassVar[str] = "Evert 2004, section 3.3"
    families: ClassVar[tuple[str, ...] | None] = ("prf",)
    units: ClassVar[tuple[Unit, ...]] = ("response",)
    rule: Rule = "point"

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Refuse all but the precision of candidates that are each accepted or not, and one answer to every item."""
        if matrix.family != "prf" or matrix.quotient != PRECISION:
            return ("fisher compares the precision of candidates that systems accept or not; take mcnemar for one "
                    "answer per item, permutation for other scores")
        if matrix.answers_to is not None and same_items(matrix.answers_to, matrix.statistics[:, :, 1] > 0):
            return ("every system gives one answer to every item, so D1 and D2 are answers to the same items and not "
                    "independent, as fisher takes them to be; take mcnemar")
        return None

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Count true and false positives in the regions of a pair."""
        only_a, only_b = o.a[:, 1] > o.b[:, 1], o.b[:, 1] > o.a[:, 1]
        correct = [int(o.a[only_a, 0].sum()), int(o.b[only_b, 0].sum())]
        table = [[correct[0], int(only_a.sum()) - correct[0]], [correct[1], int(only_b.sum()) - correct[1]]]
        lead = correct[0] * sum(table[1]) - correct[1] * sum(table[0])  # of the precisions of the two regions
        return replace(fisher_tail(table, settings.alternative, self.rule), favours=lead)


def same_items(items: Ints, given: Flags) -> bool:
    """Say whether every system gives just one answer to every item, where items have several possible answers.

    The answers that only one of two systems gives are then to the same items as the other's, so the two regions are
    dependent, and Fisher's test rejects three times too often (docs/ranking.md).

    Args:
        items: The item of every candidate, [candidates].
        given: Whether a system gives it, [candidates, systems].
    """
    known, numbers = np.unique(items, return_inverse=True)
    if len(known) == len(items):
        return False
    return all((np.bincount(numbers[of_system], minlength=len(known)) == 1).all() for of_system in given.T)
