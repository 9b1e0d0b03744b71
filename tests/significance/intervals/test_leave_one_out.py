"""Intervals by range, derived again from the scores without each item, and the warnings of them."""

import numpy as np
import pytest
from scipy import stats

from registry.metrics import BLEU, MCC, WER, Kappa, LabelF
from registry.significance.intervals import ClosedForm
from tests.significance.matrices import matrix_by, of_classes


def leave_one_out(metric, statistics):
    """The influence of every item on every score, [items, systems], from the scores without each item."""
    sums = statistics.sum(axis=0)
    moved = np.stack([metric.score(sums) - metric.score(sums - of) for of in statistics])
    return (moved - moved.mean(axis=0)) * (len(moved) - 1) / len(moved)


def one_hot_statistics(rng, n):
    gold = rng.integers(0, 3, n)
    predicted = np.where(rng.random((n, 2)) < (0.85, 0.7), gold[:, None], rng.integers(0, 3, (n, 2)))
    said, there = np.eye(3)[predicted], np.broadcast_to(np.eye(3)[gold][:, None], (n, 2, 3))
    return np.stack([there * said, said, there], axis=-1).reshape(n, 2, 9)


def bleu_statistics(rng, n):
    length = np.broadcast_to(rng.integers(6, 20, (n, 1)), (n, 2))
    hits = [rng.binomial(length - k, share) for k, share in enumerate((0.8, 0.6, 0.5, 0.4))]
    return np.stack([length, length, *hits, *(length - k for k in range(4))], axis=-1).astype(float)


def word_statistics(rng, n):
    words = np.broadcast_to(rng.integers(4, 20, (n, 1)), (n, 2))
    return np.stack([rng.binomial(words, (0.1, 0.2)), words], axis=-1).astype(float)


@pytest.mark.parametrize(("metric", "draw"), [
    (LabelF(), one_hot_statistics), (MCC(), one_hot_statistics), (Kappa(), one_hot_statistics),
    (BLEU(), bleu_statistics)], ids=lambda of: getattr(of, "title", ""))
def test_bounded_scores_from_scores_without_each_item(metric, draw):
    """Both ends solve (s - y)^2 = t^2 (y - L)(U - y) / n_e; a difference has Zou and Donner's ends with their r."""
    n = 60
    statistics, t = draw(np.random.default_rng(6), n), stats.t.ppf(0.975, n - 1)
    moved, scores, (bottom, top) = leave_one_out(metric, statistics), metric.score(statistics.sum(axis=0)), (
        metric.score_range)
    squares = n / (n - 1) * (moved**2).sum(axis=0)
    of = ClosedForm(matrix_by(metric, statistics))
    low, high = of.scores()
    for system, s in enumerate(scores):
        trials = (s - bottom) * (top - s) / squares[system]
        for y in (low[system], high[system]):
            assert (s - y)**2 == pytest.approx(t**2 * (y - bottom) * (top - y) / trials, rel=1e-3)
    r = np.corrcoef(moved.T)[0, 1]
    ends = []
    for first, other in ((0, 1), (1, 0)):
        a, b = scores[first] - low[first], high[other] - scores[other]
        ends.append(scores[first] - scores[other] - np.sqrt(a**2 - 2 * r * a * b + b**2))
    found = of.differences(np.array([0]), np.array([1]))
    assert (found.low[0], found.high[0]) == pytest.approx((ends[0], -ends[1]), rel=1e-3)


def test_word_error_rates_from_rates_without_each_item():
    n = 60
    statistics, t = word_statistics(np.random.default_rng(7), n), stats.t.ppf(0.975, n - 1)
    metric = WER(references=("ref",))
    scores = metric.score(statistics.sum(axis=0))
    residuals = (statistics[..., 0] - scores * statistics[..., 1]) / statistics[..., 1].sum(axis=0)
    squares = n / (n - 1) * (residuals**2).sum(axis=0)
    c = squares / scores
    reach = t * np.sqrt(squares + t**2 * c**2 / 4)
    expected = scores + t**2 * c / 2 - reach, scores + t**2 * c / 2 + reach
    assert np.array(ClosedForm(matrix_by(metric, statistics)).scores()) == pytest.approx(np.array(expected), rel=1e-4)


def test_lost_utterances_and_rare_classes_are_warned_of():
    """One utterance of 30 lost; MCC with 3 of 300 positives, and not with 20."""
    words = word_statistics(np.random.default_rng(8), 30)[:, :1]
    of = ClosedForm(matrix_by(WER(references=("ref",)), words))
    assert of.count_skewed() == 0
    words[0, 0] = 20, 20
    assert ClosedForm(matrix_by(WER(references=("ref",)), words)).count_skewed() == 1
    for positives, n_warned in ((3, 1), (20, 0)):
        gold = (np.arange(300) < positives).astype(int)
        predicted = np.where(np.arange(300) % 50 == 2, 1 - gold, gold)[:, None]
        assert ClosedForm(of_classes(MCC(), gold, predicted)).count_skewed() == n_warned
