"""Tables of n-best evaluations: who differs from whom up to where, every test, every curve, and variation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from registry.rendering.table import Column, Table, number, p_value
from registry.rendering.table import text as plain
from registry.studies.nbest.evaluation import NBest
from registry.studies.run import StudyResult

PAIRS = (
    Column("system_a", "system A"), Column("system_b", "system B"),
    Column("differs_up_to", "differ up to n", plain, right=True),
    Column("significant", "significant", plain, right=True), Column("cut_offs", "of", plain, right=True),
    Column("significant_at", "at n"), Column("favours", "for"))
PAIR_KEYS = ("task", "test_set", "system_a", "system_b", "submission_a", "submission_b", "differs_up_to", "significant",
             "cut_offs", "significant_at", "favours")
TESTS = (
    Column("system_a", "system A"), Column("system_b", "system B"), Column("n", "n", plain, right=True),
    Column("only_a", "only A", plain, right=True), Column("right_a", "right", plain, right=True),
    Column("only_b", "only B", plain, right=True), Column("right_b", "right", plain, right=True),
    Column("p_value", "p", p_value, right=True),
    Column("significant", "significant", lambda yes: "yes" if yes else ""))
TEST_KEYS = ("task", "test_set", "system_a", "system_b", "submission_a", "submission_b", "n", "only_a", "right_a",
             "only_b", "right_b", "p_value", "log10_p", "significant", "test", "rule")
CURVES = (
    Column("system", "system"), Column("n", "n", plain, right=True),
    Column("accepted", "accepted", plain, right=True), Column("right", "right", plain, right=True),
    *(Column(key, heading, number(4), right=True) for key, heading in (
        ("precision", "precision"), ("ci_low", "from"), ("ci_high", "to"), ("recall", "recall"))))
CURVE_KEYS = ("task", "test_set", "system", "submission", "n", "accepted", "right", "precision", "ci_low", "ci_high",
              "recall", "baseline")


def pairs_table(result: StudyResult) -> Table:
    """One row for every pair: the cut-offs at which it differs, and that up to which it does throughout."""
    return _table(result, "pairs", PAIRS, PAIR_KEYS, _of_tests(result))


def tests_table(result: StudyResult) -> Table:
    """One row for every pair and cut-off: the difference regions and Fisher's test."""
    return _table(result, "tests", TESTS, TEST_KEYS, _of_tests(result))


def curves_table(result: StudyResult) -> Table:
    """One row for every system and cut-off: precision with its interval, and recall."""
    study = _study(result)
    return _table(result, "curves", CURVES, CURVE_KEYS,
                  f"{100 * study.confidence:g} % Clopper-Pearson intervals; ties: {study.ties}.")


def variation_table(result: StudyResult) -> Table:
    """One row for every system: its precision over repetitions, beside what the binomial model expects."""
    def column(key: str, heading: str, write: Callable[[Any], str] = plain) -> Column:
        return Column(key, heading, write, right=True)

    study = _study(result)
    columns = (
        Column("system", "system"), column("repetitions", "repetitions"), column("accepted", "accepted", number(1)),
        column("precision", "precision", number(4)), column("deviation", "deviation", number(4)),
        column("expected", "expected", number(4)), column("p_variance", "p", p_value),
        column("outside", "outside"), column("p_outside", "p", p_value))
    said = (f"Accepted by a threshold: {study.accept} per repetition on average. Expected is the binomial deviation, "
            f"the p beside it chi-squared; outside are {100 * study.confidence:g} % intervals that leave out the "
            "average.")
    return Table(result.finding.tables["variation"], columns,
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
