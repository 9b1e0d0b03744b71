"""Systems that are right at given rates and agree as wanted, on items that are as hard as given ones.

Whether a system is right in an item is a normal variable above a bar, the variables of systems being correlated (a
Gaussian copula); what all of them have in common in an item is how easy it is. So the mean of an item's variables,
scaled to variance 1, is put at the normal score of the item's place among the given ones, and the rest is drawn.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from registry.errors import InputError
from registry.significance.draws import OUTPUTS, stream
from registry.significance.matrix import Floats


@lru_cache(maxsize=4096)
def latent_correlation(first: float, second: float, correlation: float) -> float:
    """The correlation of two normal variables that are above their bars at these rates and so correlated.

    Args:
        first: The rate at which the one is above its bar.
        second: That of the other.
        correlation: Of whether they are (the phi coefficient of the 2 x 2 table).

    Raises:
        InputError: No two variables of these rates are so correlated.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    spread = math.sqrt(first * (1 - first) * second * (1 - second))
    both = first * second + correlation * spread
    low, high = max(0.0, first + second - 1), min(first, second)
    if not low < both < high:
        raise InputError(f"systems that get {first:g} and {second:g} right have a correlation between "
                         f"{(low - first * second) / spread:.2f} and {(high - first * second) / spread:.2f}, not "
                         f"{correlation:g}")
    bars = float(ndtri(first)), float(ndtri(second))
    return float(brentq(lambda rho: _both_below(*bars, rho) - both, -1 + 1e-12, 1 - 1e-12, xtol=1e-12))


def _both_below(h: float, k: float, rho: float) -> float:
    """P(X < h and Y < k) of standard normal variables with this correlation.

    Its derivative by the correlation is the density at (h, k) (Plackett 1954); with rho = sin t the density's root
    cancels, and 64 nodes between 0 and t leave an error below 1e-12, but for correlations within 1e-3 of 1.
    """
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(64)
    end = math.asin(rho)
    t = end * (nodes + 1) / 2
    inside = np.exp(-(h * h + k * k - 2 * h * k * np.sin(t)) / (2 * np.cos(t) ** 2))
    return float(ndtr(h) * ndtr(k) + end / 2 * (weights @ inside) / (2 * math.pi))


def right_or_wrong(rates: Floats, correlation: float, ease: Floats, seed: int) -> NDArray[np.bool_]:
    """Draw in which items systems are right, [items, systems].

    Args:
        rates: At which each is right, [systems], between 0 and 1.
        correlation: Of every two of them, over items.
        ease: How easy each item is, [items]: its order alone counts, ties are broken at random.
        seed: Of the draws.

    Raises:
        InputError: No systems of these rates are so correlated.
    """
    from scipy.special import ndtri

    k, n = len(rates), len(ease)
    latent = np.eye(k)
    for a in range(k):
        for b in range(a):
            latent[a, b] = latent[b, a] = latent_correlation(float(rates[a]), float(rates[b]), correlation)
    if np.linalg.eigvalsh(latent).min() <= 0:
        raise InputError(f"{k} systems of these rates cannot all have a correlation of {correlation:g} with each "
                         "other; take a higher one")
    rng = np.random.Generator(stream(seed, OUTPUTS))
    drawn = rng.standard_normal((n, k)) @ np.linalg.cholesky(latent).T
    places = np.empty(n)
    places[np.lexsort((rng.random(n), ease))] = np.arange(n)
    scale = math.sqrt(float(latent.sum()))
    common = ndtri((places + 0.5) / n) - drawn.sum(axis=1) / scale  # what the mean of an item's variables lacks
    return np.asarray(drawn + common[:, None] * (latent.sum(axis=0) / scale) > ndtri(1 - rates))
