"""What a site's index says of each task: its first leaderboard in words and as a chart, and where the others are."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, urlencode

from registry.errors import counted
from registry.leaderboards.leaderboard import Leaderboard
from registry.leaderboards.snapshot import TaskBoards
from registry.rendering.table import number
from registry.reports.page.data.columns import Json
from registry.reports.page.data.skyline import skyline

SEARCHED = 600_000  # characters of systems' names that can be searched for
_NAMED = 4  # systems in a sentence
_DESCRIBED = 240  # characters of a description


def task_entry(file: str, contents: TaskBoards) -> Json:
    """What the index says of a task whose page is in a file: of itself, its first leaderboard, and all of them.

    `first` are those to which its first place is open, as far as they are named, `more` how many more there are, and
    `says` what that means; `names` are those of all systems.
    """
    boards, task = contents.primary_first, contents.about.declared
    board, link = boards[0], quote(file)
    description = " ".join(task.description.split())
    return {
        "link": link, "task": contents.task, "title": contents.title or contents.task, "version": contents.version,
        "description": description if len(description) <= _DESCRIBED else f"{description[:_DESCRIBED - 1]}…",
        "organisers": ", ".join(task.organisers), "held": task.date or "", "compared": contents.about.compared,
        "metric": board.metric_title, "test_set": board.test_set, "better": board.better,
        "n_systems": len(board.standings), "n_items": board.comparison.n_items, **_firsts(board),
        "chart": skyline(board), "notes": tuple(message.sentence for message in board.outdated),
        "boards": [_board_entry(link, of) for of in boards],
        "names": tuple(dict.fromkeys(of.system for board in boards for of in board.standings))}


def board_link(page: str, of: Leaderboard) -> str:
    """Where a leaderboard is on the page of its task."""
    where = {"metric": of.metric, "set": of.test_set, "track": of.track, "facet": of.facet}
    return f"{page}#{urlencode({name: value for name, value in where.items() if value})}"


def searched(entries: Sequence[Json]) -> Json:
    """The names that can be searched for, by task, and of how many tasks there was no room for all."""
    room, left_out, names = SEARCHED, 0, dict[str, Sequence[str]]()
    for entry in sorted(entries, key=lambda of: len(of["names"])):
        room -= sum(map(len, entry["names"]))
        if room >= 0:
            names[entry["task"]] = entry["names"]
        else:
            left_out += 1
    return {"names": names, "left_out": left_out}


def _board_entry(page: str, board: Leaderboard) -> Json:
    best = board.standings[0].score if board.standings else None
    return {"link": board_link(page, board), "title": board.title.removeprefix(f"{board.task}/"),
            "n_systems": len(board.standings), "score": number(board.decimals)(best), **_firsts(board)}


def _firsts(board: Leaderboard) -> Json:
    """Those to which the first place is open, as far as they are named; how many more; and what that means."""
    ranked = [n for n, places in enumerate(board.open_places) if places is not None]
    firsts = [n for n in ranked if (board.open_places[n] or (0, 0))[0] == 1]
    names = tuple(board.standings[n].shown for n in firsts)
    return {"first": names[:_NAMED], "more": max(0, len(names) - _NAMED), "says": _meaning(len(firsts), len(ranked))}


def _meaning(firsts: int, ranked: int) -> str:
    if not ranked:
        return "No system is ranked."
    if ranked == 1:
        return "One system is ranked:"
    if firsts == 1:
        return f"First of {counted(ranked, 'system')}:"
    return f"{'All' if firsts == ranked else f'{firsts} of'} {ranked} systems share the first place:"


def totals(entries: Sequence[Json]) -> str:
    """How much there is."""
    return f"{counted(len(entries), 'task')}, {counted(sum(len(of['boards']) for of in entries), 'leaderboard')}"
