"""A metric that computes something else has another revision: scores that it computed before are stale."""

import json

import pytest

from registry.metrics import METRICS
from tests.metrics.revisions import FILE, UNPINNED, measured


@pytest.fixture(scope="module")
def now():
    return measured()


def test_every_metric_is_pinned(now):
    assert now.keys() == set(METRICS) - UNPINNED


def test_what_metrics_compute_changes_with_their_revision_only(now):
    before = json.loads(FILE.read_text())
    changed = sorted(name for name in now if now[name] != before[name])
    silent = [name for name in changed if now[name][0] == before[name][0]]
    assert not silent, f"{silent} compute something else: raise their revision; then python -m tests.metrics.revisions"
    assert not changed, "run python -m tests.metrics.revisions"
