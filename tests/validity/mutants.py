"""Tests that are wrong on purpose, each in a way that has been published or is easily written, and what catches it.

    python -m tests.validity.mutants [NAME ...] [--write]

Every mutant takes the place of the examination of a row in `rows`; there the right one passes, and here a band must
be left. A harness that lets one through proves nothing about the tests that it lets through.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from registry.significance import Bootstrap, McNemar, PairTest, Permutation
from registry.significance.base import Tails
from registry.significance.resampling.scores import score_resamples
from tests.validity.examinations import PValues, RandomizedP
from tests.validity.family_examinations import Corrected, FamilyError, Finds, InOrder
from tests.validity.history_rows import FalseNewBest, FalseNewBestShown
from tests.validity.record import PAGE, recorded, replaced
from tests.validity.rows import ROWS
from tests.validity.several_sets_rows import TooMany
from tests.validity.wrong_kernels import (
    HoldsByFixedErrors,
    ItemsForClusters,
    JudgedAlone,
    JudgeForPeople,
    LabelsOfAll,
    NormalSources,
    NothingIsZero,
    RawMaxT,
    RunsForgotten,
    SwappedRaw,
    UnderflownSigns,
    WaldShare,
    WholeSlope,
    all_of_alpha,
    holm_without_its_maximum,
)


@dataclass(frozen=True)
class Mutant:
    """A wrong examination in the place of the right one of a row, and why the row's band is left.

    `runs` is how many it takes to catch it, where that is more than the row's quick ones; the suite leaves it out then.
    `null` is a row whose population it takes, where what is wrong is what submitters saw.
    """

    name: str
    row: str
    test: Callable
    why: str
    runs: int = 0
    null: str = ""

    def measure(self):
        """What each band says after so many runs."""
        row = replace(ROWS[self.row], test=self.test, null=ROWS[self.null or self.row].null)
        return row.measure(self.runs or row.runs_quick)


class OwnBootstrap(PairTest):
    """A bootstrap of its own making: `extreme` tells from the difference and the two systems' scores in resamples.

    `apart` resamples the second system's units by other draws.
    """

    extreme: Callable = None
    apart: bool = False
    name = "own bootstrap"

    def tails(self, pairs, asked):
        """Count the extreme resamples of each pair."""
        matrix = pairs[0].matrix
        first = score_resamples(matrix, asked)
        second = score_resamples(matrix, replace(asked, seed=asked.seed + 1)) if self.apart else first
        counts = [np.count_nonzero(self.extreme(o.difference, first[:, o.pair[0]] - second[:, o.pair[1]]))
                  for o in pairs]
        p = (np.array(counts) + 1) / (asked.resamples + 1)
        return Tails.make(np.log(p), "monte-carlo", resamples=asked.resamples)


def recentred(difference, resampled):
    """The right one: |d* - d| >= |d|."""
    return np.abs(resampled - difference) >= abs(difference)


def unrecentred(difference, resampled):
    """|d*| >= |d|: the resamples are centred at d, not at 0."""
    return np.abs(resampled) >= abs(difference)


def recentred_by_the_mean(difference, resampled):
    """|d*| less the mean of |d*|: one side of the distribution is taken for both."""
    return np.abs(resampled) - np.abs(resampled).mean() >= abs(difference)


class Altered(PairTest):
    """A right test whose p-values are changed, by a function of the results and of the probabilities of their ties."""

    test: PairTest = None
    change: Callable = None
    name = "altered"

    def run(self, matrix, pairs, asked):
        """Run the right one, and what it takes to see ties."""
        found = self.test.run(matrix, pairs, asked)
        greater, less = (self.test.run(matrix, pairs, replace(asked, alternative=side)) for side in ("greater", "less"))
        sides = np.where(greater.p_value == less.p_value, 1, 2 if asked.alternative == "two-sided" else 1)
        return replace(found, p_value=self.change(found, (greater.p_value + less.p_value - 1) * sides))

    def tails(self, pairs, asked):
        """Nothing is computed here."""
        raise NotImplementedError


def strictly_more_extreme(results, tied):
    """Count what is beyond the observed difference, and not what equals it."""
    return results.p_value - tied


def half_the_ties(results, tied):
    """Count half of what equals the observed difference (the mid-p), and call it exact."""
    return results.p_value - tied / 2


def without_the_observed_one(results, tied):
    """c / R in place of (c + 1) / (R + 1)."""
    return (results.p_value * (results.resamples + 1) - 1) / results.resamples


MUTANTS = {mutant.name: mutant for mutant in (
    Mutant("unpaired bootstrap", "power-bootstrap-alike", PValues(OwnBootstrap(recentred, apart=True)),
           "it adds the variances of two correlated systems: little power"),
    Mutant("unpaired bootstrap in a size", "bootstrap-opposed-200", PValues(OwnBootstrap(recentred, apart=True)),
           "with a negative correlation it rejects too often"),
    Mutant("unrecentred bootstrap", "power-bootstrap", PValues(OwnBootstrap(unrecentred)),
           "half of the resamples are beyond what was observed, however large that is: no power"),
    Mutant("recentred by the mean of |d*|", "bootstrap-f1-200", PValues(OwnBootstrap(recentred_by_the_mean)),
           "one side of the distribution stands for both: twice the level"),
    Mutant("strict >", "permutation-binary-12", RandomizedP(Altered(Permutation(), strictly_more_extreme)),
           "the tie with itself is left out: p is too small, often 0"),
    Mutant("strict > in a size", "size-permutation-binary", PValues(Altered(Permutation(), strictly_more_extreme)),
           "the same, seen in the size"),
    Mutant("c / R", "size-permutation-20-draws",
           PValues(Altered(Permutation(), without_the_observed_one), resamples=20),
           "with 20 draws 2 of 21 places are significant, in place of 1"),
    Mutant("bootstrap-t of few unequal clusters", "unequal-clusters-8-permutation-studentized",
           PValues(Bootstrap("studentized")), "it knows hardly any cluster but the largest"),
    Mutant("items for clusters", "size-permutation-documents", PValues(ItemsForClusters(Permutation())),
           "items of a document agree, and there are fewer of them than it seems"),
    Mutant("raw max-T", "family-permutation-max_t-finds-quiet", Finds(RawMaxT()),
           "the noisiest pair sets the bar for a quiet one, which is not found"),
    Mutant("labels of all systems", "family-holm-uneven", FamilyError(LabelsOfAll()),
           "noisy systems are judged by the noise of quiet ones"),
    Mutant("Holm without its maximum", "family-holm-in-order", InOrder(Corrected(McNemar(), holm_without_its_maximum)),
           "a pair of larger p-value is significant where one of smaller is not"),
    Mutant("boards apart", "boards-20-holm-together", ROWS["boards-20-holm-apart"].test,
           "20 boards that are each a family of their own err in 41 %"),
    Mutant("half the ties", "size-mcnemar-exact", PValues(Altered(McNemar(), half_the_ties)),
           "the size is that of the mid-p, not of the exact test"),
    Mutant("half the ties, randomized", "permutation-binary-12", RandomizedP(Altered(Permutation(), half_the_ties)),
           "what is as extreme as observed is not all counted"),
    Mutant("the judge taken for people", "judged-biased-by-system-prediction-powered", JudgeForPeople(),
           "what nobody looked at counts as looked at, with the judge's scores and its bias"),
    Mutant("raw predictions swapped", "power-swaps-pearson", PValues(SwappedRaw(), resamples=499),
           "the system with larger numbers rules both sides after a swap"),
    Mutant("2^-n", "permutation-opposed-2000", RandomizedP(UnderflownSigns()),
           "p is 0 wherever more than 1,074 items differ"),
    Mutant("swaps of unlike systems", "unequal-f1-50-permutation-studentized", PValues(Permutation()),
           "the systems' denominators are mixed", 5000),
    Mutant("errors that stay the same in a bootstrap-t", "lopsided-20-bootstrap-studentized", PValues(Bootstrap()),
           "of few units with skewed differences the error is as uncertain as the mean", 5000),
    Mutant("p = 0", "bootstrap-ideal-five", PValues(NothingIsZero(Bootstrap())),
           "few items that are much alike say nothing of the null hypothesis"),
    Mutant("runs forgotten", "crossed-5-20-binary", PValues(RunsForgotten(Permutation())),
           "the next training is another draw"),
    Mutant("normal quantile of two runs", "crossed-2-unsteady", PValues(NormalSources()),
           "two runs do not know their spread"),
    Mutant("degrees of freedom together", "crossed-2-unsteady", PValues(NormalSources(joint=True)),
           "estimated degrees of freedom are too many where a source is small by chance", 2000),
    Mutant("fixed errors in rank sets", "rank-sets-binary-tied-50-20-bootstrap", HoldsByFixedErrors(),
           "a difference whose error is small by chance is told apart"),
    Mutant("a gate that is always open", "boards-gatekeeping-complete",
           replace(ROWS["boards-gatekeeping-complete"].test, correction="holm", together=False),
           "every further metric errs as often as the first", 5000),
    Mutant("labels without variance", "judged-unbiased-normal", JudgedAlone(),
           "60 labels are taken to say what the judge's errors are"),
    Mutant("the judge for people", "judged-biased-by-system-normal", JudgedAlone(raw=True),
           "what the judge adds to one system is no quality of it"),
    Mutant("intervals as if people saw all", "judged-unbiased-interval", WholeSlope(),
           "the error is that of 60 items, not of 300"),
    Mutant("alpha not spent", "new-best-stairs", FalseNewBest(all_of_alpha), "200 tests have 200 chances"),
    Mutant("levels of fixed histories for a vote", "new-best-vote-ladder-0.02", FalseNewBestShown(None),
           "the majority of what seemed good by its score beats all of it", null="new-best-vote-scores"),
    Mutant("the winner's plain interval", "winner-hybrid-50-tied", ROWS["winner-plain-50-tied"].test,
           "the best of 50 was lucky", 500),
    Mutant("items for test sets", "suite-5-sets-of-50-sets-own", ROWS["suite-items-for-sets"].test,
           "five sets are taken for all that there might be"),
    Mutant("Fisher's sum of dependent test sets", "replicability-bonferroni-dependent-3", TooMany("fisher"),
           "what is in common counts six times", 5000),
    Mutant("Wald's interval", "clopper-pearson-20", WaldShare(), "where all are right it has no width", 2000),
)}
TABLE = ("mutant", "row", "runs", "measured", "value", "expected", "why it is caught")
QUICK = {name: mutant for name, mutant in MUTANTS.items() if not mutant.runs}
# What a mutant gets right: with these alone it would pass.
BLIND = {
    "raw max-T": ("family-permutation-max_t-uneven", FamilyError(RawMaxT())),
    "Holm without its maximum": ("family-holm-partial", FamilyError(Corrected(McNemar(), holm_without_its_maximum))),
}


def main(arguments):
    """Print what catches each mutant, or those that are named; exits with 1 where one passes."""
    named = [name for name in arguments if name != "--write"] or list(MUTANTS)
    lines = {}
    for name in named:
        left = next((of for of in MUTANTS[name].measure() if not of.holds), None)
        said = (left.what, left.value, left.expected) if left else ("nothing", "-", "PASSES")
        mutant = MUTANTS[name]
        runs = mutant.runs or ROWS[mutant.row].runs_quick
        lines[told_as(name)] = (told_as(name), mutant.row, f"{runs:,}", *said, mutant.why)
        print(*lines[told_as(name)], sep=" | ", flush=True)
    if "--write" in arguments:
        page = PAGE.read_text()
        known = {line[0]: line for line in recorded(page, TABLE)[0]} | lines
        PAGE.write_text(replaced(page, [known[told_as(name)] for name in MUTANTS if told_as(name) in known], TABLE))
    return int(any(line[5] == "PASSES" for line in lines.values()))


def told_as(name):
    """A name as a cell of a table can have it."""
    return name.replace("|", "&#124;")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
