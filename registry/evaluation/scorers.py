"""Describe the code that computed a score, to find scores that are outdated.

The description has the revision of the metric and the versions of the libraries that the metric uses. A metric gets a
new `revision` when its results change. numpy and scipy are not listed, because their versions do not change scores, as
`registry verify` shows. The command that computes scores writes the description to the log, in an entry `score`.
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
    """Return the revision of a metric's code, and the versions of its libraries.

    Example: `{"revision": "2", "sacrebleu": "2.4.0"}`.
    """
    original = metric.original
    return ({"revision": str(original.revision)} | {name: _find_version(name) or "none" for name in original.libraries}
            | versions([metric.name, original.name]))


def load_scorers(connection: Connection) -> dict[int, dict[str, Scorer]]:
    """Load the versions of the code that computed the stored scores.

    Returns:
        For each command (`run_id`) and metric name: the revision of the metric and the versions of its libraries.
            Versions that a purge has deleted are absent.
    """
    scorers: dict[int, dict[str, Scorer]] = {}
    for entry in read_entries(connection, "score"):
        scorers.setdefault(entry.run_id, {}).update(entry.details.get("scorers", {}))
    return scorers


def describe_difference(stored: Scorer, installed: Scorer) -> str:
    """Describe how two versions of a metric's code differ; empty if they are equal.

    Args:
        stored: The revision of the metric and the versions of its libraries that computed a stored score.
        installed: The installed revision and versions.
    """
    return ", ".join(f"{'its revision' if name == 'revision' else name} was {stored.get(name, 'none')}, and is "
                     f"{installed.get(name, 'none')}" for name in sorted(stored.keys() | installed.keys())
                     if stored.get(name) != installed.get(name))
