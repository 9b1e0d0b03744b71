"""Scores in percent next to fractions."""

from __future__ import annotations

from collections.abc import Sequence

_APART = 20.0  # times; scores on one scale seldom differ by so much
_PERCENT = 100.0


def describe_scales(names: Sequence[str], scores: Sequence[float]) -> str | None:
    """Say that some systems seem to have scores in percent and others fractions; None if they do not.

    All fractions are in (0, 1], all percentages in (1, 100] and at least 20 times as large.

    >>> describe_scales(["aspen", "birch"], [0.8469, 80.13])
    "'birch' seems to have scores in percent, and 'aspen' fractions: give all scores on one scale"
    >>> describe_scales(["aspen", "birch"], [0.5, 2.0])
    """
    by_score = sorted((score, name) for score, name in zip(scores, names, strict=True) if score == score)
    low = [(score, name) for score, name in by_score if score <= 1]
    high = by_score[len(low):]
    if not low or not high or low[0][0] <= 0 or high[-1][0] > _PERCENT or high[0][0] < _APART * low[-1][0]:
        return None
    return (f"{high[0][1]!r} seems to have scores in percent, and {low[-1][1]!r} fractions: give all scores on one "
            "scale")
