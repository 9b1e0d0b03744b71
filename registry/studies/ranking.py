"""Evaluation of n-best lists: precision, recall, and the cut-offs at which two systems differ (Evert 2004).

The n best candidates of a system are its acceptance set. Each precision has a binomial interval (section 3.2). Two
systems can differ only in the candidates that exactly one of them accepts, D1 and D2. Fisher's test compares the shares
of correct candidates in D1 and D2 (section 3.3). Acceptance sets are nested, so each system has a first cut-off
at which it accepts a candidate; a pair shares the candidate from the later of its two first cut-offs on.
`measure_variations` compares the variation of precision over repetitions with the binomial model (section 4).
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
from registry.significance.diagnostics.assumptions import warn_of_shared_candidates
from registry.significance.distributions import clopper_pearson
from registry.significance.pairwise.independent import fisher_tail, give_one_answer_per_item
from registry.store import catalog
from registry.store.catalog import GoldRevisionRow, Member, TaskRow, TestSetRow
from registry.store.statistics import find_repeated, load_named_answers, load_responses
from registry.studies.study import Choice, Finding, Parts, Row, Study, name_systems, option, parse_sizes

Counts = Ints


@dataclass(frozen=True, eq=False)
class Ranked:
    """Candidate answers of a test set, with the scores that each system gives them.

    Attributes:
        systems: Names of the systems, [systems].
        right: True for each candidate that is in the gold, [candidates].
        scores: Higher is better; nan if a system does not return a candidate, [candidates, systems].
        order: Position of each candidate in the random order that breaks ties, [candidates].
    """

    systems: tuple[str, ...]
    right: Flags
    scores: Floats
    order: Counts

    @property
    def baseline(self) -> float:
        """Precision of a random selection: the share of correct candidates."""
        return float(self.right.mean())


@dataclass(frozen=True, eq=False)
class Curve:
    """Precision and recall of one system's n-best lists, for increasing n.

    All arrays are [cut-offs]; the cut-offs are the sizes n. `accepted` is the length of a list, which may differ from n
    because of ties, or because the system returns fewer candidates. `ci_low` and `ci_high` are the Clopper-Pearson
    interval of the precision.
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
        """Share of the candidates in each n-best list that are correct, [cut-offs].

        The share is nan for an empty list.
        """
        shares: Floats = np.divide(self.right, self.accepted, out=np.full(len(self.n), np.nan),
                                   where=self.accepted > 0)
        return shares


