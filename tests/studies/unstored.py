"""Boards that were never stored, to make studies of."""

from types import SimpleNamespace

import numpy as np

from registry.evaluation.comparing.settings import Request
from registry.manifest import Significance
from registry.significance import StatisticMatrix
from registry.studies.study import Case, Parts


def case_of(*matrices, resamples=1000):
    """Boards of these matrices, whose systems are s0, s1, ..., each of a team of its own."""
    boards, attributes = [], {}
    for n, matrix in enumerate(matrices):
        systems = [SimpleNamespace(name=f"t{k}/s{k}@1", team=f"t{k}", system=f"s{k}")
                   for k in range(matrix.statistics.shape[1])]
        attributes |= {system.name: {"team": system.team} for system in systems}
        key = SimpleNamespace(test_set=SimpleNamespace(name=f"set{n}"), facet=None, with_unit=lambda asked: asked)
        boards.append(SimpleNamespace(matrix=matrix, members=systems, items=np.arange(len(matrix.statistics)),
                                      key=key))
    asked = Request(Significance(alpha=0.05, confidence=0.95, resamples=resamples, seed=3), {})
    return Case(tuple(boards), SimpleNamespace(attributes=attributes, request=asked), Parts())


def means(scores):
    """Systems by the mean of the scores of their items, [items, systems]; no declared quotient, so it is drawn."""
    return StatisticMatrix(np.stack([scores, np.ones_like(scores)], axis=2), lambda sums: sums[..., 0] / sums[..., 1])
