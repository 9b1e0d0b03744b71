"""Statements about a comparison: sentences about what it supports, and messages about what limits that."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, text

from registry.arrays import Flags, Ints
from registry.boards.leaderboard import Comparison, Decisions, Ranks
from registry.errors import counted, listed
from registry.evaluation.comparing.directions import OBSERVED
from registry.manifest.fields import is_in_family
from registry.messages import BOARD_CODES, Message, Messages, on_board
from registry.rendering.table import format_p_value
from registry.significance import CORRECTIONS, TESTS, Crossed, Permutation, PredictionPowered
from registry.significance.multiple import (
    count_required_draws,
    count_required_units,
    explain_too_few_runs,
    explain_too_few_units,
)
from registry.values import parse

_NAMED = 5  # baselines in a sentence
_OTHERS = " All other pairs are tested two-sided."


def takes_observed(of: Comparison) -> bool:
    """Return whether the tests take their direction from the data."""
    return of.alternative == OBSERVED


def describe_direction(of: Comparison, request: str, rows: Sequence[Mapping[str, Any]],
                       names: Sequence[str]) -> str:
    """Say which pairs are tested one-sided and why; empty if all are tested two-sided.

    Args:
        of: The comparison.
        request: What was asked of it, as JSON.
        rows: The systems, with `team`, `system` and `kind`.
        names: What people call the systems.
    """
    if takes_observed(of):
        return (f"Each test takes its direction from the data, so its error rate is up to twice {of.alpha:g} "
                "(8.7 % measured at 5 %).")
    if of.alternative == "two-sided":
        return ""
    candidate = json.loads(request)["significance"].get("candidate")
    if candidate is not None:
        name = next(name for row, name in zip(rows, names, strict=True)
                    if candidate in (row["system"], f"{row['team']}/{row['system']}"))
        return (f"Pairs with the candidate {name!r} are tested one-sided: is it better than the other system?"
                + (_OTHERS if len(rows) > 2 else ""))
    baselines = [repr(name) for row, name in zip(rows, names, strict=True) if row["kind"] == "baseline"]
    which = f"the baseline {baselines[0]}" if len(baselines) == 1 else f"a baseline ({listed(baselines, _NAMED)})"
    is_all = len(baselines) * (len(rows) - len(baselines)) == math.comb(len(rows), 2)
    return f"Pairs with {which} are tested one-sided: is the other system better?" + ("" if is_all else _OTHERS)


_NAMED_BOARDS = 4  # boards in a sentence


@dataclass(frozen=True)
class StoredFamily:
    """The family of a board, among the boards of its task.

    Attributes:
        boards: The names of its boards without the task's; none where the board is a family of its own.
        absent: Names that the family declares, and that no board has.
        alone: How many boards of the task are families of their own.
        of_task: How many boards the task has.
    """

    boards: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    alone: int = 1
    of_task: int = 1

    def share(self, board: str, pairs: int, family_size: int) -> float:
        """What all boards of the same systems and items as this one have of the family's pairs.

        >>> StoredFamily(("dev, f1", "dev, acc", "test, f1")).share("dev, f1", 3, 15)
        0.4

        Args:
            board: Its name without the task's.
            pairs: How many it has.
            family_size: How many all boards of the family have.
        """
        alike = sum(_items(name) == _items(board) for name in self.boards)
        return alike * pairs / family_size if alike else 1.0


def _items(board: str) -> str:
    """What stands before the metric in a board's name."""
    return board.rpartition(", ")[0]


def families_of(requests: Mapping[int, str]) -> dict[int, StoredFamily]:
    """The families of all boards of a task, from what was asked of each, by the number of the comparison."""
    found = {number: json.loads(request).get("family", {}) for number, request in requests.items()}
    alone = sum(not family.get("boards") for family in found.values())
    return {number: StoredFamily(tuple(family.get("boards", ())), tuple(family.get("absent", ())), alone, len(found))
            for number, family in found.items()}


def family_sentences(family: StoredFamily, correction: str, alpha: float, pairs: int) -> tuple[str | Message, ...]:
    """Say over what the error rate of a board holds; nothing where the task has no other board.

    Args:
        family: The board's.
        correction: Its name.
        alpha: The error rate.
        pairs: How many the family has.

    >>> family_sentences(StoredFamily(("dev, f1", "dev, acc"), alone=1, of_task=3), "holm", 0.05, 6)[0]
    'The family-wise error of 0.05 holds over the 6 pairs of 2 boards (dev, f1; dev, acc); 1 board has one of its own.'
    """
    rate = CORRECTIONS[correction].controls
    if rate == "nothing" or (family.of_task == 1 and not family.absent):
        return ()
    over, n = f"The {rate} of {alpha:g} holds over the {counted(pairs, 'pair')}", len(family.boards)
    own = f"; {counted(family.alone, 'board has one of its', 'boards have one of their')} own"
    if not family.boards:
        each = f"; each of the {family.of_task} boards of the task has one of its own"
        return (f"{over} of this board{each if family.alone == family.of_task else own}.",)
    boards = listed(family.boards, _NAMED_BOARDS, "; ")
    said = f"{over} of {counted(n, 'board')} ({boards}){own if family.alone else ''}."
    missing = (Message("incomplete-family", {"boards": list(family.absent)}),)
    return (said, *(missing if family.absent else ()))


