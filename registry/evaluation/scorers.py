"""What computed a score: the revision of its metric, and the versions of the libraries that this calls.

A metric gets another `revision` when what it computes changes; a test compares what every metric gives with what it
gave under its revision. numpy and scipy do arithmetic; that their versions make no difference, `registry verify` shows.
What computed a score stands in the log, in the entry `score` of its run.
"""

from __future__ import annotations

from functools import cache

from sqlalchemy import Connection

from registry.metrics import Metric
from registry.plugins import installed_version, versions
from registry.store.log import read_entries

Scorer = dict[str, str]  # `revision` of the metric; of every library, by its name, the version

_version = cache(installed_version)


def scorer(metric: Metric) -> Scorer:
    """Return what computes a metric's scores in this program."""
    original = metric.original
    return ({"revision": str(original.revision)} | {name: _version(name) or "none" for name in original.libraries}
            | versions([metric.name, original.name]))


def recorded(connection: Connection) -> dict[int, dict[str, Scorer]]:
    """Return what computed the scores of every run, by the metrics' names; none of what a purge blanked."""
    found: dict[int, dict[str, Scorer]] = {}
    for of in read_entries(connection, "score"):
        found.setdefault(of.run_id, {}).update(of.details.get("scorers", {}))
    return found


def difference(before: Scorer, now: Scorer) -> str:
    """Say what differs between two scorers; empty if nothing does."""
    return ", ".join(f"{'its revision' if name == 'revision' else name} was {before.get(name, 'none')}, and is "
                     f"{now.get(name, 'none')}" for name in sorted(before.keys() | now.keys())
                     if before.get(name) != now.get(name))
