"""The code that computed a score: the revision of its metric, and the versions of the libraries that the metric uses.

A metric gets a new `revision` when its results change; a test compares every metric's results with those recorded for
its revision. numpy and scipy are not listed, because `registry verify` shows that their versions make no difference.
The log has the code of every score in the entry `score` of its run.
"""

from __future__ import annotations

from functools import cache

from sqlalchemy import Connection

from registry.metrics import Metric
from registry.plugins import installed_version, versions
from registry.store.log import read_entries

Scorer = dict[str, str]  # `revision` of the metric, and the version of every library by its name

_find_version = cache(installed_version)


def describe_scorer(metric: Metric) -> Scorer:
    """Return the installed code of a metric."""
    original = metric.original
    return ({"revision": str(original.revision)} | {name: _find_version(name) or "none" for name in original.libraries}
            | versions([metric.name, original.name]))


def load_scorers(connection: Connection) -> dict[int, dict[str, Scorer]]:
    """Load the code of the scores of every run, by the metrics' names; without entries that a purge blanked."""
    scorers: dict[int, dict[str, Scorer]] = {}
    for entry in read_entries(connection, "score"):
        scorers.setdefault(entry.run_id, {}).update(entry.details.get("scorers", {}))
    return scorers


def describe_difference(stored: Scorer, installed: Scorer) -> str:
    """Describe the differences between two versions of the code; empty if there are none."""
    return ", ".join(f"{'its revision' if name == 'revision' else name} was {stored.get(name, 'none')}, and is "
                     f"{installed.get(name, 'none')}" for name in sorted(stored.keys() | installed.keys())
                     if stored.get(name) != installed.get(name))