def unfinished(connection: Connection, task: str | None,
               changed: Collection[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The test sets, with their tasks, of boards whose family has changed: other boards of it, or is to have more.

    Args:
        connection: To the store.
        task: A task's id; None: all tasks.
        changed: The test sets whose submissions or gold have changed, with their tasks.
    """
    rows = connection.execute(text("""
        SELECT l.task, l.test_set, l.metric, concat_ws(', ', l.test_set, l.track, l.facet, l.metric) AS board, c.request
        FROM latest_comparison AS l JOIN comparison AS c USING (comparison_id)
        WHERE c.request LIKE '%"family"%' AND (:task IS NULL OR l.task = :task) ORDER BY ALL"""), {"task": task}).all()
    there = connection.execute(text("""
        SELECT DISTINCT r.task, r.test_set, alias AS metric, concat_ws(', ', r.test_set, r.track, alias) AS board
        FROM ranked_submission AS r JOIN task ON task.slug = r.task JOIN task_metric USING (task_id)
        WHERE task_metric.is_declared AND (:task IS NULL OR r.task = :task)"""), {"task": task}).all() if rows else ()
    for row in rows:
        asked = json.loads(row.request)
        declared = asked["significance"]["family"]
        if is_in_family(declared, row.task, row.board, row.metric):
            compared = asked.get("family", {}).get("boards", [row.board])
            others = [of for of in there
                      if of.task == row.task and is_in_family(declared, of.task, of.board, of.metric)]
            if any(of.board not in compared or (of.task, of.test_set) in changed for of in others):
                yield row.task, row.test_set


_GROUPS, _PLACES = 4, 12  # that one sentence names
_OF_RANKS: dict[Ranks, tuple[str, ...]] = {  # what conventions of ranks say, beside the decisions
    "range": (), "cluster": (),
    "neighbour": ("Ranges of neighbours end at the nearest systems that differ significantly, whether or not those "
                  "beyond do.",),
    "simultaneous": ("Simultaneous ranks and their clusters rest on a test of their own, of all differences at once: "
                     "it can leave open what the p-value of a pair decides, and decide what that leaves open.",),
    "bootstrap": ("Resampled ranks and their clusters say what resamples mostly give, and test nothing: they can part "
                  "systems that are not separable.",)}


def statements(of: Comparison, runs: Sequence[int], pairs: Decisions, share: float = 1.0,
               ranks: Ranks = "range", request: str = "{}") -> tuple[str | Message, ...]:
    """Return what a comparison supports, as sentences, and what limits that, as messages.

    Args:
        of: The comparison.
        runs: How many each system has.
        pairs: What was decided.
        share: Of alpha, what boards of the same items have of their family's where joint draws are adjusted.
        ranks: The convention of the ranks that people see.
        request: The recorded request of the comparison as JSON, with the codes that chance explains.
    """
    if of.n_systems == 1:
        return (Message("one-system"),)
    said: list[str | Message] = [_counted(of, int(pairs.significant.sum()), ranks), *_OF_RANKS[ranks]]
    if of.unit != "cluster" and of.cluster is not None:
        said.append(Message("clustered-units", {"unit": of.unit, "attribute": of.cluster}))
    if of.family_size > 1 and (condition := CORRECTIONS[of.correction].holds_if):
        said.append(condition)
    if of.overall is not None and of.degrees is not None:
        said.append(f"All systems at once: {of.overall} {of.statistic:.2f} with "
                    f"{counted(of.degrees, 'degree')} of freedom, p = {format_p_value(of.p_value)}.")
    if unresolved := int((pairs.numbers("resolved") == 0).sum()):
        said.append(Message("unresolved-decisions", {"n": unresolved}))
    said += _of_pairs(pairs, json.loads(request).get("chance_codes", ()))
    if isinstance(parse("test", TESTS, of.test), PredictionPowered):
        said.append(Message("own-slopes"))
    return (*said, *_of_runs(of, runs), *(_infeasible(of, runs) or _few_resamples(of, pairs, share)))


def _of_pairs(pairs: Decisions, chance_codes: Collection[str]) -> Iterator[Message]:
    """Return the messages of pairs that are about the board, each with the number of its pairs."""
    different, numbers = _different_messages(pairs)
    is_purged = _are_purged(pairs)
    is_undefined = np.isnan(pairs.numbers("p_value")) & ~is_purged
    if n_undefined := int(is_undefined.sum()):
        reasons = {different[n] for n in np.unique(numbers[is_undefined]).tolist()}
        reason = str(reasons.pop()) if len(reasons) == 1 else None
        yield Message("undefined-p-values", {"n": n_undefined, "reason": reason})
    n_purged = int(is_purged.sum())
    counts: Counter[str] = Counter()
    examples: dict[str, Message] = {}
    for messages, n in zip(different, np.bincount(numbers, minlength=len(different)).tolist(), strict=True):
        for message in messages:
            counts[message.code] += n
            examples[message.code] = message
    for code in BOARD_CODES:
        if code in counts and code not in chance_codes:
            found = on_board(examples[code], counts[code], len(pairs) - n_purged)
            yield found.with_parameters(without_purged=True) if n_purged else found


def _different_messages(pairs: Decisions) -> tuple[list[Messages], Ints]:
    """Return the different messages of pairs, and the place of each pair's messages among them, [pairs]."""
    column = pairs.columns["messages"]
    ids = np.fromiter(map(id, column), dtype=np.int64, count=len(column))  # equal ones are one object, or few
    _, first, numbers = np.unique(ids, return_index=True, return_inverse=True)
    return [column[n] for n in first.tolist()], numbers


def _are_purged(pairs: Decisions) -> Flags:
    """Return the pairs of which a team was purged: they had p-values, [pairs]."""
    different, numbers = _different_messages(pairs)
    return np.array(["purged-team" in messages.codes for messages in different], dtype=bool)[numbers]


def _of_runs(of: Comparison, runs: Sequence[int]) -> Sequence[Message]:
    """Return for which runs and items conclusions hold if systems have several runs."""
    if max(runs) == 1:
        return ()
    test = parse("test", TESTS, of.test)
    if of.runs == "fixed" or (isinstance(test, Crossed) and test.over == "items"):
        return (Message("these-runs"),)
    if isinstance(test, Permutation) or (isinstance(test, Crossed) and test.over == "runs"):
        return (Message("these-items"),)
    if isinstance(test, Crossed) and test.over != "all":
        return (Message("other-levels", {"levels": test.over}),)
    return ()


def _counted(of: Comparison, won: int, ranks: Ranks) -> str:
    """How many differences are significant, by what."""
    correction = CORRECTIONS[of.correction]
    corrected = "uncorrected" if of.correction == "none" else f"after {correction.title}"
    level = "a false discovery rate of " if correction.controls == "false discovery rate" else ""
    which = {"range": "; rank ranges are descriptive", "cluster": "; clusters are descriptive"}.get(ranks, "")
    sure = "" if correction.controls == "family-wise error" and not takes_observed(of) else which
    units = tested_over(of, counted(of.n_units, of.unit))
    return (f"{are_significant(won, math.comb(of.n_systems, 2))} at {level}{of.alpha:g} {corrected} ({of.test} "
            f"over {units}{_sided(of)}){sure}.")


def tested_over(of: Comparison, units: str) -> str:
    """What a comparison takes for a sample: these units, the runs of systems, or both."""
    if of.runs == "fixed":
        return units
    test = parse("test", TESTS, of.test)
    over = test.over if isinstance(test, Crossed) else "runs" if isinstance(test, Permutation) else "all"
    return {"all": f"{units} and runs", "items": units, "runs": "whole runs"}.get(over, over)


def are_significant(won: int, differences: int) -> str:
    """Say how many differences are significant.

    >>> [are_significant(won, 1) for won in (0, 1)]
    ['The one difference is not significant', 'The one difference is significant']
    >>> [are_significant(won, 6) for won in (0, 1)]
    ['None of 6 differences is significant', '1 of 6 differences is significant']
    >>> [are_significant(won, 6) for won in (5, 6)]
    ['5 of 6 differences are significant', 'All 6 differences are significant']
    """
    if differences == 1:
        return f"The one difference is {'' if won else 'not '}significant"
    if won == differences:
        return f"All {won} differences are significant"
    return f"{won or 'None'} of {differences} differences {'is' if won < 2 else 'are'} significant"


def _sided(of: Comparison) -> str:
    if takes_observed(of):
        return ", one-sided in the observed direction"
    return "" if of.alternative == "two-sided" else ", one-sided where declared"


def _infeasible(of: Comparison, runs: Sequence[int]) -> Sequence[Message]:
    """Warn if no difference can be significant, because so few units or runs allow no p-value small enough."""
    if not parse("test", TESTS, of.test).swaps_units:
        return ()
    own = math.comb(of.n_systems, 2)  # of the family's other boards, all significant at best
    pairs = of.family_size if of.correction == "bonferroni" else own
    if of.runs != "random":
        needed = count_required_units(pairs, of.correction, of.alpha, two_sided=not _sided(of))
        return () if of.n_units >= needed else (
            explain_too_few_units(of.n_units, needed, of.unit, two_sided=not _sided(of)),)
    warning = explain_too_few_runs(runs, pairs, of.correction, of.alpha, two_sided=not _sided(of))
    return () if warning is None else (warning,)


def _few_resamples(of: Comparison, pairs: Decisions, share: float) -> Sequence[Message]:
    """Warn if no simulated difference can be significant, because corrected p-values of so few resamples are large."""
    p = pairs.numbers("p_value")
    by_pair = CORRECTIONS[of.correction].function is not None  # else all rest on joint resamples
    known = ~np.isnan(p) | _are_purged(pairs)
    drawn = ((pairs.columns["method"] == "monte-carlo") | (not by_pair)) & known
    if not drawn.any():
        return ()
    draws = int(np.nan_to_num(pairs.numbers("resamples")[drawn], nan=of.resamples).max())
    others = np.zeros(of.family_size - len(p))  # of other boards, all significant at best
    needed = count_required_draws(np.append(np.where(drawn, np.nan, np.where(np.isnan(p), 1.0, p)), others),
                                  of.correction, of.alpha * (1.0 if by_pair else share))
    return (Message("too-few-resamples", {"simulated": int(drawn.sum()), "differences": len(p), "resamples": draws,
                                          "needed": needed}),) if needed > draws else ()


def separable(names: Sequence[str], ranks: Sequence[int], differ: Flags,
              groups: Sequence[Sequence[int]], settings: Comparison) -> str:
    """Say which systems are told apart and which are not: all that the letters say, or how many pairs there are.

    Args:
        names: Of the ranked systems, best first; at least two.
        ranks: As the board shows them: 1, 2, 2, 4.
        differ: Which of them are told apart, [systems, systems], symmetric.
        groups: The largest groups of systems of which no two are told apart, by place from 0; none where they are too
            many (`registry.significance.ranks.find_groups`).
        settings: Of the comparison.
    """
    corrected = "" if settings.correction == "none" else f" after {CORRECTIONS[settings.correction].title}"
    over = f"at {100 * settings.alpha:g} %{corrected} over {counted(settings.family_size, 'pair')}"
    n = len(names)
    pairs, apart = math.comb(n, 2), int(differ.sum()) // 2
    ranked = "" if n == settings.n_systems else "ranked "  # others are in the family too
    if n == 2:
        return f"{names[0]} is {'better than' if apart else 'not separable from'} {names[1]} {over}."
    if apart in (0, pairs):
        return f"{'Every' if apart else 'No'} two of the {n} {ranked}systems are separable {over}."
    best = f"{names[0]} is better than every other {ranked}system" if differ[0, 1:].all() else ""
    if told := _groups(names, ranks, groups):
        return f"{best} {over}. Not separable from each other: {told}." if best else (
            f"Not separable from each other {over}: {told}.")
    best = best or f"{names[0]} is better than {differ[0].sum()} of {n - 1} other {ranked}systems"
    return (f"{best}, and {pairs - apart} of {pairs} pairs of {ranked}systems are not separable {over}: "
            "registry pairs shows which.")


def _groups(names: Sequence[str], ranks: Sequence[int], groups: Sequence[Sequence[int]]) -> str:
    """The groups of several systems by their ranks; nothing where that is too much for a sentence."""
    several = [group for group in groups if len(group) > 1]
    told = [_places(names, ranks, group) for group in several[:_GROUPS]]
    if len(several) > _GROUPS or sum(map(len, told)) > _PLACES:
        return ""
    return "; ".join(f"rank{'' if len(of) == 1 and ' to ' not in of[0] else 's'} {_listed(of)}" for of in told)


def _places(names: Sequence[str], ranks: Sequence[int], group: Sequence[int]) -> list[str]:
    """The ranks of a group, stretches of them as one; systems of equal rank are named where that leaves them open."""
    known = sorted(set(ranks))
    members = [[n for n in group if ranks[n] == rank] for rank in known]
    several = sum(map(bool, members)) > 1
    found: list[str] = []
    stretch: list[int] = []
    for rank, of_rank in zip(known, members, strict=True):
        if several and len(of_rank) == ranks.count(rank):
            stretch.append(rank)
            continue
        found += _stretch(stretch)
        found += [f"{rank} ({_listed([names[n] for n in of_rank])})"] if of_rank else []
        stretch = []
    return found + _stretch(stretch)


def _stretch(ranks: Sequence[int]) -> list[str]:
    return [f"{ranks[0]} to {ranks[-1]}"] if len(ranks) > 2 else list(map(str, ranks))


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
