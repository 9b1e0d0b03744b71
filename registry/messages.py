"""Messages about results: each has a stable code, a severity, and parameters, from which its text is made.

The database stores only codes and parameters, so texts can be improved without a change of stored data. Programs should
recognise messages by their codes. A code never changes its meaning; `docs/messages.md` lists all codes.

Severities: an `error` means that a result is missing, a `warning` that a result may be wrong or outdated. An `info`
helps readers to understand a result.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from registry.errors import counted, listed

Severity = Literal["error", "warning", "info"]
Text = str | tuple[str, str]  # without a remedy, or with one


@dataclass(frozen=True)
class Kind:
    """One kind of message, with its text.

    Attributes:
        code: The stable identifier, such as `rare-class`.
        severity: `error`, `warning` or `info`.
        text: A template for `str.format`, or a function that makes the text (or the text and the remedy) from the
            parameters.
        example: Example parameters for the documentation; a message has parameters of the same names.
        about_pairs: True if the message can be about several pairs of a board (parameters `pairs` and `of_pairs`).
        remedy: A template of the clause that says what to do, such as `add units`; empty if a function returns it.
    """

    code: str
    severity: Severity
    text: str | Callable[..., Text]
    example: Mapping[str, Any]
    about_pairs: bool = False
    remedy: str = ""

    def make_text(self, parameters: Mapping[str, Any]) -> tuple[str, str]:
        """Return the text without the remedy, and the remedy."""
        if isinstance(self.text, str):
            return self.text.format(**parameters), self.remedy.format(**parameters)
        text = self.text(**parameters)
        return (text, "") if isinstance(text, str) else text


KINDS: dict[str, Kind] = {}
_NAMED = 5  # submissions in a text
_MOST_LABELS = 3  # in a text


@dataclass(frozen=True)
class Message:
    """A message about a result.

    `str(message)` is its text, which is a clause without a full stop.

    Attributes:
        code: A key of `KINDS`.
        parameters: Values for the text, which JSON can represent.
    """

    code: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def severity(self) -> Severity:
        """The severity of this kind of message."""
        return KINDS[self.code].severity

    def __str__(self) -> str:
        """Return the text."""
        return "; ".join(filter(None, self._parts))

    @property
    def _parts(self) -> tuple[str, str]:
        kind, parameters = KINDS[self.code], dict(self.parameters)
        place = _name_subject(parameters, about_pairs=kind.about_pairs)
        text, remedy = kind.make_text(parameters)
        return place + text, remedy

    @property
    def sentence(self) -> str:
        """The text as a sentence, with a full stop and usually a capital."""
        return self._make_sentence(str(self))

    @property
    def finding(self) -> str:
        """The text as a sentence that says what is wrong, but not what to do about it.

        Readers of published results cannot follow such advice.
        """
        return self._make_sentence(self._parts[0])

    def _make_sentence(self, text: str) -> str:
        has_name = "submissions" in self.parameters or "test_sets" in self.parameters
        return f"{text[:1] if has_name else text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?')) else '.'}"

    def with_parameters(self, **parameters: Any) -> Message:
        """Return a copy of the message with further parameters."""
        return Message(self.code, {**self.parameters, **parameters})

    def stored(self) -> dict[str, Any]:
        """Return code and parameters in the form that the database stores."""
        return {"code": self.code, "parameters": dict(self.parameters)}

    def described(self) -> dict[str, Any]:
        """Return code, severity, parameters and text for JSON output."""
        return {"code": self.code, "severity": self.severity, "parameters": dict(self.parameters), "text": str(self)}


class Messages(tuple[Message, ...]):
    """Several messages about one result.

    `str(messages)` joins their texts with semicolons.
    """

    __slots__ = ()

    def __str__(self) -> str:
        """Return the texts, joined by semicolons."""
        return "; ".join(map(str, self))

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the messages."""
        return tuple(message.code for message in self)

    @classmethod
    def make(cls, code: str, **parameters: Any) -> Messages:
        """Make a sequence with a single message.

        Args:
            code: The code of the message.
            parameters: Values for the text of the message.
        """
        return cls((Message(code, parameters),))

    def dump(self) -> str:
        """Return the content for the database as a JSON list."""
        return json.dumps([message.stored() for message in self], ensure_ascii=False)

    @classmethod
    def load(cls, stored: str) -> Messages:
        """Parse the JSON list that `dump` returned."""
        return cls(message(entry) for entry in json.loads(stored))


NO_MESSAGES = Messages()


# Messages of pairs that are also about their board, in the order in which it shows them.
BOARD_CODES = (
    "not-exchangeable", "uneven-units-studentized", "skewed-differences", "asymmetric-differences", "skewed-items",
    "few-predictions", "few-varied-predictions", "rare-class", "absent-class", "rare-class-clusters",
    "rare-class-errors",
    "uneven-samples", "unlike-samples", "uneven-runs", "not-normal", "similar-predictions", "judge-favours",
    "few-judge-errors")


class BoardWarning(NamedTuple):
    """A message about one leaderboard, which is named in the attribute `board`."""

    board: str
    message: Message

    def __str__(self) -> str:
        """Return the name of the leaderboard and the text as one line."""
        return f"{self.board}: {self.message}"


def message(stored: Mapping[str, Any]) -> Message:
    """Make a message from its stored code and parameters."""
    return Message(stored["code"], stored["parameters"])


def _name_subject(parameters: dict[str, Any], *, about_pairs: bool) -> str:
    """Return the beginning of a message, which names its subject: `team/system: `.

    Args:
        parameters: Parameters of the message. Those that name submissions, runs, test sets and pairs are removed.
        about_pairs: True if the message can be about several pairs.
    """
    submissions = parameters.pop("submissions", ())
    of_all = ", in all items of the test set" if parameters.pop("in_whole_test_set", False) else ""
    place = f"{_listed(submissions)}{of_all}: " if submissions else ""
    if run := parameters.pop("run", None):
        place += f"run {run}: "
    if test_sets := parameters.pop("test_sets", ()):
        place += f"{', '.join(test_sets)}: "
    if not about_pairs or "of_pairs" not in parameters:
        return place
    n, total = parameters.pop("pairs"), parameters.pop("of_pairs")
    rest = " without the purged team" if parameters.pop("without_purged", False) else ""
    names = parameters.pop("pair_names", ())
    if n < total:
        rest += _name_pairs(names, n)
    pairs = f"{n:,} of {total:,} pairs" if n != total else "the only pair" if total == 1 else f"all {total:,} pairs"
    return f"{place}in {pairs}{rest}, "


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {counted(more, 'more system')}" if more > 0 else "")


