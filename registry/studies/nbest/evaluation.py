"""The evaluation of n-best lists as a study (Evert 2004): curves, tests of all pairs, variation over repetitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, ClassVar, Literal

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Ints
from registry.errors import InputError, UnknownNameError
from registry.evaluation.comparing.settings import Request
from registry.identity import digest_array, salt_digest, short
from registry.messages import Message
from registry.provenance import StudySignature
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.studies.nbest.load import RankedTestSet, load
from registry.studies.nbest.precision import Contest, Curve, Evaluation, evaluate
from registry.studies.nbest.variation import Variation, variations
from registry.studies.sizes import rising_sizes
from registry.studies.study import Choice, Finding, Parts, Row, Study, option

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
    computes: ClassVar = False
    figures: ClassVar = ("precision", "recall", "intervals", "significance")
    least: ClassVar = 1
    systems: tuple[str, ...] = option((), "Only this one, system or team/system; may be given several times.",
                                      name="system", metavar="NAME")
    grid: tuple[int, ...] = option(tuple(range(100, 2001, 50)), "The sizes of the n-best lists; or a list as "
                                   "100,500,1000.", metavar="FIRST:LAST:STEP", read=rising_sizes,
                                   written="100:2000:50")
    ties: Literal["random", "include", "exclude"] = option(
        "random", "Accept random ones of those tied at a cut-off, or all, or none.")
    seed: int = option(0, "Of the random order of those tied.")
    alpha: float = option(0.05, "Of every single test.", least=0, most=1)
    confidence: float = option(0.95, "Of the intervals.", least=0, most=1)
    repetition: str | None = option(None, "The attribute of candidates that tells the repetitions of the experiment "
                                    "apart.", metavar="ATTRIBUTE")
    accept: int = option(100, "Candidates accepted per repetition, on average.", least=1)

    def meant(self, task: str | None, shown: str | None) -> NBest:  # noqa: ARG002
        """The same; variation is over repetitions."""
        if (shown == "variation") != (self.repetition is not None):
            raise InputError("--show variation and --repetition go together: what tells the repetitions apart?")
        return self

    def subjects(self, connection: Connection, task: TaskRow, request: Request,  # noqa: ARG002
                 choice: Choice) -> Iterator[RankedSubject]:
        """The test sets that are meant, with their candidates."""
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
        """Evaluate all lists, or their variation over the repetitions."""
        place, submissions = case.place, case.test_set.submissions
        if case.repetition is not None:
            found = variations(case.test_set.ranked, case.repetition, average=self.accept, confidence=self.confidence)
            return Finding({"variation": [
                place | {"submission": submission, "attribute": self.repetition} | asdict(variation)
                for variation, submission in zip(found, submissions, strict=True)]}, [], [*_coarse(found)])
        right = case.test_set.ranked.right
        within = np.array([size for size in self.grid if size <= len(right)], dtype=np.int64)
        lists = evaluate(case.test_set.ranked, within, ties=self.ties, confidence=self.confidence, alpha=self.alpha)
        of = dict(zip(case.test_set.ranked.systems, submissions, strict=True))
        pairs = [place | {"system_a": contest.system_a, "system_b": contest.system_b,
                          "submission_a": of[contest.system_a], "submission_b": of[contest.system_b]}
                 for contest in lists.contests]
        return Finding({
            "pairs": [pair | _summary(contest) for pair, contest in zip(pairs, lists.contests, strict=True)],
            "tests": [pair | row | {"test": "fisher", "rule": "point"}
                      for pair, contest in zip(pairs, lists.contests, strict=True)
                      for row in _rows(contest, _OF_TEST)],
            "curves": [place | row for row in _curves(lists, submissions)],
            "candidates": [{"candidates": len(right), "right": int(right.sum()), "baseline": lists.baseline}],
        }, [], [*case.test_set.warnings, *_unequal_sizes(lists)])

    def figure(self, finding: Finding) -> str:
        """The significance of two systems, else the precision of all."""
        systems = {row["submission"] for row in finding.tables.get("curves", [])}
        return "significance" if len(systems) == 2 else "precision"

    def remarks(self, finding: Finding, shown: str | None) -> list[Message]:
        """What was found, and that one system makes no pair."""
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


def _summary(contest: Contest) -> Row:
    """The cut-offs at which a pair differs, and that up to which it does throughout."""
    favours = " and ".join(name for side, name in ((1, contest.system_a), (-1, contest.system_b))
                           if side in contest.favours[contest.significant])
    return {"differs_up_to": contest.differs_up_to, "significant": int(contest.significant.sum()),
            "cut_offs": len(contest.n), "significant_at": significant_at(contest), "favours": favours}


def _curves(lists: Evaluation, submissions: tuple[str, ...]) -> Iterator[Row]:
    """The precision of every system at every cut-off with its interval, and recall."""
    for curve, submission in zip(lists.curves, submissions, strict=True):
        for row in _rows(curve, _OF_LIST):
            yield {"system": curve.system, "submission": submission} | row | {"baseline": lists.baseline}


def _rows(of: Contest | Curve, keys: Sequence[str]) -> Iterator[Row]:
    """What these arrays say at every cut-off."""
    for values in zip(*(getattr(of, key).tolist() for key in keys), strict=True):
        yield dict(zip(keys, values, strict=True))


def significant_at(contest: Contest) -> str:
    """The cut-offs at which a pair differs, those that follow each other on the grid as `first to last`."""
    at, runs = list(enumerate(contest.n.tolist())), []
    for significant, group in groupby(at, key=lambda entry: bool(contest.significant[entry[0]])):
        if significant:
            found = [n for _, n in group]
            runs.append(str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}")
    return ", ".join(runs)


def _coarse(found: Sequence[Variation]) -> Iterator[Message]:
    """Warn where precisions go by such large steps that Kolmogorov's test sees that they are not normal.

    The distribution function then jumps by up to 0.4 / s at once, with s the binomial deviation of the number of right
    ones, and is off by half of that; at 5 % the test allows 1.36 / sqrt(repetitions).
    """
    told = [of.system for of in found if of.repetitions > _FINE * of.accepted * of.precision * (1 - of.precision)]
    if told:
        yield Message("coarse-precisions", {"systems": ", ".join(told)})


def _unequal_sizes(lists: Evaluation) -> Iterator[Message]:
    """Warn where two systems' acceptance sets differ in size at one cut-off (Evert 2004, footnote 13)."""
    sizes = [(int(n), [int(curve.accepted[k]) for curve in lists.curves]) for k, n in enumerate(lists.curves[0].n)]
    unequal = [(max(of) / max(min(of), 1), n, of) for n, of in sizes if len(set(of)) > 1]
    if unequal:
        _, n, of = max(unequal)
        largest, smallest = (lists.curves[of.index(size)].system for size in (max(of), min(of)))
        yield Message("unequal-lists", {"cut_offs": len(unequal), "of_cut_offs": len(sizes), "n": n, "larger": largest,
                                        "accepts": max(of), "smaller": smallest, "fewer": min(of)})
