"""Rows of several test sets: ranks over a suite of them, and on how many of them a claim holds.

Suites are those of `tests.studies.suites.coverage`. Where systems are equal over all sets that there might be and
differ on each, ranks with other items are about these sets: they must not be taken for more. A row shows how wrong
that is.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from registry.significance.multiple import estimate_k, list_test_sets
from registry.studies.suites import Suite
from tests.studies.suites.coverage import SIZES, SYSTEMS, suite
from tests.validity.bands import Rate
from tests.validity.examinations import ALPHA
from tests.validity.history_rows import Drawn
from tests.validity.row import Row

HELD = "all ranks hold"


@dataclass(frozen=True)
class HoldsSuiteRanks:
    """Whether every one of some equal systems may have every rank, with other items or with other test sets."""

    of: str

    def __str__(self):
        return f"study suite, ranks with other {self.of}"

    def __call__(self, sample, rng):
        return [all((row[f"{self.of}_low"], row[f"{self.of}_high"]) == (1, SYSTEMS)
                    for row in Suite().run(case).tables["systems"]) for case in sample]


@dataclass(frozen=True)
class TooMany:
    """Whether a claim is said to hold on more test sets than it does, or, where `named`, on one where it does not."""

    combination: str
    named: bool = False

    def __str__(self):
        return "Holm's list of test sets" if self.named else f"number of test sets by {self.combination}"

    def __call__(self, sample, rng):
        p, holds = (np.array(of) for of in zip(*sample, strict=True))
        if self.named:
            return [(list_test_sets(of, ALPHA) & ~true).any() for of, true in zip(p, holds, strict=True)]
        return estimate_k(p, self.combination, ALPHA) > holds.sum(axis=1)


def suite_rows():
    """Ranks with other items where systems are equal on each set, and with other sets where they are on average."""
    for name, sizes in SIZES.items():
        slug = name.replace(" ", "-")
        for of, spread in (("items", 0.0), ("sets", 0.0), ("sets", 0.3)):
            own = ", which add much to a system" if spread else ""
            null = Drawn(f"{name}{own}, 8 systems", lambda rng, sizes=sizes, spread=spread: suite(rng, sizes, spread))
            quick = 20 if (name, of, spread) == ("5 sets of 50", "sets", 0.3) else 0
            yield Row(f"suite-{slug}-{of}{'-own' if spread else ''}", null, HoldsSuiteRanks(of),
                      (Rate(0.93, what=HELD),), 600, quick, batch=20)
    null = Drawn("5 sets of 50, which add much to a system, 8 systems", lambda rng: suite(rng, (50,) * 5, 0.3))
    yield Row("suite-items-for-sets", null, HoldsSuiteRanks("items"), (Rate(0.05, 0.3, HELD),), 600, 0, batch=20)


def claims(rng, true, correlation):
    """One-sided p-values of a claim on 6 test sets, that holds on so many, by four standard errors; and where."""
    shared, own = rng.standard_normal(), rng.standard_normal(6)
    holds = np.arange(6) < true
    return ndtr(-(np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own + 4 * holds)), holds


def replicability_rows():
    """Bonferroni and Holm hold whatever the dependence; Fisher's sum is for independent test sets."""
    for correlation, sets in ((0.0, "independent"), (0.5, "dependent")):
        for true in (0, 3):
            null = Drawn(f"6 {sets} test sets, {true} with an effect",
                         lambda rng, true=true, correlation=correlation: claims(rng, true, correlation))
            for combination in ("bonferroni", "fisher"):
                wrong = combination == "fisher" and correlation
                yield Row(f"replicability-{combination}-{sets}-{true}", null, TooMany(combination),
                          (Rate(0.06 if wrong else 0.0, 0.2 if wrong else 0.05, "any error"),), 20_000, 0)
            yield Row(f"replicability-list-{sets}-{true}", null, TooMany("", named=True),
                      (Rate(0.0, 0.05, "any error"),), 20_000, 200 if (true, sets) == (3, "dependent") else 0)