def _name_pairs(names: Sequence[str], n: int) -> str:
    """Return names of pairs in brackets, with the number of pairs that are not named; empty without names.

    >>> _name_pairs(["a and b", "a and c"], 2), _name_pairs(["a and b"], 3)
    (' (a and b; a and c)', ' (a and b; 2 more)')
    """
    more = [f"{n - len(names):,} more"] if n > len(names) else []
    return f" ({'; '.join([*names, *more])})" if names else ""


def sentence(statement: str | Message) -> str:
    """Convert a text or a message to a sentence."""
    return statement if isinstance(statement, str) else statement.sentence


def on_board(pair_message: Message, pairs: int, of_pairs: int) -> Message:
    """Make a message about a board from a message that several of its pairs have.

    >>> str(on_board(Message("not-normal"), 2, 6))[:50]
    'in 2 of 6 pairs, the p-value may be too small, bec'

    Args:
        pair_message: The message of a pair.
        pairs: The number of pairs with this message.
        of_pairs: The number of all pairs on the board.
    """
    return pair_message.with_parameters(pairs=pairs, of_pairs=of_pairs)


def _add(code: str, severity: Severity, text: str | Callable[..., Text], *, remedy: str = "", about_pairs: bool = False,
         **example: Any) -> None:
    KINDS[code] = Kind(code, severity, text, example, about_pairs, remedy)


# Results of one pair that are missing.
_add("score-undefined", "error", "a score is undefined")
_add("no-shared-scores", "error", "no unit in which the two systems differ has a defined score for both of them")
_add("needs-items", "error", "the test needs at least {least} items", least=4)
_add("perfect-correlation", "error", "a correlation is 1 or -1")
_add("gold-is-sum", "error", "the gold values are a sum of the predictions of both systems")
_add("constant-scores", "error", "each system has the same score in all units, so the test cannot estimate a variance")
_add("constant-proportions", "error", "each proportion is 0 or 1, so the test cannot estimate a variance")
_add("empty-column", "error", "a column of the contingency table is empty")
_add("constant-difference", "error", "the difference is the same in every {over}", over="unit")
_add("one-unit", "error", "there is only one unit, and at least two are needed")
_add("one-unit-strata", "error", "every stratum has only one unit, so nothing can be resampled",
     remedy="use larger strata")
_add("few-judged-pairs", "error", "people judged the answers of both systems in fewer than {least} units", least=2)
_add("unreachable-difference", "error",
     "no resample is as extreme as the observed difference, so the bootstrap cannot test it",
     remedy="use --test permutation")
_add("undefined-without-item", "error", "a score is undefined without one item of one run")
_add("purged-team", "info", "a team was purged")

# Facts about the result of one pair.
_add("worse-system-favoured", "warning", "the test favours the system with the worse score", about_pairs=True)
_add("smallest-p-value", "info", "the smallest possible p-value with {runs_a} and {runs_b} runs is {least:.3g}",
     runs_a=3, runs_b=3, least=0.1)
_add("approximate-for-ranks", "warning",
     "the test is approximate for ranks and rejects too often if correlations are high",
     remedy="use --test permutation", about_pairs=True)


def _independence(correlation: float | None = None, factor: float | None = None) -> str:
    text = "the test assumes that the results of the two systems are independent"
    return text if correlation is None or factor is None else (
        f"{text}; their correlation is {correlation:.2f}, so the test overstates the standard error by a factor of "
        f"{factor:.2f}")


_add("independence-assumed", "info", _independence, correlation=0.61, factor=1.6)
_add("no-interval", "warning",
     "the difference has no interval, because it is undefined in more than 0.1 % of the resamples")
_add("no-gain", "info", "the scores are equal, so there is no gain to test")


def _share(plus_one: bool) -> str:
    formula = "(0 + 1) / (b + 1), because no" if plus_one else "s / b, because s"
    doubles = "resample of b more than doubles" if plus_one else "of b resamples more than double"
    return f"the p-value is one-sided in the direction of the gain: {formula} {doubles} the gain"


_add("share-of-resamples", "info", _share, plus_one=True)


def _use(tests: str) -> str:
    """Return advice to use other tests: `use --test permutation or --test bootstrap`.

    Args:
        tests: Names of tests, joined by " or "; or "more units".
    """
    if tests == "more units":
        return "add units"
    return "use " + " or ".join(f'--test "{test}"' if "(" in test else f"--test {test}" for test in tests.split(" or "))


# Pairs for which a test is not a test of equal scores.
_TOO_SMALL = "the p-value may be too small, because "
_TOO_OFTEN = "equal systems may be called different too often, because "


def _skewed(use: str | None = None) -> Text:
    remedy = "add units" if use is None else f"{_use(use)}, or add units"
    return f"{_TOO_SMALL}the differences are too skewed for this number of units", remedy


_add("not-exchangeable", "warning",
     f"{_TOO_SMALL}the two systems trade precision for recall",
     remedy=_use("permutation(studentized=true)"), about_pairs=True)
_add("uneven-units-studentized", "warning",
     f"{_TOO_SMALL}a few units have most of the weight, and the systems are not exchangeable",
     remedy="add units", about_pairs=True)
_add("skewed-differences", "warning", _skewed, about_pairs=True, use="bootstrap(variant=studentized)")
_add("skewed-one-sided", "warning",
     "the one-sided p-value may be wrong, because the differences are too skewed for this number of units",
     remedy="add units", about_pairs=True)
_add("skewed-items", "warning",
     f"{_TOO_SMALL}the differences between units are too skewed for this number of units",
     remedy="add units", about_pairs=True)
