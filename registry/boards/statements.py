"""Sentences about the results of a comparison, and messages about their limits."""

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

_MOST_BASELINES = 5  # names in a sentence
_MOST_BOARDS = 4
_MOST_PAIRS = 3
_OTHER_PAIRS = " All other pairs are tested two-sided."
_RANK_SENTENCES: dict[Ranks, str] = {
    "neighbour": "Ranges of neighbours end at the nearest systems that differ significantly, whether or not systems "
                 "further away do.",
    "simultaneous": "Simultaneous ranks and their clusters use their own test, of all differences together. It can "
                    "leave open what the p-value of a pair decides, and decide what that p-value leaves open.",
    "bootstrap": "Resampled ranks and their clusters show the most frequent results of resamples. They are no test, "
                 "and can separate systems that are not significantly different.",
}


def has_observed_direction(comparison: Comparison) -> bool:
    """Return True if one-sided tests were chosen in favour of the better scores.

    Such tests use the data twice: for the direction and for the p-value.
    """
    return comparison.alternative == OBSERVED


def describe_direction(comparison: Comparison, request: str, rows: Sequence[Mapping[str, Any]],
                       names: Sequence[str]) -> str:
    """Return a sentence that names the pairs that are tested one-sided, and why.

    The sentence is empty if all pairs are tested two-sided.

    Args:
        comparison: The comparison.
        request: The recorded request of the comparison as JSON.
        rows: The systems, with `team`, `system` and `kind`.
        names: The names of the systems in tables.
    """
    if has_observed_direction(comparison):
        return (f"Each test takes its direction from the data, so its error rate is up to twice {comparison.alpha:g} "
                "(8.7 % measured at 5 %).")
    if comparison.alternative == "two-sided":
        return ""
    candidate = json.loads(request)["significance"].get("candidate")
    if candidate is not None:
        name = next(name for row, name in zip(rows, names, strict=True)
                    if candidate in (row["system"], f"{row['team']}/{row['system']}"))
        return (f"Pairs with the candidate {name!r} are tested one-sided: is it better than the other system?"
                + (_OTHER_PAIRS if len(rows) > 2 else ""))
    baselines = [repr(name) for row, name in zip(rows, names, strict=True) if row["kind"] == "baseline"]
    baseline = f"the baseline {baselines[0]}" if len(baselines) == 1 else (
        f"a baseline ({listed(baselines, _MOST_BASELINES)})")
    are_all = len(baselines) * (len(rows) - len(baselines)) == math.comb(len(rows), 2)
    return (f"Pairs with {baseline} are tested one-sided: is the other system better?"
            f"{'' if are_all else _OTHER_PAIRS}")


@dataclass(frozen=True)
class StoredFamily:
    """A family: the leaderboards of a task whose p-values are corrected together.

    Attributes:
        boards: The names of the family's boards without the task; empty if the board is a family by itself.
        absent: Boards that the manifest declares as members of the family but that do not exist.
        n_single: The number of boards of the task that are families by themselves.
        n_boards: The number of boards of the task.
    """

    boards: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    n_single: int = 1
    n_boards: int = 1

    def compute_share(self, board: str, pairs: int, family_size: int) -> float:
        """Return the share of a family's pairs that are on boards with the same items.

        A family is a set of leaderboards whose p-values are corrected together. The boards of a family with the test
        set, track and facet of `board` have the same items. If `board` is a family by itself, the share is 1.

        >>> StoredFamily(("dev, f1", "dev, acc", "test, f1")).compute_share("dev, f1", 3, 15)
        0.4

        Args:
            board: The name of a board without its task.
            pairs: The number of pairs on this board.
            family_size: The number of pairs of all boards of the family.
        """
        same_items = sum(name.rpartition(", ")[0] == board.rpartition(", ")[0] for name in self.boards)
        return same_items * pairs / family_size if same_items else 1.0


def parse_families(requests: Mapping[int, str]) -> dict[int, StoredFamily]:
    """Find out which leaderboards of a task are corrected together.

    A family is a set of leaderboards whose p-values are corrected together.

    Args:
        requests: The recorded requests of the task's comparisons as JSON, by comparison id.

    Returns:
        The family of each leaderboard, by comparison id.
    """
    families = {number: json.loads(request).get("family", {}) for number, request in requests.items()}
    n_single = sum(not family.get("boards") for family in families.values())
    return {number: StoredFamily(tuple(family.get("boards", ())), tuple(family.get("absent", ())), n_single,
                                 len(families))
            for number, family in families.items()}


