"""Rows of boards that stay open: false new bests over 200 submissions, and the winner's score.

Histories are those of `tests.significance.histories.open_boards`. Where all scores are shown nothing is guaranteed, and
a majority vote shows it; where a Ladder's are, its levels are far below what is needed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from registry.significance.histories import find_new_bests, find_new_bests_by_ladder
from registry.significance.rank_sets import correct_winner
from tests.significance.histories.open_boards import (
    ALPHA,
    ITEMS,
    SUBMISSIONS,
    climber,
    independent,
    log_p_values,
    revised,
    shown_by,
    slopes,
    stairs,
    vote,
)
from tests.significance.ranks.winner_coverage import POPULATIONS, boards
from tests.validity.bands import Rate
from tests.validity.row import Row

FALSE = "a false new best"


@dataclass(frozen=True)
class Drawn:
    """What is drawn one by one, in the place of a population's test sets."""

    name: str
    draw: Callable

    def sample(self, rng, runs):
        """So many of them."""
        return [self.draw(rng) for _ in range(runs)]


@dataclass(frozen=True)
class FalseNewBest:
    """Whether any submission of a history that was fixed beforehand is falsely called a new best.

    `spend` takes the logarithms of p-values, alpha and the number of submissions.
    """

    spend: Callable = find_new_bests

    def __str__(self):
        return "new bests by exact sign tests"

    def __call__(self, sample, rng):
        return [(self.spend(log_p_values(right, solved), ALPHA, SUBMISSIONS).declared
                 & ~np.append(False, np.diff(solved) > 0)).any() for right, solved in sample]


@dataclass(frozen=True)
class FalseNewBestShown:
    """The same where submitters, who know nothing of the items, look at what a Ladder shows; every new best is false.

    `step` is the Ladder's; 0: by standard errors; None: all scores are shown, and the levels are those of `new_bests`.
    """

    step: float | None

    def __str__(self):
        return "new_bests" if self.step is None else "new_bests_by_ladder"

    def __call__(self, sample, rng):
        return [self._found(right) for right in sample]

    def _found(self, right):
        log_p = log_p_values(right)
        if self.step is None:
            return find_new_bests(log_p, ALPHA, SUBMISSIONS).declared.any()
        values = round(1 / self.step) + 1 if self.step else ITEMS + 1
        raised = shown_by(right, self.step).raised
        return find_new_bests_by_ladder(log_p, raised, ALPHA, SUBMISSIONS, values).declared.any()


@dataclass(frozen=True)
class CoversWinner:
    """Whether the interval of the best system's score holds its true score."""

    units: int
    qualities: tuple[float, ...]
    plain: bool = False

    def __str__(self):
        return f"{'plain' if self.plain else 'hybrid'} interval of the best one's score"

    def __call__(self, sample, rng):
        held = []
        for influences in sample:
            best = correct_winner(influences)
            if best is None:  # it is always right, and has no interval
                held.append(False)
                continue
            low, high = (best.low, best.high) if self.plain else (best.corrected_low, best.corrected_high)
            held.append(low <= self.qualities[best.system] <= high)
        return held


def new_best_rows():
    """Of fixed histories, and of submitters who look at what is shown."""
    for draw, name, quick in ((independent, "200 submissions of the same quality", 0),
                              (revised, "each the one before, a tenth anew", 0),
                              (stairs, "every other one far better", 20),
                              (slopes, "every twentieth better by six errors", 0)):
        yield Row(f"new-best-{draw.__name__}", Drawn(name, draw), FalseNewBest(), (Rate(0.0, 0.05, FALSE),),
                  5000 if draw in (independent, revised) else 2000, quick, batch=20)
    for attack, step in ((vote, None), (vote, 0.02), (vote, 0), (climber, 0.02), (climber, 0.05), (climber, 0)):
        shown = "scores" if step is None else f"ladder-{step:g}" if step else "ladder-by-errors"

        def draw(rng, attack=attack, step=step):
            if attack is climber:
                return climber(rng, step)
            return vote(rng, lambda right: right.mean(axis=1) if step is None else shown_by(right, step).raised)

        band = Rate(0.9 if step is None else 0.0, 1.0 if step is None else 0.05, FALSE)
        yield Row(f"new-best-{attack.__name__}-{shown}", Drawn(f"{attack.__name__}, shown {shown}", draw),
                  FalseNewBestShown(step), (band,), 2000, 20 if (attack, step) == (vote, 0.02) else 0, batch=20)


def winner_rows():
    """Of the best of many the plain interval fails, and the hybrid one holds from 200 units on."""
    for name, (units, qualities) in POPULATIONS.items():
        def draw(rng, units=units, qualities=qualities):
            return next(boards(rng, units, qualities, 1))

        slug = name.replace(",", "").replace(" ", "-")
        null = Drawn(f"{name}, {len(qualities)} systems, {units} items".replace(", 50 items, ", ", ").replace(
            ", 1000 items, ", ", "), draw)
        low = 0.85 if units < 200 else 0.93
        yield Row(f"winner-hybrid-{slug}", null, CoversWinner(units, qualities), (Rate(low, 0.99, "coverage"),), 10_000,
                  100 if name == "10 tied" else 0)
        if name in ("2 tied", "10 tied", "50 tied"):
            yield Row(f"winner-plain-{slug}", null, CoversWinner(units, qualities, plain=True),
                      (Rate(0.4, 0.95, "coverage"),), 10_000, 0)