_add("skewed-ranks", "warning",
     "ranks may be wrong, because the differences are too skewed for this number of units",
     remedy="use --method bootstrap", about_pairs=True)
_add("skewed-equivalence", "warning",
     "systems may be called equivalent too often, because the differences are too skewed for this number of units",
     remedy="add units", about_pairs=True)
_add("skewed-power", "warning",
     "the computed power may be wrong, because one-sided tests err too often if differences are so "
     "skewed and units so few",
     remedy="add units", about_pairs=True)
_add("asymmetric-differences", "warning",
     "the test may reject although the mean difference is 0, because the differences are skewed",
     remedy=_use("permutation or bootstrap(variant=studentized)"), about_pairs=True)
_add("few-predictions", "warning",
     f"{_TOO_SMALL}one system gives an answer in too few units",
     remedy=_use("bootstrap(variant=studentized)") + ", or add units", about_pairs=True)
_add("few-varied-predictions", "warning",
     f"{_TOO_OFTEN}one system gives far fewer answers than the other, and too few of these are correct (or too few "
     "wrong)",
     remedy="add units", about_pairs=True)


def _name_labels(labels: Sequence[str]) -> str:
    return f" ({listed([repr(label) for label in labels], _MOST_LABELS)})" if labels else ""


def _rare_class(labels: Sequence[str] = ()) -> Text:
    return (f"{_TOO_OFTEN}the score depends on a class with fewer than 20 items{_name_labels(labels)}",
            "add items of this class")


def _rare_class_errors(labels: Sequence[str] = ()) -> Text:
    return (f"{_TOO_OFTEN}the score depends on a class with fewer than 40 items{_name_labels(labels)}. A system is "
            "correct, or incorrect, in fewer than five of these items", "add items of this class")


_add("rare-class", "warning", _rare_class, about_pairs=True, labels=["fear"])
_add("absent-class", "warning",
     f"{_TOO_OFTEN}the score depends on a class that the gold does not have",
     remedy="rename this label in the outputs, or list the classes in the metric's option labels", about_pairs=True)
_add("rare-class-clusters", "warning",
     f"{_TOO_OFTEN}the score depends on a class that occurs in fewer than 20 clusters of equal weight",
     remedy="add clusters with this class", about_pairs=True)
_add("rare-class-errors", "warning", _rare_class_errors, about_pairs=True, labels=["fear"])


def _rare_class_ranks(least: int, has_clusters: bool) -> Text:
    where = f"that occurs in fewer than {least} clusters of equal weight" if has_clusters else (
        f"with fewer than {least} items")
    return (f"ranks may be wrong too often, because the score depends on a class {where}",
            f"add {'clusters with' if has_clusters else 'items of'} this class")


_add("rare-class-ranks", "warning", _rare_class_ranks, about_pairs=True, least=60, has_clusters=False)
_add("uneven-samples", "warning",
     f"{_TOO_SMALL}the system with fewer items has scores that vary more",
     remedy=_use("two-sample-t(pooled=false)") + ", or equally many items", about_pairs=True)
_add("unlike-samples", "warning",
     f"{_TOO_SMALL}the scores of one system vary more than those of the other",
     remedy=_use("two-sample-t(pooled=false)"), about_pairs=True)
_add("uneven-runs", "warning",
     f"{_TOO_SMALL}the system with fewer runs has runs that vary more",
     remedy="use --test crossed, or equally many runs", about_pairs=True)
_add("not-normal", "warning",
     f"{_TOO_SMALL}the values are not normally distributed (long tails)", remedy="use --test permutation",
     about_pairs=True)
_add("similar-predictions", "warning",
     f"{_TOO_SMALL}the predictions of the two systems are too similar for this number of items",
     remedy="add items", about_pairs=True)
_add("judge-favours", "warning",
     "the automatic judge favours one of the two systems (significant at 0.1 %). The scores and differences of this "
     "board are corrected for it; means of the judge's own scores are not", about_pairs=True)
_add("few-judge-errors", "warning",
     "p-values may be too small and intervals too narrow, because people found too few errors of the judge",
     remedy="have more items judged by people", about_pairs=True)
_add("few-judge-errors-ranks", "warning",
     "ranks may be wrong too often, because people found too few errors of the judge",
     remedy="have more items judged by people", about_pairs=True)


# Tests that do not fit the data.
def _independent_test(test: str, is_shared: bool) -> Text:
    items, remedy = ("shared items", "") if is_shared else ("the same test set", _use("permutation"))
    return (f"{test} assumes that the results of the systems are independent. Results on {items} hardly ever are, so "
            "the test misses real differences (Yeh 2000)", remedy)


def _units_not_score(test: str, use: str | None = None) -> Text:
    return (f"{test} compares single units and may contradict the scores, because a score is not the mean of its "
            "units", "" if use is None else _use(use))


def _count_units(units: int, *, is_judged: bool) -> str:
    return counted(units, "unit") + " judged by people" * is_judged


def _few_units_bootstrap(units: int, least: int, is_judged: bool, use: str) -> Text:
    counted_units = _count_units(units, is_judged=is_judged)
    return (f"the bootstrap rejects too often on {counted_units} (fewer than {least}; Dror et al. 2018)", _use(use))


def _uneven_units_bootstrap(units: int, even: float, least: int, test: str, use: str, is_silent: bool) -> Text:
    why = ", because a system has no answer in most units" if is_silent else ""
    return (f"the effective sample size is {even:.1f} (of {counted(units, 'unit')}), but {test} needs at least "
            f"{least}{why}", _use(use))


def _uneven_units_judged(units: int, even: float, least: int, test: str, is_weighted: bool) -> str:
    items = " if items have different probabilities" if is_weighted else ""
    return (f"the effective sample size of the {_count_units(units, is_judged=True)} is {even:.1f}, but {test} "
            f"needs at least {least}{items}")


def _few_units_crossed(units: int, even: float | None, least: int) -> str:
    reason = f"there {'is' if units == 1 else 'are'} {counted(units, 'unit')}" if even is None else (
        f"the effective sample size is {even:.1f} (of {counted(units, 'unit')})")
    return f"crossed may reject too often, because {reason}; at least {least} are recommended"


