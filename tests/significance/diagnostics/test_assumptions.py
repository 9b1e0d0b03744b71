"""Warnings of misuse: each where it is due, none where it is not, and none of them refuses."""

from dataclasses import replace

import numpy as np
import pytest

from registry.metrics import SpanF
from registry.significance import (
    COEFFICIENTS,
    TESTS,
    Bootstrap,
    Crossed,
    Fisher,
    MatchedT,
    PairMatrix,
    Permutation,
    PredictionPowered,
    ResponsePermutation,
    Sign,
    TwoSampleT,
    Wilcoxon,
    Williams,
)
from registry.significance.diagnostics.assumptions import FEW, misuses
from tests.significance.matrices import matrix, of_answers, of_labels, of_scores
from tests.validity.judged_rows import judged_items

RNG = np.random.default_rng(1)
GRADED = of_scores(RNG.random((300, 2)))
LABELS = of_labels(RNG.random((300, 2)) < 0.5)
UNEVEN = matrix(np.stack([RNG.integers(0, 4, (300, 2)), RNG.integers(4, 9, (300, 2))], axis=-1))
SIZES = np.maximum(1, np.rint(100 / np.arange(1, 201))).astype(int)
BY_SIZE = np.repeat(np.arange(200), SIZES)
ZIPF = of_scores(RNG.random((len(BY_SIZE), 2)))
ANSWERS = of_answers(np.ones((100, 3), dtype=int).tolist(), SpanF())


def predictions(draw):
    """Two systems that add as much to the gold values of 200 items."""
    gold = draw((200, 1))
    return PairMatrix(np.stack([gold + draw((200, 2)), np.tile(gold, 2)], axis=-1))


def judged(**options):
    """Two systems on 300 items, of which people looked at 60."""
    return judged_items(300, "unlike", (60, 60), **options).sample(RNG, 1).matrix


@pytest.mark.slow
@pytest.mark.parametrize(("test", "m", "warning"), [
    (MatchedT(), GRADED, None),
    (MatchedT(), LABELS, "t-on-categories"),  # Dror et al. 2018, footnote 3: categorical outcomes
    (MatchedT(), UNEVEN, "t-not-mean"),  # and a metric that is no mean
    (Bootstrap(), GRADED.select_systems([0, 1]), None),
    (Bootstrap(), of_scores(RNG.random((FEW - 1, 2))), "few-units-bootstrap"),  # and a small test set
    (Bootstrap(), of_scores(RNG.random((FEW, 2))), None),
    (Bootstrap(), replace(GRADED, strata=np.arange(300) // 2), "in 150 strata show only 50 %"),
    (Bootstrap(), replace(GRADED, strata=np.arange(300) // 12), "in 25 strata show only 92 %"),  # 6.0 % at 5 %
    (Bootstrap(), replace(GRADED, strata=np.arange(300) // 15), None),
    (Bootstrap(), replace(GRADED, strata=np.maximum(np.arange(300), 2) - 2), "297 units are alone in a stratum"),
    (Bootstrap(), replace(GRADED, strata=np.arange(300)), "300 units are alone in a stratum"),
    (Bootstrap(), replace(GRADED, units=np.arange(300) // 3, strata=np.arange(300) // 3 // 2), "on 100 units"),
    # 1 / k, as Zipf's law has it: (sum of 1 / k)^2 / (sum of 1 / k^2) is 21 for 200 of them
    (Bootstrap(), replace(ZIPF, units=BY_SIZE), "the effective sample size is 2"),
    (Bootstrap("studentized"), replace(ZIPF, units=BY_SIZE), None),
    (Bootstrap("studentized"), replace(GRADED, units=np.maximum(np.arange(300) - 60, 0) // 3), "least 20"),  # 19.2
    (Bootstrap("studentized"), replace(GRADED, units=np.arange(300) // 20), None),  # 15 of one size
    (Bootstrap(), replace(ZIPF, units=np.arange(len(ZIPF.statistics)) // 3), None),
    (Permutation(), replace(GRADED, strata=np.arange(300)), None),
    (Sign(), GRADED, None),
    (Sign(), UNEVEN, "units-not-score"),
    (Wilcoxon(), UNEVEN, "units-not-score"),
    (TwoSampleT(), GRADED, "independent-test"),  # Yeh 2000, section 2
    (Permutation(), UNEVEN, None),
    (Williams(), PairMatrix(RNG.random((40, 2, 2)), coefficient=COEFFICIENTS["spearman"]), "normal-test-on-ranks"),
    (Williams(), PairMatrix(RNG.random((40, 2, 2))), None),
    (Williams(), predictions(RNG.standard_normal), None),
    (Williams(), predictions(RNG.standard_exponential), "not-normal"),  # rejects 16 % at 5 %
    (PredictionPowered(), judged(), None),
    (PredictionPowered(), judged(often=0.27), "needs at least 100 if items have different probabilities"),
    (PredictionPowered(), judged(documents=60), None),
    (PredictionPowered(), judged(documents=10), "needs at least 20"),
    (ResponsePermutation(), ANSWERS, None),
    (ResponsePermutation(), replace(ANSWERS, answers_to=np.arange(100) // 4 * 4), "25 of 25 items"),
    (ResponsePermutation(), replace(ANSWERS, answers_to=None), None),
    (Crossed(), GRADED, None),
    (Crossed(), of_scores(RNG.random((19, 2))), "there are 19 units; at least 20 are recommended"),
    (Crossed(), replace(GRADED, units=np.arange(300) // 12), None),  # 25 documents
    (Crossed(), replace(GRADED, units=np.maximum(np.arange(300) - 270, 0)), "is 1.2 (of 30 units)"),
    (Crossed(), replace(ZIPF, units=BY_SIZE), "(of 200 units); at least 40 are recommended"),
    (Fisher(), ANSWERS, None),
    (Fisher(), replace(ANSWERS, answers_to=np.arange(100) // 4), "shared-candidates"),
])
def test_misuse(test, m, warning):
    found = misuses(test, m)
    assert (warning is None) == (not found)
    assert warning is None or any(warning == said.code or warning in str(said) for said in found)


@pytest.mark.parametrize("test", [Sign(), MatchedT()])
def test_the_bootstrap_is_not_recommended_instead_of_a_test_of_units(test):
    (message,) = misuses(test, UNEVEN)
    assert str(message).endswith("; use --test permutation")


def test_every_test_that_assumes_independence_is_warned_of():
    named = {name for name, test in TESTS.items() if test.independent}
    assert named == {"two-sample-t", "binomial-z", "chi-squared", "rank-sum"}
    for name in named:
        assert any(said.code == "independent-test" for said in misuses(TESTS[name](), LABELS))
