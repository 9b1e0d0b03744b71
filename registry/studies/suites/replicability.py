"""On how many of several test sets is one system better than another (Dror et al. 2018, section 5; Dror et al. 2017)?

A gain that is significant on one test set of many may be luck: with twenty of them, one is to be expected. Partial
conjunctions say for each number of test sets whether the claim "better on at least so many" can be made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, ClassVar

import numpy as np

from registry.arrays import Floats
from registry.errors import InputError, UnknownNameError, counted
from registry.evaluation.comparing.board_statistics import Board
from registry.identity import plain_value
from registry.significance.diagnostics.assumptions import one_sided_misuses
from registry.significance.multiple import adjust, k_hat, listed, partial_conjunctions
from registry.studies.board_study import BoardStudy, Case, called
from registry.studies.study import Finding, Row, option
from registry.studies.suites.sets import doubts_of_sets


class Replicability(BoardStudy):
    """On how many test sets, or values of an item attribute such as a fold, one system is better than another.

    Partial conjunctions of one-sided tests, and the list of test sets with Holm's control (Dror et al. 2017). A claim
    has a direction: each ordered pair of systems is one, tested one-sided by the task's test.
    """

    name: ClassVar[str] = "replicability"
    title: ClassVar[str] = "On how many test sets does one system beat another?"
    citation: ClassVar[str] = "Dror et al. 2018, section 5; Dror et al. 2017; Benjamini and Heller 2008"
    scope: ClassVar = "test sets"
    choice: ClassVar = ("metric", "test_set", "track")
    settings: ClassVar = ("test", "unit", "alpha", "resamples", "seed")
    figures: ClassVar = ("replicability",)
    across: str | None = option(None, "Take the values of this item attribute, such as the fold of a cross-validation, "
                                "for test sets.", metavar="ATTRIBUTE")
    systems: tuple[str, ...] = option((), "Only the pairs of these systems; all if none is given.", name="system",
                                      metavar="NAME")

    @property
    def facets_by(self) -> str | None:
        """Its values are test sets of their own."""
        return self.across

    def run(self, case: Case) -> Finding:
        """Test every ordered pair on every test set, and combine.

        Raises:
            InputError: There is one test set only, no two systems have two in common, or the test has no direction.
        """
        if len(case.boards) < 2:
            raise InputError("there is one test set; --across ATTRIBUTE takes the values of an item's attribute, "
                             "such as the fold of a cross-validation, for test sets")
        test, alpha = case.test, case.request.significance.alpha
        if test.is_one_sided:
            raise InputError(f"{test!r} tests the direction of the gain, whichever it is; take --test permutation")
        settings = replace(case.settings, alternative="greater")

        def tested(n: int) -> Any:
            matrix = case.boards[n].matrix.by_unit
            if reason := test.refusal(matrix):
                raise InputError(reason)
            pairs = list(permutations(range(len(case.boards[n].members)), 2))
            return plain_value([[of.difference, of.p_value] for of in test.run(matrix, pairs, settings)])

        parts = case.parts.each(range(len(case.boards)), tested)
        claims = list(_claims(case.boards, parts, self.systems))
        shown = [claim for claim in claims if (claim.differences > 0).any()]
        names = _test_sets(case.boards)
        return Finding({"pairs": [claim.row(names, alpha) for claim in shown],
                        "numbers": [row for claim in shown for row in claim.numbers(alpha)],
                        "test_sets": [row for claim in shown for row in claim.test_sets(names, alpha)]},
                       _reading(claims, alpha),
                       doubts_of_sets(case.boards, names, lambda matrix: one_sided_misuses(test, matrix)))


@dataclass(frozen=True, eq=False)
class _Claim:
    """That one system is better than another, on those test sets that have both: their numbers, differences and p."""

    better: str
    worse: str
    boards: list[int]
    differences: Floats
    p: Floats

    def row(self, names: Sequence[str], alpha: float) -> Row:
        on = [names[n] for n, is_listed in zip(self.boards, listed(self.p, alpha), strict=True) if is_listed]
        return {"better": self.better, "than": self.worse, "test_sets": len(self.boards),
                "scores_higher_on": int(np.count_nonzero(self.differences > 0)),
                "k_bonferroni": int(k_hat(self.p, "bonferroni", alpha)),
                "k_fisher": int(k_hat(self.p, "fisher", alpha)),
                "listed": ", ".join(on)}

    def numbers(self, alpha: float) -> Iterator[Row]:
        both = zip(*(partial_conjunctions(self.p, how) for how in ("bonferroni", "fisher")), strict=True)
        for u, (bonferroni, fisher) in enumerate(both, 1):
            yield {"better": self.better, "than": self.worse, "on_at_least": u, "p_bonferroni": float(bonferroni),
                   "p_fisher": float(fisher), "bonferroni": bool(bonferroni <= alpha), "fisher": bool(fisher <= alpha)}

    def test_sets(self, names: Sequence[str], alpha: float) -> Iterator[Row]:
        found = zip(self.boards, self.differences, self.p, adjust(self.p, "holm"), listed(self.p, alpha), strict=True)
        for n, difference, p, p_holm, is_listed in found:
            yield {"better": self.better, "than": self.worse, "test_set": names[n], "difference": float(difference),
                   "p_value": float(p), "p_holm": float(p_holm), "listed": bool(is_listed)}


def _claims(boards: Sequence[Board], parts: Sequence[Any], wanted: Sequence[str]) -> Iterator[_Claim]:
    """Every ordered pair of systems that have two test sets in common, the better ones on the first test sets first."""
    found: dict[tuple[str, str], list[tuple[int, float | None, float | None]]] = {}
    known = {f"{m.team}/{m.system}": m for board in boards for m in board.members}
    labels = dict(zip(known, called(list(known.values())), strict=True))
    for system in wanted:
        if system not in {*labels, *labels.values()}:
            raise UnknownNameError("system", system, sorted(labels.values()))
    for n, (board, part) in enumerate(zip(boards, parts, strict=True)):
        names = [f"{m.team}/{m.system}" for m in board.members]
        for pair, numbers in zip(permutations(names, 2), part, strict=True):
            found.setdefault(pair, []).append((n, *numbers))
    several = {pair: of for pair, of in found.items() if len(of) > 1 and (
        not wanted or all({system, labels[system]} & set(wanted) for system in pair))}
    if not several:
        raise InputError("no two of the systems have two test sets in common")
    for (better, worse), of in several.items():
        on, differences, p = zip(*of, strict=True)
        yield _Claim(labels[better], labels[worse], list(on), *np.array([differences, p], dtype=np.float64))


def _test_sets(boards: Sequence[Board]) -> list[str]:
    """What test sets, or values of an attribute, are called; with the test set where there are several of both."""
    several = len({board.key.test_set.name for board in boards}) > 1
    return [board.key.test_set.name if board.key.facet is None else
            f"{board.key.test_set.name}/{board.key.facet[1]}" if several else board.key.facet[1]
            for board in boards]


def _reading(claims: Sequence[_Claim], alpha: float) -> list[str]:
    sizes = {len(claim.boards) for claim in claims}
    some, every = set(), set()
    for claim in claims:
        pair, k = frozenset((claim.better, claim.worse)), int(k_hat(claim.p, "bonferroni", alpha))
        some |= {pair} if k else set()
        every |= {pair} if k == len(claim.boards) else set()
    of = str(min(sizes)) if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}"
    said = [
        f"Of {counted(len(claims) // 2, 'pair')} on {of} test sets, one system is shown to be better on at least one "
        f"test set in {len(some)}, on all of them in {len(every)} (by Bonferroni's combination).",
        f"k is on how many test sets the claim holds at least. It is too large with a probability of at most "
        f"{100 * alpha:g} % for each claim: by Bonferroni's combination whatever the test sets have in common, by "
        "Fisher's only where they are independent, which folds of one data set are not.",
        "A test set that is not listed is not shown to be one where the claim fails, and claims are not corrected for "
        "the number of pairs."]
    if any(np.isnan(claim.p).any() for claim in claims):
        said.append("A test set where the test is undefined counts as one that shows nothing.")
    return said