@dataclass(frozen=True, eq=False)
class Contest:
    """Tests of two systems' n-best lists, for increasing n.

    All arrays are [cut-offs]; the cut-offs are the sizes n.

    Attributes:
        system_a, system_b: Names of the systems.
        n: Cut-offs.
        only_a, only_b: Number of candidates that only one of the systems accepts (D1 and D2 of Evert 2004).
        right_a, right_b: Number of correct candidates among those in `only_a` and `only_b`.
        p_value, log10_p: Fisher's test, two-sided by point probabilities.
        significant: True if p <= alpha.
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
        """The better system at each list size n: 1 for A, -1 for B, 0 for neither.

        The better system has the larger share of correct candidates among those that only one of the two systems
        accepts. Shape: [cut-offs].
        """
        return np.sign(self.right_a * self.only_b - self.right_b * self.only_a)

    @property
    def differs_up_to(self) -> int | None:
        """Largest list size n up to which all tests are significant in one direction.

        The value is None if the lists of the smallest size do not differ significantly.
        """
        same = self.significant & (self.favours == self.favours[0])
        first = int(np.argmin(same)) if not same.all() else len(same)
        return int(self.n[first - 1]) if first else None


@dataclass(frozen=True)
class Evaluation:
    """Precision, recall and significance tests of the n-best lists of all systems.

    Attributes:
        baseline: Precision of a random selection.
        curves: Precision and recall of each system.
        contests: Tests of each pair of systems.
    """

    baseline: float
    curves: tuple[Curve, ...]
    contests: tuple[Contest, ...]


def evaluate(ranked: Ranked, grid: Counts, *, ties: Ties = "random", confidence: float = 0.95,
          alpha: float = 0.05) -> Evaluation:
    """Evaluate the n-best lists of all systems, and test every pair of systems.

    An n-best list has the n candidates with the highest scores of a system. `grid` has the sizes n, ascending.
    """
    lists = [_find_entries(ranked, system, grid, ties) for system in range(len(ranked.systems))]
    total, curves = int(ranked.right.sum()) or np.nan, []
    for name, (entry, sizes) in zip(ranked.systems, lists, strict=True):
        right = _count_accepted(entry[ranked.right], len(grid))
        low, high = clopper_pearson(right, sizes, confidence)
        curves.append(Curve(name, grid, sizes, right, low, high, right / total))
    contests = []
    for a, b in combinations(range(len(curves)), 2):
        shared = np.maximum(lists[a][0], lists[b][0])
        both, right_both = (_count_accepted(entry, len(grid)) for entry in (shared, shared[ranked.right]))
        contests.append(_compare(curves[a], curves[b], both, right_both, alpha))
    return Evaluation(ranked.baseline, tuple(curves), tuple(contests))


def _find_entries(ranked: Ranked, system: int, grid: Counts, ties: Ties) -> tuple[Counts, Counts]:
    """Find for each candidate the smallest n-best list of a system that contains it.

    The lists of a system are nested: a longer list contains all shorter ones.

    Returns:
        The index in `grid` of the size n of this list, or len(grid) if there is none, [candidates]; and the actual
            length of each list, which ties can change, [cut-offs].
    """
    returned = np.flatnonzero(~np.isnan(ranked.scores[:, system]))
    scores = ranked.scores[returned, system]
    positions = sort_best_first(scores, ranked.order[returned])
    sizes = count_accepted(scores[positions], grid, ties)
    entry = np.full(len(ranked.right), len(grid), dtype=np.int64)
    entry[returned[positions]] = np.searchsorted(sizes, np.arange(len(positions)), side="right")
    return entry, sizes


def _count_accepted(entry: Counts, n: int) -> Counts:
    return np.cumsum(np.bincount(entry, minlength=n + 1)[:n])


def _compare(a: Curve, b: Curve, both: Counts, right_both: Counts, alpha: float) -> Contest:
    only_a, only_b = a.accepted - both, b.accepted - both
    right_a, right_b = a.right - right_both, b.right - right_both
    tails = [fisher_tail([[ra, na - ra], [rb, nb - rb]]) for ra, na, rb, nb in zip(
        *(counts.tolist() for counts in (right_a, only_a, right_b, only_b)), strict=True)]
    p_values = np.array([tail.p for tail in tails], dtype=np.float64)
    log10_p = np.array([tail.log_p for tail in tails]) / np.log(10)
    return Contest(a.system, b.system, a.n, only_a, only_b, right_a, right_b, p_values, log10_p, p_values <= alpha)


@dataclass(frozen=True)
class Variation:
    """Variation of one system's precision over repetitions of an experiment.

    Attributes:
        system: Name of the system.
        threshold: Minimum score of accepted candidates.
        repetitions: Number of repetitions with accepted candidates; precision is undefined in others.
        accepted: Mean number of accepted candidates.
        least, most: Smallest and largest number of accepted candidates; the model assumes that they are similar.
        precision: Mean precision, used as the true precision.
        deviation: Standard deviation of the precision.
        expected: Binomial standard deviation, sqrt(precision (1 - precision) / accepted).
        p_variance: Chi-squared test of a larger variance than the binomial one.
        p_kolmogorov: Kolmogorov-Smirnov test of a normal distribution with the binomial standard deviation.
        outside: Number of repetitions whose Clopper-Pearson interval does not contain the mean precision.
        p_outside: Binomial test of more such repetitions than the confidence allows.
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
    """Measure how much each system's precision varies over repeated experiments.

    Args:
        ranked: Candidates of all repetitions.
        repetition: Number of the repetition to which each candidate belongs, from 0, [candidates].
        average: Mean number of accepted candidates per repetition; ties can increase it.
        confidence: Confidence of the intervals.

    Raises:
        InputError: A system returns no candidate.
    """
    n = int(repetition.max()) + 1
    return [_measure_variation(ranked, system, repetition, n, average, confidence)
            for system in range(len(ranked.systems))]


