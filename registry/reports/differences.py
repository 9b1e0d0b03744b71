"""Reports about changed leaderboards: tables, data and drafts of errata."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from registry.boards.leaderboard import PairDecision, Standing
from registry.boards.states import BoardDifference, Correction, DecisionChange, SystemItems
from registry.errors import counted, listed
from registry.evaluation.scoring.stale import StaleScore
from registry.provenance import Signature
from registry.rendering.render import escape_markdown, render_markdown_rows
from registry.rendering.table import Column, Table, format_p_value, format_text, make_number_format
from registry.reports.columns import make_text_columns

_MOST_SHOWN = 20  # corrected items in a table
_MOST_LISTED = 50  # corrected items in an erratum
_MOST_NAMED = 3  # changed decisions in a title
_LONGEST_GOLD = 80  # characters
_STANDING = ("version", "score", "rank", "rank_low", "rank_high", "cluster")
_DECISION = ("difference", "p_value", "p_adjusted", "significant")
_WHY = Column("why", "why")


def make_difference_tables(difference: BoardDifference) -> list[Table]:
    """Return tables that compare two states of a leaderboard: before and after.

    The tables list the systems whose rank or range changed, the pairs whose test result changed, and the items whose
    gold was corrected. The first title names the changed decisions.
    """
    title, decimals = difference.after.title, difference.after.decimals
    moved = [change for change in difference.systems if change.has_moved]
    rows = [{"system": change.system, "why": change.why, **_format_changes(
        _format_standing(change.before, decimals), _format_standing(change.after, decimals))} for change in moved]
    columns = [*make_text_columns("board", ("system", "rank", "range", "cluster", "score")), _WHY]
    n_scores = sum(not change.has_moved and change.before.score != change.after.score for change in difference.systems
                   if change.before is not None and change.after is not None)
    scores = (f"Another score, but the same rank and range: {counted(n_scores, 'system')}.",) if n_scores else ()
    tables = [Table(rows, columns if moved else (), f"{title}: {_summarise_decisions(difference)}",
                    (*scores, *_make_captions(difference)))]
    changes = [change for change in difference.pairs if change.is_substantial]
    if changes:
        rows = [{"system_a": change.systems[0], "system_b": change.systems[1], "why": change.why,
                 **_format_changes(_format_decision(change.before), _format_decision(change.after))}
                for change in changes]
        n_adjusted = len(difference.pairs) - len(changes)
        columns = make_text_columns("pairs", ("system_a", "system_b", "p_value", "p_adjusted", "significant"))
        tables.append(Table(rows, [*columns, _WHY], f"{title}: which decisions and raw p-values changed", (
            f"{counted(n_adjusted, 'further pair')} only have another adjusted p-value.",) if n_adjusted else ()))
    return tables if difference.correction is None else [*tables, *_make_item_tables(difference.correction, title)]


def _summarise_decisions(difference: BoardDifference) -> str:
    """Return in words which decisions about pairs on both boards changed."""
    before, after = difference.before.pairs, difference.after.pairs
    n_shared = len(before.keys() & after.keys())
    if not n_shared:
        return "no pair of systems is on both boards"
    changes = [_summarise_change(change) for change in difference.pairs if change.is_decision]
    if not changes:
        return "no decision changed" + (f" about the {counted(n_shared, 'pair')} on both boards" if not (
            len(before) == len(after) == n_shared) else "")
    return listed(changes, _MOST_NAMED, "; ")


def _summarise_change(change: DecisionChange) -> str:
    a, b = map(_shorten_name, change.systems)
    if change.after.significant:
        return f"{a} is now significantly better than {b}"
    if change.find_better(change.before) == change.systems[1]:
        a, b = b, a
    return f"{a} is no longer significantly better than {b}"


def _format_standing(standing: Standing | None, decimals: int) -> dict[str, str]:
    if standing is None:
        return dict.fromkeys(("rank", "range", "cluster", "score"), "")
    return {"rank": format_text(standing.rank),
            "range": "-" if standing.rank_low is None else f"{standing.rank_low}-{standing.rank_high}",
            "cluster": format_text(standing.cluster), "score": make_number_format(decimals)(standing.score)}


def _format_decision(decision: PairDecision) -> dict[str, str]:
    return {"p_value": format_p_value(decision.p_value), "p_adjusted": format_p_value(decision.p_adjusted),
            "significant": "yes" if decision.significant else "no"}


def _format_changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    return {key: new if before[key] == new else f"{before[key]} → {new}".strip() for key, new in after.items()}


def _make_item_tables(correction: Correction, title: str) -> list[Table]:
    """Return two tables about a correction of the gold: its items, and its effects.

    The first lists the corrected items. The second has, for each system, the number of items whose statistics changed.
    """
    corrected = correction.on_board
    n_more = len(corrected) - _MOST_SHOWN
    items = Table([vars(item) for item in corrected[:_MOST_SHOWN]],
                  [Column("item", "item"), Column("before", "gold before", format_text),
                   Column("after", "gold now", format_text)],
                  f"{title}: {counted(len(corrected), 'corrected item')}",
                  (f"and {counted(n_more, 'more item')}.",) if n_more > 0 else ())
    systems = Table([vars(system) for system in correction.systems],
                    [*make_text_columns("board", ("system",)), Column("n_items", "items", right=True),
                     Column("most", "changed most", ", ".join)], f"{title}: items whose statistics changed")
    return [items, systems]


def make_difference_data(difference: BoardDifference) -> dict[str, Any]:
    """Return the differences between two states of a leaderboard as data for JSON.

    Numbers are not rounded.
    """
    return {
        **difference.after.key._asdict(), "before": difference.before.signature,
        "after": difference.after.signature, "reasons": list(difference.reasons),
        "systems": [{"system": change.system, "before": _select_values(change.before, _STANDING),
                     "after": _select_values(change.after, _STANDING), "why": change.why}
                    for change in difference.systems],
        "pairs": [{"systems": change.systems, "before": _select_values(change.before, _DECISION),
                   "after": _select_values(change.after, _DECISION), "why": change.why}
                  for change in difference.pairs],
        "correction": None if difference.correction is None else asdict(difference.correction)}


def _select_values(source: Standing | PairDecision | None, keys: Iterable[str]) -> dict[str, Any] | None:
    return None if source is None else {key: getattr(source, key) for key in keys}


def _make_captions(difference: BoardDifference) -> tuple[str, ...]:
    has_changes = difference.reasons or difference.systems or difference.pairs
    old, new = (len({standing.cluster for standing in state.systems.values()} - {None})
                for state in (difference.before, difference.after))
    clusters = (f"Clusters: {old}, then {new}.",) if old != new else ()
    return (*(difference.reasons if has_changes else ("Nothing changed.",)), *clusters,
            f"before: {difference.before.signature}", f"after: {difference.after.signature}")


def draft_erratum(differences: Sequence[BoardDifference]) -> str:
    """Draft an erratum in Markdown after a correction of the gold.

    Args:
        differences: For each leaderboard, the differences between its state before and after the correction.
    """
    parts = list[str]()
    for (task, test_set), group in groupby(differences, key=lambda difference: (
            difference.after.key.task, difference.after.key.test_set)):
        boards = list(group)
        parts += _describe_correction(task, test_set, boards)
        parts += [line for board in boards for line in _describe_board(board)]
    return "".join(parts)


def _describe_correction(task: str, test_set: str, boards: Sequence[BoardDifference]) -> Iterator[str]:
    correction, versions = boards[0].correction, [state.task_version for state in (boards[0].before, boards[0].after)]
    assert correction is not None
    change = f" (version {versions[0]} of the task, now {versions[1]})" if versions[0] != versions[1] else ""
    has_other_submissions = any(board.before.systems[name].submission != board.after.systems[name].submission
                                for board in boards for name in board.before.systems.keys() & board.after.systems)
    submissions = "different for some systems (see below)" if has_other_submissions else "unchanged"
    yield f"# Erratum: the gold annotations of {escape_markdown(f'{task}/{test_set}')}\n\n"
    yield (f"The gold annotations of test set {escape_markdown(test_set)} were corrected{escape_markdown(change)}. "
           f"{_count_items(correction)} All submissions were scored again with the corrected gold; the submissions "
           f"themselves are {submissions}. The results below replace the results that were published before.\n\n")
    if listed := correction.items[:_MOST_LISTED]:
        yield "## Corrected annotations\n\n"
        yield from render_markdown_rows(["item", "was", "is"], [
            [item.item, *("absent" if gold is None else _shorten(gold) for gold in (item.before, item.after))]
            for item in listed])
        if n_more := len(correction.items) - len(listed):
            yield f"\nand {counted(n_more, 'more item')}.\n"
        yield "\n"


def _count_items(correction: Correction) -> str:
    n_added = sum(item.before is None for item in correction.items)
    n_removed = sum(item.after is None for item in correction.items)
    n_changed = len(correction.items) - n_added - n_removed
    counts = [f"{counted(n_changed, 'item')} of {correction.n_before} {'has' if n_changed == 1 else 'have'} another "
              "gold annotation"]
    counts += [f"{counted(n, 'item')} {'was' if n == 1 else 'were'} {verb}"
               for n, verb in ((n_added, "added"), (n_removed, "removed")) if n]
    return f"{'; '.join(counts)}."


def _shorten(gold: str) -> str:
    return gold if len(gold) <= _LONGEST_GOLD else f"{gold[:_LONGEST_GOLD - 3]}..."


def _describe_board(difference: BoardDifference) -> Iterator[str]:
    yield f"## {escape_markdown(difference.after.title)}\n\n"
    yield from render_markdown_rows(
        ["rank (range) before", "now", "system", "score before", "now", "items whose statistics changed"],
        list(_make_rows(difference)), [True, True, False, True, True, False])
    yield f"\n{escape_markdown(_count_items_in_facet(difference) + _describe_ranks(difference))}\n\n"
    yield from _describe_decisions(difference)
    if reasons := [reason for reason in difference.reasons if not reason.startswith("The gold was revised")]:
        yield f"In addition to the gold, this changed: {escape_markdown(' '.join(reasons))}\n\n"
    yield from (f"{label}: `{state.signature.replace('`', '')}`\n\n"
                for label, state in (("Before", difference.before), ("Now", difference.after)))


def _count_items_in_facet(difference: BoardDifference) -> str:
    correction, facet = difference.correction, difference.after.key.facet
    if correction is None or facet is None:
        return ""
    n, total = len(correction.on_board), counted(len(correction.items), "corrected item")
    return f"Of the {total} {n or 'none'} {'is' if n < 2 else 'are'} in {facet}. "


def _describe_ranks(difference: BoardDifference) -> str:
    """Return a sentence that names the systems whose rank changed.

    If systems were added or removed, the ranks are first recomputed among the systems that are on both boards.
    """
    before, after = difference.before.systems, difference.after.systems
    shared = [name for name in after if name in before]
    has_same_systems = len(before) == len(after) == len(shared)
    old, new = ({name: board[name].rank for name in shared} for board in (before, after))
    if not has_same_systems:
        old, new = _renumber_ranks(old), _renumber_ranks(new)
    moved = [name for name in shared if old[name] != new[name]]
    scope = "" if has_same_systems else " that are on both boards"
    if moved:
        among = "" if has_same_systems else " among these"
        sentence = (f"{len(moved)} of {counted(len(shared), 'system')}{scope} {'has' if len(moved) == 1 else 'have'} "
                    f"another rank{among}: {', '.join(map(_shorten_name, moved))}.")
    else:
        sentence = "No system has another rank." if has_same_systems else (
            "None of the systems that are on both boards has another rank among these.")
    for n, state in ((len(after) - len(shared), "new"), (len(before) - len(shared), "removed")):
        sentence += f" {counted(n, 'system')} {'is' if n == 1 else 'are'} {state}." if n else ""
    return sentence


def _renumber_ranks(ranks: Mapping[str, int | None]) -> dict[str, int | None]:
    """Renumber ranks from 1 after other systems were removed; None stays None.

    Example: {"a": 2, "b": 5, "c": 5} -> {"a": 1, "b": 2, "c": 2}.
    """
    used_ranks = sorted(rank for rank in ranks.values() if rank is not None)
    return {name: None if rank is None else 1 + bisect_left(used_ranks, rank) for name, rank in ranks.items()}


def _describe_decisions(difference: BoardDifference) -> Iterator[str]:
    """Yield Markdown about the pairs of systems whose test decision changed.

    Only pairs that are on the leaderboard both before and after the change are compared.
    """
    before, after = difference.before.pairs, difference.after.pairs
    n_shared = len(before.keys() & after.keys())
    if not n_shared:
        yield "No pair of systems is on both boards.\n\n"
        return
    pairs = counted(n_shared, "pair") + ("" if len(before) == len(after) == n_shared else " on both boards")
    changes = [change for change in difference.pairs if change.is_decision]
    if not changes:
        yield f"No conclusion changed: all {pairs} have the same decision as before.\n\n"
        return
    yield f"Of {pairs}, {len(changes)} {'has' if len(changes) == 1 else 'have'} another decision:\n\n"
    yield from (f"- {escape_markdown(_describe_change(change) + _explain_family(difference, change))}\n"
                for change in changes)
    yield "\n"


def _explain_family(difference: BoardDifference, change: DecisionChange) -> str:
    """Explain a changed decision by a changed number of pairs.

    P-values are corrected for the number of pairs, so this can be a second cause in addition to the corrected gold. The
    text is empty if the number of pairs did not change.
    """
    old, new = (Signature.parse(state.signature).family_size for state in (difference.before, difference.after))
    if old == new or difference.after.settings["correction"] == "none":
        return ""
    p_before, p_after = (format_p_value(side.p_value) for side in (change.before, change.after))
    family = f"the family {'grew' if old < new else 'shrank'} from {counted(old, 'pair')} to {new}"
    if change.before.p_value == change.after.p_value:
        return f" Its raw p = {p_before} did not change, but {family}."
    return f" Its raw p was {p_before}, and now is {p_after}; {family}, too."


def _make_rows(difference: BoardDifference) -> Iterator[list[str]]:
    """Yield one row of the erratum's table per system: ranks and scores, old and new.

    Rows are in the order of the corrected leaderboard; removed systems are last.
    """
    before, after, correction = difference.before.systems, difference.after.systems, difference.correction
    items = {} if correction is None else {system.system: system for system in correction.systems}
    format_score = make_number_format(difference.after.decimals)
    for name in (*after, *(name for name in before if name not in after)):
        sides = before.get(name), after.get(name)
        ranks = ["-" if side is None or side.rank is None else f"{side.rank} ({side.rank_low}-{side.rank_high})"
                 for side in sides]
        scores = ["-" if side is None else format_score(side.score) for side in sides]
        yield [*ranks, _shorten_name(name), *scores, _describe_items(correction, items.get(name))]


def _describe_items(correction: Correction | None, items: SystemItems | None) -> str:
    if items is None or not items.n_items:
        return "" if items is None else "none"
    if correction is not None and items.n_items == len(correction.on_board):
        return f"all {items.n_items} corrected items" if items.n_items > 1 else "the corrected item"
    more = ", ..." if items.n_items > len(items.most) else ""
    return f"{items.n_items}: {', '.join(items.most)}{more}"


def _shorten_name(name: str) -> str:
    team, _, system = name.partition("/")
    return system if team == system else name


def _describe_change(change: DecisionChange) -> str:
    p_before, p_after = (f"adjusted p = {format_p_value(side.p_adjusted)}" for side in (change.before, change.after))
    better_before, better_after = (change.find_better(side) for side in (change.before, change.after))
    opponents = {name: _shorten_name(other) for name, other in (change.systems, change.systems[::-1])}
    before = f"{_shorten_name(better_before)} was significantly better than {opponents[better_before]} ({p_before})"
    if change.is_reversed:
        return (f"{before}; now {_shorten_name(better_after)} is significantly better than {opponents[better_after]} "
                f"({p_after}).")
    if change.before.significant:
        return f"{before}, and no longer is ({p_after})."
    return (f"{_shorten_name(better_after)} is significantly better than {opponents[better_after]} ({p_after}), and "
            f"was not before ({p_before}).")


def make_stale_table(scores: Sequence[tuple[StaleScore, float | None]]) -> Table:
    """Return a table of outdated scores, with the new scores and the reasons.

    Args:
        scores: Outdated scores, each with its recomputed value.
    """
    rows = [{"task": score.task, "test_set": score.test_set, "submission": score.submission, "metric": score.metric,
             "before": score.value, "after": value, "why": score.why} for score, value in scores]
    columns = [Column(name, name.replace("_", " ")) for name in ("task", "test_set", "submission", "metric")]
    columns += [Column(name, name, make_number_format(4), right=True) for name in ("before", "after")]
    return Table(rows, [*columns, _WHY], "Stale scores" if rows else "No score is stale")
