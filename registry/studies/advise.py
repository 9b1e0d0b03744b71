"""Which significance test may be used on a board (Dror et al. 2018, section 3 and Figure 1).

The decision tree of the paper asks whether the distribution of the statistic is known, and whether the data is small.
It is walked here with the board's own facts. Two of its answers have changed since: permutation is mostly a matter of
moments where the paper sends large test sets to tests that ignore the size of differences; and its own footnote 3
forbids the bootstrap on small test sets, to which the tree would lead. What swaps are exact for is that systems are
exchangeable; where equal scores are less than that, the test that holds its level in simulation is advised.
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
from registry.significance.diagnostics.judges import n_telling
from registry.significance.effects import check_normality
from registry.significance.multiple import count_required_units, explain_too_few_units
from registry.significance.pairwise.permutation import ENUMERATED
from registry.significance.units import unit_differences
from registry.studies.study import BoardStudy, Case, Finding, Row, option
from registry.values import parse

NORMAL_FROM = 30  # units from which a mean of unit scores is taken for nearly normal, however they are distributed
_LOOKED_AT = 8  # neighbours that show whether swaps can be counted
FEW_CLUSTERS = 30  # below which studentized swaps of clusters hold their level best (docs/validity.md)
_SHARE = "the share of units that are right"
VARIANTS: tuple[PairTest, ...] = (Permutation(studentized=True), Bootstrap("studentized"))


class Advise(BoardStudy):
    """The verdict on every test for a board, the one that is recommended, and the steps that lead to it.

    The decision tree of Dror et al. (2018), walked with what the task's statistics say.
    """

    name: ClassVar[str] = "advise"
    title: ClassVar[str] = "Which test may be used?"
    citation: ClassVar[str] = "Dror et al. 2018, section 3"
    task: ClassVar = "none"
    settings: ClassVar = ("test", "unit", "alpha")
    is_slow: ClassVar = False
    explain: str | None = option(None, "Say what this test tests and assumes, and whether it may be used here.",
                                 metavar="TEST")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.explain is not None:
            parse("test", TESTS, self.explain)

    def run_without_task(self, alpha: float | None) -> tuple[str, Finding]:  # noqa: ARG002
        if self.explain is None:
            raise InputError("name a task to advise on, or a test to --explain: `registry list tests`")
        return "", Finding({"explanation": explain_test(parse("test", TESTS, self.explain))})

    def run(self, case: Case) -> Finding:
        board, unit = case.board, case.request.significance.unit
        matrix = board.matrix.by_unit
        what = describe_score(matrix)
        known = [*(test() for test in TESTS.values()), *VARIANTS]
        verdicts = {test: judge_test(test, matrix, unit) for test in known}
        advised = next((test for test in list_preferred(matrix, unit) if verdicts[test].how == "valid"), None)
        tables: dict[str, list[Row]] = {
            "tests": [{"test": repr(test), "verdict": said.how, "recommended": test == advised, "why": said.why}
                      for test, said in verdicts.items()],
            "steps": list(_steps(matrix, what, advised, case.settings)),
            "facts": [{"fact": fact, "value": str(value)}
                      for fact, value in _facts(board, matrix, what, case.request.significance.alpha)]}
        if self.explain is not None:
            test = parse("test", TESTS, self.explain)
            said = judge_test(test, matrix, unit)
            here = {"about": "here", "text": f"{said.how}: {said.why}"}
            tables = {"explanation": [*explain_test(test), here]} | tables
        return Finding(tables, _reading(case, matrix, what, advised))


@dataclass(frozen=True)
class Verdict:
    """Whether a test may be used, and why: what refuses it, what to be warned of, or else what it assumes."""

    how: Literal["valid", "warning", "refused"]
    why: str


def describe_score(matrix: Matrix) -> str:
    """What the score of a matrix (by unit) is."""
    if isinstance(matrix, PairMatrix):
        return "a correlation with gold values"
    if matrix.is_mean:
        return _SHARE if is_categorical(matrix) else "the mean of the units' scores"
    return "a function of sums over units" if matrix.quotient is None else "a quotient of sums over units"


def judge_test(test: PairTest, matrix: Matrix, unit: str | None) -> Verdict:
    """Judge one test of a matrix (by unit)."""
    if unit is not None and unit not in test.units:
        return Verdict("refused", f"{test.name} takes {' or '.join(f'{one}s' for one in test.units)} as units")
    if reason := test.refusal(matrix):
        return Verdict("refused", reason)
    if warnings := misuses(test, matrix):
        return Verdict("warning", "; ".join(map(str, warnings)))
    return Verdict("valid", test.assumes)


def list_preferred(matrix: Matrix, unit: str | None = None) -> tuple[PairTest, ...]:
    """The tests to take, the first that is valid.

    Permutation, which needs no population and counts the swaps of quotients; studentized where systems are not
    exchangeable, and of few clusters that are not of one size; the studentized bootstrap of skewed differences in many
    units, and betting (`bounded`) if these are few. But first the bootstrap where permutation has to be drawn and units
    are many, since its draws also give the intervals of scores and differences. Of single responses Fisher's test,
    where each was judged once, or their own permutation. Of random runs the crossed test, which alone speaks of other
    items and other runs however few these are. Of judged items the test that gives each difference a slope of its own.
    """
    if matrix.answers_to is not None:
        return Fisher(), ResponsePermutation()
    if matrix.runs is not None:
        return (Crossed(),)
    if matrix.judged is not None:
        return PredictionPowered(), Bootstrap(), Permutation()
    drawn = matrix.quotient is None and not isinstance(matrix, PairMatrix) and matrix.n_units >= FEW
    if drawn:
        return Bootstrap(), Permutation()
    if unit == "cluster" and matrix.quotient is not None and not matrix.is_mean and matrix.n_units < FEW_CLUSTERS:
        return Permutation(studentized=True), Permutation()
    return Permutation(), Permutation(studentized=True), Bootstrap("studentized"), Bootstrap(), RankSum(), Bounded()


def explain_test(test: PairTest) -> list[Row]:
    """What a test is, in rows of `about` and `text`."""
    families = "any" if test.families is None else ", ".join(test.families)
    said = {"test": repr(test), "is": str(type(test).__doc__).partition("\n")[0], "null hypothesis": test.null,
            "assumes": test.assumes, "units": ", ".join(test.units), "statistics": families,
            "independence": "assumes that the two systems' results are independent" if test.independent else
            "takes the two systems as they are, correlated", "source": test.citation}
    return [{"about": about, "text": text} for about, text in said.items()]


def _steps(matrix: Matrix, what: str, advised: PairTest | None, settings: Settings) -> Iterator[Row]:
    """The decision tree of Figure 1, with what is known here."""
    n = n_telling(matrix)
    if matrix.judged is not None:
        known, because = "nearly", (f"means over the {n} units that people looked at are nearly normal: "
                                    "prediction-powered takes t with the degrees of freedom of these")
    elif what == _SHARE:
        known, because = "yes", ("of the units that only one of two systems gets right, either's number is binomial: "
                                 "McNemar's exact test, which permutation is here")
    elif matrix.is_mean and n >= NORMAL_FROM:
        known, because = "nearly", (f"the mean of {n} units is nearly normal (central limit theorem): t is valid; "
                                    "permutation needs no such argument")
    elif isinstance(matrix, PairMatrix):
        known, because = "nearly", ("for normal values; williams and steiger rest on it, and on ranks reject too often "
                                    "where correlations are high")
    else:
        known, because = "no", (f"{n} units are too few for their mean to be surely normal" if matrix.is_mean else
                                f"the score is {what}, not a mean of units")
    yield {"question": "Does the statistic come from a known distribution?", "answer": known, "because": because}
    small, looked = n < FEW, "" if matrix.judged is None else " that people looked at"
    yield {"question": "Is the data small?", "answer": "yes" if small else "no", "because": (
        f"{n} units{looked} are fewer than {FEW}: the bootstrap rejects too often (footnote 3)" if small else
        f"{n} units{looked} are {FEW} or more: the bootstrap may be used as well")}
    yield {"question": "Is it too large to sample?", "answer": "no", "because": (
        _how_swapped(matrix, settings) if matrix.quotient is not None else
        "swaps are drawn; a standardized prediction is swapped in whole units" if isinstance(matrix, PairMatrix) else
        "swaps or resamples are drawn for all pairs together")}
    yield {"question": "So which test?", "answer": "none" if advised is None else repr(advised),
           "because": "no test is valid; see the verdicts" if advised is None else advised.assumes}


def _how_swapped(matrix: Matrix, settings: Settings) -> str:
    """Whether the swaps of a quotient are counted or drawn, as some neighbours on the board show."""
    neighbours = [(n, n + 1) for n in range(matrix.statistics.shape[1] - 1)]
    some = Observed.of(matrix, neighbours[::max(1, len(neighbours) // _LOOKED_AT)])
    counted_ = sum(o.n_discordant <= ENUMERATED or not math.isinf(Permutation().work(o, settings)) for o in some)
    if counted_ == len(some):
        return "permutation is exact here, its swaps counted and not sampled"
    drawn = f"drawn: {Permutation().why_drawn(matrix)}"
    return f"the swaps of {len(some) - counted_} of {len(some)} neighbours are {drawn}" if counted_ else (
        f"swaps are {drawn}")


def _facts(board: Board, matrix: Matrix, what: str, alpha: float) -> Iterator[tuple[str, object]]:
    """What the board says of itself; ties and normality are those of neighbours on it."""
    cluster = board.key.test_set.cluster_attribute
    yield "metric", f"{board.key.metric.name}: {what}"
    yield "family of statistics", matrix.family or board.metric.family
    yield "items", len(board.items)
    yield "units", matrix.n_units
    if matrix.judged is not None:
        yield "units that people looked at, at least", n_telling(matrix)
    yield "clusters", "none declared" if cluster is None else f"by {cluster}"
    yield "systems", len(board.members)
    neighbours = Observed.of(matrix, [(n, n + 1) for n in range(len(board.members) - 1)])
    yield "differing units of neighbours", _range([o.n_discordant for o in neighbours])
    if isinstance(matrix, PairMatrix):
        return
    gains = [unit_differences(o)[0] for o in neighbours]
    yield "ties of neighbours' unit scores", _range([float(np.mean(of == 0)) for of in gains if len(of)])
    checks: dict[str, list[float]] = {}
    for of in gains:
        for check in check_normality(of):
            checks.setdefault(check.name, []).append(check.p_value)
    for name, p in checks.items():
        known = [one for one in p if not np.isnan(one)]
        rejected = sum(one <= alpha for one in known)
        yield f"normality of gains: {name}", f"rejected at {100 * alpha:g} % for {rejected} of {len(known)} neighbours"


def _range(values: Sequence[float]) -> str:
    if not values:
        return "-"
    low, high = min(values), max(values)
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"


def _reading(case: Case, matrix: Matrix, what: str, advised: PairTest | None) -> list[str]:
    board, test = case.board, case.test
    unit = case.request.significance.unit or "item"
    looked = "" if matrix.judged is None else f", {n_telling(matrix)} of which people looked at"
    said = [f"The score is {what}, here {counted(matrix.n_units, unit)}{looked}: "
            + ("no test is valid without a warning." if advised is None else f"take {advised!r}.")]
    declared = judge_test(test, matrix, unit)
    said.append(f"The test that the task declares, {test!r}, is " + (
        "valid here." if declared.how == "valid" else
        f"{'refused' if declared.how == 'refused' else 'misused'}: {declared.why}."))
    said += _of_few_units(case, matrix, advised)
    said += _of_skewed_units(matrix, advised, case.request.significance.alpha)
    if (attribute := board.key.test_set.cluster_attribute) is not None and unit != "cluster":
        said.append(f"{unit.capitalize()}s of one {attribute} are tested as if they were independent, because unit = "
                    f'"{unit}"; `registry study dependence` shows the effect, and --unit cluster tests whole clusters.')
    said.append("Checks of normality (--show facts) inform and decide nothing: with many units they find departures "
                "that t has long ceased to mind, and with few they find none.")
    return said


def _of_skewed_units(matrix: Matrix, advised: PairTest | None, alpha: float) -> Iterator[str]:
    """Say what betting finds, how many units are needed if no test holds, and what nobody can see in few units."""
    if not matrix.is_mean or is_categorical(matrix) or matrix.runs is not None:
        return
    n = matrix.n_units
    if isinstance(advised, Bounded):
        more = math.sqrt(2 * math.log(2 / alpha)) / NormalDist().inv_cdf(1 - alpha / 2)
        yield (f"bounded holds at every number of units, whatever the distribution, and finds differences about "
               f"{more:.1f} times as large as t would; smaller ones need {more**2:.1f} times as many units.")
    elif advised is None and n < FEW_SKEWED:
        yield (f"With {FEW_SKEWED} units or more, {Bootstrap('studentized')!r} would hold; scores with a declared "
               "lower and upper bound could be tested by bounded.")
    if n < FEW_SKEWED and not isinstance(advised, Bounded):
        yield (f"Losses that strike fewer than {100 * (1 - 0.05 ** (1 / n)):.2g} % of units are in none of these {n} "
               "with a probability of 5 % or more; no test but bounded allows for what it has not seen.")


def _of_few_units(case: Case, matrix: Matrix, advised: PairTest | None) -> list[str]:
    """Say that the test to take finds nothing in so few units, where that is so."""
    settings, pairs = case.request.significance, math.comb(len(case.board.members), 2)
    if advised is None or not advised.swaps_units or not pairs or settings.runs == "random":
        return []
    two_sided = not has_one_sided(case.board.members, settings)
    needed = count_required_units(pairs, settings.correction, settings.alpha, two_sided=two_sided)
    if matrix.n_units >= needed:
        return []
    return [explain_too_few_units(matrix.n_units, needed, settings.unit or "item", two_sided=two_sided).sentence]