def _measure_variation(ranked: Ranked, system: int, repetition: Ints, n: int, average: int,
                       confidence: float) -> Variation:
    from scipy import stats

    scores = ranked.scores[:, system]
    returned = np.sort(scores[~np.isnan(scores)])
    if not len(returned):
        raise InputError(f"{ranked.systems[system]} returns no candidate; leave it out by --system")
    threshold = float(returned[max(len(returned) - average * n, 0)])
    is_accepted = find_accepted(scores, threshold=threshold)
    sizes = np.bincount(repetition[is_accepted], minlength=n)
    right = np.bincount(repetition[is_accepted & ranked.right], minlength=n)[sizes > 0]
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
    """Candidate answers of one test set, with the submissions that ranked them.

    Attributes:
        name: `task/test_set`.
        ranked: Candidates with their scores.
        items: Item id of each candidate, [candidates].
        submissions: Names `team/system@version`, [systems].
        gold: Revision of the gold.
        warnings: Warnings about violated assumptions.
    """

    name: str
    ranked: Ranked
    items: Ints
    submissions: tuple[str, ...]
    gold: GoldRevisionRow
    warnings: tuple[Message, ...]

    def load_repetition(self, connection: Connection, attribute: str) -> Ints:
        """Return the number of the repetition to which each candidate belongs.

        The values of an item attribute distinguish the repetitions, and are numbered from 0, [candidates].

        Raises:
            InputError: An item has no such attribute, or all items have the same value.
        """
        values = catalog.item_attribute(connection, self.gold.gold_revision_id, attribute)
        if any(int(item) not in values for item in self.items):
            raise InputError(f"items of {self.name} have no attribute {attribute!r}; the options of the gold's reader "
                             "name attributes")
        distinct, numbers = np.unique([values[int(item)] for item in self.items], return_inverse=True)
        if len(distinct) < 2:
            raise InputError(f"all items of {self.name} have the same {attribute!r}, so nothing is repeated; name "
                             "another attribute")
        return numbers.astype(np.int64)


def load(connection: Connection, task: TaskRow, test_set: TestSetRow, systems: Sequence[str] = (),
         seed: int = 0) -> RankedTestSet:
    """Load all candidate answers of a test set, from the gold and from the systems.

    Systems that do not participate are left out.

    Args:
        connection: Connection to the registry.
        task: Row of the task.
        test_set: Row of the test set.
        systems: Selected systems in this order, as `system` or `team/system`; empty for all.
        seed: Seed of the random order that breaks ties.

    Raises:
        UnknownNameError: A selected system does not exist.
        InputError: A name is ambiguous or repeated, answers have no scores, or every system gives one answer to every
            item.
    """
    name = f"{task.slug}/{test_set.name}"
    members = catalog.load_ranked(connection, test_set.test_set_id)
    if not members:
        raise InputError(f"{name} has no participating submission; add one by `registry submit`")
    answers = load_named_answers(connection, test_set.gold_revision_id)
    responses = load_responses(connection, [member.scoring_id for member in members], answers.ids)
    repeated = find_repeated(connection, [member.submission_id for member in members])
    for n, member in enumerate(members):
        if member.submission_id in repeated:
            raise InputError(f"{member.name} has several runs, but a ranking needs one run; submit each run as a "
                             "separate system")
        if np.isnan(responses.scores[responses.given[:, n], n]).any():
            raise InputError(f"answers of {member.name} have no score, so there is no ranking; `registry compare` "
                             "tests sets of answers, and single answers per item by mcnemar")
    # Other answers belong to systems that no longer participate.
    candidates = np.flatnonzero(answers.in_gold | responses.given.any(axis=1))
    items = answers.items[candidates]
    if not len(candidates):
        catalog.item_ids(connection, test_set.gold_revision_id)  # raises an error if the gold is withheld
        raise InputError(f"{name} has no candidate: neither the gold nor a system has any answer")
    if give_one_answer_per_item(items, responses.given[candidates]):
        raise InputError(f"every system gives one answer to every item of {name}, so the answers in which two systems "
                         "differ (D1 and D2) are not independent; use `registry compare --test mcnemar`")
    chosen = [_find_system(members, system, name) for system in systems] or list(range(len(members)))
    if repeated_names := [n for n in chosen if chosen.count(n) > 1]:
        raise InputError(f"{members[repeated_names[0]].name} is named twice; name it once")
    order = order_ties(seed, (answers.names[n] for n in candidates))
    ranked = Ranked(tuple(name_systems([members[n] for n in chosen])), answers.in_gold[candidates],
                    responses.scores[candidates][:, chosen], order)
    warning = warn_of_shared_candidates(items, has_intervals=True)
    gold = catalog.get(connection, GoldRevisionRow, gold_revision_id=test_set.gold_revision_id)
    submissions = tuple(f"{members[n].team}/{members[n].system}@{members[n].version}" for n in chosen)
    return RankedTestSet(name, ranked, items, submissions, gold,
                         () if warning is None else (warning,))


