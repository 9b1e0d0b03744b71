"""Classes of few items under scores that count classes alike: by which metrics they are told of, and from when not."""

from dataclasses import replace

import numpy as np
import pytest

from registry.metrics import MCC, BalancedAccuracy, Kappa, LabelF
from registry.significance import Bootstrap, Crossed, Permutation, Settings, StatisticMatrix
from registry.significance.diagnostics.assumptions import misuses


def classified(metric, sizes, wrong=3):
    """Two systems on classes of these sizes; some items of each class are taken for the next one, by B one more.

    Of the first class B takes up to six more, one in a cluster of five.
    """
    gold = np.repeat(np.arange(len(sizes)), sizes)
    place = np.concatenate([np.arange(size) for size in sizes])
    more = (gold == 0) & (place % 5 == 0) & (place >= 10) & (place < 40)
    predicted = [np.where(of, (gold + 1) % len(sizes), gold) for of in (place < wrong, (place < wrong + 1) | more)]
    one = np.eye(len(sizes))
    counts = [np.stack([one[gold] * one[said], one[said], one[gold]], axis=-1).reshape(len(gold), -1)
              for said in predicted]
    return StatisticMatrix(np.stack(counts, axis=1), metric.score, family="confusion")


@pytest.mark.parametrize(("metric", "sizes", "told"), [
    (BalancedAccuracy(), (100, 90, 19), True), (BalancedAccuracy(), (100, 90, 20), False),
    (LabelF(), (100, 90, 5), True), (LabelF(), (40, 30, 20), False),
    (BalancedAccuracy(), (10, 8, 9), True),
    (BalancedAccuracy(), (100, 5, 90, 0), True),  # the gold lacks a class that systems say
    (LabelF(average="micro"), (100, 90, 5), False), (MCC(), (100, 90, 5), False), (Kappa(), (100, 90, 5), False)])
def test_it_is_told_where_a_rare_class_counts_as_much_as_others(metric, sizes, told):
    """If all classes are rare, none can make up for the others: permutation rejects 4 % or less of opposed systems."""
    m = classified(metric, sizes)
    for test, warns in ((Permutation(), told and max(sizes) >= 20), (Bootstrap(), told)):
        assert ("rare-class" in test.run(m, [(0, 1)], Settings(resamples=99))[0].messages.codes) is warns
        assert any(said.code == "rare-class" for said in misuses(test, m)) is warns


def test_a_system_with_one_label_for_all_items_raises_no_numpy_warning():
    """The sums without the rare class are those of no test set: 40 predictions for 21 items."""
    gold, predicted = np.eye(2)[np.repeat([0, 1], [19, 21])], np.eye(2)[np.ones((2, 40), dtype=int)]
    predicted[0, 0] = 1, 0
    counts = [np.stack([gold * of, of, gold], axis=-1).reshape(40, -1) for of in predicted]
    assert not misuses(Permutation(), StatisticMatrix(np.stack(counts, axis=1), MCC().score, family="confusion"))


def test_runs_do_not_make_a_class_larger():
    """Averages over four runs are kept as sums of four; whole runs are swapped on these very items."""
    m = classified(BalancedAccuracy(), (100, 90, 19))
    kept = 4 * m.statistics[:]
    fixed = replace(m, statistics=kept, multiple=4)
    runs = tuple(np.repeat(of[:, None], 4, axis=1) for of in np.moveaxis(kept / 4, 1, 0))
    random = replace(fixed, runs=runs)
    for test, among, told in ((Permutation(), fixed, True), (Permutation(), random, False), (Crossed(), random, True),
                              (Crossed(over="items"), random, True), (Crossed(over="runs"), random, False)):
        assert any(said.code == "rare-class" for said in misuses(test, among)) is told
    found = misuses(Bootstrap(), classified(BalancedAccuracy(), (80, 70, 20)))
    assert "rare-class" not in {said.code for said in found}


@pytest.mark.parametrize(("clusters", "told"), [(19, True), (20, False)])
def test_a_class_that_few_clusters_have_is_told_of_however_many_items_it_has(clusters, told):
    """Each of three classes has clusters of its own, of five items each."""
    m = classified(BalancedAccuracy(), (200, 150, 5 * clusters))
    by_cluster = replace(m, units=np.arange(len(m.statistics)) // 5).by_unit
    for test in (Permutation(), Bootstrap()):
        assert any(said.code == "rare-class-clusters" for said in misuses(test, by_cluster)) is told
        assert not any(said.code == "rare-class" for said in misuses(test, by_cluster))
        assert not any(said.code == "rare-class-clusters" for said in misuses(test, m))


@pytest.mark.parametrize(("size", "wrong", "told"), [
    (20, 4, True), (39, 4, True), (39, 5, False), (40, 4, False), (20, 17, True), (30, 12, False), (19, 4, False)])
def test_a_class_of_some_more_items_is_told_of_where_a_system_hardly_errs_in_it(size, wrong, told):
    """Where it has 20 of 400 items, recalls of 0.88 and 0.98 are told apart in 10 % at 5 %."""
    m = classified(BalancedAccuracy(), (100, 90, size), wrong)
    assert ("rare-class-errors" in Permutation().run(m, [(0, 1)], Settings(resamples=99))[0].messages.codes) is told


def test_a_third_system_does_not_change_the_note_of_a_pair():
    """200 a, 30 c and 30 d: the third system is rarely wrong in d, where the first two are not."""
    gold = [0] * 200 + [1] * 30 + [2] * 30
    systems = []
    for of_a, of_c, of_d, at in ((10, 3, 20, 0), (10, 10, 6, 10), (20, 10, 2, 20)):
        wrong = {*range(at, at + of_a), *range(200, 200 + of_c), *range(230, 230 + of_d)}
        systems.append([(label + 1) % 3 if n in wrong else label for n, label in enumerate(gold)])
    one = np.eye(3)[np.array([gold, *systems])]
    counts = np.stack([np.stack([one[0] * of, of, one[0]], axis=-1).reshape(len(gold), 9) for of in one[1:]], axis=1)
    notes = [Permutation().run(StatisticMatrix(counts[:, :n], BalancedAccuracy().score, family="confusion"), [(0, 1)],
                               Settings(resamples=99))[0].messages.codes for n in (2, 3)]
    assert "rare-class-errors" in notes[0]
    assert notes[0] == notes[1]


def test_a_class_that_only_a_third_system_names_does_not_change_the_note_of_a_pair():
    """The gold lacks that class, so only the third system's macro-F1 hangs on it; the first two differ by 20 items."""
    gold = np.repeat([0, 1], 100)
    first, second = np.where(np.arange(200) < 5, 1, gold), np.where(np.arange(200) < 25, 1, gold)
    third = np.where(np.arange(200) < 5, 2, gold)
    one = np.eye(3)
    counts = np.stack([np.stack([one[gold] * one[of], one[of], one[gold]], axis=-1).reshape(200, 9)
                       for of in (first, second, third)], axis=1)
    board = StatisticMatrix(counts, LabelF().score, family="confusion")
    of_pairs = {pair: Permutation().run(board, [pair], Settings(resamples=99))[0].messages.codes
                for pair in ((0, 1), (1, 2))}
    assert of_pairs[0, 1] == ()
    assert of_pairs[1, 2] == ("absent-class",)
