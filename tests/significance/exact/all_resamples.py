"""Every resample of a few units and how extreme it is, in fractions."""

import itertools
import math
from collections import Counter
from fractions import Fraction


def all_resamples(rows):
    """How many of the n^n resamples have each difference, in fractions; None where it is undefined."""
    n, found = len(rows), Counter()
    for chosen in itertools.combinations_with_replacement(range(n), n):
        ways = math.factorial(n)
        for times in Counter(chosen).values():
            ways //= math.factorial(times)
        over, under = sum(rows[i][0] - rows[i][1] for i in chosen), sum(rows[i][2] for i in chosen)
        found[Fraction(over, under) if under else None] += ways
    return found


def extremities(rows, alternative):
    """The extremity of what was observed, and how many of the resamples have each; infinite where undefined."""
    d = Fraction(sum(a - b for a, b, _ in rows), sum(w for _, _, w in rows))
    extremity = {"two-sided": abs, "greater": lambda x: x, "less": lambda x: -x}[alternative]
    found = Counter()
    for difference, ways in all_resamples(rows).items():
        found[math.inf if difference is None else extremity(difference - d)] += ways
    return d, extremity(d), found


def last(counts, level):
    """The largest value such that more than this share of the resamples reach it."""
    total, reached = sum(counts.values()), 0
    for value in sorted(counts, reverse=True):
        reached += counts[value]
        if Fraction(reached, total) > level:
            return float(value)
    raise AssertionError
