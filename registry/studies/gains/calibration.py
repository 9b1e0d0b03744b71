"""How often is the better system of a test with a p-value the truly better one (Berg-Kirkpatrick et al. 2012, 4.2)?

The test set at hand is taken for the population of all items: on it one knows which system of a pair is better. Test
sets are drawn from it with replacement, every pair is tested on each of them, and the tests are sorted into bands by
their p-values.

What to expect depends on how far apart systems are. Where the noise of a gain is normal and the true difference of pair
j is r_j of its standard errors, a test with z = gain / standard error names the better system with the probability
sum_j phi(z - r_j) / sum_j (phi(z - r_j) + phi(z + r_j)). That becomes Phi(z tau / sqrt(tau^2 + 1)) for r_j from N(0,
tau^2), and a coin's toss where all systems are equally good, whatever p is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.errors import InputError, counted
from registry.significance.resampling.draws import SETS, stream
from registry.studies.board_study import BoardStudy, Case
from registry.studies.gains.domains import Domains, band_row, bands, inside
from registry.studies.gains.pair_gains import Gains, Places, joined, packed, unpacked
from registry.studies.gains.resampled_test_sets import drawable, gains_of_sets, warnings_of_sets
from registry.studies.gains.threshold import DRAWS, resampled_systems
from registry.studies.study import Finding, Row, option

_TOGETHER = 10  # test sets in a part
_MOST, _LARGEST = 10_000, 10**6  # test sets, and units of one


class Calibration(BoardStudy):
    """The share of tests that name the truly better system, by p-value, with the test set as the population.

    The test set is the population that smaller ones are drawn from, or with --domains other test sets say which system
    is better (Berg-Kirkpatrick et al. 2012, section 4.2).
    """

    name: ClassVar[str] = "calibration"
    title: ClassVar[str] = "How often does a test name the truly better system?"
    citation: ClassVar[str] = "Berg-Kirkpatrick et al. 2012, section 4.2"
    figures: ClassVar = ("calibration",)
    size: int | None = option(None, "Of the test sets that are drawn, in units; a fourth of the one at hand if none is "
                              "given.")
    sets: int = option(100, "How many test sets are drawn.")
    domains: bool = option(False, "Do not draw: see how often the better system of one test set is the better one of "
                           "the others.")
    across: str | None = option(None, "The same between the values of an attribute of items, such as their genre.",
                                metavar="ATTRIBUTE")
    tested_on: str | None = option(None, "The test set, or value, that p-values are of; each in turn if none is given.",
                                   metavar="NAME")

    def meant(self, task: str | None, shown: str | None) -> BoardStudy:  # noqa: ARG002
        """This study, or that of domains."""
        if not self.domains and self.across is None and self.tested_on is None:
            return self
        if self.size is not None:
            raise InputError("--size is of test sets that are drawn, and --facet of one domain; leave them out, or "
                             "--domains, --across and --tested-on")
        return Domains(tested_on=self.tested_on, across=self.across)

    def run(self, case: Case) -> Finding:
        """Draw test sets and test all pairs on them.

        Raises:
            InputError: An option is out of range, no two systems differ, or the bootstrap does not take the metric.
        """
        matrix, alpha, settings = drawable(case.board.matrix), case.request.significance.alpha, case.settings
        size = max(2, matrix.n_units // 4) if self.size is None else self.size
        if not 2 <= size <= _LARGEST or not 2 <= self.sets <= _MOST:
            raise InputError(f"test sets have 2 to {_LARGEST} units, and there are 2 to {_MOST} of them")
        whole = matrix.difference(matrix.observed[:, None], matrix.observed[None, :])
        if not (whole > 0).any():
            raise InputError("no two systems differ on the whole test set, so there is no better one to find")

        def units(n: int) -> Places:
            return np.random.Generator(stream(settings.seed, SETS, n)).integers(0, matrix.n_units, size)

        def tested(start: int) -> list[Any]:
            drawn = [units(n) for n in range(start, min(start + _TOGETHER, self.sets))]
            return packed(gains_of_sets(matrix, np.stack(drawn), settings, alpha))

        parts = case.parts.each(range(0, self.sets, _TOGETHER), tested)
        tests = Judged.of([gains for part in parts for gains in unpacked(part)], whole, alpha)
        rng = np.random.Generator(stream(settings.seed, SETS))
        drawn = (rng.multinomial(self.sets, np.full(self.sets, 1 / self.sets), DRAWS),
                 resampled_systems(len(whole), settings.seed))
        rows = [_row(tests, band, drawn, case.request.significance.confidence) for band in bands(alpha)]
        return Finding({"bands": rows}, _reading(rows[0], tests, size, self.sets, matrix.n_units),
                       warnings_of_sets(case.board.matrix, units(0)))


@dataclass(frozen=True, eq=False)
class Judged:
    """Tests of pairs that differ in the population, on test sets drawn from it.

    Attributes:
        on: The number of each test's test set, [tests].
        pairs: What was found, [tests].
        right: Whether the better system is the truly better one, [tests].
        ratios: The true difference of each pair in its standard errors, above 0, [pairs].
        left_out: How many tests are of pairs that are level in the population.
    """

    on: Ints
    pairs: Gains
    right: Flags
    ratios: Floats
    left_out: int

    @classmethod
    def of(cls, sets: Sequence[Gains], whole: Floats, alpha: float) -> Judged:
        """Judge the tests of test sets, with gains critical at alpha, by the true gains [systems, systems]."""
        tests = joined(sets)
        true = whole[tests.better, tests.worse]
        known = true != 0
        on = np.repeat(np.arange(len(sets)), [len(of.p) for of in sets])
        pairs = tests.where(known)
        return cls(on[known], pairs, true[known] > 0, _ratios(pairs, whole, alpha), int((~known).sum()))


def expected(p: Floats, ratios: Floats) -> Floats:
    """How likely the better system is the truly better one where noise is normal, [tests].

    Args:
        p: One-sided, [tests].
        ratios: The true differences of all pairs in their standard errors, [pairs].
    """
    from scipy.special import ndtri

    z = np.clip(-ndtri(p), -8, 8)
    right, wrong = np.full((2, len(z)), 1e-300)
    for ratio in ratios:
        right += np.exp(-((z - ratio) ** 2) / 2)
        wrong += np.exp(-((z + ratio) ** 2) / 2)
    shares: Floats = right / (right + wrong)
    return shares


def _ratios(pairs: Gains, whole: Floats, alpha: float) -> Floats:
    """The true difference of every pair over its standard error: critical gains are z(alpha) of these, on average."""
    from scipy.special import ndtri

    first, second = np.minimum(pairs.better, pairs.worse), np.maximum(pairs.better, pairs.worse)
    known, of = np.unique(first * len(whole) + second, return_inverse=True)
    errors = np.bincount(of, pairs.critical) / np.bincount(of) / -ndtri(alpha)
    ratios: Floats = np.abs(whole[known // len(whole), known % len(whole)]) / errors
    return ratios


def _row(tests: Judged, band: tuple[float, float], drawn: tuple[Ints, Ints], confidence: float) -> Row:
    """A band, with an interval for which tests of one test set, or of one system, are not independent."""
    chosen = inside(tests.pairs.p, *band)
    pairs, on = tests.pairs.where(chosen), tests.on[chosen]
    times = (sets[on] * systems[pairs.better] * systems[pairs.worse] for sets, systems in zip(*drawn, strict=True))
    return band_row(band, tests.right[chosen], times, confidence) | {
        "expected": float(expected(pairs.p, tests.ratios).mean()) if len(on) else math.nan}


def _reading(row: Row, tests: Judged, size: int, sets: int, units: int) -> list[str]:
    about = f"p from {row['above']:.3g} to {row['up_to']:.3g}"
    drawn = f"{counted(sets, 'test set')} of {size} units, drawn from the {units} at hand"
    said = [f"Of {len(tests.right)} tests on {drawn}, {row['tests']} have {about}; no share can be given."]
    if row["tests"]:
        ends = "" if math.isnan(row["low"]) else f" ({100 * row['low']:.1f} to {100 * row['high']:.1f})"
        said = [f"Of {counted(row['tests'], 'test')} with {about}, {100 * row['share']:.1f} %{ends} name the system "
                f"that is better on all items, out of {len(tests.right)} tests on {drawn}.",
                f"With normal noise {100 * row['expected']:.1f} % are to be expected of systems as far apart as these: "
                "the share depends on that, and is not 1 - p; were all equally good, it would be half."]
    if tests.left_out:
        said.append(f"{counted(tests.left_out, 'test is', 'tests are')} left out, of systems that are level on all "
                    "items.")
    said.append("The population is the test set itself, so this says how a test of such items carries over to more of "
                "the same kind, and nothing of other domains.")
    return said