def _lone_units(units: int) -> Text:
    return (f"intervals are too narrow and p-values too small, because {counted(units, 'unit is', 'units are')} alone "
            "in a stratum and cannot be resampled", "use larger strata, or none")


def _small_strata(units: int, strata: int, percent: float) -> Text:
    return (f"intervals are too narrow and p-values too small, because resamples of {units} units in "
            f"{counted(strata, 'stratum', 'strata')} show only {percent:.0f} % of the variance",
            "use larger strata, or none")


def _outlying_runs(systems: int, of_systems: int) -> Text:
    return (f"{counted(systems, f'of {of_systems} systems has', f'of {of_systems} systems have')} a run whose score is "
            "far from the other runs. If training sometimes fails, equal systems may be called different too often",
            "add runs")


_add("independent-test", "warning", _independent_test, test="two-sample-t", is_shared=False)
_add("t-not-mean", "warning",
     "the t-test compares mean scores of units, but this metric is not a mean over units (Dror et al. 2018)",
     remedy=_use("permutation"))
_add("t-on-categories", "warning",
     "the t-test is not meant for units that are either correct or wrong (Dror et al. 2018)",
     remedy=_use("mcnemar or permutation"))
_add("welch-on-categories", "warning",
     "the test estimates the variance of each system poorly, because units are either correct or wrong, and systems "
     "differ in few of them", remedy="use --test two-sample-t")
_add("units-not-score", "warning", _units_not_score, test="sign", use="permutation")
_add("few-units-bootstrap", "warning", _few_units_bootstrap, units=60, least=200, is_judged=False, use="permutation")
_add("uneven-units-bootstrap", "warning", _uneven_units_bootstrap, units=300, even=41.5, least=120, test="bootstrap",
     use="permutation", is_silent=False)
_add("uneven-units-judged", "warning", _uneven_units_judged, units=60, even=12.5, least=20, test="prediction-powered",
     is_weighted=False)
_add("runs-on-fixed-items", "warning",
     "this test permutes whole runs, so its results hold only for these items; other items may favour another system",
     remedy="use --test crossed, whose results also hold for other items")
_add("outlying-runs", "warning", _outlying_runs, systems=1, of_systems=6)
_add("outlying-levels", "warning",
     "with some of the {levels}, the score of a system is far from its other scores. If {levels} sometimes fail, equal "
     "systems may be called different too often", remedy="add {levels}", levels="prompts")
_add("two-runs", "warning",
     "real differences may be missed, because two runs (or prompts, annotators, seeds) leave one degree of freedom",
     remedy="use three or more")
_add("few-units-crossed", "warning", _few_units_crossed, units=12, even=None, least=20)
_add("lone-units", "warning", _lone_units, units=3)
_add("small-strata", "warning", _small_strata, units=60, strata=20, percent=67.0)
_add("normal-test-on-ranks", "warning",
     "{test} is made for Pearson's correlation and rejects too often on ranks if correlations are high",
     remedy="use --test permutation", test="williams")
_add("shared-items", "warning",
     "{test} assumes independent responses, but {shared} of {items} items have several responses",
     remedy='set unit = "item"',
     test="response-permutation", shared=12, items=60)


def _shared_candidates(has_intervals: bool) -> Text:
    intervals = ", and intervals of precision may be too narrow" if has_intervals else ""
    return ("p-values of Fisher's test are approximate, because several candidates share an item"
            + intervals, "use `registry compare --test permutation`")


_add("shared-candidates", "warning", _shared_candidates, has_intervals=False)


# Boards that are about to be compared.
def _clustered_units(unit: str, attribute: str, clusters: int | None = None, factor: float | None = None,
                     largest: float | None = None, pairs_known: int | None = None) -> Text:
    text = (f'p-values may be too small and intervals too narrow, because {unit}s of the same {attribute} are tested '
            f'as if they were independent (unit = "{unit}")')
    if factor is not None:
        text += (f"; the variance of a difference is {factor:.2g} times as large by {attribute} (median of "
                 f"{counted(pairs_known or 0, 'pair')}, at most {largest:.2g})")
    if clusters is None or clusters > 1:
        purpose = "" if clusters is None else f" to test {clusters} clusters"
        return text, f'use unit = "cluster" (--unit cluster){purpose}'
    return f"{text}; all {unit}s have the same {attribute}, so the results may not hold for another {attribute}"


def _known_errors(correction: str, units: float, pairs: int, percent: float) -> Text:
    return (f"{correction} with resamples calls equal systems different in {percent:.0f} % or more of test sets, "
            f"because {units:.0f} units give inaccurate standard errors for {pairs:,} pairs",
            "use --test permutation or --correction holm")


def _fixed_runs(systems: int) -> Text:
    return (f"{counted(systems, 'system has', 'systems have')} several runs, and the results hold for these runs, but "
            'not for new runs (runs = "fixed")',
            "for results about new runs, give every system two or more runs and use --runs random")


def _rounded_ties(items: int, rounding: float) -> str:
    return (f"different scores of two systems count as equal in {counted(items, 'item')}, because scores are rounded "
            f"to {rounding:.0e}")


def _extra_classes(system: str, classes: int, metric: str, labels: Sequence[str] = ()) -> Text:
    return (f"{metric} of {system} also averages over {counted(classes, 'class', 'classes')} that the gold does not "
            f"have{_name_labels(labels)}, which lowers the score",
            "rename the labels, or list the classes in the metric's option labels")


def _few_judged_items(items: int, least: int) -> str:
    return (f"p-values are too small and intervals too narrow, because people judged only {counted(items, 'item')} of "
            f"some system; at least {least} are needed")


def _unconnected_systems(systems: Sequence[str]) -> Text:
    it = "it" if len(systems) == 1 else "they"
    return (f"no strength can be estimated for {listed(systems, 3)}, because {it} won all votes or lost all votes "
            "against the other systems, or met none of them",
            "such a system keeps all ranks; collect more votes, or leave it out")


