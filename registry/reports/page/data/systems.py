"""The systems of a page, what is known of each, and what two of them share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from registry.boards.details import Details, Regions, Telling, TellingItem
from registry.boards.leaderboard import Leaderboard
from registry.reports.page.data.columns import Json, as_column, rounded

Name = tuple[str, str]  # of a system: its team and its own

VERSIONS = 5_000  # on a page, the last ones
RUNS = 20_000  # scores of runs
TELLING = 6_000  # items that set systems apart, of all systems together
_DIGITS = 8  # of scores
_REGIONS = ("d1_tp", "d1_fp", "d2_tp", "d2_fp", "shared_tp", "shared_fp")


def names_of(boards: Sequence[Leaderboard]) -> dict[Name, int]:
    """The systems on some boards, with their numbers on the page."""
    known = dict.fromkeys((of.team, of.system) for board in boards for of in board.standings)
    return {name: n for n, name in enumerate(known)}


def details_data(number: Mapping[Name, int], details: Details) -> Json:
    """What is known of the systems, by their numbers.

    A name is the system's own, with the team's where several teams have one of that name.
    """
    times = Counter(system for _, system in number)
    names = [system if times[system] == 1 else f"{team}/{system}" for team, system in number]
    return {"n": len(number), "team": as_column(team for team, _ in number),
            "system": as_column(system for _, system in number), "names": as_column(names),
            "versions": _versions(details, number), "runs": _runs(details, number),
            "telling": _telling(details.telling, number),
            "regions": {of.test_set: _regions(of, number) for of in details.regions}}


def _versions(details: Details, number: Mapping[Name, int]) -> Json:
    there = [of for of in details.versions if (of.team, of.system) in number]
    shown = there[-VERSIONS:]
    return {"n": len(shown), "left_out": len(there) - len(shown),
            "of": as_column(number[of.team, of.system] for of in shown),
            **{key: as_column(getattr(of, key) for of in shown) for key in ("test_set", "version", "late")},
            "at": as_column(seconds(of.at) for of in shown),
            "score": as_column(rounded(of.score, _DIGITS) for of in shown)}


def _runs(details: Details, number: Mapping[Name, int]) -> Json:
    there, room = [of for of in details.runs if (of.team, of.system) in number], RUNS
    shown = []
    for of in there:
        room -= len(of.scores)
        if room < 0:
            break
        shown.append(of)
    return {"n": len(shown), "left_out": len(there) - len(shown),
            "of": as_column(number[of.team, of.system] for of in shown),
            **{key: as_column(getattr(of, key) for of in shown) for key in ("test_set", "metric")},
            "names": [list(of.names) for of in shown],
            "scores": [[rounded(score, _DIGITS) for score in of.scores] for of in shown]}


def _telling(telling: Sequence[Telling], number: Mapping[Name, int]) -> Json:
    """Of every system its items, as many of each of its lists as there is room for."""
    there = [of for of in telling if (of.team, of.system) in number]
    each = max(1, TELLING // (2 * max(1, len(there))))
    kept = [[*_first(of, each, above=True), *_first(of, each, above=False)] for of in there]
    items = list(dict.fromkeys(item.item for of in kept for item in of))
    at = {item: n for n, item in enumerate(items)}
    return {"n": len(there), "of": as_column(number[of.team, of.system] for of in there), "items": items,
            **{key: as_column(getattr(of, key) for of in there) for key in (
                "test_set", "track", "best_alone", "worst_alone", "right_or_wrong")},
            "telling": [[[at[of.item], rounded(of.score, _DIGITS), rounded(of.others, _DIGITS), int(of.above),
                          int(of.alone)] for of in of_system] for of_system in kept]}


def _first(of: Telling, n: int, *, above: bool) -> list[TellingItem]:
    return [item for item in of.items if item.above == above][:n]


def _regions(of: Regions, number: Mapping[Name, int]) -> Json:
    pairs = [pair for pair in of.pairs if pair.a in number and pair.b in number]
    return {"gold": of.gold, "complete": of.complete, "a": [number[pair.a] for pair in pairs],
            "b": [number[pair.b] for pair in pairs],
            **{key: as_column(_count(getattr(pair, key)) for pair in pairs) for key in _REGIONS}}


def _count(value: float) -> float:
    """A number of answers, or an average of such numbers over runs."""
    return int(value) if value == int(value) else round(value, 2)


def seconds(at: datetime) -> int:
    """A time in UTC, as seconds since 1970."""
    return int(at.replace(tzinfo=UTC).timestamp())
