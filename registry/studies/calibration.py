"""How often a test names the truly better system (Berg-Kirkpatrick et al. 2012, section 4.2).

`Calibration` draws test sets from the one at hand, which is the population; `Domains` compares one test set with
others, or values of an attribute of items such as a genre. Test sets of other domains are no samples of the same
population, so a small p-value need not carry over.
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

BANDS = (0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 1.0)  # of p: as in table 1, and beyond
WIDTH = 0.2  # of alpha: how far the borderline band goes to either side
_MANY = 6  # pairs of domains above which one sentence speaks of all


class Domains(BoardStudy):
    """The share of pairs whose better system is the better one elsewhere too, by p-value."""

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
        domains = {str(of.key.test_set.name if of.key.facet is None else of.key.facet[1]): of for of in case.boards}
        if len(domains) < len(case.boards):
            raise InputError(f"several test sets have items of the same {self.across}; choose one by --test-set")
        if len(domains) < 2:
            raise InputError("there is one test set only; --across ATTRIBUTE takes the values of an item's attribute, "
                             "such as its genre, for domains")
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
    """The band about alpha, then those that p-values fall into, the smallest first."""
    return [(alpha * (1 - WIDTH), alpha * (1 + WIDTH)), *pairwise(BANDS)]


def is_inside(p: Floats, low: float, high: float) -> Flags:
    """Which p-values lie in a band, its lower end left out but for 0, which p-values of exact tests come to."""
    found: Flags = (p <= high) & ((p > low) | (low == 0))
    return found


def find_agreeing(gains: Gains, here: Board, there: Board) -> tuple[Gains, Flags]:
    """The pairs that another board has too, and whether the better system is better there as well."""
    places = {(member.team, member.system): n for n, member in enumerate(there.members)}
    place = np.array([places.get((member.team, member.system), -1) for member in here.members])
    gains = gains.where((place[gains.better] >= 0) & (place[gains.worse] >= 0))
    scores = there.matrix.scores()
    difference = there.matrix.difference(scores[place[gains.better]], scores[place[gains.worse]])
    defined = ~np.isnan(difference)
    return gains.where(defined), difference[defined] > 0


def make_band_row(band: tuple[float, float], right: Flags, drawn: Iterable[Ints], confidence: float) -> Row:
    """A band of p-values, and the share of its tests that are right with its interval.

    Args:
        band: Its ends.
        right: Which of the tests in it are right, [tests].
        drawn: How often each of them is taken in resamples, [tests] or [some resamples, tests] at a time.
        confidence: Of the interval, which is nan where all are right, or none: so are they in all resamples.
    """
    low = high = math.nan
    if right.any() and not right.all():
        with np.errstate(invalid="ignore"):  # a resample that takes none has no share
            low, high = find_interval(np.hstack([times @ right / times.sum(axis=-1) for times in drawn]), confidence)
    return {"above": band[0], "up_to": band[1], "tests": len(right), "right": int(right.sum()),
            "share": float(right.mean()) if len(right) else math.nan, "low": low, "high": high}


def _yield_bands(case: Case, name: str, other: str, domains: dict[str, Board], gains: Gains) -> Iterator[Row]:
    """The bands of one domain's p-values that have pairs, and what another domain says of these."""
    confidence = case.request.significance.confidence
    gains, agree = find_agreeing(gains, domains[name], domains[other])
    drawn = resample_systems(len(domains[name].members), case.settings.seed)
    for band in pairwise(BANDS):
        chosen = is_inside(gains.p, *band)
        if chosen.any():
            times = drawn[:, gains.better[chosen]] * drawn[:, gains.worse[chosen]]
            yield {"tested_on": name, "other": other} | make_band_row(band, agree[chosen], [times], confidence)


def _describe_domains(rows: Sequence[Row], alpha: float) -> list[str]:
    both = list(dict.fromkeys((row["tested_on"], row["other"]) for row in rows))
    if len(both) > _MANY:
        known = [row for row in rows if row["up_to"] <= alpha]
        tests, right = sum(row["tests"] for row in known), sum(row["right"] for row in known)
        highest = max(band for band in BANDS if band <= alpha)
        said = [f"Of {counted(tests, 'test')} with p up to {highest:.3g} on one domain {100 * right / tests:.0f} % "
                f"have the same better system on another, over {len(both)} pairs of domains."] if tests else []
    else:
        said = [sentence for pair in both if (sentence := _describe_pair(
            *pair, [row for row in rows if (row["tested_on"], row["other"]) == pair], alpha))]
    return [*said, "Test sets of other domains are no samples of one population: the share falls short where systems "
                   "are differently good at them, and no p-value of the one speaks of the other."]