def _judgment_groups(judgments: int, groups: Mapping[str, int], random: Sequence[str]) -> str:
    nouns = {"rated": "rated item"}
    counts = ", ".join(counted(n, nouns.get(name, name)) for name, n in groups.items())
    kinds = " and of one ".join(nouns.get(name, name) for name in random)
    dependent = f"; errors allow for dependent judgments of one {kinds}" if random else ""
    return f"the {counted(judgments, 'judgment')} have {counts}{dependent}"


def _few_groups(groups: int, kind: str, least: int) -> str:
    return (f"the results hold only for the {counted(groups, kind)} in the data, and may not hold for others; at least "
            f"{least} are needed for results about others")


_add("clustered-units", "warning", _clustered_units, unit="item", attribute="document", clusters=12, factor=2.1,
     largest=3.4, pairs_known=6)
_add("known-errors", "warning", _known_errors, correction="romano-wolf", units=60.0, pairs=28, percent=7.7)
_add("shaffer-not-transitive", "warning",
     "Shaffer's correction assumes that A = C if A = B and B = C, but {test} tests hypotheses without this property",
     remedy="use --correction holm", test="sign")
_add("fixed-runs", "warning", _fixed_runs, systems=2)
_add("rounded-ties", "warning", _rounded_ties, items=3, rounding=1e-9)
_add("mixed-scales", "warning",
     "{percent!r} seems to have scores in percent, but {fraction!r} has fractions",
     remedy="give all scores on one scale",
     percent="birch", fraction="aspen")
_add("extra-classes", "warning", _extra_classes, system="aspen", classes=1, metric="macro-F1",
     labels=["Joy"])
_add("few-judged-items", "warning", _few_judged_items, items=12, least=20)
_add("few-judged-systems", "warning",
     "agreement of metrics with people is measured on only {systems} systems (at least {least} are recommended), and "
     "another system may reverse the order of the metrics", remedy="add systems", systems=3, least=5)
_add("few-groups", "warning", _few_groups, groups=4, kind="voter", least=6)
_add("unconnected-systems", "warning", _unconnected_systems, systems=["iris"])
_add("judgment-groups", "info", _judgment_groups, judgments=1500, groups={"voter": 40, "prompt": 60},
     random=["voter", "prompt"])
_add("order-effect", "info",
     "the first system of a vote has an advantage of {estimate:.3f} in log odds (95 % CI {low:.3f} to {high:.3f})",
     estimate=0.21, low=0.05, high=0.37)
_add("tie-effect", "info",
     "the logarithm of Davidson's tie parameter is {estimate:.3f} (95 % CI {low:.3f} to {high:.3f}); strengths are log "
     "odds of votes that are not ties", estimate=-0.78, low=-0.9, high=-0.6)
_add("weak-links", "warning",
     "differences between {groups} groups of systems depend on fewer than {least} wins in one direction",
     remedy="collect more votes between these groups", least=5, groups=2)
_add("sampled-pairs", "info",
     "strengths depend on which pairs of systems were compared, unless the model of Bradley and Terry holds exactly",
     remedy="report how pairs were chosen; with known probabilities, use their inverse as weights (option weight)")
_add("empty-board", "error", "there is no board, because no item has an answer of every system")


# Tests that cannot find a difference.
def _hopeless(sample: str, least: float, needed: str = "") -> str:
    return (f"no difference can be significant, because the smallest possible p-value with {sample} is "
            f"{least:g}{needed}. This says nothing about the systems")


def _too_few_units(units: int, needed: int, unit: str, least: float) -> str:
    return _hopeless(counted(units, unit), least, f"; at least {needed} {unit}s are needed")


def _too_few_runs(runs_a: int, runs_b: int, least: float) -> Text:
    return _hopeless(f"{runs_a} and {runs_b} runs", least), "add runs"


def _too_few_resamples(simulated: int, differences: int, resamples: int, needed: int) -> Text:
    which = "no difference can" if simulated == differences else (
        f"{simulated:,} of {differences:,} differences have a simulated p-value and cannot")
    return (f"{which} be significant, because the smallest possible p-value with {resamples:,} resamples is too large",
            f"set resamples to {needed:,} or more")


_add("too-few-units", "warning", _too_few_units, units=6, needed=10, unit="cluster", least=0.03125)
_add("too-few-runs", "warning", _too_few_runs, runs_a=3, runs_b=3, least=0.1)
_add("too-few-resamples", "warning", _too_few_resamples, simulated=15, differences=15, resamples=100, needed=299)


# Ranks of all systems at once.
def _few_units_ranks(units: int, least: int, method: str, is_judged: bool) -> Text:
    few = _count_units(units, is_judged=is_judged)
    return (f"ranks by {method} may be wrong too often, because there {'is' if units == 1 else 'are'} only {few} (at "
            f"least {least} are recommended)", "use --method holm")


def _uneven_units_ranks(units: int, even: float, least: int, method: str, is_judged: bool) -> Text:
    judged = " judged by people" if is_judged else ""
    return (f"ranks by {method} may be wrong too often, because the effective sample size is {even:.1f} (of {units} "
            f"units{judged}; at least {least} are recommended)", "use --method holm")


def _few_resamples_ranks(resamples: int, needed: int) -> Text:
    return (f"every system may have every rank, because {counted(resamples, 'resample')} cannot show a small p-value",
            f"set resamples to {needed:,} or more")


_add("few-units-ranks", "warning", _few_units_ranks, units=12, least=20, method="bootstrap", is_judged=False)
_add("uneven-units-ranks", "warning", _uneven_units_ranks, units=300, even=41.5, least=100, method="bootstrap",
     is_judged=False)
_add("few-resamples-ranks", "warning", _few_resamples_ranks, resamples=10, needed=19)


# Boards as they are shown.
def _undefined_p_values(n: int, reason: str | None = None) -> Text:
    text = f"{counted(n, 'p-value is', 'p-values are')} undefined and counted as not significant"
    return f"{text}: {reason}" if reason else (text, "run `registry pairs --format json` for the reasons")


