"""What changed between two states of a leaderboard: tables, data, the draft of an erratum, and stale scores."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from registry.boards.leaderboard import PairDecision, Standing
from registry.boards.states import BoardDifference, Correction, DecisionChange, SystemItems
from registry.errors import counted
from registry.evaluation.scoring.stale import StaleScore
from registry.provenance import Signature
from registry.rendering.render import escape_markdown, render_markdown_rows
from registry.rendering.table import Column, Table, format_p_value, format_text, make_number_format

_MOST_SHOWN = 20  # corrected items that people see
_STANDING = ("version", "score", "rank", "rank_low", "rank_high", "cluster")
_DECISION = ("difference", "p_value", "p_adjusted", "significant")


def difference_tables(found: BoardDifference) -> list[Table]:
    """Who moved, and which decisions changed, as tables."""
    heading = found.after.title
    of_system = _OF_SYSTEM | {"score": lambda of: make_number_format(found.after.decimals)(of.score)}
    rows = [{"system": of.system, "why": of.why,
             **{key: _then(of.before, of.after, write) for key, write in of_system.items()}} for of in found.systems]
    moved = Table(rows, [Column("system", "system"), *_columns(of_system), Column("why", "why")],
                  f"{heading}: who moved", _captions(found))
    shown = [of for of in found.pairs if of.decided]
    left_out = len(found.pairs) - len(shown)
    rows = [{"system_a": of.systems[0], "system_b": of.systems[1], "why": of.why,
             **{key: _then(of.before, of.after, write) for key, write in _OF_PAIR.items()}} for of in shown]
    changed = Table(
        rows, [Column("system_a", "system A"), Column("system_b", "system B"), *_columns(_OF_PAIR),
               Column("why", "why")],
        f"{heading}: which decisions and raw p-values changed",
        (f"{counted(left_out, 'further pair')} only adjusted anew.",) if left_out else ())
    return [moved, *([changed] if rows else []), *_corrected(found, heading)]


def _corrected(found: BoardDifference, heading: str) -> list[Table]:
    """Which items have another gold, and by which items the systems' statistics changed."""
    if (corrected := found.correction) is None:
        return []
    more = len(corrected.on_board) - _MOST_SHOWN
    items = Table([vars(of) for of in corrected.on_board[:_MOST_SHOWN]],
                  [Column("item", "item"), Column("before", "gold before", format_text),
                   Column("after", "gold now", format_text)],
                  f"{heading}: {counted(len(corrected.on_board), 'corrected item')}",
                  (f"and {counted(more, 'more item')}.",) if more > 0 else ())
    systems = Table([vars(of) for of in corrected.systems],
                    [Column("system", "system"), Column("n_items", "items", right=True),
                     Column("most", "changed most", ", ".join)], f"{heading}: items whose statistics changed")
    return [items, systems]


def difference_data(found: BoardDifference) -> dict[str, Any]:
    """All that changed, with full precision, for programs."""
    return {
        **found.after.key._asdict(), "before": found.before.signature,
        "after": found.after.signature, "reasons": list(found.reasons),
        "systems": [{"system": of.system, "before": _plain(of.before, _STANDING), "after": _plain(of.after, _STANDING),
                     "why": of.why} for of in found.systems],
        "pairs": [{"systems": of.systems, "before": _plain(of.before, _DECISION), "after": _plain(of.after, _DECISION),
                   "why": of.why} for of in found.pairs],
        "correction": None if found.correction is None else asdict(found.correction)}


def _plain(of: Standing | PairDecision | None, keys: Iterable[str]) -> dict[str, Any] | None:
    return None if of is None else {key: getattr(of, key) for key in keys}


def _captions(found: BoardDifference) -> tuple[str, ...]:
    same = not (found.reasons or found.systems or found.pairs)
    clusters = [len({of.cluster for of in state.systems.values()} - {None}) for state in (found.before, found.after)]
    said = [f"Clusters: {clusters[0]}, then {clusters[1]}."] if clusters[0] != clusters[1] else []
    return (*(["Nothing changed."] if same else found.reasons), *said, f"before: {found.before.signature}",
            f"after: {found.after.signature}")


def _columns(keys: Iterable[str]) -> list[Column]:
    return [Column(key, key, right=True) for key in keys]


def _then(before: Any, after: Any, write: Callable[[Any], str]) -> str:
    """A value before and after, or once where it is the same."""
    was, now = ("" if of is None else write(of) for of in (before, after))
    return now if was == now else f"{was} → {now}".strip()


_OF_SYSTEM: dict[str, Callable[[Standing], str]] = {
    "rank": lambda of: format_text(of.rank),
    "range": lambda of: "-" if of.rank_low is None else f"{of.rank_low}-{of.rank_high}",
    "cluster": lambda of: format_text(of.cluster),
}
_OF_PAIR: dict[str, Callable[[PairDecision], str]] = {
    "p": lambda of: format_p_value(of.p_value), "adjusted p": lambda of: format_p_value(of.p_adjusted),
    "significant": lambda of: "yes" if of.significant else "no",
}


