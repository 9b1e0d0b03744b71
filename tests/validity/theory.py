"""What sizes to expect, from theory: the bands of the rows are made of these, before anything is run."""

import numpy as np
from scipy import special, stats

RUNS = 300  # simulated test sets that a moment is taken from


def misjudged_error(ratio, level=0.05):
    """The size of a normal test whose standard error is `ratio` times the true one."""
    return 2 * special.ndtr(special.ndtri(level / 2) * ratio)


def recentred_bootstrap(units, level=0.05):
    """The size of the recentred bootstrap of a mean of normal differences.

    It compares the mean with a normal quantile times the deviation that divides by n: liberal by the factor
    sqrt(n / (n - 1)) and by the tails of Student's t that it does not have.
    """
    reach = special.ndtri(1 - level / 2) * np.sqrt((units - 1) / units)
    return 2 * stats.t.sf(reach, units - 1)


def on_a_lattice(population, size, step=1, level=0.05):
    """From what to what the size goes where the difference of sums is a multiple of `step`, and ties count whole.

    What ties with the critical value is out or in: at most its probability is missing from the size of a test without.
    """
    sums = population.draw(np.random.default_rng(0), RUNS)[..., 0].sum(axis=1)
    tie = 2 * stats.norm.pdf(special.ndtri(level / 2)) * step / (sums[:, 0] - sums[:, 1]).std()
    return float(size - tie), float(size)


def both_correct(accuracies, correlation):
    """How often two systems of `populations.binary` are both right."""
    covariance = [[1, correlation], [correlation, 1]]
    return float(stats.multivariate_normal([0, 0], covariance).cdf(special.ndtri(accuracies)))


def phi(accuracies, correlation):
    """The correlation of two systems' right answers."""
    a, b = accuracies
    return (both_correct(accuracies, correlation) - a * b) / np.sqrt(a * (1 - a) * b * (1 - b))


def mcnemar_size(variant, units, accuracy, correlation, level=0.05):
    """The size of McNemar's test, over all numbers of discordant items and all their outcomes."""
    share = 2 * (accuracy - both_correct((accuracy, accuracy), correlation))
    size = 0.0
    for n, weight in enumerate(stats.binom.pmf(np.arange(units + 1), units, share)):
        wins = np.arange(n + 1)
        masses = stats.binom.pmf(wins, n, 0.5)
        excess = np.abs(2 * wins - n)
        size += weight * masses[_mcnemar_p(variant, n, excess, masses) <= level].sum()
    return size


def _mcnemar_p(variant, n, excess, masses):
    if n == 0:
        return np.ones(1)
    if variant in ("chi-squared", "corrected"):
        reduced = excess if variant == "chi-squared" else np.maximum(excess - 1, 0)
        return stats.chi2.sf(reduced**2 / n, 1)
    tails = np.array([masses[excess >= e].sum() for e in excess])
    points = np.array([masses[excess == e].sum() for e in excess])
    return tails - (points / 2 if variant == "mid-p" else 0)


def power(population, level=0.05):
    """The power of a normal test of a difference of two quotients, systems 0 and 1."""
    errors, _ = _influences(population)
    separation = (population.truth[0] - population.truth[1]) / np.sqrt((errors**2).mean() / (len(errors) // RUNS))
    return special.ndtr(abs(separation) + special.ndtri(level / 2))


def swapped_error(population):
    """The standard error that swapping gives the difference of two quotients, over the true one."""
    true, swapped = _influences(population)
    return np.sqrt((swapped**2).mean() / (true**2).mean())


def _influences(population):
    """What units do to the difference of two quotients, truly and after swaps, up to order 1 / n.

    Quotient s errs by the mean of e_s / D_s, e_s = numerator - quotient * denominator, D_s its mean denominator. Swaps
    mix the denominators, so that both e are divided by the mean of D_a and D_b.
    """
    statistics = population.draw(np.random.default_rng(0), RUNS)
    if population.units is not None:
        statistics = _by_unit(population, statistics)
    statistics = statistics.reshape(-1, *statistics.shape[2:])
    over, under = (statistics @ np.array(side) for side in population.quotient)
    errors = over - over.mean(axis=0) / under.mean(axis=0) * under
    true = errors[:, 0] / under[:, 0].mean() - errors[:, 1] / under[:, 1].mean()
    return true, (errors[:, 0] - errors[:, 1]) / under[:, :2].mean()


def ignored_clusters_error(population):
    """The standard error of the difference of two means when items are taken for units, over the true one."""
    numerators = population.draw(np.random.default_rng(0), RUNS)[..., 0]
    gains = numerators[..., 0] - numerators[..., 1]
    return np.sqrt((gains**2).sum() / (_by_unit(population, gains)**2).sum())


def ignored_strata_error(population):
    """The standard error of the difference of two means when strata of one size are not known, over the true one."""
    numerators = population.draw(np.random.default_rng(0), RUNS)[..., 0]
    gains = numerators[..., 0] - numerators[..., 1]
    within = np.mean([gains[:, population.strata == n].var() for n in np.unique(population.strata)])
    return np.sqrt(gains.var() / within)


def _by_unit(population, statistics):
    return np.add.reduceat(statistics, np.flatnonzero(np.diff(population.units, prepend=-1)), axis=1)