def _unresolved(n: int, pair_names: Sequence[str], key: str, draws: int, task: str | None) -> Text:
    text = f"{counted(n, 'decision depends', 'decisions depend')} on simulation error{_name_pairs(pair_names, n)}"
    if task is None:
        return text, f"set resamples to {draws:,} or more"
    return text, (f"run `registry compare {task} --{key} {draws}`; for later runs, too, set {key} = {draws} under "
                  "[significance] in the manifest")


_add("one-system", "info", "there is one system, so there is nothing to compare")
_add("undefined-p-values", "warning", _undefined_p_values, n=2, reason="a score is undefined")
_add("unresolved-decisions", "warning", _unresolved, n=3, pair_names=["a and b", "a and c", "b and c"],
     key="resolve", draws=1_000_000, task="stance")
_add("worst-scores", "warning",
     "every system has the worst possible score, {score:g}, so the files are probably misread",
     remedy="check the metric, and the columns that are read from the gold and from the outputs", score=0.0)
_add("own-slopes", "info",
     "each difference is corrected separately for errors of the judge, so it is not exactly the difference of the two "
     "scores")
_add("these-runs", "info", "these conclusions hold for these runs; another training may give other results")
_add("these-items", "info", "these conclusions hold for these items; other items may favour another system")
_add("other-levels", "info", "these conclusions hold for other {levels}, with these items and runs", levels="prompts")
_add("equal-as-shown", "info",
     "scores of {systems} differ only in digits that are not shown; ranks use all digits", systems="aspen, birch")


# Submissions. Their names are the parameter `submissions`.
COUNT_AS = {"worst": ("counts as wrong", "count as wrong"),
             "own": ("is left out for this submission", "are left out for this submission"),
             "drop": ("is left out for all systems", "are left out for all systems")}


def _missing_answers(n: int, items: int, policy: str, column: str | None = None) -> str:
    if column is not None and n == items and policy in ("drop", "own"):
        return f"no item has {column!r}, so the system is not on the boards of this score"
    singular, plural = COUNT_AS[policy]
    all_items, what = f"of {counted(items, 'item')}", "answer" if column is None else repr(column)
    return counted(n, f"{all_items} has no {what} and {singular}", f"{all_items} have no {what} and {plural}")


def _unknown_names(kind: str, n: int, answers: int, names: str, gold: str | None = None) -> str:
    if gold is not None:
        return f"none of its {kind}s occurs in the gold, which has {gold}: {names}"
    return f"{n:,} of {answers:,} {kind}s {'is' if n == 1 else 'are'} unknown to the gold: {names}"


def _shifted_rows(side: str, is_recoded: bool) -> str:
    neighbour = "next" if side == "after" else "previous"
    seen = f"its labels fit the {neighbour} item in the gold far more often than their own item"
    if is_recoded:
        return f"{seen}, and each label corresponds to another gold label; labels may be coded differently, or shifted"
    return f"{seen}, as if a row {'were missing' if side == 'after' else 'had been added'} at the start"


def _copied_gold(part: str, items: int) -> str:
    text = {"gold": "the gold's own answer", "source": "the source's text"}.get(part, f"the text of reference {part!r}")
    return f"has {text} for each of {counted(items, 'item')}"


def _ignored_items(items: int, examples: Sequence[str]) -> str:
    more = f" and {items - len(examples)} more" if items > len(examples) else ""
    return f"{counted(items, 'item is', 'items are')} not in the gold and ignored: {', '.join(examples)}{more}"


_add("not-normalized", "warning", lambda lines: (
    f"{counted(lines, 'line is', 'lines are')} not in Unicode normal form NFC, but the gold is, so equal-looking text "
    "differs", "write the file in NFC"), lines=3)
_add("missing-answers", "warning", _missing_answers, n=2, items=100, policy="worst")
_add("ignored-items", "warning", _ignored_items, items=7, examples=["q101", "q102", "q103"])
_add("other-tokens", "warning", lambda items: f"{counted(items, 'item has', 'items have')} tokens that differ from the "
     "gold's, but each label is compared with the gold's label at the same position", items=3)
_add("header-as-item", "warning", "its first line ({key!r}, {label!r}) looks like a header, but counts as an item",
     key="id", label="label")
_add("equal-scores-of-ranks", "warning", "all documents of a query have the same score, but different ranks")
_add("reversed-ranks", "warning",
     "its scores rise from one rank to the next in {rises} of {places} places; the highest score counts as first, so "
     "its last documents count as first", rises=90, places=100)
_add("tied-ranks", "warning",
     "neighbouring ranks have the same score in {ties} of {places} places; equal scores are sorted by document name in "
     "reverse, so the lower rank counts first in {reversed} of these places", ties=20, places=100, reversed=12)
_add("unknown-names", "warning", _unknown_names, kind="label", n=12, answers=100,
     names="'Positive' (12 times; the gold has 'positive')")
_add("tokenized-text", "warning",
     "{tokenized} of {sentences} sentences have a space before the full stop, like tokenized text, but the gold's have "
     "none", tokenized=95, sentences=100)
_add("shifted-rows", "warning", _shifted_rows, side="after", is_recoded=False)
_add("unordered-rows", "warning", "its labels agree with the gold's no more than by chance")
_add("copied-gold", "warning", _copied_gold, part="gold", items=100)
_add("copied-answers", "warning", "has the same answers as {other}, which is another system", other="oak/oak@1")


# Intervals.
def _uneven_intervals(units: int, unit: str, even: float) -> str:
    return (f"intervals may have a coverage below 93 %, because the effective sample size of some system is {even:.1f} "
            f"(of {counted(units, unit)})")


def _skewed_intervals(scores: int) -> Text:
    return (f"intervals of {counted(scores, 'score')} may have a coverage below 93 %, because the standard error "
            "depends on too few, or too skewed, units", "add units")


def _error_free(scores: int, units: int, unit: str, percent: float, confidence: float) -> str:
    return (f"{counted(scores, 'score has', 'scores have')} no interval, because no error occurs in "
            f"{counted(units, unit)}: fewer than {percent:.2g} % of {unit}s have errors, at {100 * confidence:g} % "
            "confidence")