def _find_system(members: Sequence[Member], system: str, name: str) -> int:
    matches = [n for n, member in enumerate(members) if system in (member.system, f"{member.team}/{member.system}")]
    if not matches:
        raise UnknownNameError(f"system of {name}", system, {member.system for member in members})
    if len(matches) > 1:
        raise InputError(f"several systems of {name} have the name {system!r}; add the team: "
                         f"{', '.join(f'{members[n].team}/{system}' for n in matches)}")
    return matches[0]


_CURVE_KEYS = ("n", "accepted", "right", "precision", "ci_low", "ci_high", "recall")
_TEST_KEYS = ("n", "only_a", "right_a", "only_b", "right_b", "p_value", "log10_p", "significant")
_MAX_REPETITIONS_PER_VARIANCE = 10  # repetitions per unit of the binomial variance that still look normal


class NBest(Study):
    """Precision and recall of n-best lists, and the sizes at which systems differ.

    Precision has Clopper-Pearson intervals, and Fisher's test compares the candidates that only one of two systems
    accepts (Evert 2004). --show pairs: the sizes n at which two systems differ; tests: every test; curves: precision
    and recall; variation: precision over repetitions.
    """

    name: ClassVar[str] = "ranking"
    title: ClassVar[str] = "Where do n-best lists differ?"
    citation: ClassVar[str] = "Evert 2004"
    choice: ClassVar = ("test_set",)
    settings: ClassVar = ()
    is_slow: ClassVar = False
    figures: ClassVar = ("precision", "recall", "intervals", "significance")
    min_systems: ClassVar = 1
    systems: tuple[str, ...] = option((), "Only this system (or team/system); can be repeated.",
                                      name="system", metavar="NAME")
    grid: tuple[int, ...] = option(tuple(range(100, 2001, 50)), "Sizes of the n-best lists, or a list such as "
                                   "100,500,1000.", metavar="FIRST:LAST:STEP", parse=parse_sizes,
                                   default_text="100:2000:50")
    ties: Literal["random", "include", "exclude"] = option(
        "random", "Of the candidates that are tied at a cut-off, accept a random selection, all, or none.")
    seed: int = option(0, "Seed of the random order of tied candidates.")
    alpha: float = option(0.05, "Significance level of each test.", minimum=0, maximum=1)
    confidence: float = option(0.95, "Confidence of the intervals.", minimum=0, maximum=1)
    repetition: str | None = option(None, "The attribute of items that numbers the repetitions of the experiment.",
                                    metavar="ATTRIBUTE")
    accept: int = option(100, "Mean number of accepted candidates per repetition.", minimum=1)

    def resolve(self, task: str | None, shown: str | None) -> NBest:  # noqa: ARG002
        if (shown == "variation") != (self.repetition is not None):
            raise InputError("--show variation needs --repetition ATTRIBUTE, and --repetition needs --show variation")
        return self

    def find_subjects(self, connection: Connection, task: TaskRow, request: Request,  # noqa: ARG002
                      choice: Choice) -> Iterator[RankedSubject]:
        test_sets = catalog.test_sets(connection, task.task_id)
        if choice.test_set is not None and choice.test_set not in (names := [test_set.name for test_set in test_sets]):
            raise UnknownNameError(f"test set of {task.slug}", choice.test_set, names)
        for test_set in test_sets:
            if choice.test_set in (None, test_set.name):
                loaded = load(connection, task, test_set, self.systems, self.seed)
                repetition = None if self.repetition is None else loaded.load_repetition(connection, self.repetition)
                n = len(loaded.ranked.right)
                if repetition is None and self.grid[0] > n:
                    raise InputError(f"{loaded.name} has only {n} candidates; set smaller sizes by --grid")
                yield RankedSubject(self, task, loaded, repetition)

    def run(self, case: RankedSubject) -> Finding:
        identity, submissions = case.row_identity, case.test_set.submissions
        if case.repetition is not None:
            variations = measure_variations(case.test_set.ranked, case.repetition, average=self.accept,
                                            confidence=self.confidence)
            return Finding({"variation": [
                identity | {"submission": submission, "attribute": self.repetition} | asdict(variation)
                for variation, submission in zip(variations, submissions, strict=True)]}, [],
                [*_warn_of_coarse(variations)])
        right = case.test_set.ranked.right
        grid = np.array([size for size in self.grid if size <= len(right)], dtype=np.int64)
        lists = evaluate(case.test_set.ranked, grid, ties=self.ties, confidence=self.confidence, alpha=self.alpha)
        submission = dict(zip(case.test_set.ranked.systems, submissions, strict=True))
        pairs = [identity | {"system_a": contest.system_a, "system_b": contest.system_b,
                          "submission_a": submission[contest.system_a], "submission_b": submission[contest.system_b]}
                 for contest in lists.contests]
        return Finding({
            "pairs": [pair | _summarize_contest(contest) for pair, contest in zip(pairs, lists.contests, strict=True)],
            "tests": [pair | row | {"test": "fisher", "rule": "point"}
                      for pair, contest in zip(pairs, lists.contests, strict=True)
                      for row in _make_rows(contest, _TEST_KEYS)],
            "curves": [identity | row for row in _make_curve_rows(lists, submissions)],
            "candidates": [{"candidates": len(right), "right": int(right.sum()), "baseline": lists.baseline}],
        }, [], [*case.test_set.warnings, *_warn_of_unequal_sizes(lists)])

    def choose_figure(self, finding: Finding) -> str:
        systems = {row["submission"] for row in finding.tables.get("curves", [])}
        return "significance" if len(systems) == 2 else "precision"

    def select_warnings(self, finding: Finding, shown: str | None) -> list[Message]:
        has_no_pair = shown != "curves" and not finding.tables.get("pairs", [True])
        return [*finding.warnings, *([Message("one-list")] if has_no_pair else [])]


