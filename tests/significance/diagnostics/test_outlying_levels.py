"""A prompt far from the others: told by what two-way tables that are fitted without it foresee."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from registry.significance import Crossed, StatisticMatrix
from registry.significance.diagnostics.assumptions import misuses
from registry.significance.diagnostics.samples import find_outlying_levels
from tests.validity.populations import ACCURACY, over_one, quotient_of


def prompted(scores, factor="prompt"):
    """Systems by their scores with every prompt, [systems, prompts], the same in two items."""
    runs = tuple(np.repeat(over_one(of, 6)[None], 2, axis=0) for of in scores)
    levels = tuple({factor: str(n)} for n in range(scores.shape[1]))
    return StatisticMatrix(np.stack([of.mean(axis=1) for of in runs], axis=1), quotient_of(ACCURACY), quotient=ACCURACY,
                           runs=runs, factors=(levels,) * len(scores))


def is_far(scores):
    """By least squares without one cell, and by the system's other ones beside the average of the other systems."""
    systems, levels = scores.shape
    rows, columns = (of.ravel() for of in np.indices(scores.shape))
    design = np.column_stack([np.eye(systems)[rows], np.eye(levels)[columns][:, 1:]])
    for cell in range(scores.size):
        kept = np.arange(scores.size) != cell
        fit, (squares,) = np.linalg.lstsq(design[kept], scores.ravel()[kept])[:2]
        degrees = scores.size - 1 - design.shape[1]
        foreseen = 1 + design[cell] @ np.linalg.inv(design[kept].T @ design[kept]) @ design[cell]
        far = abs(scores.ravel()[cell] - design[cell] @ fit) / np.sqrt(squares / degrees * foreseen)
        apart = scores[rows[cell]] - np.delete(scores, rows[cell], axis=0).mean(axis=0)
        rest = np.delete(apart, columns[cell])
        own = abs(apart[columns[cell]] - rest.mean()) / rest.std(ddof=1) / np.sqrt(1 + 1 / len(rest))
        if 2 * stats.t.sf(far, degrees) * scores.size < 0.01 and own > 6:
            return True
    return False


def test_a_prompt_far_from_all_others_is_that_without_which_it_would_not_be_foreseen():
    rng, found = np.random.default_rng(3), []
    for _ in range(20):
        scores = rng.normal(0, 1, (3, 6)) + rng.normal(0, 5, 6)
        scores[1, 2] -= rng.uniform(0, 25)
        found.append(is_far(np.round(scores, 6)))
        assert (find_outlying_levels(prompted(scores)) is not None) == found[-1]
    assert 4 < sum(found) < 17


@pytest.mark.parametrize(("systems", "prompts", "is_told"), [(2, 8, True), (2, 4, False), (1, 8, False)])
def test_it_is_told_before_the_work_where_prompts_are_more_than_four(systems, prompts, is_told):
    scores = np.random.default_rng(1).normal(0, 0.01, (systems, prompts))
    scores[0, 1] -= 1
    m = prompted(scores)
    assert (find_outlying_levels(m) is not None) == (find_outlying_levels(m, "prompts") is not None) == is_told
    assert find_outlying_levels(m, "items") is None
    assert any(said.code == "outlying-levels" for said in misuses(Crossed(), m)) == is_told
    assert find_outlying_levels(prompted(scores, "run")) is None  # each system's own
    assert find_outlying_levels(replace(m, factors=None)) is None