def _contrary(pairs: int) -> str:
    return (f"in {counted(pairs, 'pair')}, the confidence interval and the uncorrected p-value lead to opposite "
            "conclusions, because they use different methods; the p-value decides")


def _outside_range(score: float, low: float | None, high: float | None) -> Text:
    ends = f"{-math.inf if low is None else low:g} to {math.inf if high is None else high:g}"
    return f"a score of {score:g} is outside the range of the metric, {ends}", "correct the score_range of the metric"


def _no_intervals(values: str, reason: Mapping[str, Any]) -> Text:
    text, remedy = KINDS[reason["code"]].make_text(reason["parameters"])
    return f"{values} have no intervals: {text}", remedy


_add("uneven-units-intervals", "warning", _uneven_intervals, units=300, unit="item", even=31.5)
_add("skewed-intervals", "warning", _skewed_intervals, scores=2)
_add("error-free-scores", "info", _error_free, scores=1, units=60, unit="item", percent=4.9, confidence=0.95)
_add("no-score-intervals", "warning", lambda reason: _no_intervals("scores", reason),
     reason={"code": "one-unit", "parameters": {}})
_add("no-difference-intervals", "warning", lambda reason: _no_intervals("differences", reason),
     reason={"code": "one-unit", "parameters": {}})
_add("interval-contradicts", "info", _contrary, pairs=1)
_add("strata-need-resamples", "info", "standard errors within strata require resampling", remedy="use --test bootstrap")
_add("judged-differences", "info", "differences of judged items require a separate correction for errors of the judge",
     remedy="use --test prediction-powered")
_add("outside-range", "warning", _outside_range, score=1.2, low=0.0, high=1.0)


# Runs that cannot be compared.
def _single_runs(systems: int, of_systems: int) -> Text:
    return (f"{counted(systems, f'of {of_systems} systems has', f'of {of_systems} systems have')} only one run, but "
            "random runs need two or more of each system",
            'add runs, compare only the systems with several runs, or set runs = "fixed"')


def _few_runs(systems: int, least: int) -> Text:
    return (f"{counted(systems, 'system has', 'systems have')} fewer than {least} runs, too few to be resampled",
            'add runs, use --test crossed (with --ranks range), or set runs = "fixed"')


def _single_level(systems: int, level: str) -> str:
    return f"{counted(systems, 'system has', 'systems have')} only one {level}; two or more are needed"


def _different_levels(level: str) -> Text:
    return (f"systems have different {level}s, but the test compares only {level}s that all systems share",
            "if every system has its own seeds, write {run} instead of {seed} in the pattern" * (level == "seed"))


def _missing_combinations(systems: int, levels: list[str]) -> str:
    return (f"{counted(systems, 'system lacks', 'systems lack')} some combination of {' and '.join(levels)}; each "
            "combination is needed once")


def _unconnected_ratings(groups: list[list[str]], effects: list[str]) -> Text:
    levels = " and ".join(f"{effect}s" for effect in effects)
    return (f"the ratings do not separate the differences of {len(groups)} groups of systems from those of their "
            f"{levels} ({listed([listed(names, _NAMED) for names in groups], _NAMED, '; ')})",
            f"let annotators rate systems of different groups on the same items, or omit the effects of {levels}")


_add("single-runs", "error", _single_runs, systems=2, of_systems=6)
_add("few-runs", "error", _few_runs, systems=1, least=5)
_add("crossed-runs", "error",
     "prompts, annotators or shared seeds distinguish the runs, so runs are not an independent sample",
     remedy='use --test crossed, or set runs = "fixed"')
_add("different-factors", "error",
     "systems distinguish their runs by different factors (run, prompt, annotator or seed)",
     remedy="use the same factors in all file patterns")
_add("single-level", "error", _single_level, systems=1, level="prompt")
_add("different-levels", "error", _different_levels, level="seed")
_add("missing-combinations", "error", _missing_combinations, systems=1, levels=["prompt", "seed"])
_add("unconnected-ratings", "error", _unconnected_ratings, groups=[["large", "small"], ["human"]],
     effects=["item", "annotator"])
_add("studentized-needs-quotient", "error",
     "a studentized test needs a score that is a quotient of sums, such as F1 or accuracy")
_add("studentized-random-runs", "error",
     "a studentized test does not support random runs", remedy='set runs = "fixed", or use the test that is not '
     'studentized')


# Boards that are not of today.
_COMPARE = "run `registry compare`"
_SCORE = "run `registry score` and `registry compare`"
_add("board-outdated", "warning", "submissions or gold have changed since the last comparison", remedy=_SCORE)
_add("family-outdated", "warning",
     "other boards of this family have changed since the last comparison, or are not compared yet", remedy=_SCORE)


def _team_purged(teams: list[str]) -> Text:
    return f"{' and '.join(teams)} {'was' if len(teams) == 1 else 'were'} purged since the last comparison", _COMPARE


_add("team-purged", "warning", _team_purged, teams=["oak"])
_add("other-code", "warning",
     "another version of the code computed the scores by {metric} ({difference})",
     remedy="run `registry score --stale` and `registry compare`",
     metric="f1", difference="evalregistry 0.1.0 instead of 0.2.0")
_add("scores-changed", "warning", "scores by {metric} have changed since the last comparison", remedy=_COMPARE,
     metric="f1")


def _incomplete_family(boards: list[str]) -> str:
    return f"the family of this board is incomplete: {listed(boards, 4, '; ')} {'is' if len(boards) == 1 else 'are'} " \
           "not compared yet"


_add("incomplete-family", "warning", _incomplete_family, boards=["test, acc"])


# Effect sizes.
_add("units-left-out", "info", lambda units: f"{counted(units, 'unit is', 'units are')} left out, because a score is "
     "undefined", units=2)
_add("effect-of-units", "info",
     "the effect size compares scores of units, and a score of the board is not the mean over units")
