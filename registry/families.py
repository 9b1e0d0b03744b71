"""The families of sufficient statistics: the few shapes that serve every metric.

A metric is a function of statistics that add up over items; all metrics of one family share one wide table, so a new
metric of a known family needs no migration. Integers are stored as they are; other numbers as multiples of 2^-30, which
makes their sums exact in float64 (below 2^23) and independent of order, block size, threads and BLAS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESOLUTION = 2.0**-30
LARGEST_WHOLE, LARGEST_OTHER = 2.0**52, 2.0**22  # from here on statistics are refused: their sums would not be exact


@dataclass(frozen=True)
class Family:
    """One shape of statistics.

    Attributes:
        name: The family, and the end of its table's name, `statistics_<name>`.
        columns: What is kept for each item, in the order in which metrics give and take it.
        integer: Whether every column is a count.
    """

    name: str
    columns: tuple[str, ...]
    integer: bool = True


def _numbered(name: str, last: int) -> tuple[str, ...]:
    return tuple(f"{name}_{n}" for n in range(1, last + 1))


def _stages(name: str) -> tuple[str, ...]:
    return _numbered(name, 4)


# Character n-grams of chrF up to order 6 and word n-grams (chrF++) up to order 2, as sacrebleu lays them out.
_CHRF = tuple(
    f"{level}_{part}_{order}"
    for level, orders in (("char", 6), ("word", 2))
    for order in range(1, orders + 1)
    for part in ("hyp", "ref", "match")
)
# What METEOR 1.5 counts: words of the system (test) and of the reference, matched in up to four stages.
_METEOR = (
    "test_length", "reference_length", "test_function_words", "reference_function_words",
    *_stages("test_content_matches"), *_stages("reference_content_matches"),
    *_stages("test_function_matches"), *_stages("reference_function_matches"),
    "chunks", "test_word_matches", "reference_word_matches",
)

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("ratio", ("numerator", "denominator"), integer=False),
        Family("prf", ("true_positives", "predicted", "gold")),
        Family("alignment", ("sure_hits", "possible_hits", "predicted", "sure")),
        Family("bleu", ("hyp_len", "ref_len", *_numbered("correct", 4), *_numbered("total", 4))),
        Family("chrf", _CHRF),
        Family("meteor", _METEOR, integer=False),
        Family("additive", _numbered("value", 16), integer=False),
        Family("confusion", ("gold_label", "predicted_label")),
        Family("pair", ("x", "y"), integer=False),
    )
}


def to_lattice(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to multiples of 2^-30, half to even; whole numbers stay as they are.

    Raises:
        ValueError: A value is not finite, or too large for its sums to be exact.
    """
    import numpy as np

    if not np.isfinite(values).all():
        raise ValueError("a statistic is not a finite number")
    if np.abs(values).max(initial=0) >= LARGEST_WHOLE:
        raise ValueError("a statistic reaches 2^52: its sums would not be exact")
    if np.abs(values[values != np.rint(values)]).max(initial=0) >= LARGEST_OTHER:
        raise ValueError("a statistic that is no whole number reaches 2^22: its sums would not be exact")
    return np.rint(values / RESOLUTION) * RESOLUTION