@dataclass(frozen=True, eq=False)
class RankedSubject:
    """A test set whose n-best lists are studied.

    Attributes:
        study: Study with its options.
        task: Row of the task.
        test_set: Candidate answers of the test set, with their scores.
        repetition: Number of the repetition of each candidate; None if the study does not use repetitions.
    """

    study: NBest
    task: TaskRow
    test_set: RankedTestSet
    repetition: Ints | None

    @property
    def name(self) -> str:
        """Name of the test set, as `task/test_set`."""
        return self.test_set.name

    @property
    def row_identity(self) -> Row:
        """Columns that identify the rows of a table: the task and the test set."""
        task, _, name = self.name.partition("/")
        return {"task": task, "test_set": name}

    @property
    def identity(self) -> Mapping[str, Any]:
        """All data on which the result depends; arrays are replaced by digests."""
        ranked = self.test_set.ranked
        arrays = [ranked.right, ranked.scores, ranked.order, self.test_set.items - self.test_set.items.min()]
        return {"test_set": self.name, "task_version": self.task.version, "gold": self.test_set.gold.digest,
                "submissions": list(self.test_set.submissions), "candidates": [digest_array(array) for array in arrays],
                "repetition": None if self.repetition is None else digest_array(self.repetition)}

    def load(self, connection: Connection, parts: Parts) -> RankedSubject:  # noqa: ARG002
        """Return this object, because its data are already loaded."""
        return self

    def signature(self, case: RankedSubject, identity: str) -> StudySignature:  # noqa: ARG002
        """Return the line that identifies a result: its study, test set, gold and seed."""
        gold = salt_digest(self.test_set.gold.digest, self.task.salt)
        return StudySignature(
            study=repr(self.study), metric="precision", task=self.task.slug, task_version=self.task.version,
            test_sets=(self.row_identity["test_set"],), track=None, facet=None, n_items=len(self.test_set.ranked.right),
            n_systems=len(self.test_set.submissions), golds=(short(gold),), seed=self.study.seed,
            identity=short(identity))


