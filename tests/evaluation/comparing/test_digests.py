"""The digest of a comparison, made from all facts that its numbers depend on, and from nothing else.

Stored comparisons are found by their digests. A new setting whose default is None leaves these as they are.
"""

import json
from dataclasses import replace
from hashlib import sha256

import pytest

from registry.evaluation.comparing.board_keys import BoardFamily, BoardKey
from registry.evaluation.comparing.settings import Request
from registry.manifest import Significance
from registry.store import catalog
from registry.store.catalog import DeclaredMetric, GoldRevisionRow, Member, ScoreRow, TaskRow

TASK = TaskRow(task_id=1, slug="t", title="", version="2", manifest="", manifest_digest="", seed=7)
TEST_SET = catalog.TestSetRow(test_set_id=1, name="test", cluster_attribute=None, gold_revision_id=1)
GOLD = GoldRevisionRow(gold_revision_id=1, digest="sha256:gold", reader="")
METRIC = DeclaredMetric("acc", is_primary=True, metric_id=1, name="Accuracy", family="confusion", better="higher")
MEMBERS = [Member(f"t/test/{name}/{name}@1", None, name, name, "1", "primary", name == "b", "reject", n, n, None)
           for n, name in enumerate("ab", 1)]
SCORES = {n: ScoreRow(scoring_id=n, n_items=6, digest=f"sha256:{name}", step=1.0) for n, name in enumerate("ab", 1)}
KEY = BoardKey(TASK, TEST_SET, GOLD, METRIC, None, None, MEMBERS, SCORES)
REQUEST = Request(Significance(seed=7), {})
FACTS = {
    "task": ["t", "2"], "test_set": "test", "gold": "sha256:gold", "track": None, "facet": None,
    "metric": ["acc", "Accuracy"], "cluster": None, "rank_baselines": True,
    "members": [["t/test/a/a@1", "primary", "sha256:a", 6], ["t/test/b/b@1", "primary", "sha256:b", 6]],
    "significance": {
        "alpha": 0.05, "alternative": "two-sided", "confidence": 0.95, "correction": "holm", "interval": "dual",
        "resamples": 100_000, "seed": 7, "test": "permutation", "unit": "item"}}


def digest_of(facts):
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + sha256(text.encode()).hexdigest()


def request(**settings):
    return replace(REQUEST, significance=Significance(seed=7, **settings))


def significance(**settings):
    return FACTS | {"significance": FACTS["significance"] | settings}


@pytest.mark.parametrize(("key", "asked", "facts"), [
    (KEY, REQUEST, FACTS),
    (KEY, request(alpha=0.01, correction="bonferroni"), significance(alpha=0.01, correction="bonferroni")),
    (KEY, request(strata="genre", test="bootstrap"), significance(strata="genre", test="bootstrap")),
    (KEY, request(resolve=200_000, precision=0.01), significance(resolve=200_000, precision=0.01)),
    (KEY, request(precision=0.01), FACTS),  # without `resolve` nothing depends on it
    (KEY, replace(REQUEST, rank_late=False), FACTS | {"late": ["t/test/b/b@1"]}),
    (KEY, replace(REQUEST, rank_baselines=False), FACTS | {"rank_baselines": False}),
    (replace(KEY, track="open", facet=("genre", "new")), REQUEST, FACTS | {"track": "open", "facet": ["genre", "new"]}),
    (replace(KEY, family=BoardFamily(("test", "dev"), ("x", "y"), 2)), REQUEST, FACTS | {"family": [["x", "y"], []]}),
])
def test_a_digest_has_these_facts(key, asked, facts):
    assert key.digest(asked) == digest_of(facts)


def test_a_digest_without_random_draws_depends_on_no_setting_of_these():
    left = {name: value for name, value in FACTS["significance"].items() if name not in (
        "seed", "resamples", "interval", "confidence")}
    for asked in (REQUEST, request(resamples=2000, confidence=0.9)):
        assert KEY.digest(asked, is_random=False) == digest_of(FACTS | {"significance": left})
