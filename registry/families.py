"""The families of sufficient statistics: a few table shapes that all metrics share.

A metric is a function of statistics that add up over items. All metrics of a family store their statistics in one
table, so a new metric of a known family does not change the schema.

Statistics are stored without rounding. To make sums exact, they are counted in steps: the step is 1, or the decimal
place of the value with the most digits. Values with more digits than `finest_places` allows are rounded when they are
counted. Sums of whole steps are exact in float64 below 2^53, so they do not depend on order, block size, threads or
BLAS.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from registry.arrays import Floats

LARGEST_WHOLE, LARGEST_OTHER = 2.0**52, 2.0**42  # from here on statistics are refused: their sums would not be exact
SMALLEST = 1e-12  # if the largest statistic is smaller, too few digits of it are counted

PLACES = 18  # of the finest step: 10^18 steps are still a 64-bit integer
_LARGEST_SUM = 2.0**52  # in steps
_LARGEST_COUNT = 2.0**43  # of one statistic in steps: 12 digits, so that the rounding of arithmetic is no digit

_BINARY_PLACES = 60  # below the largest value: the last binary place of operands as small as a 128th of it
_ROUNDING = 2.0**-48  # of arithmetic, relative: a 0.30000000000000004 is meant to be 0.3


@dataclass(frozen=True)
class Family:
    """Kind of statistics, such as n-gram counts, from which scores are computed.

    Several metrics can use the same kind. Each item has one row of numbers.

    Attributes:
        name: Name of the family, such as `bleu`. Its table is called `statistics_<name>`.
        columns: Names of the numbers, in the order in which metrics return and receive them.
        integer: True if every column is a count.
    """

    name: str
    columns: tuple[str, ...]
    integer: bool = True


def _number_names(name: str, last: int) -> tuple[str, ...]:
    return tuple(f"{name}_{n}" for n in range(1, last + 1))


# Character n-grams of chrF up to order 6 and word n-grams (chrF++) up to order 2, as sacrebleu lays them out.
_CHRF = tuple(f"{level}_{part}_{order}" for level, orders in (("char", 6), ("word", 2))
              for order in range(1, orders + 1) for part in ("hyp", "ref", "match"))
# What METEOR 1.5 counts: words of the system (test) and of the reference, matched in up to four stages.
_METEOR = (
    "test_length", "reference_length", "test_function_words", "reference_function_words",
    *_number_names("test_content_matches", 4), *_number_names("reference_content_matches", 4),
    *_number_names("test_function_matches", 4), *_number_names("reference_function_matches", 4),
    "chunks", "test_word_matches", "reference_word_matches",
)

FAMILIES: dict[str, Family] = {family.name: family for family in (
    Family("ratio", ("numerator", "denominator"), integer=False),
    Family("prf", ("true_positives", "predicted", "gold")),
    Family("alignment", ("sure_hits", "possible_hits", "predicted", "sure")),
    Family("bleu", ("hyp_len", "ref_len", *_number_names("correct", 4), *_number_names("total", 4))),
    Family("chrf", _CHRF),
    Family("meteor", _METEOR, integer=False),
    Family("additive", _number_names("value", 16), integer=False),
    Family("confusion", ("gold_label", "predicted_label")),
    Family("pair", ("x", "y"), integer=False),
    Family("votes", ("votes", "points", "position"), integer=False),
    Family("ratings", ("ratings", "score"), integer=False),
)}

JOINT = ("votes", "ratings")  # scores of all systems are estimated together
ADDITIVE = tuple(name for name in FAMILIES if name not in ("pair", *JOINT))  # scores are functions of sums over items


def check_exact(values: Floats) -> None:
    """Check that sums of these numbers have no rounding errors.

    Raises:
        ValueError: A value is not finite, or too large.
    """
    import numpy as np

    if not np.isfinite(values).all():
        raise ValueError("a statistic is not a finite number")
    if np.abs(values).max(initial=0) >= LARGEST_WHOLE:
        raise ValueError("a statistic is 2^52 or larger, so its sums would not be exact")
    if np.abs(values[values != np.rint(values)]).max(initial=0) >= LARGEST_OTHER:
        raise ValueError("a statistic with decimals is 2^42 or larger, so its sums would not be exact")


def remove_rounding(statistics: Floats, *, are_ranked: bool = False) -> Floats:
    """Remove rounding errors from numbers: 0.30000000000000004 becomes 0.3.

    Args:
        statistics: Computed statistics, [items, columns].
        are_ranked: True if a metric uses the order of the values, not only their sums. Then a small value next to
            large values is rounded only if it is a multiple of the last binary place of the largest value, because
            rounding errors of large values are such multiples.
    """
    import numpy as np

    cleaned = statistics + 0.0  # no -0.0
    for n, column in enumerate(statistics.T):
        if not _are_whole(column) and (places := decimal_places(column)) is not None:
            rounded = np.rint(column * 10.0**places) / 10.0**places + 0.0
            if are_ranked:
                place = 2.0**(np.floor(np.log2(np.abs(column).max())) - _BINARY_PLACES)
                stays = (np.abs(rounded - column) > _ROUNDING * np.abs(column)) & (column % place != 0)
                rounded = np.where(stays, cleaned[:, n], rounded)
            cleaned[:, n] = rounded
    return cleaned


def finest_places(largest: float, largest_sum: float) -> int:
    """Return how many decimals numbers may have so that floats can sum them exactly.

    Args:
        largest: The largest absolute value of a statistic.
        largest_sum: The largest sum of absolute values of one system in one column, over all runs of the system.
    """
    if largest == 0:
        return PLACES
    return max(0, min(PLACES, math.floor(math.log10(_LARGEST_SUM) - math.log10(max(largest, largest_sum))),
                      math.floor(math.log10(_LARGEST_COUNT) - math.log10(largest))))


def decimal_places(values: Floats) -> int | None:
    """Return how many decimals the numbers have, apart from rounding errors.

    The result is None if sums of numbers with so many decimals would not be exact.
    """
    import numpy as np

    if _are_whole(values):
        return 0
    noise = _ROUNDING * min(1.0, float(np.abs(values).max(initial=0)))
    rest = values
    for places in range(_finest_places(values) + 1):
        remainders = np.abs(rest * 10.0**places - np.rint(rest * 10.0**places))
        rest = rest[remainders > np.maximum(_ROUNDING * np.abs(rest), noise) * 10.0**places]
        if not rest.size:
            return places
    return None


def _are_whole(values: Floats) -> bool:
    import numpy as np

    return bool((values == np.rint(values)).all())


def find_step(values: Floats) -> float:
    """Return the largest unit (1, 0.1, 0.01, ...) of which numbers are multiples.

    For example, the result for 0.5 and 0.25 is 0.01. If sums of such multiples would not be exact, the smallest unit
    with exact sums is returned.

    Args:
        values: Statistics, [items, ..., columns], or one column of statistics, [items].
    """
    columns = [values] if values.ndim == 1 else [values[..., n] for n in range(values.shape[-1])]
    finest = {n: _finest_places(column) for n, column in enumerate(columns) if not _are_whole(column)}
    required = (decimal_places(columns[n]) for n in finest)
    most = max((PLACES if places is None else places for places in required), default=0)
    return 10.0**-min(most, *finest.values(), PLACES)


def _finest_places(column: Floats) -> int:
    import numpy as np

    sizes = np.abs(column)
    return finest_places(float(sizes.max(initial=0)), float(sizes.sum()))