def describe_family(family: StoredFamily, correction: str, n_pairs: int) -> tuple[str | Message, ...]:
    """Name the pairs of systems whose p-values are corrected together, in a sentence.

    A message follows if declared boards are absent. The result is empty if the correction controls no error rate, or if
    the task has no other board.

    Args:
        family: The board's family, which is a set of leaderboards that are corrected together.
        correction: The name of the correction.
        n_pairs: The number of pairs of the family.

    >>> describe_family(StoredFamily(("dev, f1", "dev, acc"), n_single=1, n_boards=3), "holm", 6)[0]
    'P-values are corrected together for the 6 pairs of 2 boards (dev, f1; dev, acc), and separately for 1 other board.'
    """
    if CORRECTIONS[correction].controls == "nothing" or (family.n_boards == 1 and not family.absent):
        return ()
    pairs = f"the {counted(n_pairs, 'pair')}"
    if not family.boards:
        together = f", not for the {family.n_boards} boards of the task together" * (family.n_single == family.n_boards)
        return (f"P-values are corrected for {pairs} of this board alone{together}.",)
    others = f", and separately for {counted(family.n_single, 'other board')}" if family.n_single else ""
    sentence = (f"P-values are corrected together for {pairs} of {counted(len(family.boards), 'board')} "
                f"({listed(family.boards, _MOST_BOARDS, '; ')}){others}.")
    return (sentence, Message("incomplete-family", {"boards": list(family.absent)})) if family.absent else (sentence,)