_add("effect-of-averages", "info", "the effect size compares averages over runs, and treats the runs as fixed")
_add("no-unit-favours", "error", "no unit favours either system")
_add("equal-scores", "info", "the scores are equal in every unit")
_add("narrow-effect-interval", "warning",
     "the interval of the standardized difference is too narrow, because the differences between units have long "
     "tails; more units do not help", about_pairs=True)
_add("widest-margin", "error", "the margin is 1 or more, but two proportions never differ by more than 1",
     remedy="declare a smaller margin")
_add("needs-units", "error", "at least {least} units are needed", least=3)
_add("too-many-units", "error", "the p-value can be computed for at most {most} units", most=5000)
_add("one-cluster", "error", "at least two clusters are needed")
_add("single-item-clusters", "error", "every cluster has only one item")
_add("effect-methods", "info", "p-value: {test}, {method}; interval: bootstrap, {interval_method}", test="permutation",
     method="exact", interval_method="ideal")
_add("equivalence-test", "info", "test: {test}; the confidence level of the interval is {percent:g} %", test="t",
     percent=90.0)


# Studies.
def _pairs_left_out(n: int) -> str:
    return (f"{counted(n, 'pair is', 'pairs are')} left out, because resampling cannot test differences that are the "
            "same in every resample, or that no resample reaches")


def _submissions_left_out(n: int) -> str:
    return (f"{counted(n, 'submission is', 'submissions are')} left out (withdrawn, or not scored by today's "
            "gold), but the alpha that they used is not available to other submissions")


def _few_resamples_level(p_values: int, log10_level: float) -> Text:
    return (f"{counted(p_values, 'simulated p-value')} cannot reach the level 10^{log10_level:.1f}, because there are "
            "too few resamples", "increase --resamples, or use an exact --test")


def _favoured_systems(systems: list[str]) -> str:
    return (f"the judge favours some systems (or disfavours, if negative): {', '.join(systems)}; do not rank systems "
            "by the judge's scores alone")


def _unequal_lists(cut_offs: int, of_cut_offs: int, n: int, larger: str, accepts: int, smaller: str,
                   fewer: int) -> Text:
    return (f"a comparison by precision alone is not fair, because the systems accept different numbers of candidates "
            f"at {cut_offs} of {of_cut_offs} cut-offs (Evert 2004); for example, at n = {n}, {larger} accepts "
            f"{accepts} candidates and {smaller} accepts {fewer}", "use --show curves to compare recall, too")


_add("pairs-left-out", "warning", _pairs_left_out, n=2)
_add("strata-left-out", "info", "strata are ignored, because test sets are resampled from all units")
_add("few-units-in-sets", "warning", "ranks may not hold for other items, because {sets} have too few units",
     sets="dev (12)")
_add("few-resamples-beyond", "warning",
     "the critical value is uncertain, because only {beyond:.2g} of {resamples} resamples exceed it at the "
     "level {level:.2g}", remedy="set --resamples to {needed} or more",
     beyond=5.0, resamples=1000, level=0.005, needed=20000)
_add("judge-favours-systems", "warning", _favoured_systems, systems=["aspen (+0.05)"])
_add("judged-not-sample", "warning",
     "corrected scores of {systems} may be wrong, because the judge gives other scores to items that people judged "
     "than to the remaining items, so the judged items are hardly a random sample", systems="aspen, birch")
_add("few-judge-errors-systems", "warning",
     "p-values of {systems} may be too small and intervals too narrow, because people found too few errors of the "
     "judge", remedy="have more items judged by people", systems="aspen, birch")
_add("submissions-left-out", "info", _submissions_left_out, n=2)
_add("resamples-above-level", "warning", _few_resamples_level, p_values=2, log10_level=-5.2)
_add("winner-few-units", "warning", lambda units, least: "the corrected interval of the winner may be wrong, because "
     f"there {'is' if units == 1 else 'are'} only {counted(units, 'unit')} (at least {least} of equal weight are "
     "recommended)", units=60, least=200)
_add("winner-skewed", "warning",
     "the corrected interval of the winner is too high, because most of its errors are in a few units",
     remedy="add units")
_add("coarse-precisions", "warning",
     "Kolmogorov's test may reject although precisions are as expected, because {systems} accept too few candidates",
     remedy="use the test of the variance, or accept more candidates", systems="aspen, birch")
_add("unequal-lists", "warning", _unequal_lists, cut_offs=3, of_cut_offs=10, n=100, larger="aspen", accepts=100,
     smaller="birch", fewer=80)
_add("one-list", "info", "there is only one system, so nothing can be compared",
     remedy="use --show curves for its n-best list")


# Agreement of annotators.
def _few_units_agreement(units: int, unit: str, least: int) -> Text:
    return (f"intervals of agreement may be too narrow, because there are only {counted(units, unit)}",
            f"rate at least {least}")


def _constant_agreement(coefficients: int, unit: str) -> str:
    return (f"{counted(coefficients, 'coefficient has', 'coefficients have')} no interval, because all resamples of "
            f"{unit}s have the same value")


def _undefined_agreement(coefficients: int, unit: str, percent: float) -> Text:
    return (f"{counted(coefficients, 'coefficient has', 'coefficients have')} no interval, because up to "
            f"{percent:.2g} % of the resamples of {unit}s have only one category",
            f"rate more {unit}s with rare categories")


_add("few-units-agreement", "warning", _few_units_agreement, units=12, unit="item", least=50)
_add("constant-agreement", "info", _constant_agreement, coefficients=1, unit="item")
_add("undefined-agreement", "warning", _undefined_agreement, coefficients=1, unit="item", percent=12.5)
_add("unshared-items", "info", lambda pairs, least: (
    f"{counted(pairs, 'pair of annotators has', 'pairs of annotators have')} no row, because the annotators "
    f"share fewer than {least} items"), pairs=3, least=5)
_add("unpaired-items", "info", lambda items: f"{counted(items, 'item has', 'items have')} fewer than two ratings and "
     f"{'does' if items == 1 else 'do'} not count", items=7)
_add("unequal-ratings", "info", "Fleiss' kappa is left out, because items have different numbers of ratings")
_add("incomplete-ratings", "info",
     "intraclass correlations are left out, because not every annotator rated every item")
