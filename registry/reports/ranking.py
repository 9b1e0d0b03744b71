"""Tables of ranking studies: who differs from whom up to where, every test, every curve, and variation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from registry.rendering.table import Column, Table, number, p_value
from registry.rendering.table import text as plain
from registry.studies.nbest.load import RankedTestSet
from registry.studies.nbest.precision import Contest, RankingStudy
from registry.studies.nbest.variation import Variation

Row = dict[str, Any]


def pairs_table(test_set: RankedTestSet, study: RankingStudy, captions: Sequence[str]) -> Table:
    """One row for every pair: the cut-offs at which it differs, and that up to which it does throughout."""
    rows = [_pair(test_set, contest) | {
        "differs_up_to": contest.differs_up_to, "significant": int(contest.significant.sum()),
        "cut_offs": len(contest.n), "significant_at": significant_at(contest),
        "favours": _favoured(contest)} for contest in study.contests]
    columns = (
        Column("system_a", "system A"), Column("system_b", "system B"),
        Column("differs_up_to", "differ up to n", plain, right=True),
        Column("significant", "significant", plain, right=True), Column("cut_offs", "of", plain, right=True),
        Column("significant_at", "at n"), Column("favours", "for"))
    keys = ("task", "test_set", "system_a", "system_b", "submission_a", "submission_b", "differs_up_to", "significant",
            "cut_offs", "significant_at", "favours")
    return Table(rows, columns, _title(test_set, study), captions, keys)


def tests_table(test_set: RankedTestSet, study: RankingStudy, captions: Sequence[str]) -> Table:
    """One row for every pair and cut-off: the difference regions and Fisher's test."""
    rows = [
        _pair(test_set, contest) | {
            "n": n, "only_a": only_a, "right_a": right_a, "only_b": only_b, "right_b": right_b, "p_value": p,
            "log10_p": log10_p, "significant": significant, "test": "fisher", "rule": "point"}
        for contest in study.contests
        for n, only_a, right_a, only_b, right_b, p, log10_p, significant in zip(*(column.tolist() for column in (
            contest.n, contest.only_a, contest.right_a, contest.only_b, contest.right_b, contest.p_value,
            contest.log10_p, contest.significant)), strict=True)]
    columns = (
        Column("system_a", "system A"), Column("system_b", "system B"), Column("n", "n", plain, right=True),
        Column("only_a", "only A", plain, right=True), Column("right_a", "right", plain, right=True),
        Column("only_b", "only B", plain, right=True), Column("right_b", "right", plain, right=True),
        Column("p_value", "p", p_value, right=True),
        Column("significant", "significant", lambda yes: "yes" if yes else ""))
    keys = ("task", "test_set", "system_a", "system_b", "submission_a", "submission_b", "n", "only_a", "right_a",
            "only_b", "right_b", "p_value", "log10_p", "significant", "test", "rule")
    return Table(rows, columns, _title(test_set, study), captions, keys)


def curves_table(test_set: RankedTestSet, study: RankingStudy, captions: Sequence[str]) -> Table:
    """One row for every system and cut-off: precision with its interval, and recall."""
    rows = [
        _place(test_set) | {
            "system": curve.system, "submission": submission, "n": n, "accepted": accepted, "right": right,
            "precision": precision, "ci_low": low, "ci_high": high, "recall": recall, "baseline": study.baseline}
        for curve, submission in zip(study.curves, test_set.submissions, strict=True)
        for n, accepted, right, precision, low, high, recall in zip(*(column.tolist() for column in (
            curve.n, curve.accepted, curve.right, curve.precision, curve.low, curve.high, curve.recall)), strict=True)]
    columns = (
        Column("system", "system"), Column("n", "n", plain, right=True),
        Column("accepted", "accepted", plain, right=True), Column("right", "right", plain, right=True),
        *(Column(key, heading, number(4), right=True) for key, heading in (
            ("precision", "precision"), ("ci_low", "from"), ("ci_high", "to"), ("recall", "recall"))))
    keys = ("task", "test_set", "system", "submission", "n", "accepted", "right", "precision", "ci_low", "ci_high",
            "recall", "baseline")
    return Table(rows, columns, _title(test_set, study), captions, keys)


def variation_table(test_set: RankedTestSet, attribute: str, variations: Sequence[Variation],
                    captions: Sequence[str]) -> Table:
    """One row for every system: its precision over repetitions, beside what the binomial model expects."""
    rows = [_place(test_set) | {"submission": submission, "attribute": attribute} | asdict(variation)
            for variation, submission in zip(variations, test_set.submissions, strict=True)]

    def column(key: str, heading: str, write: Callable[[Any], str] = plain) -> Column:
        return Column(key, heading, write, right=True)

    columns = (
        Column("system", "system"), column("repetitions", "repetitions"), column("accepted", "accepted", number(1)),
        column("precision", "precision", number(4)), column("deviation", "deviation", number(4)),
        column("expected", "expected", number(4)), column("p_variance", "p", p_value),
        column("outside", "outside"), column("p_outside", "p", p_value))
    return Table(rows, columns, f"{test_set.name}: precision over {attribute}", captions)


def significant_at(contest: Contest) -> str:
    """The cut-offs at which a pair differs, those that follow each other on the grid as `first to last`."""
    at, runs = list(enumerate(contest.n.tolist())), []
    for significant, group in groupby(at, key=lambda entry: bool(contest.significant[entry[0]])):
        if significant:
            found = [n for _, n in group]
            runs.append(str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}")
    return ", ".join(runs)


def unequal_sizes(study: RankingStudy, name: str) -> Iterator[str]:
    """Warn where two systems' acceptance sets differ in size at one cut-off (Evert 2004, footnote 13)."""
    sizes = [(int(n), [int(curve.accepted[k]) for curve in study.curves]) for k, n in enumerate(study.curves[0].n)]
    unequal = [(max(of) / max(min(of), 1), n, of) for n, of in sizes if len(set(of)) > 1]
    if unequal:
        _, n, of = max(unequal)
        largest, smallest = (study.curves[of.index(size)].system for size in (max(of), min(of)))
        yield (f"{name}: acceptance sets differ in size at {len(unequal)} of {len(sizes)} cut-offs, most at n = {n} "
               f"({largest} accepts {max(of)}, {smallest} {min(of)}); precision alone does not compare such sets "
               "fairly (Evert 2004, footnote 13)")


def _favoured(contest: Contest) -> str:
    """Whom the significant differences favour."""
    sides = {int(side) for side in contest.favours[contest.significant]}
    return " and ".join(name for side, name in ((1, contest.system_a), (-1, contest.system_b)) if side in sides)


def _title(test_set: RankedTestSet, study: RankingStudy) -> str:
    right, of = int(test_set.ranked.right.sum()), len(test_set.ranked.right)
    return f"{test_set.name}: {right} of {of} candidates are right, baseline {100 * study.baseline:.2f} %"


def _place(test_set: RankedTestSet) -> Row:
    task, _, name = test_set.name.partition("/")
    return {"task": task, "test_set": name}


def _pair(test_set: RankedTestSet, contest: Contest) -> Row:
    of = dict(zip(test_set.ranked.systems, test_set.submissions, strict=True))
    return _place(test_set) | {
        "system_a": contest.system_a, "system_b": contest.system_b, "submission_a": of[contest.system_a],
        "submission_b": of[contest.system_b]}
