"""Alignment error rate, precision and recall, against Och and Ney's definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.items import Answer, Item, Links
from registry.metrics import AER, AlignmentP, AlignmentR, SetF
from registry.significance import Permutation, Settings, StatisticMatrix

links = st.frozensets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6)


@pytest.mark.slow
@given(st.lists(st.tuples(links, links, st.none() | links), min_size=1, max_size=5))
def test_scores_are_what_the_definition_gives(pairs):
    """A the system's links, S the sure ones, P the possible ones, S among them: of all pairs together."""
    metrics = AER(), AlignmentP(), AlignmentR()
    sums = np.zeros(4)
    both = {"S": set(), "P": set(), "A": set()}
    for n, (sure, possible, found) in enumerate(pairs):
        item = Item(str(n), Links(tuple(sorted(sure)), tuple(sorted(possible - sure))))
        answer = None if found is None else Answer(str(n), Links(tuple(sorted(found))))
        sums += AER().statistics(item, answer)
        for name, of_pair in (("S", sure), ("P", sure | possible), ("A", found or ())):
            both[name] |= {(n, *link) for link in of_pair}
    s, p, a = both["S"], both["P"], both["A"]
    expected = [1 - (len(a & s) + len(a & p)) / (len(a) + len(s)) if a or s else np.nan,
                len(a & p) / len(a) if a else np.nan, len(a & s) / len(s) if s else np.nan]
    assert [metric.score(sums) for metric in metrics] == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_the_exact_permutation_of_aer_without_possible_links_is_that_of_f1():
    """1 - AER is then F1: the same p-value, and a positive difference favours the lower error."""
    rng = np.random.default_rng(3)
    gold, found = rng.integers(0, 6, (30, 1)), rng.integers(0, 6, (30, 2))
    hits = np.minimum(rng.integers(0, 6, (30, 2)), np.minimum(gold, found))
    gold = np.broadcast_to(gold, (30, 2))
    f1 = StatisticMatrix(np.stack([hits, found, gold], -1).astype(float), SetF().score, quotient=SetF().quotient)
    aer = StatisticMatrix(np.stack([hits, hits, found, gold], -1).astype(float), AER().score, quotient=AER().quotient,
                          lower_is_better=True)
    (one,), (other,) = (Permutation().run(matrix, [(0, 1)], Settings()) for matrix in (f1, aer))
    assert (one.method, other.method) == ("exact", "exact")
    assert other.p_value == pytest.approx(one.p_value, rel=1e-9)
    assert other.difference == pytest.approx(one.difference)
