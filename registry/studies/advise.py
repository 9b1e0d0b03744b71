"""Recommendation of a significance test for a board (Dror et al. 2018, section 3 and Figure 1).

The decision tree of the paper asks whether the distribution of the statistic is known, and whether the data set is
small. This module answers the questions from the data of the board. It deviates from the paper in two points.
Permutation tests are fast now, so large test sets need no test that ignores the size of differences. And footnote 3 of
the paper excludes the bootstrap on small test sets, for which the tree recommends it. Permutation tests are exact if
systems are exchangeable; if scores may be equal without that, the module recommends a test that holds its level in
simulation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar, Literal

import numpy as np

from registry.errors import InputError, counted
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.directions import has_one_sided
from registry.significance import (
    TESTS,
    Bootstrap,
    Bounded,
    Crossed,
    Fisher,
    Matrix,
    PairMatrix,
    PairTest,
    Permutation,
    PredictionPowered,
    RankSum,
    ResponsePermutation,
    Settings,
)
from registry.significance.base import Observed
from registry.significance.diagnostics.assumptions import FEW, is_categorical, misuses
from registry.significance.diagnostics.exchangeability import FEW_SKEWED
from registry.significance.diagnostics.judges import count_informative_units
from registry.significance.effects import check_normality
from registry.significance.multiple import count_required_units, explain_too_few_units
from registry.significance.pairwise.permutation import ENUMERATED
from registry.significance.units import unit_differences
from registry.studies.study import BoardStudy, Case, Finding, Row, option
from registry.values import parse

NORMAL_FROM = 30  # units from which the mean of unit scores is nearly normal
_N_INSPECTED = 8  # pairs of neighbours that show whether exact p-values are feasible
FEW_CLUSTERS = 30  # below this number studentized permutation of clusters holds its level best (docs/validity.md)
_SHARE = "the share of correct units"
VARIANTS: tuple[PairTest, ...] = (Permutation(studentized=True), Bootstrap("studentized"))


class Advise(BoardStudy):
    """The significance tests that are valid for a leaderboard, with a recommendation.

    The recommendation follows the decision tree of Dror et al. (2018). Its questions are answered from the data of the
    task.
    """

    name: ClassVar[str] = "advise"
    title: ClassVar[str] = "Which test may be used?"
    citation: ClassVar[str] = "Dror et al. 2018, section 3"
    task: ClassVar = "none"
    settings: ClassVar = ("test", "unit", "alpha")
    is_slow: ClassVar = False
    explain: str | None = option(None, "Explain this test: its hypothesis, its assumptions, and whether it is valid "
                                       "here.",
                                 metavar="TEST")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.explain is not None:
            parse("test", TESTS, self.explain)

    def run_without_task(self, alpha: float | None) -> tuple[str, Finding]:  # noqa: ARG002
        if self.explain is None:
            raise InputError("name a task, or a test with --explain TEST (`registry list tests`)")
        return "", Finding({"explanation": explain_test(parse("test", TESTS, self.explain))})

    def run(self, case: Case) -> Finding:
        board, unit = case.board, case.request.significance.unit
        matrix = board.matrix.by_unit
        score = describe_score(matrix)
        tests = [*(test() for test in TESTS.values()), *VARIANTS]
        verdicts = {test: judge_test(test, matrix, unit) for test in tests}
        recommended = next((test for test in list_preferred(matrix, unit) if verdicts[test].status == "valid"), None)
        tables: dict[str, list[Row]] = {
            "tests": [{"test": repr(test), "verdict": verdict.status, "recommended": test == recommended,
                       "why": verdict.reason} for test, verdict in verdicts.items()],
            "steps": list(_make_steps(matrix, score, recommended, case.settings)),
            "facts": [{"fact": fact, "value": str(value)}
                      for fact, value in _list_facts(board, matrix, score, case.request.significance.alpha)]}
        if self.explain is not None:
            test = parse("test", TESTS, self.explain)
            verdict = judge_test(test, matrix, unit)
            verdict_row = {"about": "here", "text": f"{verdict.status}: {verdict.reason}"}
            tables = {"explanation": [*explain_test(test), verdict_row]} | tables
        return Finding(tables, _describe(case, matrix, score, recommended))


@dataclass(frozen=True)
class Verdict:
    """Whether a significance test can be used for a leaderboard, and why.

    Attributes:
        status: `valid`, `warning` if results may be misleading, or `refused` if the test cannot be used.
        reason: The assumptions of a valid test, the warnings, or the reason of the refusal.
    """

    status: Literal["valid", "warning", "refused"]
    reason: str


def describe_score(matrix: Matrix) -> str:
    """Return in words how a score is computed, such as `a ratio of sums over units`.

    Args:
        matrix: The statistics from which the score is computed, one row per unit (item or cluster).
    """
    if isinstance(matrix, PairMatrix):
        return "a correlation with gold values"
    if matrix.is_mean:
        return _SHARE if is_categorical(matrix) else "the mean of the units' scores"
    return "a function of sums over units" if matrix.quotient is None else "a ratio of sums over units"


def judge_test(test: PairTest, matrix: Matrix, unit: str | None) -> Verdict:
    """Return whether a significance test is valid for these data, and why.

    Args:
        test: The significance test.
        matrix: The statistics of all systems, one row per unit: item, cluster or single answer.
        unit: The name of the unit, such as `cluster`; None skips the check that the test supports the unit.
    """
    if unit is not None and unit not in test.units:
        return Verdict("refused", f"{test.name} needs {' or '.join(f'{name}s' for name in test.units)} as units")
    if reason := test.refusal(matrix):
        return Verdict("refused", reason)
    if warnings := misuses(test, matrix):
        return Verdict("warning", "; ".join(map(str, warnings)))
    return Verdict("valid", test.assumes)


def list_preferred(matrix: Matrix, unit: str | None = None) -> tuple[PairTest, ...]:
    """Return the significance tests that suit the data, in order of preference.

    The study recommends the first test in the list that is valid. Usually the permutation test comes first: it assumes
    no population, its p-values are exact for ratios of sums, and it needs no minimum number of units (tests/validity,
    rows `unequal-*`). Special cases:

    - few clusters of different sizes, if systems are not exchangeable: studentized permutation;
    - skewed differences: the studentized bootstrap if there are many units, otherwise betting (`bounded`);
    - single responses: Fisher's test if each is judged once, otherwise permutation of responses;
    - random runs: the crossed test, which generalizes to other items and other runs even if there are few;
    - items that a judge scored: the test that fits a slope to each difference.
    """
    if matrix.answers_to is not None:
        return Fisher(), ResponsePermutation()
    if matrix.runs is not None:
        return (Crossed(),)
    if matrix.judged is not None:
        return PredictionPowered(), Bootstrap(), Permutation()
    if unit == "cluster" and matrix.quotient is not None and not matrix.is_mean and matrix.n_units < FEW_CLUSTERS:
        return Permutation(studentized=True), Permutation()
    return Permutation(), Permutation(studentized=True), Bootstrap("studentized"), Bootstrap(), RankSum(), Bounded()


def explain_test(test: PairTest) -> list[Row]:
    """Return the null hypothesis, assumptions and source of a test as table rows.

    Each row has a heading (`about`) and a `text`.
    """
    families = "any" if test.families is None else ", ".join(test.families)
    facts = {"test": repr(test), "is": str(type(test).__doc__).partition("\n")[0], "null hypothesis": test.null,
             "assumes": test.assumes, "units": ", ".join(test.units), "statistics": families,
             "independence": "assumes that the two systems' results are independent" if test.independent else
             "allows for the correlation of the two systems", "source": test.citation}
    return [{"about": about, "text": text} for about, text in facts.items()]


def _make_steps(matrix: Matrix, score: str, recommended: PairTest | None, settings: Settings) -> Iterator[Row]:
    """Yield the questions of a decision tree for tests, with answers for these data.

    The tree is Figure 1 of Dror et al. (2018). Each row has a question, an answer and a reason.
    """
    n = count_informative_units(matrix)
    if matrix.judged is not None:
        answer, reason = "nearly", (f"means over the {n} units with human judgements are nearly normal: "
                                    "prediction-powered uses t with the degrees of freedom of these units")
    elif score == _SHARE:
        answer, reason = "yes", ("among the units that only one of two systems gets right, the number of each is "
                                 "binomial: McNemar's exact test, which is identical to permutation here")
    elif matrix.is_mean and n >= NORMAL_FROM:
        answer, reason = "nearly", (f"the mean of {n} units is nearly normal (central limit theorem): t is valid; "
                                    "permutation needs no such argument")
    elif isinstance(matrix, PairMatrix):
        answer, reason = "nearly", ("for normal values, which williams and steiger assume; on ranks these reject too "
                                    "often if correlations are high")
    else:
        answer, reason = "no", (f"with {n} units the mean may not be normal" if matrix.is_mean else
                                f"the score is {score}, not a mean of units")
    yield {"question": "Does the statistic come from a known distribution?", "answer": answer, "because": reason}
    is_small, judged = n < FEW, "" if matrix.judged is None else " with human judgements"
    yield {"question": "Is the data small?", "answer": "yes" if is_small else "no", "because": (
        f"{n} units{judged} are fewer than {FEW}: the bootstrap rejects too often (footnote 3)" if is_small else
        f"{n} units{judged} are {FEW} or more: the bootstrap may be used as well")}
    yield {"question": "Is it too large to sample?", "answer": "no", "because": (
        _explain_permutation(matrix, settings) if matrix.quotient is not None else
        "permutations are simulated; standardized predictions are swapped in whole units"
        if isinstance(matrix, PairMatrix) else "permutations or resamples are simulated for all pairs together")}
    yield {"question": "So which test?", "answer": "none" if recommended is None else repr(recommended),
           "because": "no test is valid; see the verdicts" if recommended is None else recommended.assumes}


def _explain_permutation(matrix: Matrix, settings: Settings) -> str:
    """Return in words whether permutation tests have exact p-values for these data.

    The score must be a ratio of sums. To save time, only some pairs of adjacent systems are examined.
    """
    neighbours = [(n, n + 1) for n in range(matrix.statistics.shape[1] - 1)]
    pairs = Observed.compare(matrix, neighbours[::max(1, len(neighbours) // _N_INSPECTED)])
    n_exact = sum(o.n_discordant <= ENUMERATED or not math.isinf(Permutation().work(o, settings)) for o in pairs)
    if n_exact == len(pairs):
        return "permutation p-values are exact here, not simulated"
    simulated = f"simulated: {Permutation().explain_simulation(matrix)}"
    return (f"the p-values of {len(pairs) - n_exact} of {len(pairs)} neighbours are {simulated}" if n_exact else
            f"permutation p-values are {simulated}")


def _list_facts(board: Board, matrix: Matrix, score: str, alpha: float) -> Iterator[tuple[str, object]]:
    """Yield facts about the data of a leaderboard, as pairs of a label and a value.

    Ties and normality are measured on pairs of adjacent systems.
    """
    cluster = board.key.test_set.cluster_attribute
    yield "metric", f"{board.key.metric.name}: {score}"
    yield "family of statistics", matrix.family or board.metric.family
    yield "items", len(board.items)
    yield "units", matrix.n_units
    if matrix.judged is not None:
        yield "smallest number of units with human judgements", count_informative_units(matrix)
    yield "clusters", "none declared" if cluster is None else f"by {cluster}"
    yield "systems", len(board.members)
    neighbours = Observed.compare(matrix, [(n, n + 1) for n in range(len(board.members) - 1)])
    yield "differing units of neighbours", _format_range([o.n_discordant for o in neighbours])
    if isinstance(matrix, PairMatrix):
        return
    gains = [unit_differences(o)[0] for o in neighbours]
    yield "ties of neighbours' unit scores", _format_range([float(np.mean(differences == 0)) for differences in gains
                                                           if len(differences)])
    checks: dict[str, list[float]] = {}
    for differences in gains:
        for check in check_normality(differences):
            checks.setdefault(check.name, []).append(check.p_value)
    for name, p in checks.items():
        defined = [value for value in p if not np.isnan(value)]
        n_rejected = sum(value <= alpha for value in defined)
        yield (f"normality of differences: {name}",
               f"rejected at {100 * alpha:g} % for {n_rejected} of {len(defined)} neighbours")


def _format_range(values: Sequence[float]) -> str:
    if not values:
        return "-"
    low, high = min(values), max(values)
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"


def _describe(case: Case, matrix: Matrix, score: str, recommended: PairTest | None) -> list[str]:
    board, test = case.board, case.test
    unit = case.request.significance.unit or "item"
    judged = "" if matrix.judged is None else f", {count_informative_units(matrix)} of them with human judgements"
    sentences = [f"The score is {score}, here of {counted(matrix.n_units, unit)}{judged}: "
                 + ("no test is valid without a warning." if recommended is None else f"use {recommended!r}.")]
    declared = judge_test(test, matrix, unit)
    sentences.append(f"The test that the task declares, {test!r}, is " + (
        "valid here." if declared.status == "valid" else
        f"{'refused' if declared.status == 'refused' else 'misused'}: {declared.reason}."))
    sentences += _warn_of_few_units(case, matrix, recommended)
    sentences += _warn_of_skewed_units(matrix, recommended, case.request.significance.alpha)
    if (attribute := board.key.test_set.cluster_attribute) is not None and unit != "cluster":
        sentences.append(f"{unit.capitalize()}s with the same {attribute} are tested as if they were independent, "
                         f'because unit = "{unit}"; `registry study dependence` shows the effect, and --unit cluster '
                         "tests whole clusters.")
    sentences.append("Checks of normality (--show facts) do not decide about the test: with many units they detect "
                     "departures that do not affect t, and with few units they detect none.")
    return sentences


def _warn_of_skewed_units(matrix: Matrix, recommended: PairTest | None, alpha: float) -> Iterator[str]:
    """Yield sentences about tests that skewed differences of items make unreliable.

    The test `bounded` is valid in spite of such differences, but has low power. All other tests miss large losses that
    are too rare to occur in this test set.
    """
    if not matrix.is_mean or is_categorical(matrix) or matrix.runs is not None:
        return
    n = matrix.n_units
    if isinstance(recommended, Bounded):
        factor = math.sqrt(2 * math.log(2 / alpha)) / NormalDist().inv_cdf(1 - alpha / 2)
        yield (f"bounded is valid for every number of units and every distribution, but detects only differences about "
               f"{factor:.1f} times as large as t does; smaller ones need {factor**2:.1f} times as many units.")
    elif recommended is None and n < FEW_SKEWED:
        yield (f"{Bootstrap('studentized')!r} is valid from {FEW_SKEWED} units on; scores with a declared lower and "
               "upper bound can be tested by bounded.")
    if n < FEW_SKEWED and not isinstance(recommended, Bounded):
        yield (f"Large losses in fewer than {100 * (1 - 0.05 ** (1 / n)):.2g} % of units are absent from these {n} "
               "units with a probability of 5 % or more; only bounded allows for such losses.")


def _warn_of_few_units(case: Case, matrix: Matrix, recommended: PairTest | None) -> list[str]:
    """Warn if no difference can be significant with so few units."""
    settings, pairs = case.request.significance, math.comb(len(case.board.members), 2)
    if recommended is None or not recommended.is_permutation_test or not pairs or settings.runs == "random":
        return []
    two_sided = not has_one_sided(case.board.members, settings)
    needed = count_required_units(pairs, settings.correction, settings.alpha, two_sided=two_sided)
    if matrix.n_units >= needed:
        return []
    return [explain_too_few_units(matrix.n_units, needed, settings.unit or "item", two_sided=two_sided).sentence]
