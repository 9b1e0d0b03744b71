"""Tables of n-best evaluations: who differs from whom up to where, every test, every curve, and variation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from registry.rendering.table import Column, Table, is_significant, number, p_value
from registry.rendering.table import text as plain
from registry.studies.ranking import NBest
from registry.studies.run import StudyResult


def _right(key: str, heading: str, write: Callable[[Any], str] = plain) -> Column:
    return Column(key, heading, write, right=True)


_SYSTEMS = Column("system_a", "system A"), Column("system_b", "system B")
_PAIR = ("task", "test_set", "system_a", "system_b", "submission_a", "submission_b")
PAIRS = (*_SYSTEMS, _right("differs_up_to", "differ up to n"), _right("significant", "significant"),
         _right("cut_offs", "of"), Column("significant_at", "at n"), Column("favours", "for"))
PAIR_KEYS = (*_PAIR, "differs_up_to", "significant", "cut_offs", "significant_at", "favours")
TESTS = (*_SYSTEMS, _right("n", "n"), _right("only_a", "only A"), _right("right_a", "right"),
         _right("only_b", "only B"), _right("right_b", "right"), _right("p_value", "p", p_value),
         Column("significant", "significant", lambda yes: "yes" if yes else "", decided=is_significant))
TEST_KEYS = (*_PAIR, "n", "only_a", "right_a", "only_b", "right_b", "p_value", "log10_p", "significant", "test", "rule")
CURVES = (Column("system", "system"), _right("n", "n"), _right("accepted", "accepted"), _right("right", "right"),
          _right("precision", "precision", number(4)), _right("ci_low", "from", number(4)),
          _right("ci_high", "to", number(4)), _right("recall", "recall", number(4)))
VARIATION = (
    Column("system", "system"), _right("repetitions", "repetitions"), _right("accepted", "accepted", number(1)),
    _right("precision", "precision", number(4)), _right("deviation", "deviation", number(4)),
    _right("expected", "expected", number(4)), _right("p_variance", "p", p_value), _right("outside", "outside"),
    _right("p_outside", "p", p_value))


def pairs_table(result: StudyResult) -> Table:
    """One row for every pair: the cut-offs at which it differs, and that up to which it does throughout."""
    return _table(result, "pairs", PAIRS, PAIR_KEYS, _of_tests(result))


def tests_table(result: StudyResult) -> Table:
    """One row for every pair and cut-off: the difference regions and Fisher's test."""
    return _table(result, "tests", TESTS, TEST_KEYS, _of_tests(result))


def curves_table(result: StudyResult) -> Table:
    """One row for every system and cut-off: precision with its interval, and recall."""
    study = _study(result)
    return _table(result, "curves", CURVES, (), f"{100 * study.confidence:g} % Clopper-Pearson intervals; "
                  f"ties: {study.ties}.")


def variation_table(result: StudyResult) -> Table:
    """One row for every system: its precision over repetitions, beside what the binomial model expects."""
    study = _study(result)
    said = (f"Accepted by a threshold: {study.accept} per repetition on average. Expected is the binomial deviation, "
            f"the p beside it chi-squared; outside are {100 * study.confidence:g} % intervals that leave out the "
            "average.")
    return Table(result.finding.tables["variation"], VARIATION,
                 f"{result.subject}: precision over {study.repetition}", (said,))


def _study(result: StudyResult) -> NBest:
    assert isinstance(result.study, NBest)
    return result.study


def _of_tests(result: StudyResult) -> str:
    study, sizes = _study(result), sorted({row["n"] for row in result.finding.tables["curves"]})
    return (f"Fisher's test of D1 and D2, two-sided by point probabilities, at {len(sizes)} n from {sizes[0]} to "
            f"{sizes[-1]}, each at {study.alpha:g} (not corrected for their number); ties: {study.ties}.")


def _table(result: StudyResult, name: str, columns: Sequence[Column], keys: Sequence[str], said: str) -> Table:
    (of,) = result.finding.tables["candidates"]
    title = (f"{result.subject}: {of['right']} of {of['candidates']} candidates are right, baseline "
             f"{100 * of['baseline']:.2f} %")
    return Table(result.finding.tables[name], columns, title, (said,), keys)
