"""Studies of how often a test names the truly better system (Berg-Kirkpatrick et al. 2012, section 4.2).

`Calibration` takes the test set as the population, and samples smaller test sets from it. `Domains` compares one test
set with others, or the values of an item attribute such as the genre. Test sets of other domains are not samples of the
same population, so a small p-value need not carry over.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.errors import InputError, UnknownNameError, counted
from registry.evaluation.comparing.board_statistics import Board
from registry.significance.resampling.draws import SETS, stream
from registry.studies.gains import (
    Gains,
    Places,
    explain_no_gains,
    join,
    measure_gains,
    measure_gains_of_sets,
    pack,
    prepare_matrix,
    unpack,
    warn_of_bootstrap,
    warn_of_sets,
)
from registry.studies.study import BoardStudy, Case, Finding, Row, option
from registry.studies.threshold import DRAWS, find_interval, resample_systems

BANDS = (0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 1.0)  # ends of ranges of p-values
WIDTH = 0.2  # half the width of the borderline band, as a share of alpha
_MANY = 6  # pairs of domains above which one sentence summarizes all


class Domains(BoardStudy):
    """Share of pairs of systems that are ordered in the same way on another test set.

    Pairs are grouped by their p-value on the first test set.
    """

    name: ClassVar[str] = "domains"
    title: ClassVar[str] = "Does a gain carry over to other test sets?"
    citation: ClassVar[str] = "Berg-Kirkpatrick et al. 2012, section 4.2, table 1"
    scope: ClassVar = "test sets"
    choice: ClassVar = ("metric", "test_set", "track")
    figures: ClassVar = ("domains",)
    tested_on: str | None = None
    across: str | None = None

    @property
    def facet_attribute(self) -> str | None:
        return self.across

    def run(self, case: Case) -> Finding:
        domains = {str(board.key.test_set.name if board.key.facet is None else board.key.facet[1]): board
                   for board in case.boards}
        if len(domains) < len(case.boards):
            raise InputError(f"several test sets have items with the same {self.across}; select one by --test-set")
        if len(domains) < 2:
            raise InputError("there is only one test set; use --across ATTRIBUTE to compare the values of an item "
                             "attribute, such as the genre")
        if self.tested_on is not None and self.tested_on not in domains:
            raise UnknownNameError("domain", self.tested_on, domains)
        alpha = case.request.significance.alpha
        names = [name for name in domains if self.tested_on in (None, name)]
        parts = case.parts.compute_all(
            names, lambda name: pack([measure_gains(domains[name].matrix, case.settings, alpha)]))
        rows = [row for name, part in zip(names, parts, strict=True) for other in domains if other != name
                for row in _yield_bands(case, name, other, domains, unpack(part)[0])]
        if not rows:
            raise explain_no_gains(domains[name] for name in names)
        warnings = [warning for name in names for warning in warn_of_bootstrap(domains[name].matrix)]
        return Finding({"bands": rows}, _describe_domains(rows, alpha), list(dict.fromkeys(warnings)))


def make_bands(alpha: float) -> list[tuple[float, float]]:
    """Return ranges of p-values, for which results are reported separately.

    The first range is 20 % below to 20 % above alpha. The others follow each other and cover 0 to 1.

    Returns:
        Lower and upper end of each range.
    """
    return [(alpha * (1 - WIDTH), alpha * (1 + WIDTH)), *pairwise(BANDS)]


def is_inside(p: Floats, low: float, high: float) -> Flags:
    """Return True for each p-value in the range (low, high].

    A range from 0 includes 0, because exact p-values can be 0.
    """
    inside: Flags = (p <= high) & ((p > low) | (low == 0))
    return inside


def find_agreeing(gains: Gains, board: Board, other: Board) -> tuple[Gains, Flags]:
    """Check whether the same system of each pair is better on another leaderboard.

    Args:
        gains: Pairs of systems, the better one on `board` first.
        board: The leaderboard of these pairs.
        other: The other leaderboard.

    Returns:
        The pairs with defined scores on both leaderboards, and for each pair True if the same system is better on both.
    """
    indices = {(member.team, member.system): n for n, member in enumerate(other.members)}
    index = np.array([indices.get((member.team, member.system), -1) for member in board.members])
    gains = gains.select((index[gains.better] >= 0) & (index[gains.worse] >= 0))
    scores = other.matrix.scores()
    difference = other.matrix.difference(scores[index[gains.better]], scores[index[gains.worse]])
    defined = ~np.isnan(difference)
    return gains.select(defined), difference[defined] > 0


def make_band_row(band: tuple[float, float], is_correct: Flags, counts: Iterable[Ints], confidence: float) -> Row:
    """Return a table row with the share of correct tests in a range of p-values.

    A test is correct if it names the truly better system.

    Args:
        band: Lower and upper end of the range.
        is_correct: For each test with a p-value in the range: True if it is correct, [tests].
        counts: How often each test occurs in a resample, in arrays of [tests] or [resamples, tests].
        confidence: Confidence of the interval of the share. The interval is nan if all or no tests are correct, because
            all resamples agree.
    """
    low = high = math.nan
    if is_correct.any() and not is_correct.all():
        with np.errstate(invalid="ignore"):  # an empty resample has no share
            low, high = find_interval(np.hstack([count @ is_correct / count.sum(axis=-1) for count in counts]),
                                      confidence)
    return {"above": band[0], "up_to": band[1], "tests": len(is_correct), "right": int(is_correct.sum()),
            "share": float(is_correct.mean()) if len(is_correct) else math.nan, "low": low, "high": high}


def _yield_bands(case: Case, name: str, other: str, domains: dict[str, Board], gains: Gains) -> Iterator[Row]:
    """Yield table rows that show how often two test sets agree on the better system.

    Each row is about pairs of systems with p-values in one range.

    Args:
        case: The settings of the study.
        name: The test set, or attribute value, whose p-values are used.
        other: The test set that is compared with it.
        domains: The leaderboard of each test set.
        gains: Pairs of systems with their p-values on `name`.
    """
    confidence = case.request.significance.confidence
    gains, agree = find_agreeing(gains, domains[name], domains[other])
    systems = resample_systems(len(domains[name].members), case.settings.seed)
    for band in pairwise(BANDS):
        chosen = is_inside(gains.p, *band)
        if chosen.any():
            counts = systems[:, gains.better[chosen]] * systems[:, gains.worse[chosen]]
            yield {"tested_on": name, "other": other} | make_band_row(band, agree[chosen], [counts], confidence)


def _describe_domains(rows: Sequence[Row], alpha: float) -> list[str]:
    pairs = list(dict.fromkeys((row["tested_on"], row["other"]) for row in rows))
    if len(pairs) > _MANY:
        significant = [row for row in rows if row["up_to"] <= alpha]
        tests, correct = sum(row["tests"] for row in significant), sum(row["right"] for row in significant)
        highest = max(band for band in BANDS if band <= alpha)
        sentences = [f"Of {counted(tests, 'test')} with p up to {highest:.3g} on one domain "
                     f"{100 * correct / tests:.0f} % have the same better system on another, over {len(pairs)} pairs "
                     "of domains."] if tests else []
    else:
        sentences = [sentence for pair in pairs if (sentence := _describe_pair(
            *pair, [row for row in rows if (row["tested_on"], row["other"]) == pair], alpha))]
    return [*sentences, "Test sets of different domains are not samples of one population. The share is lower if the "
                        "order of the systems depends on the domain, and a p-value applies to its own domain only."]


def _describe_pair(tested_on: str, other: str, rows: Sequence[Row], alpha: float) -> str | None:
    border = [row for row in rows if row["above"] < alpha < row["up_to"]][:1]
    significant = [row for row in rows if row["up_to"] <= alpha]
    tests, correct = sum(row["tests"] for row in significant), sum(row["right"] for row in significant)
    if not tests:
        return None
    return (f"Of {counted(tests, 'pair')} with p up to {significant[-1]['up_to']:.3g} on {tested_on} "
            f"{100 * correct / tests:.0f} % have the same better system on {other}"
            + "".join(f", and of {row['tests']} with p from {row['above']:.3g} to {row['up_to']:.3g} "
                      f"{100 * row['share']:.0f} %" for row in border if row["tests"]) + ".")


_SETS_PER_PART = 10
_MAX_SETS, _MAX_SIZE = 10_000, 10**6


class Calibration(BoardStudy):
    """How often significance tests name the truly better system, by p-value.

    Each test uses a small test set that is sampled from the whole test set. The truly better system is the one with the
    better score on the whole test set or, with --domains, on other test sets (Berg-Kirkpatrick et al. 2012, section
    4.2).
    """

    name: ClassVar[str] = "calibration"
    title: ClassVar[str] = "How often does a test name the truly better system?"
    citation: ClassVar[str] = "Berg-Kirkpatrick et al. 2012, section 4.2"
    figures: ClassVar = ("calibration",)
    size: int | None = option(None, "Size of the sampled test sets in units; by default a fourth of the test set.")
    sets: int = option(100, "Number of sampled test sets.")
    domains: bool = option(False, "Do not sample: count how often the better system on one test set is also better on "
                           "the others.")
    across: str | None = option(None, "Compare the values of an item attribute, such as the genre, instead of test "
                                      "sets.",
                                metavar="ATTRIBUTE")
    tested_on: str | None = option(None, "The test set, or value, whose p-values are used; by default each in turn.",
                                   metavar="NAME")

    def resolve(self, task: str | None, shown: str | None) -> BoardStudy:  # noqa: ARG002
        if not self.domains and self.across is None and self.tested_on is None:
            return self
        if self.size is not None:
            raise InputError("--size sets the size of sampled test sets, but with --domains, --across or --tested-on "
                             "no test sets are sampled; leave out --size or these options")
        return Domains(tested_on=self.tested_on, across=self.across)

    def run(self, case: Case) -> Finding:
        matrix, alpha, settings = prepare_matrix(case.board.matrix), case.request.significance.alpha, case.settings
        size = max(2, matrix.n_units // 4) if self.size is None else self.size
        if not 2 <= size <= _MAX_SIZE or not 2 <= self.sets <= _MAX_SETS:
            raise InputError(f"--size {size} --sets {self.sets}: expected 2 to {_MAX_SIZE} units, and 2 to {_MAX_SETS} "
                             "test sets")
        whole = matrix.difference(matrix.observed[:, None], matrix.observed[None, :])
        if not (whole > 0).any():
            raise InputError("no two systems differ on the whole test set, so no system is truly better")

        def sample_units(n: int) -> Places:
            return np.random.Generator(stream(settings.seed, SETS, n)).integers(0, matrix.n_units, size)

        def test_sets(start: int) -> list[Any]:
            samples = [sample_units(n) for n in range(start, min(start + _SETS_PER_PART, self.sets))]
            return pack(measure_gains_of_sets(matrix, np.stack(samples), settings, alpha))

        parts = case.parts.compute_all(range(0, self.sets, _SETS_PER_PART), test_sets)
        tests = JudgedTests.judge([gains for part in parts for gains in unpack(part)], whole, alpha)
        rng = np.random.Generator(stream(settings.seed, SETS))
        counts = (rng.multinomial(self.sets, np.full(self.sets, 1 / self.sets), DRAWS),
                  resample_systems(len(whole), settings.seed))
        rows = [_measure_band(tests, band, counts, case.request.significance.confidence) for band in make_bands(alpha)]
        return Finding({"bands": rows}, _describe_calibration(rows[0], tests, size, self.sets, matrix.n_units),
                       warn_of_sets(case.board.matrix, sample_units(0)))


@dataclass(frozen=True, eq=False)
class JudgedTests:
    """Tests of two systems on sampled test sets, and whether each test is correct.

    A test is correct if it names the system that is also better on the whole test set.

    Attributes:
        test_sets: Index of each test's test set, [tests].
        pairs: The two systems, difference and p-value of each test, [tests].
        is_correct: True if the test names the truly better system, [tests].
        ratios: True difference of each pair of systems divided by its standard error, above 0, [pairs].
        n_left_out: Number of tests whose two systems are equal on the whole test set.
    """

    test_sets: Ints
    pairs: Gains
    is_correct: Flags
    ratios: Floats
    n_left_out: int

    @classmethod
    def judge(cls, sets: Sequence[Gains], whole: Floats, alpha: float) -> JudgedTests:
        """Find out for each test whether it names the truly better system.

        Args:
            sets: For each sampled test set, the tested pairs of systems, the better one first.
            whole: Difference of each pair on the whole test set, which counts as the true difference, [systems,
                systems].
            alpha: Significance level of the critical gains: the differences that would be just significant.
        """
        tests = join(sets)
        true_gains = whole[tests.better, tests.worse]
        differs = true_gains != 0
        test_sets = np.repeat(np.arange(len(sets)), [len(gains.p) for gains in sets])
        pairs = tests.select(differs)
        return cls(test_sets[differs], pairs, true_gains[differs] > 0, _compute_ratios(pairs, whole, alpha),
                   int((~differs).sum()))


def compute_expected_share(p: Floats, ratios: Floats) -> Floats:
    """Return the expected share of tests that name the better system, by p-value.

    Errors of differences are assumed to be normal. If all systems are equally good, the share is 1/2 for every p.

    Args:
        p: One-sided p-values, [tests].
        ratios: True differences of all pairs in standard errors, [pairs].

    Returns:
        Shares, [tests].
    """
    # A test with the difference z, in standard errors, has the share sum_j phi(z - r_j) / sum_j (phi(z - r_j) + phi(z +
    # r_j)), where r_j is the true difference of pair j in standard errors, and phi the normal density. If the r_j are
    # from N(0, tau^2), this is Phi(z tau / sqrt(tau^2 + 1)).
    from scipy.special import ndtri

    z = np.clip(-ndtri(p), -8, 8)
    right, wrong = np.full((2, len(z)), 1e-300)
    for ratio in ratios:
        right += np.exp(-((z - ratio) ** 2) / 2)
        wrong += np.exp(-((z + ratio) ** 2) / 2)
    shares: Floats = right / (right + wrong)
    return shares


def _compute_ratios(pairs: Gains, whole: Floats, alpha: float) -> Floats:
    """Return each pair's true difference divided by its standard error, [pairs].

    The standard error is estimated as critical gain / z(alpha). The critical gain of a pair is the difference that
    would be just significant at the level alpha.
    """
    from scipy.special import ndtri

    first, second = np.minimum(pairs.better, pairs.worse), np.maximum(pairs.better, pairs.worse)
    codes, inverse = np.unique(first * len(whole) + second, return_inverse=True)
    errors = np.bincount(inverse, pairs.critical) / np.bincount(inverse) / -ndtri(alpha)
    ratios: Floats = np.abs(whole[codes // len(whole), codes % len(whole)]) / errors
    return ratios


def _measure_band(tests: JudgedTests, band: tuple[float, float], counts: tuple[Ints, Ints], confidence: float) -> Row:
    """Return a table row with the share of correct tests in a range of p-values.

    The confidence interval of the share resamples test sets and systems, because tests that share one of them are not
    independent.
    """
    chosen = is_inside(tests.pairs.p, *band)
    pairs, test_sets = tests.pairs.select(chosen), tests.test_sets[chosen]
    test_counts = (sets[test_sets] * systems[pairs.better] * systems[pairs.worse]
                   for sets, systems in zip(*counts, strict=True))
    return make_band_row(band, tests.is_correct[chosen], test_counts, confidence) | {
        "expected": float(compute_expected_share(pairs.p, tests.ratios).mean()) if len(test_sets) else math.nan}


def _describe_calibration(row: Row, tests: JudgedTests, size: int, sets: int, units: int) -> list[str]:
    border = f"p from {row['above']:.3g} to {row['up_to']:.3g}"
    samples = f"{counted(sets, 'test set')} of {size} units, sampled from {units} units"
    sentences = [f"Of {len(tests.is_correct)} tests on {samples}, {row['tests']} have {border}; no share can be "
                 "computed."]
    if row["tests"]:
        ends = "" if math.isnan(row["low"]) else f" ({100 * row['low']:.1f} to {100 * row['high']:.1f})"
        sentences = [f"Of {counted(row['tests'], 'test')} with {border}, {100 * row['share']:.1f} %{ends} name the "
                     f"system that is better on all items, out of {len(tests.is_correct)} tests on {samples}.",
                     f"With normal errors {100 * row['expected']:.1f} % are expected for systems with these "
                     "differences. The share depends on the differences, and is not 1 - p; it is 50 % if all systems "
                     "are equally good."]
    if tests.n_left_out:
        sentences.append(f"{counted(tests.n_left_out, 'test is', 'tests are')} left out, because the systems are equal "
                         "on all items.")
    sentences.append("The population is the test set itself: the share applies to more items of the same kind, and not "
                     "to other domains.")
    return sentences
