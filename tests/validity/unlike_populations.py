"""Populations whose systems are equal and unlike, and of answers that are tested one by one."""

from functools import cache

import numpy as np
from scipy import special
from scipy.optimize import brentq

from registry.metrics import BLEU, BalancedAccuracy, LabelF
from tests.validity.populations import (
    PRECISION,
    Population,
    candidates,
    correlated,
    over_one,
    quotient_of,
    ratio,
)

MACRO_PRIORS = np.array([0.6, 0.3, 0.1])
SHORT = 0.85  # the length of the shorter system's segments, of the reference's
MANY = 100_000  # segments that stand for a test set without end


def unequal_bleu(units):
    """Equal BLEU: one system translates all with a quality of 0.66, the other one leaves words out and errs less."""
    def draw(rng, runs):
        qualities = (0.66, _quality_of_the_short())  # here, as it takes half a second
        return np.stack([_segments(rng, runs, units, *of) for of in zip(qualities, (1.0, SHORT), strict=True)], axis=2)

    return Population(f"equal BLEU, other precision and length, {units} segments", (1.0, 1.0), draw, BLEU().score,
                      family="bleu", score_range=BLEU.score_range)


def _segments(rng, runs, units, quality, length):
    """BLEU's statistics of one system's segments, as `populations.translations` makes them."""
    reference = rng.integers(5, 26, (runs, units))
    ours = np.maximum(1, np.rint(length * reference).astype(int) + rng.integers(-2, 3, (runs, units)))
    ease = rng.uniform(-0.2, 0.2, (runs, units)) + quality
    totals = [np.maximum(ours - n, 0) for n in range(4)]
    matches = [rng.binomial(ours, ease)]
    for total in totals[1:]:
        matches.append(rng.binomial(np.minimum(matches[-1], total), ease))
    return np.stack([ours, reference, *matches, *totals], axis=-1)


@cache
def _quality_of_the_short():
    """The quality that makes up for what is left out, by halving an interval over the same segments."""
    def score(quality, length):
        sums = _segments(np.random.default_rng(0), 1, MANY, quality, length).sum(axis=(0, 1))
        return BLEU().score(sums.astype(float))

    aim, low, high = score(0.66, 1.0), 0.66, 0.79
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if score(middle, SHORT) < aim else (low, middle)
    return low


def unequal_macro_f1(units):
    """Equal macro-F1: one system is right on 80 % of each of three classes, the other one finds half of the rarest."""
    def score(found):
        joint = MACRO_PRIORS[:, None] * found
        return float(LabelF().score(np.stack([np.diag(joint), joint.sum(axis=0), MACRO_PRIORS], axis=-1).reshape(-1)))

    def rarely(share):
        return np.array([[share, 1 - share, 0], [1 - share, share, 0], [0.25, 0.25, 0.5]])

    even = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    answers = np.stack([even, rarely(brentq(lambda share: score(rarely(share)) - score(even), 0.5, 1))]).cumsum(axis=2)

    def draw(rng, runs):
        one, gold = np.eye(3), rng.choice(3, (runs, units), p=MACRO_PRIORS)
        said = np.stack([(rng.random((runs, units, 1)) > of[gold][..., :2]).sum(axis=2) for of in answers], axis=2)
        there, said = np.broadcast_to(one[gold][:, :, None], (*said.shape, 3)), one[said]
        return np.stack([there * said, said, there], axis=-1).reshape(runs, units, 2, 9)

    return Population(f"equal macro-F1, one finds half of the rarest class, {units} items", (score(even),) * 2, draw,
                      LabelF().score, family="confusion", score_range=LabelF.score_range, classes=LabelF.combines)


def rare_class(units, rare, recalls):
    """Balanced accuracy of three classes, the last of which has so many items; `recalls` by system and class.

    Wrong answers are the next class's label.
    """
    prior, recalls = np.array([(1 - rare / units) / 2] * 2 + [rare / units]), np.array(recalls)

    def draw(rng, runs):
        gold = (rng.random((runs, units, 1)) > np.cumsum(prior)[:2]).sum(axis=2)
        shared, own = rng.random((runs, units, 1)), rng.random((runs, units, len(recalls)))
        ease = (shared + own) / 2  # made uniform again
        ease = np.where(ease < 0.5, 2 * ease**2, 1 - 2 * (1 - ease) ** 2)
        said = np.where(ease < recalls[:, gold].transpose(1, 2, 0), gold[..., None], (gold[..., None] + 1) % 3)
        one = np.eye(3)
        there, said = np.broadcast_to(one[gold][:, :, None], (*said.shape, 3)), one[said]
        return np.stack([there * said, said, there], axis=-1).reshape(runs, units, len(recalls), 9)

    same = "exchangeable" if len({tuple(of) for of in recalls}) == 1 else "one better at rare items"
    return Population(f"balanced accuracy, {rare} of {units} items of the rarest class, {same}",
                      tuple(np.round(recalls.mean(axis=1), 12)), draw, BalancedAccuracy().score, family="confusion",
                      score_range=BalancedAccuracy.score_range, classes=BalancedAccuracy.combines)


def one_answer_each(units, accuracy=0.5):
    """One answer of either system to every item, as responses: the same one, or two of which one or none is right."""
    def draw(rng, runs):
        shares = (0.3, accuracy, accuracy / (1 - accuracy))
        same, first, second = (rng.random((runs, units, 1)) < share for share in shares)
        right = np.concatenate([first, ~first & second], axis=2)  # of the first's answer, and of another one
        given = np.concatenate([np.ones_like(right), np.zeros_like(right)], axis=2).reshape(runs, units, 2, 2)
        given[..., 1] = np.where(same, [[[1, 0]]], [[[0, 1]]])
        given, right = given.reshape(runs, 2 * units, 2), right.reshape(runs, 2 * units, 1)
        return np.stack([given * right, given, np.broadcast_to(right, given.shape)], axis=-1)

    return Population(f"one answer of either system to {units} items", (accuracy, accuracy), draw,
                      quotient_of(PRECISION), PRECISION, "prf")


def responses(units):
    """Candidates that are judged once, each of an item of its own."""
    of = candidates(units)
    return Population(of.name, of.truth, of.draw, of.score, of.quotient, of.family, answers_to=np.arange(units))


def domains(units, gain=0.25):
    """Right or wrong answers in two domains of fixed size; the systems are good at one each."""
    of = np.arange(units) % 2
    accuracies = 0.6 + gain * np.stack([of, 1 - of], axis=-1)

    def draw(rng, runs):
        ease = correlated(rng, (runs, units, 2), 0.5)
        return over_one((ease < special.ndtri(accuracies)).astype(float))

    return ratio(f"two domains, {units} items", accuracies.mean(axis=0), draw, strata=of)
