"""What changed between two states of a leaderboard, as tables and as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from registry.errors import counted
from registry.leaderboards.differences import Difference
from registry.leaderboards.history import Stood, Tested
from registry.leaderboards.leaderboard import title
from registry.rendering.table import Column, Table, number, p_value, text


def difference_tables(found: Difference) -> list[Table]:
    """Who moved, and which decisions changed, as tables."""
    place = dict(zip(("task", "test_set", "track", "facet", "metric"), found.after.place, strict=True))
    heading = title(place | {"metric_name": found.after.metric_name})
    rows = [{"system": of.system, "why": of.why,
             **{key: _then(of.before, of.after, write) for key, write in _OF_SYSTEM.items()}} for of in found.systems]
    moved = Table(rows, [Column("system", "system"), *_columns(_OF_SYSTEM), Column("why", "why")],
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
    return [moved, *([changed] if rows else [])]


def difference_data(found: Difference) -> dict[str, Any]:
    """All that changed, with full precision, for programs."""
    keys = ("task", "test_set", "track", "facet", "metric")
    return {
        **dict(zip(keys, found.after.place, strict=True)), "before": found.before.signature,
        "after": found.after.signature, "reasons": list(found.reasons),
        "systems": [asdict(of) for of in found.systems], "pairs": [asdict(of) for of in found.pairs]}


def _captions(found: Difference) -> tuple[str, ...]:
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


def _range(of: Stood) -> str:
    return "-" if of.rank_low is None else f"{of.rank_low}-{of.rank_high}"


_OF_SYSTEM: dict[str, Callable[[Stood], str]] = {
    "rank": lambda of: text(of.rank), "range": _range, "cluster": lambda of: text(of.cluster),
    "score": lambda of: number(4)(of.score),
}


_OF_PAIR: dict[str, Callable[[Tested], str]] = {
    "p": lambda of: p_value(of.p_value), "adjusted p": lambda of: p_value(of.p_adjusted),
    "significant": lambda of: "yes" if of.significant else "no",
}
