"""Populations of scores whose metrics have a bounded range, or one bound: labels, recognized words, errors.

Labels and words are as hard for both systems: `correlation` is that of the latent ease.
"""

from dataclasses import replace

import numpy as np
from scipy import special

from registry.metrics import MAE, WER, BalancedAccuracy, Kappa, LabelF
from tests.validity.populations import Population, correlated, over_one, ratio

POSITIVES = (0.95, 0.05)


def labels(units, priors, accuracies, metric=None, correlation=0.5, *, fixed=False, cluster_size=1):
    """Gold labels of classes with these shares, exactly if `fixed`; a wrong label is any other one, equally often.

    A cluster of more than one item suits some systems more than others: 0.3 of the variance of their ease is its own.
    """
    metric, priors, k = metric or LabelF(), np.array(priors, dtype=float), len(priors)
    priors /= priors.sum()
    clusters = np.arange(units) // cluster_size

    def truth():
        correct = np.multiply.outer(accuracies, priors)
        wrong = np.multiply.outer(1 - np.array(accuracies), priors) / (k - 1)
        predicted = correct + wrong.sum(axis=1, keepdims=True) - wrong
        counts = np.stack([correct, predicted, np.broadcast_to(priors, correct.shape)], axis=-1)
        return tuple(metric.score(counts.reshape(len(accuracies), -1)).tolist())

    def draw(rng, runs):
        places = np.arange(0.5, units)[None] / units if fixed else rng.random((runs, units))
        gold = np.broadcast_to((places[..., None] > np.cumsum(priors)[:-1]).sum(axis=2), (runs, units))
        ease = correlated(rng, (runs, units, len(accuracies)), correlation)
        if cluster_size > 1:
            shared = rng.standard_normal((runs, clusters[-1] + 1, len(accuracies)))[:, clusters]
            ease = np.sqrt(0.7) * ease + np.sqrt(0.3) * shared
        right = ease < special.ndtri(accuracies)
        others = (gold[..., None] + rng.integers(1, k, right.shape)) % k
        one_hot = np.eye(k)
        of_gold = np.broadcast_to(one_hot[gold][:, :, None], (*right.shape, k))
        predicted = one_hot[np.where(right, gold[..., None], others)]
        return np.stack([of_gold * predicted, predicted, of_gold], axis=-1).reshape(*right.shape, 3 * k)

    name = f"{metric.title}, {k} classes, {units} items"
    return Population(name if cluster_size == 1 else f"{name} in {clusters[-1] + 1} clusters", truth, draw,
                      metric.score, family="confusion", units=None if cluster_size == 1 else clusters,
                      score_range=metric.score_range, classes=metric.combines)


def rare_label(units, rare, accuracies=(0.9, 0.85), cluster_size=1):
    """Balanced accuracy of three classes, one of which has `rare` items; the items of a cluster are of one class."""
    share = rare / units
    found = labels(units, ((1 - share) / 2, (1 - share) / 2, share), accuracies, BalancedAccuracy(), fixed=True,
                   cluster_size=cluster_size)
    return replace(found, name=f"{found.name}, {rare} of one class")


def words(units, rates=(0.1, 0.08), lost=0.0):
    """Word errors of utterances of 3 to 24 words, some of which are hard; of `lost` ones every word is an error."""
    def draw(rng, runs):
        length = rng.integers(3, 25, (runs, units, 1))
        rate = np.minimum(1, 2 * rng.beta(2, 2, (runs, units, 1)) * np.array(rates))
        errors = rng.binomial(length, rate)
        errors = np.where(rng.random(errors.shape) < lost, length, errors)
        return np.stack([errors, np.broadcast_to(length, errors.shape)], axis=-1)

    name = f", {lost:.0%} of utterances lost" if lost else ""
    return ratio(f"WER{name}, {units} utterances", lost + (1 - lost) * np.array(rates), draw, lower_is_better=True,
                 score_range=WER.score_range)


def absolute_errors(units, gains=(0.2, 0.0), correlation=0.5):
    """Mean absolute errors that are lognormal."""
    def draw(rng, runs):
        return over_one(np.exp(correlated(rng, (runs, units, len(gains)), correlation) + np.array(gains)), 9)

    return ratio(f"MAE, lognormal, {units} items", np.exp(np.array(gains) + 0.5), draw, lower_is_better=True,
                 score_range=MAE.score_range)


def scores_near_one(units, shape):
    """Independent scores from 0 to 1, of Beta(5, shape), whose range is declared."""
    return ratio(f"scores of Beta(5, {shape:g}), {units} items", (5 / (5 + shape),) * 2,
                 lambda rng, runs: over_one(rng.beta(5, shape, size=(runs, units, 2)), 9), score_range=(0.0, 1.0))


def kappas(units, accuracies=(0.85, 0.8)):
    """Cohen's kappa of three classes of unequal size."""
    return labels(units, (0.5, 0.3, 0.2), accuracies, Kappa())