_MOST_LISTED = 50  # corrected items that are listed
_LONGEST = 80  # characters of a gold


def erratum(found: Sequence[BoardDifference]) -> str:
    """Write the erratum of boards between whose states the gold was corrected."""
    parts = []
    for (task, test_set), group in groupby(found, key=lambda of: (of.after.key.task, of.after.key.test_set)):
        boards = list(group)
        parts += [*_correction(task, test_set, boards), *(line for of in boards for line in _board(of))]
    return "".join(parts)


def _correction(task: str, test_set: str, boards: Sequence[BoardDifference]) -> Iterator[str]:
    first = boards[0]
    corrected, versions = first.correction, [state.task_version for state in (first.before, first.after)]
    assert corrected is not None
    yield f"# Erratum: the gold annotations of {escape_markdown(f'{task}/{test_set}')}\n\n"
    of_versions = f" (version {versions[0]} of the task, now {versions[1]})" if versions[0] != versions[1] else ""
    yield (f"The gold annotations of test set {escape_markdown(test_set)} were corrected"
           f"{escape_markdown(of_versions)}. {_counts(corrected)} All submissions were scored again with the "
           f"corrected gold; the submissions themselves are {_submissions(boards)}. The results below replace "
           "those that were published before.\n\n")
    shown = corrected.items[:_MOST_LISTED]
    if shown:
        yield "## Corrected annotations\n\n"
        yield from render_markdown_rows(["item", "was", "is"], [
            [of.item, *("not there" if side is None else _clipped(side) for side in (of.before, of.after))]
            for of in shown])
        if more := len(corrected.items) - len(shown):
            yield f"\nand {counted(more, 'more item')}.\n"
        yield "\n"


def _counts(corrected: Correction) -> str:
    """How many items have another gold, are new or are gone."""
    added = sum(of.before is None for of in corrected.items)
    removed = sum(of.after is None for of in corrected.items)
    n = len(corrected.items) - added - removed
    said = [f"{counted(n, 'item')} of {corrected.n_before} {'has' if n == 1 else 'have'} another gold annotation"]
    said += [f"{counted(added, 'item')} {'was' if added == 1 else 'were'} added"] if added else []
    said += [f"{counted(removed, 'item')} {'was' if removed == 1 else 'were'} removed"] if removed else []
    return f"{'; '.join(said)}."


def _clipped(gold: str) -> str:
    return gold if len(gold) <= _LONGEST else f"{gold[:_LONGEST - 3]}..."


def _submissions(boards: Sequence[BoardDifference]) -> str:
    others = any(before.systems[name].submission != after.systems[name].submission
                 for before, after in ((of.before, of.after) for of in boards)
                 for name in before.systems.keys() & after.systems)
    return "others for some systems (see below)" if others else "unchanged"


def _board(of: BoardDifference) -> Iterator[str]:
    yield f"## {escape_markdown(of.after.title)}\n\n"
    yield from render_markdown_rows(
        ["rank (range) before", "now", "system", "score before", "now", "items whose statistics changed"],
        list(_rows(of)), [True, True, False, True, True, False])
    yield f"\n{escape_markdown(_corrected_in_facet(of) + _ranks(of))}\n\n"
    yield from _conclusions(of)
    if other := [reason for reason in of.reasons if not reason.startswith("The gold was revised")]:
        yield f"Beside the gold this changed, too: {escape_markdown(' '.join(other))}\n\n"
    yield from (f"{when}: `{state.signature.replace('`', '')}`\n\n"
                for when, state in (("Before", of.before), ("Now", of.after)))


def _corrected_in_facet(of: BoardDifference) -> str:
    """State how many of the corrected items a board of a facet has."""
    corrected, facet = of.correction, of.after.key.facet
    if corrected is None or facet is None:
        return ""
    n, total = len(corrected.on_board), counted(len(corrected.items), "corrected item")
    return f"Of the {total} {n or 'none'} {'is' if n < 2 else 'are'} in {facet}. "


def _ranks(of: BoardDifference) -> str:
    """Which systems have another rank: among those that are on both boards, since a new one moves others, too."""
    before, after = of.before.systems, of.after.systems
    stayed = [name for name in after if name in before]
    is_same = len(before) == len(after) == len(stayed)
    was, now = ({name: board[name].rank for name in stayed} for board in (before, after))
    if not is_same:
        was, now = _among(was), _among(now)
    moved = [name for name in stayed if was[name] != now[name]]
    there, among = ("", "") if is_same else (" that were there before", " among these")
    said = (f"{len(moved)} of {counted(len(stayed), 'system')}{there} {'has' if len(moved) == 1 else 'have'} another "
            f"rank{among}: {', '.join(map(_shown, moved))}." if moved else
            "No system has another rank." if is_same else
            "Among the systems that were there before none has another rank.")
    added, gone = len(after) - len(stayed), len(before) - len(stayed)
    said += f" {counted(added, 'system')} {'is' if added == 1 else 'are'} new." if added else ""
    said += f" {counted(gone, 'system')} {'is' if gone == 1 else 'are'} no longer there." if gone else ""
    return said