def _describe_pair(tested_on: str, other: str, rows: Sequence[Row], alpha: float) -> str | None:
    about = [row for row in rows if row["above"] < alpha < row["up_to"]][:1]
    known = [row for row in rows if row["up_to"] <= alpha]
    tests, right = sum(row["tests"] for row in known), sum(row["right"] for row in known)
    if not tests:
        return None
    return (f"Of {counted(tests, 'pair')} with p up to {known[-1]['up_to']:.3g} on {tested_on} "
            f"{100 * right / tests:.0f} % have the same better system on {other}"
            + "".join(f", and of {row['tests']} with p from {row['above']:.3g} to {row['up_to']:.3g} "
                      f"{100 * row['share']:.0f} %" for row in about if row["tests"]) + ".")


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

    def resolve(self, task: str | None, shown: str | None) -> BoardStudy:  # noqa: ARG002
        if not self.domains and self.across is None and self.tested_on is None:
            return self
        if self.size is not None:
            raise InputError("--size is of test sets that are drawn, and --facet of one domain; leave them out, or "
                             "--domains, --across and --tested-on")
        return Domains(tested_on=self.tested_on, across=self.across)

    def run(self, case: Case) -> Finding:
        matrix, alpha, settings = prepare_matrix(case.board.matrix), case.request.significance.alpha, case.settings
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
            return pack(measure_gains_of_sets(matrix, np.stack(drawn), settings, alpha))

        parts = case.parts.compute_all(range(0, self.sets, _TOGETHER), tested)
        tests = Judged.of([gains for part in parts for gains in unpack(part)], whole, alpha)
        rng = np.random.Generator(stream(settings.seed, SETS))
        drawn = (rng.multinomial(self.sets, np.full(self.sets, 1 / self.sets), DRAWS),
                 resample_systems(len(whole), settings.seed))
        rows = [_measure_band(tests, band, drawn, case.request.significance.confidence) for band in make_bands(alpha)]
        return Finding({"bands": rows}, _describe_calibration(rows[0], tests, size, self.sets, matrix.n_units),
                       warn_of_sets(case.board.matrix, units(0)))


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
        tests = join(sets)
        true = whole[tests.better, tests.worse]
        known = true != 0
        on = np.repeat(np.arange(len(sets)), [len(of.p) for of in sets])
        pairs = tests.where(known)
        return cls(on[known], pairs, true[known] > 0, _ratios(pairs, whole, alpha), int((~known).sum()))


def compute_expected_share(p: Floats, ratios: Floats) -> Floats:
    """Return the probability that the better system is the truly better one, if noise is normal, [tests].

    If the true difference of pair j is r_j standard errors, a test with z = gain / standard error names the better
    system with the probability sum_j phi(z - r_j) / sum_j (phi(z - r_j) + phi(z + r_j)). That becomes Phi(z tau /
    sqrt(tau^2 + 1)) for r_j from N(0, tau^2), and 1/2 if all systems are equally good, whatever p is.

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


def _measure_band(tests: Judged, band: tuple[float, float], drawn: tuple[Ints, Ints], confidence: float) -> Row:
    """A band, with an interval for which tests of one test set, or of one system, are not independent."""
    chosen = is_inside(tests.pairs.p, *band)
    pairs, on = tests.pairs.where(chosen), tests.on[chosen]
    times = (sets[on] * systems[pairs.better] * systems[pairs.worse] for sets, systems in zip(*drawn, strict=True))
    return make_band_row(band, tests.right[chosen], times, confidence) | {
        "expected": float(compute_expected_share(pairs.p, tests.ratios).mean()) if len(on) else math.nan}


def _describe_calibration(row: Row, tests: Judged, size: int, sets: int, units: int) -> list[str]:
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