def find_changed_families(connection: Connection, task: str | None,
                          changed: Collection[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the task and test set of each leaderboard whose family has changed.

    A family is a set of leaderboards whose p-values are corrected together. It has changed if one of its leaderboards
    is new, or has changed submissions or gold.

    Args:
        connection: A connection to the store.
        task: A task's id; None: all tasks.
        changed: The task and the test set of each board whose submissions or gold have changed.
    """
    rows = connection.execute(text("""
        SELECT l.task, l.test_set, l.metric, concat_ws(', ', l.test_set, l.track, l.facet, l.metric) AS board, c.request
        FROM latest_comparison AS l JOIN comparison AS c USING (comparison_id)
        WHERE c.request LIKE '%"family"%' AND (:task IS NULL OR l.task = :task) ORDER BY ALL"""), {"task": task}).all()
    boards = connection.execute(text("""
        SELECT DISTINCT r.task, r.test_set, alias AS metric, concat_ws(', ', r.test_set, r.track, alias) AS board
        FROM ranked_submission AS r JOIN task ON task.slug = r.task JOIN task_metric USING (task_id)
        WHERE task_metric.is_declared AND (:task IS NULL OR r.task = :task)"""), {"task": task}).all() if rows else ()
    for row in rows:
        request = json.loads(row.request)
        declared = request["significance"]["family"]
        if not is_in_family(declared, row.task, row.board, row.metric):
            continue
        compared = request.get("family", {}).get("boards", [row.board])
        members = [board for board in boards
                   if board.task == row.task and is_in_family(declared, board.task, board.board, board.metric)]
        if any(board.board not in compared or (board.task, board.test_set) in changed for board in members):
            yield row.task, row.test_set


def make_statements(comparison: Comparison, runs: Sequence[int], pairs: Decisions, names: Sequence[str],
                    share: float = 1.0, ranks: Ranks = "range", request: str = "{}",
                    task: str | None = None) -> tuple[str | Message, ...]:
    """Return sentences about a comparison's results, and messages about their limits.

    Args:
        comparison: The comparison.
        runs: The number of runs of each system.
        pairs: The test results.
        names: The names of the systems in tables.
        share: The share of alpha that the boards with the same items have. It only matters for corrections by joint
            resamples.
        ranks: The kind of rank ranges to show.
        request: The recorded request of the comparison as JSON. Its `chance_codes` are the codes of messages that are
            left out, because so few pairs have them that chance explains them.
        task: The id of the task, for commands; None if the task has no manifest.
    """
    if comparison.n_systems == 1:
        return (Message("one-system"),)
    n_significant = int(pairs.significant.sum())
    statements: list[str | Message] = [_describe_results(comparison, n_significant, ranks)]
    if ranks in _RANK_SENTENCES:
        statements.append(_RANK_SENTENCES[ranks])
    if comparison.unit != "cluster" and comparison.cluster is not None:
        statements.append(Message("clustered-units", {"unit": comparison.unit, "attribute": comparison.cluster}))
    if comparison.family_size > 1 and (condition := CORRECTIONS[comparison.correction].holds_if):
        statements.append(condition)
    if comparison.overall is not None and comparison.degrees is not None:
        statements.append(f"All systems together: {comparison.overall} {comparison.statistic:.2f} with "
                          f"{counted(comparison.degrees, 'degree')} of freedom, "
                          f"p = {format_p_value(comparison.p_value)}.")
    is_unresolved = pairs.numbers("resolved") == 0
    if is_unresolved.any():
        draws = 10 * max(comparison.resamples, json.loads(request).get("significance", {}).get("resolve") or 0)
        statements.append(Message("unresolved-decisions", {
            "n": int(is_unresolved.sum()), "pair_names": _name_pairs(pairs, is_unresolved, names),
            "key": "resamples" if CORRECTIONS[comparison.correction].function is None else "resolve",
            "draws": draws, "task": task}))
    statements += _summarise_pair_messages(pairs, json.loads(request).get("chance_codes", ()), names)
    if isinstance(parse("test", TESTS, comparison.test), PredictionPowered):
        statements.append(Message("own-slopes"))
    return (*statements, *_describe_runs(comparison, runs),
            *(_warn_of_few_units(comparison, runs) or _warn_of_few_resamples(comparison, pairs, share)))


def _name_pairs(pairs: Decisions, selected: Flags, names: Sequence[str]) -> list[str]:
    """Return the names of the first selected pairs, such as `a and b`."""
    places = np.flatnonzero(selected)[:_MOST_PAIRS]
    return [f"{names[a]} and {names[b]}" for a, b in zip(pairs.a[places], pairs.b[places], strict=True)]


def _summarise_pair_messages(pairs: Decisions, chance_codes: Collection[str],
                             names: Sequence[str]) -> Iterator[Message]:
    """Combine the messages about single pairs of systems to messages about the board.

    Each message has the number of pairs that it concerns, and the names of some.

    Args:
        pairs: The pairs with their messages.
        chance_codes: Codes of messages to leave out, because so few pairs have them that chance explains them.
        names: The names of the systems in tables.
    """
    different, numbers = _number_messages(pairs)
    is_purged = _find_purged_pairs(pairs)
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
            has_code = np.array([code in messages.codes for messages in different])[numbers]
            summary = on_board(examples[code], counts[code], len(pairs) - n_purged).with_parameters(
                pair_names=_name_pairs(pairs, has_code, names))
            yield summary.with_parameters(without_purged=True) if n_purged else summary


def _number_messages(pairs: Decisions) -> tuple[list[Messages], Ints]:
    """Return the distinct lists of messages about pairs of systems.

    Returns:
        The lists, and for each pair the index of its list, [pairs].
    """
    column = pairs.columns["messages"]
    ids = np.fromiter(map(id, column), dtype=np.int64, count=len(column))  # equal messages share few objects
    _, first, numbers = np.unique(ids, return_index=True, return_inverse=True)
    return [column[n] for n in first.tolist()], numbers


def _find_purged_pairs(pairs: Decisions) -> Flags:
    """Find the pairs of systems whose p-values were deleted with the data of a team.

    Returns:
        True for each such pair, [pairs].
    """
    different, numbers = _number_messages(pairs)
    return np.array(["purged-team" in messages.codes for messages in different], dtype=bool)[numbers]


def _describe_runs(comparison: Comparison, runs: Sequence[int]) -> Sequence[Message]:
    """Return a message if conclusions hold only for these runs, or these items.

    The result is empty if every system has a single run, or if conclusions extend to other runs and items.
    """
    if max(runs) == 1:
        return ()
    test = parse("test", TESTS, comparison.test)
    if comparison.runs == "fixed" or (isinstance(test, Crossed) and test.over == "items"):
        return (Message("these-runs"),)
    if isinstance(test, Permutation) or (isinstance(test, Crossed) and test.over == "runs"):
        return (Message("these-items"),)
    if isinstance(test, Crossed) and test.over != "all":
        return (Message("other-levels", {"levels": test.over}),)
    return ()


def _describe_results(comparison: Comparison, n_significant: int, ranks: Ranks) -> str:
    correction = CORRECTIONS[comparison.correction]
    level = f"at {100 * comparison.alpha:g} %"
    if correction.controls == "false discovery rate":
        level = f"at a false discovery rate of {100 * comparison.alpha:g} %"
    if comparison.family_size > 1:
        level += " without correction" if comparison.correction == "none" else f" after {correction.title}"
    sample = describe_sample(comparison, counted(comparison.n_units, comparison.unit))
    test = f"{comparison.test} over {sample}{_describe_sides(comparison)}"
    has_guarantee = correction.controls == "family-wise error" and not has_observed_direction(comparison)
    note = "" if has_guarantee else {"range": "; rank ranges are descriptive",
                                     "cluster": "; clusters are descriptive"}.get(ranks, "")
    n_differences = math.comb(comparison.n_systems, 2)
    if n_differences == 1:
        return f"Tested {level}: {test}."
    return f"{count_significant(n_significant, n_differences)} {level} ({test}){note}."


def describe_sample(comparison: Comparison, units: str) -> str:
    """Name the units that a comparison regards as a sample: items, runs, or both.

    Args:
        comparison: The comparison.
        units: The units in words, such as `clusters` or `300 items`.
    """
    if comparison.runs == "fixed":
        return units
    test = parse("test", TESTS, comparison.test)
    level = test.over if isinstance(test, Crossed) else "runs" if isinstance(test, Permutation) else "all"
    return {"all": f"{units} and runs", "items": units, "runs": "whole runs"}.get(level, level)


def count_significant(n_significant: int, n_differences: int) -> str:
    """Return the beginning of a sentence with the number of significant differences.

    >>> [count_significant(n, 1) for n in (0, 1)]
    ['The difference is not significant', 'The difference is significant']
    >>> [count_significant(n, 6) for n in (0, 1)]
    ['None of 6 differences is significant', '1 of 6 differences is significant']
    >>> [count_significant(n, 6) for n in (5, 6)]
    ['5 of 6 differences are significant', 'All 6 differences are significant']
    """
    if n_differences == 1:
        return f"The difference is {'' if n_significant else 'not '}significant"
    if n_significant == n_differences:
        return f"All {n_significant:,} differences are significant"
    verb = "is" if n_significant < 2 else "are"
    return f"{f'{n_significant:,}' if n_significant else 'None'} of {n_differences:,} differences {verb} significant"


def _describe_sides(comparison: Comparison) -> str:
    if has_observed_direction(comparison):
        return ", one-sided in the observed direction"
    return "" if comparison.alternative == "two-sided" else ", one-sided where declared"


def _warn_of_few_units(comparison: Comparison, runs: Sequence[int]) -> Sequence[Message]:
    if not parse("test", TESTS, comparison.test).is_permutation_test:
        return ()
    alpha, correction = comparison.alpha, comparison.correction
    is_two_sided = comparison.alternative == "two-sided"
    # The best case: all pairs on the family's other boards are significant.
    n_pairs = comparison.family_size if correction == "bonferroni" else math.comb(comparison.n_systems, 2)
    if comparison.runs == "random":
        warning = explain_too_few_runs(runs, n_pairs, correction, alpha, two_sided=is_two_sided)
        return () if warning is None else (warning,)
    required = count_required_units(n_pairs, correction, alpha, two_sided=is_two_sided)
    if comparison.n_units >= required:
        return ()
    return (explain_too_few_units(comparison.n_units, required, comparison.unit, two_sided=is_two_sided),)


def _warn_of_few_resamples(comparison: Comparison, pairs: Decisions, share: float) -> Sequence[Message]:
    """Warn if so few resamples were drawn that no difference can be significant."""
    p = pairs.numbers("p_value")
    corrects_p_values = CORRECTIONS[comparison.correction].function is not None  # otherwise it needs joint resamples
    is_known = ~np.isnan(p) | _find_purged_pairs(pairs)
    is_simulated = ((pairs.columns["method"] == "monte-carlo") | (not corrects_p_values)) & is_known
    if not is_simulated.any():
        return ()
    resamples = int(np.nan_to_num(pairs.numbers("resamples")[is_simulated], nan=comparison.resamples).max())
    other_boards = np.zeros(comparison.family_size - len(p))  # their pairs are significant in the best case
    best_p = np.where(is_simulated, np.nan, np.where(np.isnan(p), 1.0, p))
    required = count_required_draws(np.append(best_p, other_boards), comparison.correction,
                                    comparison.alpha * (1.0 if corrects_p_values else share))
    if required <= resamples:
        return ()
    return (Message("too-few-resamples", {"simulated": int(is_simulated.sum()), "differences": len(p),
                                          "resamples": resamples, "needed": required}),)


def describe_judgments(joint: Mapping[str, Any], unscored: Sequence[str], metric: str) -> Iterator[Message]:
    """Yield messages about the votes or ratings of a leaderboard.

    Args:
        joint: What `JointMatrix.describe` recorded.
        unscored: Names of the systems without a score.
        metric: Name of the metric.
    """
    yield Message("judgment-groups", {key: joint[key] for key in ("judgments", "groups", "random")})
    for kind in ("voter", "annotator"):
        if kind in joint["groups"] and kind not in joint["random"]:
            yield Message("few-groups", {"groups": joint["groups"][kind], "kind": kind, "least": joint["least"]})
    if unscored:
        yield Message("unconnected-systems", {"systems": list(unscored)})
    for code, effect in (("order-effect", "order"), ("tie-effect", "ties")):
        if effect in joint["effects"]:
            yield Message(code, dict(zip(("estimate", "low", "high"), joint["effects"][effect], strict=True)))
    if metric == "BradleyTerry":
        yield Message("sampled-pairs")
