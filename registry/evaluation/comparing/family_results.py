"""What a family makes of the results of its pairs: adjusted p-values, and decisions that Monte-Carlo error leaves open.

A family is that of all pairs of one board or of several. Raw results belong to the boards; adjusted p-values belong to
the family and are decided anew with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.evaluation.comparing.pair_results import BoardResults
from registry.manifest import Significance
from registry.significance import CORRECTIONS
from registry.significance.base import METHODS
from registry.significance.distributions import clopper_pearson
from registry.significance.multiple import (
    Draws,
    adjust_boards,
    adjust_max_t,
    adjust_min_p,
    draw_differences,
    number_chains,
)
from registry.significance.resampling.exceedances import Stopping


@dataclass(frozen=True, eq=False)
class Decisions:
    """What a family makes of the pairs of a board.

    Attributes:
        adjusted: Corrected p-values, [pairs]; nan where undefined.
        resolved: Whether Monte-Carlo error leaves no doubt on which side of alpha they are, [pairs].
    """

    adjusted: Floats
    resolved: Flags


@dataclass(frozen=True)
class FamilyResults:
    """Finds or computes the results of the pairs of the boards of a family, in their order, and decides them."""

    boards: Sequence[BoardResults]

    @property
    def settings(self) -> Significance:
        """The comparisons' settings, the same for all boards."""
        return self.boards[0].settings

    @cached_property
    def n_pairs(self) -> int:
        """How many pairs the family has in all."""
        return sum(len(of.pairs.a) for of in self.boards)

    @cached_property
    def are_drawn(self) -> bool:
        """Whether any decision, once pairs were tested, rests on random draws."""
        methods = {METHODS[code] for of in self.boards for code in np.unique(of.pairs.results["method"])}
        return "monte-carlo" in methods or CORRECTIONS[self.settings.correction].function is None

    def of_all_pairs(self) -> list[Decisions]:
        """Test every pair, and decide it: the decisions of each board.

        Pairs that Monte-Carlo error leaves undecided are drawn again, ten times as often at the most, as far as
        `resolve` and `precision` allow. Earlier blocks of draws stay the same; they are drawn once more, a tenth of the
        work where steps are of ten.
        """
        resamples = self.settings.draws
        for of in self.boards:
            of.test_pairs(np.arange(len(of.pairs.a)), resamples)
        decisions = self._decide()
        by_pair = CORRECTIONS[self.settings.correction].function is not None
        stopping = Stopping((self.settings.resolve or 0) if by_pair else 0, self.settings.precision)
        while resamples < stopping.most and any(map(len, undecided := self._undecided(decisions, stopping))):
            resamples = stopping.more_draws(resamples, min(
                float(of.pairs.results["p_value"][chosen].min(initial=1))
                for of, chosen in zip(self.boards, undecided, strict=True)))
            for of, chosen in zip(self.boards, undecided, strict=True):
                of.test_pairs(chosen, resamples)
            decisions = self._decide()
        return decisions

    def _undecided(self, decisions: Sequence[Decisions], stopping: Stopping) -> list[Ints]:
        """The pairs of each board that are to be drawn again."""
        return [np.flatnonzero(~decided.resolved & stopping.unknown(of.pairs.results["p_value"], of.pairs.draws))
                for of, decided in zip(self.boards, decisions, strict=True)]

    @cached_property
    def _chains(self) -> list[Ints]:
        """The chain of each pair, of each board: the same pair of systems on the same items has one number."""
        return number_chains([(of.board.key.items, np.array([m.submission_id for m in of.board.members])[
            np.stack([of.pairs.a, of.pairs.b])]) for of in self.boards])

    def _decide(self) -> list[Decisions]:
        """Adjust the p-values of the family, and say of which of them Monte-Carlo error leaves the decision resolved.

        Adjusted p-values never fall when a p-value rises, so those of the ends of all intervals bound them.
        """
        if CORRECTIONS[self.settings.correction].function is None:
            return self._step_down()
        results = [of.pairs.results for of in self.boards]
        p = [of["p_value"] for of in results]
        if all(np.isnan(of["p_low"]).all() for of in results):
            adjusted = adjust_boards(p, self._chains, self.settings.correction)
            return [Decisions(of_board, np.ones(len(of_board), dtype=bool)) for of_board in adjusted]
        ends = ([np.where(np.isnan(of[side]), of["p_value"], of[side]) for of in results]
                for side in ("p_low", "p_high"))
        adjusted, low, high = (adjust_boards(values, self._chains, self.settings.correction) for values in (p, *ends))
        return [Decisions(*of) for of in zip(adjusted, [
            (most <= self.settings.alpha) | ~(least <= self.settings.alpha)
            for least, most in zip(low, high, strict=True)], strict=True)]

    def _step_down(self) -> list[Decisions]:
        """Adjust the joint draws of all pairs on the same items; never below an exact p-value, nor where undefined.

        Boards of other items have no draws in common: each group of boards takes its pairs' share of alpha.
        """
        alike: dict[Any, list[int]] = {}
        for n, of in enumerate(self.boards):
            key, matrix, items = of.board.key, of.board.matrix, of.board.items
            alike.setdefault((key.items, matrix.by_unit.n_units, items.tobytes()), []).append(n)
        decisions: dict[int, Decisions] = {}
        for places in alike.values():
            group = [self.boards[n] for n in places]
            share = sum(len(of.pairs.a) for of in group) / max(1, self.n_pairs)
            decisions |= dict(zip(places, self._stepped(group, share), strict=True))
        return [decisions[n] for n in range(len(self.boards))]

    def _stepped(self, group: Sequence[BoardResults], share: float) -> list[Decisions]:
        settings = self.settings
        found = (adjust_min_p if settings.correction == "min-p" else adjust_max_t)(*map(_draws, group)).adjusted
        p = np.concatenate([of.pairs.results["p_value"] for of in group])
        defined = ~np.isnan(found)
        extremes = np.rint(found[defined] * (settings.draws + 1)).astype(np.int64) - 1
        low, high = clopper_pearson(extremes, settings.draws)
        resolved, level = ~defined, settings.alpha * share
        resolved[defined] = (high <= level) | (low > level)
        adjusted = np.fmax(found if share == 1 else np.minimum(found / share, 1), p)
        ends = np.cumsum([len(of.pairs.a) for of in group])[:-1]
        return [Decisions(*of) for of in zip(np.split(adjusted, ends), np.split(resolved, ends), strict=True)]


def _draws(of: BoardResults) -> Draws:
    """The joint draws of all pairs of a board."""
    pairs = of.pairs
    draws = draw_differences(of.board.matrix.by_unit, list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)),
                             of.request.of_pairs, of.test.name, of.sides)
    return replace(draws, observed=np.where(np.isnan(pairs.results["p_value"]), np.nan, draws.observed))
