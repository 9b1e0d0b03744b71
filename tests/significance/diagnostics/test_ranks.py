"""What is said of ranks before they are computed, by each method."""

from dataclasses import replace

import numpy as np
import pytest

from registry.significance.diagnostics.ranks import rank_warnings
from tests.significance.matrices import matrix, of_scores
from tests.significance.resampling.test_random_runs import matrix as of_runs
from tests.validity.judged_rows import judged_items
from tests.validity.populations import unequal_f1
from tests.validity.unlike_populations import rare_class

RNG = np.random.default_rng(1)
SCORES = of_scores(RNG.random((60, 4)))
LARGE = np.append(np.arange(99), 99 + np.arange(200) // 10)
LARGER = of_scores(RNG.random((len(LARGE), 3)))
NO_QUOTIENT = replace(SCORES, quotient=None)
SKEWED = of_scores(np.stack([np.linspace(0, 1, 60) ** 9, np.full(60, 0.1)], axis=1).round(3))
RARE, LESS_RARE, COMMON = (rare_class(300, of, ((0.8, 0.7, 0.5),) * 4).sample(RNG, 1).matrix for of in (5, 40, 80))
SAYS = np.stack([np.arange(400) < 150, np.full(400, True)], axis=1)
RIGHT = SAYS & (np.arange(400) % 100 > 0)[:, None]  # of the first one's answers two are wrong
HARDLY = matrix(np.stack([RIGHT, SAYS], axis=-1))
OPPOSED = unequal_f1(300).sample(RNG, 1).matrix


def runs_of(*scores):
    """Systems on 60 items whose runs have these scores."""
    return of_runs(*(np.stack([np.tile(np.round(1000 * np.asarray(of)), (60, 1)), np.ones((60, len(of)))], axis=-1)
                     for of in scores))


GOOD = (0.5, 0.51, 0.49, 0.505, 0.495, 0.5)


@pytest.mark.parametrize(("m", "method", "resamples", "said"), [
    (SCORES, "bootstrap", 1000, None),
    (SCORES, "flips", 1000, None),
    (SCORES, "holm", 1000, None),  # counted, not drawn
    (replace(SCORES, units=np.arange(60) // 4), "bootstrap", 1000, "there are only 15 units"),
    (replace(SCORES, units=np.arange(60) // 2), "flips", 1000, "only 30 units (at least 50 are recommended)"),
    # 29 items and one cluster of 31: (29 + 31)^2 / (29 + 31^2) = 3.6
    (replace(SCORES, units=np.minimum(np.arange(60), 29)), "bootstrap", 1000, "size is 3.6 (of 30 units"),
    # 99 clusters of one item and 20 of ten: 299^2 / (99 + 2000) = 42.6 of 119
    *((replace(LARGER, units=LARGE), method, 1000, f"size is 42.6 (of 119 units; at least {at} are")
      for method, at in (("bootstrap", 100), ("flips", 400))),
    (SCORES, "bootstrap", 18, "set resamples to 19 or more"),  # 1 / (R + 1) <= 0.05
    (replace(SCORES, units=np.arange(60) // 10), "holm", 1000, "at least 8 units are needed"),  # 6 2^(1 - 8) <= 0.05
    (NO_QUOTIENT, "holm", 100, "set resamples to 119 or more"),  # 6 / (R + 1) <= 0.05
    (NO_QUOTIENT, "holm", 119, None),
    (OPPOSED, "holm", 1000, "not-exchangeable"),
    (OPPOSED, "bootstrap", 1000, None),
    (HARDLY, "bootstrap", 1000, "few-varied-predictions"),
    (SKEWED, "flips", 1000, "skewed-ranks"),
    (SKEWED, "bootstrap", 1000, None),
    *((RARE, method, 1000, "in all 6 pairs, ranks may be wrong") for method in ("bootstrap", "flips")),
    (RARE, "holm", 1000, None),  # exchangeable systems, for which permutation holds
    (LESS_RARE, "bootstrap", 1000, "the score depends on a class with fewer than 60 items; add items of this class"),
    (replace(LESS_RARE, units=np.arange(300) // 2), "bootstrap", 1000,
     "a class that occurs in fewer than 60 clusters of equal weight; add clusters with this class"),
    (LESS_RARE.select_systems([0, 1]), "bootstrap", 1000, None),
    (COMMON, "bootstrap", 1000, None),
    (judged_items(300, "unlike", (49, 49)).sample(RNG, 1).matrix, "bootstrap", 1000, "only 49 units judged by people"),
    (judged_items(2000, ((1.0, 0.0), (1.0, 0.0)), (60, 60)).sample(RNG, 1).matrix, "bootstrap", 1000,
     "few-judge-errors-ranks"),
    (judged_items(300, "unlike", (50, 50)).sample(RNG, 1).matrix, "bootstrap", 1000, None),
    (runs_of(GOOD, GOOD, (*GOOD[:-1], 0.1)), "bootstrap", 1000, "1 of 3 systems has a run whose score is far"),
    (runs_of(GOOD, GOOD, GOOD), "bootstrap", 1000, None),
    (runs_of(GOOD[:3], GOOD[:3]), "holm", 1000, "the smallest possible p-value with 3 and 3 runs is 0.1"),
    (runs_of((0.1, 0.9, 0.5), GOOD, GOOD), "holm", 1000, "uneven-runs"),
])
def test_what_is_said_of_ranks(m, method, resamples, said):
    found = [of for of in rank_warnings(m, method, alpha=0.05, resamples=resamples) if of.code != "runs-on-fixed-items"]
    assert any(said == of.code or said in str(of) for of in found) if said is not None else not found


def test_warnings_do_not_depend_on_the_unit_being_summed():
    m = replace(matrix(np.ones((40, 3, 2))), units=np.arange(40) // 3)
    assert rank_warnings(m, "bootstrap", alpha=0.05, resamples=1000) == rank_warnings(
        m.by_unit, "bootstrap", alpha=0.05, resamples=1000) != []