def _summarize_contest(contest: Contest) -> Row:
    favours = " and ".join(name for side, name in ((1, contest.system_a), (-1, contest.system_b))
                           if side in contest.favours[contest.significant])
    return {"differs_up_to": contest.differs_up_to, "significant": int(contest.significant.sum()),
            "cut_offs": len(contest.n), "significant_at": format_significant(contest), "favours": favours}


def _make_curve_rows(lists: Evaluation, submissions: tuple[str, ...]) -> Iterator[Row]:
    for curve, submission in zip(lists.curves, submissions, strict=True):
        for row in _make_rows(curve, _CURVE_KEYS):
            yield {"system": curve.system, "submission": submission} | row | {"baseline": lists.baseline}


def _make_rows(arrays: Contest | Curve, keys: Sequence[str]) -> Iterator[Row]:
    for values in zip(*(getattr(arrays, key).tolist() for key in keys), strict=True):
        yield dict(zip(keys, values, strict=True))


def format_significant(contest: Contest) -> str:
    """List the cut-offs at which two systems differ significantly.

    Consecutive cut-offs are joined: `100, 300 to 500`.
    """
    ranges = []
    for significant, group in groupby(zip(contest.significant.tolist(), contest.n.tolist(), strict=True),
                                      key=lambda entry: entry[0]):
        if significant:
            cut_offs = [n for _, n in group]
            ranges.append(str(cut_offs[0]) if len(cut_offs) == 1 else f"{cut_offs[0]} to {cut_offs[-1]}")
    return ", ".join(ranges)


def _warn_of_coarse(variations: Sequence[Variation]) -> Iterator[Message]:
    """Warn if precisions have too few possible values for a test of normality.

    A precision is a share of a number of candidates, so its distribution function has steps. With many repetitions, a
    Kolmogorov-Smirnov test would reject normality only because of these steps.
    """
    # A step is up to 0.4 / s high, if s is the binomial standard deviation of the number of correct candidates. The
    # normal distribution function, which is smooth, differs by half a step. The test allows only 1.36 /
    # sqrt(repetitions) at 5 %.
    systems = [variation.system for variation in variations
               if variation.repetitions > (_MAX_REPETITIONS_PER_VARIANCE * variation.accepted * variation.precision
                                           * (1 - variation.precision))]
    if systems:
        yield Message("coarse-precisions", {"systems": ", ".join(systems)})


def _warn_of_unequal_sizes(lists: Evaluation) -> Iterator[Message]:
    """Warn if systems accept different numbers of candidates at the same cut-off.

    The reason is in Evert 2004, footnote 13.
    """
    sizes = [(int(n), [int(curve.accepted[k]) for curve in lists.curves]) for k, n in enumerate(lists.curves[0].n)]
    unequal = [(max(accepted) / max(min(accepted), 1), n, accepted) for n, accepted in sizes if len(set(accepted)) > 1]
    if unequal:
        _, n, accepted = max(unequal)
        largest, smallest = (lists.curves[accepted.index(size)].system for size in (max(accepted), min(accepted)))
        yield Message("unequal-lists", {"cut_offs": len(unequal), "of_cut_offs": len(sizes), "n": n, "larger": largest,
                                        "accepts": max(accepted), "smaller": smallest, "fewer": min(accepted)})
