"""How often rules reject a difference of several sources of error: `python -m tests.significance.crossed.levels`.

Of many items, whose error is 1, and the runs of two systems. `share` is how much of that 1 is the interaction of items
and runs, which the spread of the runs' averages shows again; `ratio` is what runs as a whole add, of either system
alike or of the first alone. Of each rule the most that is found over `RATIOS`, where systems are equal; and how often
it finds a difference of three standard errors.
"""

import numpy as np
from scipy import stats

from registry.significance.crossed import find_critical_difference

SETS = 40_000
RATIOS = (0.0, 0.1, 0.4, 0.8, 1.5, 3.0, 6.0, 15.0, 50.0)


def rates(rng, n_runs, ratios, shares, difference=0.0):
    """How often Satterthwaite's rule and Banerjee's reject at 5 %.

    Satterthwaite's takes the interaction out of the runs' spread, which counts it a second time; Banerjee's out of the
    items', so that what is left there has many degrees of freedom, and no more than leaves the items' error of 1.
    """
    degrees, ratios, shares = np.array(n_runs) - 1, np.array(ratios), np.array(shares)
    d = rng.standard_normal(SETS) * np.sqrt(1 + ratios.sum()) + difference * np.sqrt(1 + ratios.sum())
    spread = (ratios + shares) * rng.chisquare(degrees, (SETS, 2)) / degrees
    without = np.maximum(spread - shares, 0)
    total = 1 + without.sum(axis=1)
    joint = np.minimum(total**2 / np.maximum((without**2 / degrees).sum(axis=1), 1e-12), 1e6)
    found = np.column_stack([spread, np.maximum(1 - shares.sum(), 1 - spread.sum(axis=1))])
    far = find_critical_difference(found, np.broadcast_to([*degrees, 1e6], found.shape).astype(float), 0.05)
    return (float(np.mean(2 * stats.t.sf(np.abs(d) / np.sqrt(total), joint) <= 0.05)), float(np.mean(np.abs(d) >= far)))


def main():
    """Print both tables."""
    rng = np.random.default_rng(1)
    print("runs share   most: Satterthwaite Banerjee   three errors, ratio 0.5: Satterthwaite Banerjee")
    for n_runs in ((2, 2), (3, 3), (2, 5), (5, 5), (10, 10)):
        for share in (0.0, 0.5, 0.95):
            either = (share / 2, share / 2)
            sizes = [rates(rng, n_runs, of, either) for ratio in RATIOS
                     for of in ((ratio, 0.0), (ratio / 2, ratio / 2))]
            found = rates(rng, n_runs, (0.25, 0.25), either, 3.0)
            print(n_runs, share, *(f"{most:.3f}" for most in np.max(sizes, axis=0)), *(f"{of:.3f}" for of in found))


if __name__ == "__main__":
    main()
