"""The index of a site, and the feed of changes (Atom, RFC 4287).

The index has a card with a small chart for each task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode
from uuid import NAMESPACE_URL, uuid5

import numpy as np
from markupsafe import Markup

from registry.boards.leaderboard import Leaderboard
from registry.boards.site import (
    Change,
    Changes,
    FirstBoard,
    NewGold,
    NewLeader,
    NewSystems,
    WithdrawnSubmissions,
    find_first_board,
    make_overview,
)
from registry.boards.snapshot import TaskBoards
from registry.errors import counted, listed
from registry.rendering.table import format_p_value, make_number_format
from registry.reports.page.data import Json, dump_json, make_overview_row, make_result
from registry.reports.page.html import load_script, load_styles, make_policy, render_template

WIDTH, HEIGHT = 300, 84
DRAWN = 60  # systems of a board in the chart
_LEFT, _TOP, _BOTTOM = 52, 8, 8
_PITCH = 18  # pixels between two systems, at most
_SEVERAL = 5  # with fewer values, no value counts as an outlier


@dataclass(frozen=True)
class Skyline:
    """Small chart of the scores on a leaderboard, for the list of tasks.

    Attributes:
        first: The dots of systems whose rank range includes rank 1, as an SVG path.
        others: The dots of the other systems, as an SVG path.
        spans: The lines of confidence intervals, as an SVG path.
        beyond: The arrows of scores outside the axis, as an SVG path.
        top, bottom: The better and the worse end of the axis, as text; empty if all scores are equal.
        n: The number of systems in the chart.
    """

    first: str
    others: str
    spans: str
    beyond: str
    top: str
    bottom: str
    n: int


def draw_skyline(board: Leaderboard) -> Skyline:
    """Draw a small chart with the scores of a leaderboard's best systems.

    Systems without a score are left out.
    """
    shown = [n for n, standing in enumerate(board.standings) if standing.score is not None][:DRAWN]
    rows = [(float(standing.score or 0), standing.ci_low, standing.ci_high)
            for standing in map(board.standings.__getitem__, shown)]
    sign = -1 if board.better == "lower" else 1  # better scores are at the top
    low, high = _find_scale(rows, sign)
    step = min(_PITCH, (WIDTH - _LEFT - 8) / max(1, len(shown)))

    def compute_y(value: float) -> str:
        share = (min(high, max(low, value)) - low) / (high - low) if high > low else 0.5
        return f"{HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * (share if sign > 0 else 1 - share):.1f}"

    paths: dict[str, list[str]] = {"first": [], "others": [], "spans": [], "beyond": []}
    for place, (n, (score, least, most)) in enumerate(zip(shown, rows, strict=True)):
        x, ranks = f"{_LEFT + step * (place + 0.5):.1f}", board.rank_ranges[n]
        if low <= score <= high:
            may_be_first = ranks is not None and ranks[0] == 1
            paths["first" if may_be_first else "others"].append(f"M{x} {compute_y(score)}h0")
            if least is not None or most is not None:
                paths["spans"].append(f"M{x} {compute_y(low if least is None else least)}"
                                      f"V{compute_y(high if most is None else most)}")
        else:
            paths["beyond"].append(f"M{x} {HEIGHT - 1}l-3 -5h6z")
    ends = (high, low) if sign > 0 else (low, high)
    top, bottom = map(make_number_format(_count_decimals(low, high)), ends) if high > low else ("", "")
    return Skyline(**{name: "".join(parts) for name, parts in paths.items()}, top=top, bottom=bottom, n=len(shown))


def _find_scale(rows: Sequence[tuple[float, float | None, float | None]], sign: int) -> tuple[float, float]:
    """Return the ends of the axis of scores, which leaves out bad outliers.

    The script of the task's page (plots.js) has the same rule.

    Args:
        rows: The score of each system, and the ends of its confidence interval.
        sign: 1 if higher scores are better, -1 if lower scores are better.
    """
    values = np.array([end for score, low, high in rows for end in (
        score, score if low is None else low, score if high is None else high)])
    if not len(values):
        return 0.0, 0.0
    whole = float(values.min()), float(values.max())
    if len(rows) < _SEVERAL:
        return whole
    lower, upper = np.quantile(values, (0.25, 0.75))
    reach = 1.5 * (upper - lower) or np.inf
    inside = values[values >= lower - reach] if sign > 0 else values[values <= upper + reach]
    inner = float(inside.min()), float(inside.max())
    return inner if whole[1] - whole[0] > 1.5 * (inner[1] - inner[0]) else whole


def _count_decimals(low: float, high: float) -> int:
    return int(min(6, max(2, 1 - np.floor(np.log10(high - low)))))


SEARCHED = 600_000  # characters of systems' names that people can search for
_DESCRIBED = 240  # characters of a description


def make_task_entry(file: str, contents: TaskBoards) -> Json:
    """Return the data of one task for the index page of a site.

    Args:
        file: The name of the file with the task's page.
        contents: The leaderboards of the task; at least one.
    """
    boards, task = contents.primary_first, contents.about.declared
    board, link = boards[0], quote(file)
    description = " ".join(task.description.split())
    return {
        "link": link, "task": contents.task, "title": contents.title or contents.task, "version": contents.version,
        "description": description if len(description) <= _DESCRIBED else f"{description[:_DESCRIBED - 1]}…",
        "organisers": ", ".join(task.organisers), "held": task.date or "", "compared": contents.about.compared,
        "metric": board.metric_title, "test_set": board.test_set, "better": board.better,
        "n_systems": len(board.standings), "n_items": board.comparison.n_items,
        "result": make_result(board, boards), "chart": draw_skyline(board),
        "notes": tuple(message.finding for message in board.outdated),
        "boards": [make_overview_row(board, boards, link) for board in boards],
        "names": tuple(dict.fromkeys(standing.system for board in boards for standing in board.standings))}


def select_searchable_names(entries: Sequence[Json]) -> Json:
    """Select the names of systems that visitors of the index page can search.

    To limit the size of the page, tasks with very many names are left out.

    Returns:
        The names by task; and `left_out`, the number of tasks that are left out.
    """
    room, left_out, names = SEARCHED, 0, dict[str, Sequence[str]]()
    for entry in sorted(entries, key=lambda entry: len(entry["names"])):
        room -= sum(map(len, entry["names"]))
        if room >= 0:
            names[entry["task"]] = entry["names"]
        else:
            left_out += 1
    return {"names": names, "left_out": left_out}


STYLES = ("base.css", "about.css", "site.css")
_SYSTEMS = 100  # systems of the overview
_TASKS = 8  # with more tasks, the overview does not show single ranks


@dataclass(frozen=True)
class Card:
    """Box about one task on the index page of a site.

    Attributes:
        entry: The data of the task.
        html: The box as HTML.
        first: The first leaderboard of the task, for the overview of all tasks.
    """

    entry: Json
    html: Markup
    first: FirstBoard


def card(file: str, contents: TaskBoards) -> Card:
    """Make the box about a task for the index page of a site.

    Args:
        file: The name of the file with the task's page.
        contents: The leaderboards of the task; at least one.
    """
    entry = make_task_entry(file, contents)
    html = render_template("card.html", of=entry, width=WIDTH, height=HEIGHT)
    return Card(entry, Markup(html), find_first_board(contents))  # noqa: S704  (the template escapes)


def site_index(cards: Sequence[Card], left_out: Sequence[str] = ()) -> str:
    """Return the HTML index page of a site, which lists all tasks.

    The task with the latest results is at the top.

    Args:
        cards: The boxes of the tasks.
        left_out: Sentences about tasks without a page.
    """
    overview = make_overview([task_card.first for task_card in cards])
    cards = sorted(cards, key=lambda task_card: task_card.entry["compared"], reverse=True)
    entries = [task_card.entry for task_card in cards]
    names = select_searchable_names(entries)
    n_boards = sum(len(entry["boards"]) for entry in entries)
    totals = f"{counted(len(entries), 'task')}, {counted(n_boards, 'leaderboard')}"
    newest = max((entry["compared"] for entry in entries), default="")
    css, js = load_styles(STYLES), load_script("site")
    return render_template(
        "index.html", heading="Leaderboards",
        preview=f"{totals}; last compared {newest}." if newest else f"{totals}.",
        cards=[task_card.html for task_card in cards], links={entry["task"]: entry["link"] for entry in entries},
        totals=totals, newest=newest, left_out=left_out, across=overview, most=_SYSTEMS,
        each=overview is not None and len(overview.tasks) <= _TASKS,
        unsearched=names["left_out"], names=Markup(dump_json(names["names"])),  # noqa: S704
        style=css, script=js, policy=make_policy(css, js))


ENTRIES = 100  # entries of the feed, the newest ones
_LISTED = 30  # names in an entry
_KINDS = {NewGold: "gold", NewSystems: "systems", WithdrawnSubmissions: "withdrawn", NewLeader: "best"}


def feed(changes: Changes, address: str = "") -> str:
    """Return the Atom feed of a site, which reports changes such as new systems.

    Args:
        changes: The changes, the newest first.
        address: The address of the site's folder, with a final slash. If it is empty, links are relative, which some
            feed readers do not support.
    """
    shown = changes.changes[:ENTRIES]
    updated = shown[0].time if shown else datetime(1970, 1, 1)
    return render_template("feed.xml", id=_make_id(changes.origin), updated=_format_time(updated), address=address,
                           entries=[_make_entry(changes.origin, change, address) for change in shown])


def _make_entry(origin: str, change: Change, address: str) -> dict[str, Any]:
    headline, content, view = _describe_change(change)
    link = f"{address}tasks/{quote(change.task)}.html" + (f"#{urlencode(view)}" if view else "")
    return {"id": _make_id(f"{origin}|{change.key}"), "kind": _KINDS[type(change.event)],
            "title": f"{change.title or change.task}: {headline}", "updated": _format_time(change.time), "link": link,
            "organisers": change.organisers, "content": content}


def _describe_change(change: Change) -> tuple[str, str, dict[str, str]]:
    """Return headline and text of a change, and the parameters of the link to it."""
    match change.event:
        case NewGold() as gold:
            items, view = counted(gold.n_items, "item"), {"set": gold.test_set}
            if gold.revision == 1:
                return (f"new test set {gold.test_set}",
                        f"Test set {gold.test_set} of task {change.task} has {items}.", view)
            return (f"corrected gold of {gold.test_set}", f"Revision {gold.revision} of the gold of {change.task}/"
                    f"{gold.test_set} has {items}; scores by earlier revisions are not comparable with it.", view)
        case NewSystems() as systems:
            return _count_systems(systems), " ".join(filter(None, (
                _list_names("New:", systems.new), _list_names("New versions:", systems.new_versions)))), {}
        case WithdrawnSubmissions(names):
            return (f"{names[0]} withdrawn" if len(names) == 1 else f"{len(names)} submissions withdrawn",
                    _list_names("No longer on the boards:", names), {})
        case NewLeader() as leader:
            return _describe_leader(leader)


def _count_systems(systems: NewSystems) -> str:
    if len(systems.new) + len(systems.new_versions) == 1:
        return f"new system {systems.new[0]}" if systems.new else f"new version {systems.new_versions[0]}"
    return " and ".join(counted(len(names), kind) for kind, names in (
        ("new system", systems.new), ("new version", systems.new_versions)) if names)


def _list_names(title: str, names: Sequence[str]) -> str:
    return f"{title} {listed(names, _LISTED)}." if names else ""


def _describe_leader(leader: NewLeader) -> tuple[str, str, dict[str, str]]:
    best, before, format_score = leader.best, leader.before, make_number_format(leader.decimals)
    board = leader.key.test_set + (f", track {leader.key.track}" if leader.key.track else "")
    is_same = (best.team, best.system) == (before.team, before.system)
    sentences = [f"{best.display_name} is first on {board}, with {leader.metric} {format_score(best.score)}; before, "
                 f"it was {before.display_name}, with {format_score(before.score)}."]
    if best.tied:
        sentences.append(f"{counted(best.tied, 'other has', 'others have')} the same rank.")
    p = f" (adjusted p {format_p_value(best.p_adjusted)})" if best.p_adjusted is not None else ""
    if best.significant is not None and not is_same:
        sentences.append(f"The difference between the two is {'' if best.significant else 'not '}significant{p}.")
    sentences += [f"Since then {why}." for why in best.why]
    view = {"metric": leader.key.metric, "set": leader.key.test_set} | (
        {"track": leader.key.track} if leader.key.track else {})
    headline = "new score of the best" if is_same else "new best"
    return f"{headline}, {best.display_name}", " ".join(sentences), view


def _make_id(name: str) -> str:
    return f"urn:uuid:{uuid5(NAMESPACE_URL, f'evalregistry:{name}')}"


def _format_time(time: datetime) -> str:
    return time.replace(tzinfo=UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
