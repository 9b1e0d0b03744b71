"""The evaluation of n-best lists of Evert (2004): precision and recall, and where two systems differ.

The n best candidates of a system are its acceptance set. Each precision has a binomial interval (section 3.2). Two
systems can differ only in the candidates that one of them accepts, D1 and D2; Fisher's test compares their shares of
right candidates (section 3.3). Acceptance sets are nested, so the first cut-off at which a system accepts a candidate
is enough for all cut-offs: a pair shares it from the later of its two on. `variations` compares the variation of
precision over repetitions of the experiment with the binomial model (section 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, groupby
from typing import Any, ClassVar, Literal

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Flags, Floats, Ints
from registry.errors import InputError, UnknownNameError
from registry.evaluation.comparing.settings import Request
from registry.identity import digest_array, salt_digest, short
from registry.messages import Message
from registry.metrics.sets import Ties, count_accepted, find_accepted, order_ties, sort_best_first
from registry.provenance import StudySignature
from registry.significance.diagnostics.assumptions import shared_candidates
from registry.significance.distributions import clopper_pearson
from registry.significance.pairwise.independent import fisher_tail, same_items
from registry.store import catalog
from registry.store.catalog import GoldRevisionRow, Member, TaskRow, TestSetRow
from registry.store.statistics import find_repeated, load_named_answers, load_responses
from registry.studies.study import Choice, Finding, Parts, Row, Study, name_systems, option, parse_sizes

Counts = Ints


@dataclass(frozen=True, eq=False)
class Ranked:
    """The candidates of a test set with the scores of its systems.

    Attributes:
        systems: Their names, [systems].
        right: Which candidates the gold has, [candidates].
        scores: Higher is better, nan where a system does not return a candidate, [candidates, systems].
        order: The place of each candidate in the random order that breaks ties (`order_ties`), [candidates].
    """

    systems: tuple[str, ...]
    right: Flags
    scores: Floats
    order: Counts

    @property
    def baseline(self) -> float:
        """The precision of a random selection: the share of candidates that are right."""
        return float(self.right.mean())


@dataclass(frozen=True, eq=False)
class Curve:
    """One system's n-best lists; arrays are over the cut-offs.

    `accepted` is what a list really has: fewer than n where the system returns fewer, and by the rule for ties.
    `ci_low` and `ci_high` are the Clopper-Pearson interval of the precision of the acceptance region that this cut-off
    makes.
    """

    system: str
    n: Counts
    accepted: Counts
    right: Counts
    ci_low: Floats
    ci_high: Floats
    recall: Floats

    @property
    def precision(self) -> Floats:
        """The share of accepted candidates that are right; nan where none is accepted."""
        shares: Floats = np.divide(self.right, self.accepted, out=np.full(len(self.n), np.nan),
                                   where=self.accepted > 0)
        return shares


@dataclass(frozen=True, eq=False)
class Contest:
    """Two systems at every cut-off; arrays are over the cut-offs.

    Attributes:
        system_a, system_b: The two.
        n: The cut-offs.
        only_a, only_b: How many candidates are in D1 and in D2.
        right_a, right_b: How many of them are right.
        p_value, log10_p: Of Fisher's test, two-sided by point probabilities.
        significant: Whether p <= alpha.
    """

    system_a: str
    system_b: str
    n: Counts
    only_a: Counts
    only_b: Counts
    right_a: Counts
    right_b: Counts
    p_value: Floats
    log10_p: Floats
    significant: Flags

    @property
    def favours(self) -> Counts:
        """1 where the share of right ones is larger in D1, -1 where it is in D2, else 0."""
        return np.sign(self.right_a * self.only_b - self.right_b * self.only_a)

    @property
    def differs_up_to(self) -> int | None:
        """The last cut-off up to which all are significant, for one and the same system; None if the first is not."""
        same = self.significant & (self.favours == self.favours[0])
        first = int(np.argmin(same)) if not same.all() else len(same)
        return int(self.n[first - 1]) if first else None


@dataclass(frozen=True)
class Evaluation:
    """Curves of all systems, and contests of all pairs in the order of the systems."""

    baseline: float
    curves: tuple[Curve, ...]
    contests: tuple[Contest, ...]


def evaluate(ranked: Ranked, grid: Counts, *, ties: Ties = "random", confidence: float = 0.95,
          alpha: float = 0.05) -> Evaluation:
    """Evaluate the n-best lists of all systems at every n of the `grid`, which rises.

    Candidates that a system does not return stand on none of its lists.
    """
    lists = [_lists(ranked, system, grid, ties) for system in range(len(ranked.systems))]
    total, curves = int(ranked.right.sum()) or np.nan, []
    for name, (entry, sizes) in zip(ranked.systems, lists, strict=True):
        right = _by_cut_off(entry[ranked.right], len(grid))
        low, high = clopper_pearson(right, sizes, confidence)
        curves.append(Curve(name, grid, sizes, right, low, high, right / total))
    contests = []
    for a, b in combinations(range(len(curves)), 2):
        shared = np.maximum(lists[a][0], lists[b][0])
        both, right_both = (_by_cut_off(of, len(grid)) for of in (shared, shared[ranked.right]))
        contests.append(_contest(curves[a], curves[b], both, right_both, alpha))
    return Evaluation(ranked.baseline, tuple(curves), tuple(contests))


def _lists(ranked: Ranked, system: int, grid: Counts, ties: Ties) -> tuple[Counts, Counts]:
    """The cut-off (by its position) from which on the system accepts each candidate, and the sizes of its lists."""
    returned = np.flatnonzero(~np.isnan(ranked.scores[:, system]))
    scores = ranked.scores[returned, system]
    positions = sort_best_first(scores, ranked.order[returned])
    sizes = count_accepted(scores[positions], grid, ties)
    entry = np.full(len(ranked.right), len(grid), dtype=np.int64)
    entry[returned[positions]] = np.searchsorted(sizes, np.arange(len(positions)), side="right")
    return entry, sizes


def _by_cut_off(entry: Counts, n: int) -> Counts:
    """How many candidates are accepted at each of n cut-offs, given the one from which on each of them is."""
    return np.cumsum(np.bincount(entry, minlength=n + 1)[:n])


def _contest(a: Curve, b: Curve, both: Counts, right_both: Counts, alpha: float) -> Contest:
    only_a, only_b = a.accepted - both, b.accepted - both
    right_a, right_b = a.right - right_both, b.right - right_both
    tails = [fisher_tail([[ra, na - ra], [rb, nb - rb]]) for ra, na, rb, nb in zip(
        *(counts.tolist() for counts in (right_a, only_a, right_b, only_b)), strict=True)]
    p_values = np.array([tail.p for tail in tails], dtype=np.float64)
    log10_p = np.array([tail.log_p for tail in tails]) / np.log(10)
    return Contest(a.system, b.system, a.n, only_a, only_b, right_a, right_b, p_values, log10_p, p_values <= alpha)


@dataclass(frozen=True)
class Variation:
    """One system's precision over the repetitions.

    Attributes:
        system: Its name.
        threshold: The score from which on candidates are accepted.
        repetitions: How many have accepted candidates; precision is undefined in others.
        accepted: How many candidates are accepted, on average.
        least, most: The fewest and the most in any of them; the model assumes that they are much the same.
        precision: The average of the repetitions' precisions, taken for the true one.
        deviation: The standard deviation of the precisions.
        expected: The binomial one, sqrt(precision (1 - precision) / accepted).
        p_variance: Of the chi-squared test that the variance is larger than the binomial one.
        p_kolmogorov: Of Kolmogorov's test that precisions are normal with that deviation.
        outside: Repetitions whose Clopper-Pearson interval leaves out the precision.
        p_outside: Of the binomial test that there are more of these than the confidence allows.
    """

    system: str
    threshold: float
    repetitions: int
    accepted: float
    least: int
    most: int
    precision: float
    deviation: float
    expected: float
    p_variance: float
    p_kolmogorov: float
    outside: int
    p_outside: float


def measure_variations(ranked: Ranked, repetition: Ints, *, average: int = 100,
                       confidence: float = 0.95) -> list[Variation]:
    """Give the variation of every system's precision.

    Args:
        ranked: All candidates of all repetitions.
        repetition: The number of each candidate's repetition, from 0, [candidates].
        average: How many candidates are accepted per repetition, on average; more where scores are tied there.
        confidence: Of the intervals.

    Raises:
        InputError: A system returns no candidate.
    """
    n = int(repetition.max()) + 1
    return [_variation(ranked, system, repetition, n, average, confidence) for system in range(len(ranked.systems))]


def _variation(ranked: Ranked, system: int, repetition: Ints, n: int, average: int, confidence: float) -> Variation:
    from scipy import stats

    scores = ranked.scores[:, system]
    returned = np.sort(scores[~np.isnan(scores)])
    if not len(returned):
        raise InputError(f"{ranked.systems[system]} returns no candidate; leave it out by --system")
    threshold = float(returned[max(len(returned) - average * n, 0)])
    taken = find_accepted(scores, threshold=threshold)
    sizes = np.bincount(repetition[taken], minlength=n)
    right = np.bincount(repetition[taken & ranked.right], minlength=n)[sizes > 0]
    sizes = sizes[sizes > 0]
    shares, n = right / sizes, len(sizes)
    precision, size = float(shares.mean()), float(sizes.mean())
    deviation = float(shares.std(ddof=1)) if n > 1 else np.nan
    expected = float(np.sqrt(precision * (1 - precision) / size))
    low, high = clopper_pearson(right, sizes, confidence)
    outside = int(((precision < low) | (precision > high)).sum())
    varies = expected > 0 and n > 1
    return Variation(
        ranked.systems[system], threshold, n, size, int(sizes.min()), int(sizes.max()), precision, deviation, expected,
        float(stats.chi2.sf((n - 1) * (deviation / expected)**2, n - 1)) if varies else np.nan,
        float(stats.kstest(shares, stats.norm(precision, expected).cdf).pvalue) if varies else np.nan,
        outside, float(stats.binom.sf(outside - 1, n, 1 - confidence)))


@dataclass(frozen=True, eq=False)
class RankedTestSet:
    """One test set's candidates.

    Attributes:
        name: `task/test_set`.
        ranked: What is studied.
        items: The id of each candidate's item, [candidates].
        submissions: The names `team/system@version` of the systems, in their order.
        gold: Its gold's revision.
        warnings: Which assumption of the tests does not hold.
    """

    name: str
    ranked: Ranked
    items: Ints
    submissions: tuple[str, ...]
    gold: GoldRevisionRow
    warnings: tuple[Message, ...]

    def repetition(self, connection: Connection, attribute: str) -> Ints:
        """The number of every candidate's value of an attribute of its item, [candidates].

        Raises:
            InputError: An item lacks it, or all have the same.
        """
        values = catalog.item_attribute(connection, self.gold.gold_revision_id, attribute)
        if any(int(item) not in values for item in self.items):
            raise InputError(f"items of {self.name} have no attribute {attribute!r}; the options of the gold's reader "
                             "name attributes")
        known, numbers = np.unique([values[int(item)] for item in self.items], return_inverse=True)
        if len(known) < 2:
            raise InputError(f"all items of {self.name} have the same {attribute!r}: there is no repetition")
        return numbers.astype(np.int64)


def load(connection: Connection, task: TaskRow, test_set: TestSetRow, systems: Sequence[str] = (),
         seed: int = 0) -> RankedTestSet:
    """Load the candidates of a test set: every answer that the gold or a system that takes part has.

    Args:
        connection: To read from.
        task: Its row.
        test_set: Its row.
        systems: The ones wanted, in this order (`system`, or `team/system`); none: all.
        seed: Of the random order that breaks ties.

    Raises:
        UnknownNameError: No system is called so.
        InputError: A name is ambiguous or stands twice, answers have no scores, or every system gives one answer to
            every item.
    """
    name = f"{task.slug}/{test_set.name}"
    members = catalog.load_ranked(connection, test_set.test_set_id)
    if not members:
        raise InputError(f"{name} has no submission that takes part; `registry submit` brings one in")
    answers = load_named_answers(connection, test_set.gold_revision_id)
    responses = load_responses(connection, [member.scoring_id for member in members], answers.ids)
    repeated = find_repeated(connection, [member.submission_id for member in members])
    for n, member in enumerate(members):
        if member.submission_id in repeated:
            raise InputError(f"{member.name} has several runs, which are no one ranking; submit one of them by itself")
        if np.isnan(responses.scores[responses.given[:, n], n]).any():
            raise InputError(f"answers of {member.name} have no score, so there is no ranking; `registry compare` "
                             "tests sets of answers, and one answer per item by mcnemar")
    kept = np.flatnonzero(answers.in_gold | responses.given.any(axis=1))  # others took part once
    items = answers.items[kept]
    if not len(kept):
        catalog.item_ids(connection, test_set.gold_revision_id)  # says so if the gold is withheld
        raise InputError(f"{name} has no candidate: neither the gold nor a system has any answer")
    if same_items(items, responses.given[kept]):
        raise InputError(f"every system gives one answer to every item of {name}, so D1 and D2 are answers to the same "
                         "items and not independent; take `registry compare --test mcnemar`")
    chosen = [_find(members, system, name) for system in systems] or list(range(len(members)))
    if twice := [n for n in chosen if chosen.count(n) > 1]:
        raise InputError(f"{members[twice[0]].name} is named twice; name it once")
    order = order_ties(seed, (answers.names[n] for n in kept))
    ranked = Ranked(tuple(name_systems([members[n] for n in chosen])), answers.in_gold[kept],
                    responses.scores[kept][:, chosen], order)
    warning = shared_candidates(items, has_intervals=True)
    gold = catalog.get(connection, GoldRevisionRow, gold_revision_id=test_set.gold_revision_id)
    submissions = tuple(f"{of.team}/{of.system}@{of.version}" for of in (members[n] for n in chosen))
    return RankedTestSet(name, ranked, items, submissions, gold,
                         () if warning is None else (warning,))


def _find(members: Sequence[Member], system: str, name: str) -> int:
    found = [n for n, member in enumerate(members) if system in (member.system, f"{member.team}/{member.system}")]
    if not found:
        raise UnknownNameError(f"system of {name}", system, {member.system for member in members})
    if len(found) > 1:
        raise InputError(f"several systems of {name} are called {system!r}; name the team too: "
                         f"{', '.join(f'{members[n].team}/{system}' for n in found)}")
    return found[0]


_OF_LIST = ("n", "accepted", "right", "precision", "ci_low", "ci_high", "recall")
_OF_TEST = ("n", "only_a", "right_a", "only_b", "right_b", "p_value", "log10_p", "significant")
_FINE = 10  # repetitions for each unit of the binomial variance, up to which precisions seem normal


class NBest(Study):
    """The n-best lists of all systems, and where those of two of them differ.

    Precision has Clopper-Pearson intervals, and Fisher's test compares what only one of two systems accepts (Evert
    2004). --show pairs: up to which n two systems differ; tests: every test; curves: precision and recall; variation:
    over the repetitions.
    """

    name: ClassVar[str] = "ranking"
    title: ClassVar[str] = "Where do n-best lists differ?"
    citation: ClassVar[str] = "Evert 2004"
    choice: ClassVar = ("test_set",)
    settings: ClassVar = ()
    is_slow: ClassVar = False
    figures: ClassVar = ("precision", "recall", "intervals", "significance")
    min_systems: ClassVar = 1
    systems: tuple[str, ...] = option((), "Only this one, system or team/system; may be given several times.",
                                      name="system", metavar="NAME")
    grid: tuple[int, ...] = option(tuple(range(100, 2001, 50)), "The sizes of the n-best lists; or a list as "
                                   "100,500,1000.", metavar="FIRST:LAST:STEP", parse=parse_sizes,
                                   default_text="100:2000:50")
    ties: Literal["random", "include", "exclude"] = option(
        "random", "Accept random ones of those tied at a cut-off, or all, or none.")
    seed: int = option(0, "Of the random order of those tied.")
    alpha: float = option(0.05, "Of every single test.", minimum=0, maximum=1)
    confidence: float = option(0.95, "Of the intervals.", minimum=0, maximum=1)
    repetition: str | None = option(None, "The attribute of candidates that tells the repetitions of the experiment "
                                    "apart.", metavar="ATTRIBUTE")
    accept: int = option(100, "Candidates accepted per repetition, on average.", minimum=1)

    def resolve(self, task: str | None, shown: str | None) -> NBest:  # noqa: ARG002
        if (shown == "variation") != (self.repetition is not None):
            raise InputError("--show variation and --repetition go together: what tells the repetitions apart?")
        return self

    def find_subjects(self, connection: Connection, task: TaskRow, request: Request,  # noqa: ARG002
                      choice: Choice) -> Iterator[RankedSubject]:
        test_sets = catalog.test_sets(connection, task.task_id)
        if choice.test_set is not None and choice.test_set not in (known := [one.name for one in test_sets]):
            raise UnknownNameError(f"test set of {task.slug}", choice.test_set, known)
        for one in test_sets:
            if choice.test_set in (None, one.name):
                loaded = load(connection, task, one, self.systems, self.seed)
                parts = None if self.repetition is None else loaded.repetition(connection, self.repetition)
                n = len(loaded.ranked.right)
                if parts is None and self.grid[0] > n:
                    raise InputError(f"{loaded.name} has {n} candidates only; give smaller sizes by --grid")
                yield RankedSubject(self, task, loaded, parts)

    def run(self, case: RankedSubject) -> Finding:
        place, submissions = case.place, case.test_set.submissions
        if case.repetition is not None:
            found = measure_variations(case.test_set.ranked, case.repetition, average=self.accept,
                                       confidence=self.confidence)
            return Finding({"variation": [
                place | {"submission": submission, "attribute": self.repetition} | asdict(variation)
                for variation, submission in zip(found, submissions, strict=True)]}, [], [*_warn_of_coarse(found)])
        right = case.test_set.ranked.right
        within = np.array([size for size in self.grid if size <= len(right)], dtype=np.int64)
        lists = evaluate(case.test_set.ranked, within, ties=self.ties, confidence=self.confidence, alpha=self.alpha)
        of = dict(zip(case.test_set.ranked.systems, submissions, strict=True))
        pairs = [place | {"system_a": contest.system_a, "system_b": contest.system_b,
                          "submission_a": of[contest.system_a], "submission_b": of[contest.system_b]}
                 for contest in lists.contests]
        return Finding({
            "pairs": [pair | _summarize_contest(contest) for pair, contest in zip(pairs, lists.contests, strict=True)],
            "tests": [pair | row | {"test": "fisher", "rule": "point"}
                      for pair, contest in zip(pairs, lists.contests, strict=True)
                      for row in _rows(contest, _OF_TEST)],
            "curves": [place | row for row in _curves(lists, submissions)],
            "candidates": [{"candidates": len(right), "right": int(right.sum()), "baseline": lists.baseline}],
        }, [], [*case.test_set.warnings, *_warn_of_unequal_sizes(lists)])

    def choose_figure(self, finding: Finding) -> str:
        systems = {row["submission"] for row in finding.tables.get("curves", [])}
        return "significance" if len(systems) == 2 else "precision"

    def select_warnings(self, finding: Finding, shown: str | None) -> list[Message]:
        alone = shown != "curves" and not finding.tables.get("pairs", [True])
        return [*finding.warnings, *([Message("one-list")] if alone else [])]


@dataclass(frozen=True, eq=False)
class RankedSubject:
    """A test set's candidates with what an evaluation of them depends on.

    Attributes:
        study: What is asked.
        task: Its row.
        test_set: The candidates.
        repetition: The number of each candidate's repetition, where these are looked at.
    """

    study: NBest
    task: TaskRow
    test_set: RankedTestSet
    repetition: Ints | None

    @property
    def name(self) -> str:
        """`task/test_set`."""
        return self.test_set.name

    @property
    def place(self) -> Row:
        """What every row says of it."""
        task, _, name = self.name.partition("/")
        return {"task": task, "test_set": name}

    @property
    def identity(self) -> Mapping[str, Any]:
        """The candidates with their scores, by content."""
        ranked = self.test_set.ranked
        arrays = [ranked.right, ranked.scores, ranked.order, self.test_set.items - self.test_set.items.min()]
        return {"test_set": self.name, "task_version": self.task.version, "gold": self.test_set.gold.digest,
                "submissions": list(self.test_set.submissions), "candidates": [digest_array(one) for one in arrays],
                "repetition": None if self.repetition is None else digest_array(self.repetition)}

    def load(self, connection: Connection, parts: Parts) -> RankedSubject:  # noqa: ARG002
        """Itself: candidates are loaded to be known."""
        return self

    def signature(self, case: RankedSubject, identity: str) -> StudySignature:  # noqa: ARG002
        """The signature of the evaluation."""
        gold = salt_digest(self.test_set.gold.digest, self.task.salt)
        return StudySignature(
            study=repr(self.study), metric="precision", task=self.task.slug, task_version=self.task.version,
            test_sets=(self.place["test_set"],), track=None, facet=None, n_items=len(self.test_set.ranked.right),
            n_systems=len(self.test_set.submissions), golds=(short(gold),), seed=self.study.seed,
            identity=short(identity))


def _summarize_contest(contest: Contest) -> Row:
    """The cut-offs at which a pair differs, and that up to which it does throughout."""
    favours = " and ".join(name for side, name in ((1, contest.system_a), (-1, contest.system_b))
                           if side in contest.favours[contest.significant])
    return {"differs_up_to": contest.differs_up_to, "significant": int(contest.significant.sum()),
            "cut_offs": len(contest.n), "significant_at": format_significant(contest), "favours": favours}


def _curves(lists: Evaluation, submissions: tuple[str, ...]) -> Iterator[Row]:
    """The precision of every system at every cut-off with its interval, and recall."""
    for curve, submission in zip(lists.curves, submissions, strict=True):
        for row in _rows(curve, _OF_LIST):
            yield {"system": curve.system, "submission": submission} | row | {"baseline": lists.baseline}


def _rows(of: Contest | Curve, keys: Sequence[str]) -> Iterator[Row]:
    """What these arrays say at every cut-off."""
    for values in zip(*(getattr(of, key).tolist() for key in keys), strict=True):
        yield dict(zip(keys, values, strict=True))


def format_significant(contest: Contest) -> str:
    """The cut-offs at which a pair differs, those that follow each other on the grid as `first to last`."""
    at, runs = list(enumerate(contest.n.tolist())), []
    for significant, group in groupby(at, key=lambda entry: bool(contest.significant[entry[0]])):
        if significant:
            found = [n for _, n in group]
            runs.append(str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}")
    return ", ".join(runs)


def _warn_of_coarse(found: Sequence[Variation]) -> Iterator[Message]:
    """Warn where precisions go by such large steps that Kolmogorov's test sees that they are not normal.

    The distribution function then jumps by up to 0.4 / s at once, with s the binomial deviation of the number of right
    ones, and is off by half of that; at 5 % the test allows 1.36 / sqrt(repetitions).
    """
    told = [of.system for of in found if of.repetitions > _FINE * of.accepted * of.precision * (1 - of.precision)]
    if told:
        yield Message("coarse-precisions", {"systems": ", ".join(told)})


def _warn_of_unequal_sizes(lists: Evaluation) -> Iterator[Message]:
    """Warn where two systems' acceptance sets differ in size at one cut-off (Evert 2004, footnote 13)."""
    sizes = [(int(n), [int(curve.accepted[k]) for curve in lists.curves]) for k, n in enumerate(lists.curves[0].n)]
    unequal = [(max(of) / max(min(of), 1), n, of) for n, of in sizes if len(set(of)) > 1]
    if unequal:
        _, n, of = max(unequal)
        largest, smallest = (lists.curves[of.index(size)].system for size in (max(of), min(of)))
        yield Message("unequal-lists", {"cut_offs": len(unequal), "of_cut_offs": len(sizes), "n": n, "larger": largest,
                                        "accepts": max(of), "smaller": smallest, "fewer": min(of)})
