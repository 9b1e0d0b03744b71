"""Which inner loops of resampling work best: those in numpy, or compiled ones where numba is (the extra `fast`).

Both give the same whole numbers. Compiled ones are worth the import of numba, and of what it compiled before, where
there is much to do.
"""

from __future__ import annotations

from functools import cache

from registry.significance.resampling.compiled_loops import compiled
from registry.significance.resampling.plain_loops import PLAIN, Loops

ENOUGH = 2**30  # elements from which on compiled loops gain more than their import takes, some 0.6 s


def loops(elements: float) -> Loops:
    """The loops for work on so many elements."""
    return _best() if elements >= ENOUGH else PLAIN


@cache
def _best() -> Loops:
    try:
        return compiled()
    except (ImportError, RuntimeError):
        return PLAIN
