"""Measures of labels by class against scikit-learn, on the labels themselves and on resamples of them."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn

from registry.errors import InputError
from registry.evaluation.matrices import Counts, build_matrix, compute_scores
from registry.evaluation.scoring.measure import LabelNumbers
from registry.items import Answer, Item
from registry.metrics import MCC, METRICS, BalancedAccuracy, Kappa, LabelF, LabelP, LabelR
from registry.significance import Bootstrap, Settings
from registry.values import parse

NUMBERS = {"x": 7, "y": 3, "z": 5, "w": 9}
NAMES = {number: name for name, number in NUMBERS.items()}

labels = st.sampled_from(sorted(NUMBERS))
pairs = st.lists(st.tuples(labels, labels), min_size=1, max_size=12)


def by_class(function, **fixed):
    return lambda gold, said, given: function(gold, said, labels=given, zero_division=0, **fixed)


PEERS = [
    *[(metric(average=average, labels=given), by_class(peer, average=average), given)
      for metric, peer in ((LabelP, sklearn.precision_score), (LabelR, sklearn.recall_score),
                           (LabelF, sklearn.f1_score))
      for average in ("macro", "micro", "weighted") for given in ((), ("y",), ("x", "w"))],
    (LabelF(beta=2), by_class(sklearn.fbeta_score, average="macro", beta=2), ()),
    (BalancedAccuracy(), lambda gold, said, given: sklearn.balanced_accuracy_score(gold, said), ()),
    (MCC(), lambda gold, said, given: sklearn.matthews_corrcoef(gold, said), ()),
    (Kappa(), lambda gold, said, given: sklearn.cohen_kappa_score(gold, said), ()),
]
peers = pytest.mark.parametrize(("metric", "peer", "given"), PEERS, ids=[repr(metric) for metric, *_ in PEERS])


def counted(metric, rows):
    codes = metric.corpus_statistics([Item(str(n), gold) for n, (gold, _) in enumerate(rows)], [
        None if said is None else Answer(str(n), said) for n, (_, said) in enumerate(rows)])
    labels = LabelNumbers(NUMBERS)
    stored = labels.encode(codes)
    np.testing.assert_array_equal(stored, [[NUMBERS[gold], NUMBERS.get(said, 0)] for gold, said in rows])
    np.testing.assert_array_equal(labels.decode(stored), codes)
    return labels.count_classes(metric, stored)


def expected(peer, given, rows):
    gold, said = zip(*rows, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes that one side lacks
        return peer(list(gold), [str(label) for label in said], list(given) or None)


@peers
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_scikit_learns(metric, peer, given, seed):
    rng = np.random.default_rng(seed)
    rows = [tuple(row) for row in rng.choice(sorted(NUMBERS)[:4 - seed % 2], (50, 2))] + [("x", "x")] * 20
    assert metric.score(counted(metric, rows).sum(axis=0)) == pytest.approx(expected(peer, given, rows), rel=1e-12)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(pairs)
def test_scores_are_scikit_learns_however_few_labels_there_are(rows):
    for metric, peer, named in PEERS:
        theirs = expected(peer, named, rows)
        if named and metric.average == "micro" and not any(set(row) & set(named) for row in rows):
            theirs = np.nan  # 0/0, which scikit-learn is told to take as 0
        if named and metric.average == "weighted" and not any(gold in named for gold, _ in rows):
            theirs = np.nan  # 0/0 too: no class has a weight
        ours = metric.score(counted(metric, rows).sum(axis=0))
        if np.isnan(ours) and metric.name in ("LabelP", "LabelR") and metric.average == "micro":
            continue  # 0/0 again: nothing predicted, or nothing to be found
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12, nan_ok=True), metric


@peers
def test_a_resample_is_scored_as_its_items_are(metric, peer, given):
    rng = np.random.default_rng(5)
    rows = [tuple(row) for row in rng.choice(sorted(NUMBERS), (30, 2), p=[0.1, 0.2, 0.3, 0.4])]
    weights = rng.multinomial(30, np.full(30, 1 / 30), size=4)
    found = metric.score(weights @ counted(metric, rows))
    for score, of_resample in zip(found, weights, strict=True):
        held = [row for row, n in zip(rows, of_resample, strict=True) for _ in range(n)]
        assert score == pytest.approx(expected(peer, given, held), rel=1e-12)


@peers
def test_no_answer_is_a_class_that_the_gold_never_has(metric, peer, given):
    """For macro averages it is none of the classes; for the others it is what scikit-learn makes of another label."""
    rows = [("x", "x"), ("x", None), ("y", "y"), ("y", "x"), ("z", None), ("z", "z"), ("w", "y"), ("w", "w")]
    named = given or (tuple(NUMBERS) if metric.name.startswith("Label") else ())
    assert metric.score(counted(metric, rows).sum(axis=0)) == pytest.approx(expected(peer, named, rows), rel=1e-12)


def test_a_system_is_scored_the_same_whatever_labels_others_invent():
    rows = [("x", "x"), ("y", "x"), ("x", "y"), ("y", "y"), ("y", "y")]
    for metric, *_ in PEERS:
        if not getattr(metric, "labels", ()):
            statistics = np.array([[NUMBERS[a], NUMBERS[b]] for a, b in rows], float)
            narrow = LabelNumbers({"x": 7, "y": 3}).count_classes(metric, statistics)
            assert metric.score(narrow.sum(axis=0)) == metric.score(counted(metric, rows).sum(axis=0))


@pytest.mark.parametrize("n_items", [0, 1, 4096, 10_000])
def test_counts_are_summed_some_items_at_a_time(n_items):
    labels = LabelNumbers(NUMBERS)
    statistics = np.random.default_rng(1).choice([0, 3, 5, 7], (n_items, 2)).astype(float)
    expected = labels.count_classes(LabelF(), statistics).sum(axis=0)
    np.testing.assert_array_equal(labels.sum_classes(LabelF(), statistics), expected)


def test_the_bootstrap_resamples_macro_f1():
    """The interval of the score holds it, and identical systems have p = 1."""
    rng = np.random.default_rng(6)
    gold = rng.choice([7, 3, 5], 200)
    said = [np.where(rng.random(200) < share, gold, 3) for share in (0.9, 0.7, 0.7)]
    said[2] = said[1]
    statistics = np.stack([np.stack([gold, one], -1) for one in said], axis=1).astype(float)
    matrix = build_matrix(LabelF(), Counts.from_statistics(LabelNumbers(NUMBERS).count_classes(LabelF(), statistics)))
    names = [[NAMES[n] for n in one] for one in (gold, *said)]
    assert matrix.scores() == pytest.approx([sklearn.f1_score(names[0], one, average="macro") for one in names[1:]])
    low, high = Bootstrap().score_intervals(matrix, Settings(resamples=500)).T
    assert (low < matrix.scores()).all()
    assert (matrix.scores() < high).all()
    better, same = Bootstrap().run(matrix, [(0, 1), (1, 2)], Settings(resamples=500))
    assert better.p_value < 0.01
    assert (same.p_value, same.n_discordant) == (1.0, 0)


def test_names_read_back_and_labels_stand_once():
    for metric, *_ in PEERS:
        assert parse("metric", METRICS, repr(metric)) == metric
    with pytest.raises(InputError, match=r"names a label twice \(x, x\)"):
        LabelF(labels=("x", "x"))


def test_no_item_has_no_score():
    for metric, _, named in PEERS:
        if not named:
            nothing = counted(metric, [("x", "x")])[:0, None]
            assert np.isnan(compute_scores(metric, Counts.from_statistics(nothing))).all()
