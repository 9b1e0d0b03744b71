"""Exact tails of many pairs, each computed by itself: by threads, or by the workers of a cluster; others are drawn.

The matrix travels to a worker once, and then the places of pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from registry.arrays import Ints
from registry.parallel.execution import Execution
from registry.significance.base import Observed, ObservedPairs, Settings, Tail
from registry.significance.results import Tails

Exact = Callable[[Observed, Settings], Tail | None]


def exact_or_drawn(exact: Exact, draw: Callable[[ObservedPairs], Tails], pairs: ObservedPairs, places: Ints,
                   settings: Settings, what: str) -> Tails:
    """Compute the exact tails of some pairs, where there are any, and draw those of all others.

    Args:
        exact: A function of a module, from a pair to its tail, or None.
        draw: Gives the tails of pairs that are drawn.
        pairs: All pairs.
        places: Of those whose exact tails are tried.
        settings: The settings of the test, and who computes exact tails.
        what: They are, which is told with the progress.
    """
    execution, sent = settings.execution, pairs
    if execution.cluster is not None:  # shared resamples and who computes do not travel
        sent = replace(pairs, matrix=replace(pairs.matrix, resampled=None))
        settings = replace(settings, execution=Execution(workers=1))
    tried = execution.map(partial(_tail, exact, sent, settings), places.tolist(), what)
    found = {n: tail for n, tail in zip(places.tolist(), tried, strict=True) if tail is not None}
    parts = [(np.array(list(found), dtype=np.int64), Tails.of(list(found.values())))]
    if len(drawn := np.setdiff1d(np.arange(len(pairs)), list(found))):
        parts.append((drawn, draw(pairs[drawn])))
    return Tails.joined(len(pairs), parts)


def _tail(exact: Exact, pairs: ObservedPairs, settings: Settings, n: int) -> Tail | None:
    return exact(pairs[n], settings)
