"""What is asked of several boards at once: whether an error rate holds over all of them."""

from dataclasses import dataclass, replace

import numpy as np

from registry.significance import PairTest
from registry.significance.multiple import adjust, adjust_boards, adjust_max_t, adjust_min_p, draw_differences
from tests.validity.examinations import ALPHA, each_run, settings
from tests.validity.family_examinations import Corrected, all_pairs, null_pairs
from tests.validity.populations import Population, quotient_of


def any_false(populations, adjusted):
    """Whether any pair of equal systems is called different on any board, [runs], of [boards] of [runs, pairs]."""
    return np.any([(p[:, null_pairs(of)] <= ALPHA).any(axis=1)
                   for of, p in zip(populations, adjusted, strict=True)], axis=0)


@dataclass(frozen=True)
class Boards:
    """Boards of test sets that have nothing in common, as one family or each as one of its own. Gives any error.

    `others` are the populations of the boards beside that of the row. In a family they are taken for further metrics of
    the same items, of whose dependence gatekeeping assumes nothing.
    """

    test: PairTest
    correction: str
    others: tuple[Population, ...]
    together: bool = True

    def __str__(self):
        over = "boards as one family" if self.together else "boards, each a family of its own"
        return f"{self.correction} over {self.test!r}, {1 + len(self.others)} {over}: any false"

    def __call__(self, sample, rng):
        samples = [sample, *(other.sample(rng, sample.runs) for other in self.others)]
        raw = [Corrected(self.test, "none")(of, rng)[0] for of in samples]
        chains = [np.arange(p.shape[1]) for p in raw]
        adjusted = [adjust_boards(of_run, chains, self.correction) if self.together else [
            adjust(p, self.correction) for p in of_run] for of_run in zip(*raw, strict=True)]
        return any_false([of.population for of in samples], [np.array(p) for p in zip(*adjusted, strict=True)])


@dataclass(frozen=True)
class SharedDraws:
    """Several scores of the same items, adjusted step-down from the joint draws of a test. Gives any error.

    `quotients` are the scores; all systems are equal by each.
    """

    kind: str
    method: str
    quotients: tuple
    resamples: int = 499

    def __str__(self):
        return f"step-down {self.method} of {self.kind} draws, {len(self.quotients)} metrics as one family: any false"

    def __call__(self, sample, rng):
        step, found = {"min_p": adjust_min_p, "max_t": adjust_max_t}[self.method], []
        for matrix in each_run(sample):
            asked = settings(rng, resamples=self.resamples)
            boards = [replace(matrix, score=quotient_of(of), quotient=of) for of in self.quotients]
            draws = [draw_differences(board, all_pairs(sample.systems), asked, self.kind) for board in boards]
            found.append((step(*draws).adjusted <= ALPHA).any())
        return np.array(found)
