"""Methods and messages of intervals, in words."""

import json
from types import SimpleNamespace

from registry.boards.leaderboard import describe_intervals
from registry.messages import sentence


def notes(**closed):
    comparison = SimpleNamespace(test="permutation", n_systems=3, n_units=60, unit="item", confidence=0.95,
                                 n_items=60, family_size=3, resamples=0)
    intervals = describe_intervals(comparison, json.dumps({"intervals": closed}), has_scores=True)
    return list(map(sentence, intervals.statements(comparison)))


def test_methods_are_named():
    assert notes(scores=["share"], differences=["mover"])[0] == (
        "The 95 % confidence intervals are over 60 items. Those of scores are Wilson score intervals with the "
        "effective sample size. Those of differences are MOVER intervals, computed from the intervals and the "
        "correlation of both scores. Intervals of differences are not corrected for the number of pairs.")
    assert "Those of scores and differences are Student's t intervals." in notes(
        scores=["student"], differences=["student"])[0]


def test_a_system_without_errors_has_a_bound():
    """The rule of three: 3 / 60 is 5 %."""
    (*_, note) = notes(scores=["proportional"], differences=["student"], n_error_free=1)
    assert note == ("1 score has no interval, because no error occurs in 60 items: fewer than 5 % of items have "
                    "errors, at 95 % confidence.")


def test_the_p_value_decides():
    (*_, note) = notes(scores=["share"], differences=["mover"], n_contrary=2)
    assert note == ("In 2 pairs, the confidence interval and the uncorrected p-value lead to opposite conclusions, "
                    "because they use different methods; the p-value decides.")