def _among(ranks: Mapping[str, int | None]) -> dict[str, int | None]:
    """The ranks that some systems of a board have among themselves."""
    known = sorted(rank for rank in ranks.values() if rank is not None)
    return {name: None if rank is None else 1 + bisect_left(known, rank) for name, rank in ranks.items()}


def _conclusions(of: BoardDifference) -> Iterator[str]:
    """Which pairs that were tested before are decided otherwise."""
    stayed = len(of.before.pairs.keys() & of.after.pairs.keys())
    of_before = "" if len(of.before.pairs) == len(of.after.pairs) == stayed else " on both boards"
    changed = [one for one in of.pairs if one.before.significant != one.after.significant or _turned(one)]
    if not stayed:
        yield "No pair of systems is on both boards.\n\n"
    elif changed:
        yield f"Of {counted(stayed, 'pair')}{of_before}, {len(changed)} {'is' if len(changed) == 1 else 'are'} " \
              "decided otherwise:\n\n"
        yield from (f"- {escape_markdown(_sentence(one) + _by_family(of, one))}\n" for one in changed)
        yield "\n"
    else:
        yield f"No conclusion changed: all {counted(stayed, 'pair')}{of_before} are decided as before.\n\n"


def _by_family(of: BoardDifference, one: DecisionChange) -> str:
    """What is to be said beside a decision where the family has another size: the gold is not all that changed it."""
    was, now = (Signature.parse(state.signature).family_size for state in (of.before, of.after))
    if was == now or of.after.settings["correction"] == "none":
        return ""
    raw = [format_p_value(side.p_value) for side in (one.before, one.after)]
    family = f"the family {'grew' if was < now else 'shrank'} from {counted(was, 'pair')} to {now}"
    if one.before.p_value == one.after.p_value:
        return f" Its raw p = {raw[0]} is as before, but {family}."
    return f" Its raw p was {raw[0]}, and is {raw[1]}; {family}, too."


def _rows(of: BoardDifference) -> Iterator[list[str]]:
    """A row of every system, as the corrected board has them."""
    items = {} if of.correction is None else {one.system: one for one in of.correction.systems}
    for name in (*of.after.systems, *(name for name in of.before.systems if name not in of.after.systems)):
        was, now = of.before.systems.get(name), of.after.systems.get(name)
        ranks = ["-" if side is None or side.rank is None else f"{side.rank} ({side.rank_low}-{side.rank_high})"
                 for side in (was, now)]
        scores = ["-" if side is None else make_number_format(of.after.decimals)(side.score) for side in (was, now)]
        yield [*ranks, _shown(name), *scores, _changed(of, items.get(name))]


def _changed(of: BoardDifference, items: SystemItems | None) -> str:
    """By how many items, and by which most, the statistics of a system changed."""
    if items is None or not items.n_items:
        return "" if items is None else "none"
    if of.correction is not None and items.n_items == len(of.correction.on_board):
        return f"all {items.n_items} corrected ones" if items.n_items > 1 else "the corrected one"
    more = ", ..." if items.n_items > len(items.most) else ""
    return f"{items.n_items}: {', '.join(items.most)}{more}"


def _shown(name: str) -> str:
    """A system's name, without that of a team that is called the same."""
    team, _, system = name.partition("/")
    return system if team == system else name


def _turned(of: DecisionChange) -> bool:
    """Whether both are significant, in favour of the other system."""
    return of.before.significant and of.after.significant and _favours(of, after=False) != _favours(of, after=True)


def _favours(of: DecisionChange, *, after: bool) -> str:
    difference = (of.after if after else of.before).difference
    return of.systems[0] if (difference or 0) > 0 else of.systems[1]


def _sentence(of: DecisionChange) -> str:
    """What was concluded of a pair, and what is."""
    was, now = (f"adjusted p = {format_p_value(side.p_adjusted)}" for side in (of.before, of.after))
    before, after = (_favours(of, after=later) for later in (False, True))
    others = {name: _shown(other) for name, other in (of.systems, of.systems[::-1])}
    if _turned(of):
        return (f"{_shown(before)} was significantly better than {others[before]} ({was}); now {_shown(after)} is "
                f"significantly better than {others[after]} ({now}).")
    if of.before.significant:
        return f"{_shown(before)} was significantly better than {others[before]} ({was}), and is not any more ({now})."
    return f"{_shown(after)} is significantly better than {others[after]} ({now}), and was not before ({was})."


def stale_table(found: Sequence[tuple[StaleScore, float | None]]) -> Table:
    """What was stale, why, the score that it was, and the one that it is."""
    rows = [{"task": of.task, "test_set": of.test_set, "submission": of.submission, "metric": of.metric,
             "before": of.value, "after": value, "why": of.why} for of, value in found]
    columns = [Column(name, name.replace("_", " ")) for name in ("task", "test_set", "submission", "metric")]
    columns += [Column(name, name, make_number_format(4), right=True) for name in ("before", "after")]
    return Table(rows, [*columns, Column("why", "why")], "What was stale" if rows else "Nothing was stale")
