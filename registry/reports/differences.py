"""What changed between two states of a leaderboard, as tables and as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from registry.boards.leaderboard import PairDecision, Standing
from registry.boards.states import BoardDifference
from registry.errors import counted
from registry.rendering.table import Column, Table, number, p_value, text

_MOST = 20  # corrected items that people see
_STANDING = ("version", "score", "rank", "rank_low", "rank_high", "cluster")
_DECISION = ("difference", "p_value", "p_adjusted", "significant")


def difference_tables(found: BoardDifference) -> list[Table]:
    """Who moved, and which decisions changed, as tables."""
    heading = found.after.title
    of_system = _OF_SYSTEM | {"score": lambda of: number(found.after.decimals)(of.score)}
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
    more = len(corrected.on_board) - _MOST
    items = Table([vars(of) for of in corrected.on_board[:_MOST]],
                  [Column("item", "item"), Column("before", "gold before", text), Column("after", "gold now", text)],
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
    "rank": lambda of: text(of.rank),
    "range": lambda of: "-" if of.rank_low is None else f"{of.rank_low}-{of.rank_high}",
    "cluster": lambda of: text(of.cluster),
}
_OF_PAIR: dict[str, Callable[[PairDecision], str]] = {
    "p": lambda of: p_value(of.p_value), "adjusted p": lambda of: p_value(of.p_adjusted),
    "significant": lambda of: "yes" if of.significant else "no",
}
