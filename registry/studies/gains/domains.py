"""Does a significant gain carry over to other test sets (Berg-Kirkpatrick et al. 2012, section 4.2, table 1)?

All pairs are tested on one test set, one-sided in the direction of the gain; on every other test set, or other value of
an attribute of items such as a genre, it is seen which system of a pair is better there. Test sets of other domains are
no samples of the same population, so a small p need not carry over however large the test sets are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.errors import InputError, UnknownNameError, counted
from registry.evaluation.comparing.board_statistics import Board
from registry.studies.board_study import BoardStudy, Case
from registry.studies.gains.pair_gains import Gains, all_gains, bootstrap_warnings, no_gains, packed, unpacked
from registry.studies.gains.threshold import interval, resampled_systems
from registry.studies.study import Finding, Row

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
    def facets_by(self) -> str | None:
        """The attribute of the domains."""
        return self.across

    def run(self, case: Case) -> Finding:
        """Test all pairs on a domain, and look at them on the others.

        Raises:
            InputError: There is one domain only, no pair differs, or the bootstrap does not take the metric.
            UnknownNameError: There is no such domain.
        """
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
        parts = case.parts.each(names, lambda name: packed([all_gains(domains[name].matrix, case.settings, alpha)]))
        rows = [row for name, part in zip(names, parts, strict=True) for other in domains if other != name
                for row in _rows(case, name, other, domains, unpacked(part)[0])]
        if not rows:
            raise no_gains(domains[name] for name in names)
        warnings = [warning for name in names for warning in bootstrap_warnings(domains[name].matrix)]
        return Finding({"bands": rows}, _reading(rows, alpha), list(dict.fromkeys(warnings)))


def bands(alpha: float) -> list[tuple[float, float]]:
    """The band about alpha, then those that p-values fall into, the smallest first."""
    return [(alpha * (1 - WIDTH), alpha * (1 + WIDTH)), *pairwise(BANDS)]


def inside(p: Floats, low: float, high: float) -> Flags:
    """Which p-values lie in a band, its lower end left out but for 0, which p-values of exact tests come to."""
    found: Flags = (p <= high) & ((p > low) | (low == 0))
    return found


def agreeing(gains: Gains, here: Board, there: Board) -> tuple[Gains, Flags]:
    """The pairs that another board has too, and whether the better system is better there as well."""
    places = {(member.team, member.system): n for n, member in enumerate(there.members)}
    place = np.array([places.get((member.team, member.system), -1) for member in here.members])
    gains = gains.where((place[gains.better] >= 0) & (place[gains.worse] >= 0))
    scores = there.matrix.scores()
    difference = there.matrix.difference(scores[place[gains.better]], scores[place[gains.worse]])
    defined = ~np.isnan(difference)
    return gains.where(defined), difference[defined] > 0


def band_row(band: tuple[float, float], right: Flags, drawn: Iterable[Ints], confidence: float) -> Row:
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
            low, high = interval(np.hstack([times @ right / times.sum(axis=-1) for times in drawn]), confidence)
    return {"above": band[0], "up_to": band[1], "tests": len(right), "right": int(right.sum()),
            "share": float(right.mean()) if len(right) else math.nan, "low": low, "high": high}


def _rows(case: Case, name: str, other: str, domains: dict[str, Board], gains: Gains) -> Iterator[Row]:
    """The bands of one domain's p-values that have pairs, and what another domain says of these."""
    confidence = case.request.significance.confidence
    gains, agree = agreeing(gains, domains[name], domains[other])
    drawn = resampled_systems(len(domains[name].members), case.settings.seed)
    for band in pairwise(BANDS):
        chosen = inside(gains.p, *band)
        if chosen.any():
            times = drawn[:, gains.better[chosen]] * drawn[:, gains.worse[chosen]]
            yield {"tested_on": name, "other": other} | band_row(band, agree[chosen], [times], confidence)


def _reading(rows: Sequence[Row], alpha: float) -> list[str]:
    both = list(dict.fromkeys((row["tested_on"], row["other"]) for row in rows))
    if len(both) > _MANY:
        known = [row for row in rows if row["up_to"] <= alpha]
        tests, right = sum(row["tests"] for row in known), sum(row["right"] for row in known)
        highest = max(band for band in BANDS if band <= alpha)
        said = [f"Of {counted(tests, 'test')} with p up to {highest:.3g} on one domain {100 * right / tests:.0f} % "
                f"have the same better system on another, over {len(both)} pairs of domains."] if tests else []
    else:
        said = [sentence for pair in both if (sentence := _said(
            *pair, [row for row in rows if (row["tested_on"], row["other"]) == pair], alpha))]
    return [*said, "Test sets of other domains are no samples of one population: the share falls short where systems "
                   "are differently good at them, and no p-value of the one speaks of the other."]


def _said(tested_on: str, other: str, rows: Sequence[Row], alpha: float) -> str | None:
    about = [row for row in rows if row["above"] < alpha < row["up_to"]][:1]
    known = [row for row in rows if row["up_to"] <= alpha]
    tests, right = sum(row["tests"] for row in known), sum(row["right"] for row in known)
    if not tests:
        return None
    return (f"Of {counted(tests, 'pair')} with p up to {known[-1]['up_to']:.3g} on {tested_on} "
            f"{100 * right / tests:.0f} % have the same better system on {other}"
            + "".join(f", and of {row['tests']} with p from {row['above']:.3g} to {row['up_to']:.3g} "
                      f"{100 * row['share']:.0f} %" for row in about if row["tests"]) + ".")
