"""What people read about the direction of a leaderboard's one-sided tests."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from registry.errors import listed
from registry.evaluation.comparing.directions import OBSERVED
from registry.leaderboards.comparison import Comparison

_NAMED = 5  # baselines in a sentence
_OTHERS = " All other pairs are tested two-sided."


def takes_observed(of: Comparison) -> bool:
    """Return whether the tests take their direction from the data."""
    return of.alternative == OBSERVED


def describe_direction(of: Comparison, request: str, rows: Sequence[Mapping[str, Any]],
                       names: Sequence[str]) -> str:
    """Say which pairs are tested one-sided and why; empty if all are tested two-sided.

    Args:
        of: The comparison.
        request: What was asked of it, as JSON.
        rows: The systems, with `team`, `system` and `kind`.
        names: What people call the systems.
    """
    if takes_observed(of):
        return (f"Each test takes its direction from the data, so its error rate is up to twice {of.alpha:g} "
                "(8.7 % measured at 5 %).")
    if of.alternative == "two-sided":
        return ""
    candidate = json.loads(request)["significance"].get("candidate")
    if candidate is not None:
        name = next(name for row, name in zip(rows, names, strict=True)
                    if candidate in (row["system"], f"{row['team']}/{row['system']}"))
        return (f"Pairs with the candidate {name!r} are tested one-sided: is it better than the other system?"
                + (_OTHERS if len(rows) > 2 else ""))
    baselines = [repr(name) for row, name in zip(rows, names, strict=True) if row["kind"] == "baseline"]
    which = f"the baseline {baselines[0]}" if len(baselines) == 1 else f"a baseline ({listed(baselines, _NAMED)})"
    is_all = len(baselines) * (len(rows) - len(baselines)) == math.comb(len(rows), 2)
    return f"Pairs with {which} are tested one-sided: is the other system better?" + ("" if is_all else _OTHERS)
