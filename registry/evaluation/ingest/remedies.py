"""What to do about items without an answer: only what would help, and not at the cost of all other systems."""

from __future__ import annotations

from collections.abc import Sequence

from registry.metrics import Metric

_MANY = 0.05  # of the items: to leave so many out for all systems would make another test set


def for_missing(n_missing: int, n_items: int, metrics: Sequence[Metric]) -> str:
    """Say what to do about a file without answers to `n_missing` of `n_items`, where `missing = "reject"` holds."""
    add, many = "add it" if n_missing == 1 else "add them", n_missing >= _MANY * n_items
    without = [metric for metric in metrics if not metric.has_worst]
    policies = []
    if all(hasattr(metric, "worst") for metric in without):
        told = " and ".join(f"the option worst of {metric.name}" for metric in without)
        policies.append('missing = "worst"' + (f" (with {told})" if told else ""))
    if not many:
        policies.append('"drop"' if policies else 'missing = "drop"')
    cost = f'; "drop" would leave out {n_missing} of {n_items} items for all systems' if many else ""
    return add + (f", or let the manifest say {' or '.join(policies)}" if policies else "") + cost
