"""The index of a site with a card and a small chart for each task, and the feed of changes (Atom, RFC 4287)."""

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
    BestOf,
    Change,
    Changes,
    FirstBoard,
    NewGold,
    NewSystems,
    Withdrawn,
    first_board,
    overview,
)
from registry.boards.snapshot import TaskBoards
from registry.errors import counted, listed
from registry.rendering.table import format_p_value, make_number_format
from registry.reports.page.data import Json, dump_json
from registry.reports.page.html import policy, rendered, script, style

WIDTH, HEIGHT = 300, 84
DRAWN = 60  # systems of a board that are drawn
_LEFT, _TOP, _BOTTOM = 52, 8, 8
_APART = 18  # pixels from one system to the next, at most
_SEVERAL = 5  # values from which on there are outliers


@dataclass(frozen=True)
class Skyline:
    """What is drawn, as the data of SVG paths.

    Attributes:
        first, others: Dots of the systems to which the first place is open, and of the others.
        spans: Intervals.
        beyond: Arrows of systems that are below the scale.
        top, bottom: The ends of the scale, the better one first; empty where all scores are the same.
        n: How many systems are drawn.
    """

    first: str
    others: str
    spans: str
    beyond: str
    top: str
    bottom: str
    n: int


def skyline(board: Leaderboard) -> Skyline:
    """Draw the best systems of a leaderboard that have a score."""
    shown = [n for n, of in enumerate(board.standings) if of.score is not None][:DRAWN]
    rows = [(float(of.score or 0), of.ci_low, of.ci_high) for n in shown for of in [board.standings[n]]]
    sign = -1 if board.better == "lower" else 1  # the better scores are above
    low, high = _scale(rows, sign)
    step = min(_APART, (WIDTH - _LEFT - 8) / max(1, len(shown)))

    def y(value: float) -> str:
        share = (min(high, max(low, value)) - low) / (high - low) if high > low else 0.5
        return f"{HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * (share if sign > 0 else 1 - share):.1f}"

    paths: dict[str, list[str]] = {"first": [], "others": [], "spans": [], "beyond": []}
    for place, (n, (score, least, most)) in enumerate(zip(shown, rows, strict=True)):
        x, open_to = f"{_LEFT + step * (place + 0.5):.1f}", board.rank_ranges[n]
        if low <= score <= high:
            paths["first" if open_to is not None and open_to[0] == 1 else "others"].append(f"M{x} {y(score)}h0")
            if least is not None or most is not None:
                paths["spans"].append(f"M{x} {y(low if least is None else least)}V{y(high if most is None else most)}")
        else:
            paths["beyond"].append(f"M{x} {HEIGHT - 1}l-3 -5h6z")
    ends = (high, low) if sign > 0 else (low, high)
    top, bottom = map(make_number_format(_digits(low, high)), ends) if high > low else ("", "")
    return Skyline(**{name: "".join(parts) for name, parts in paths.items()}, top=top, bottom=bottom, n=len(shown))


def _scale(rows: Sequence[tuple[float, float | None, float | None]], sign: int) -> tuple[float, float]:
    """The ends of the scale, which outliers among the worse scores do not rule; as on the task's page (plots.js).

    The best scores are what a reader comes for, and always on it.
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


def _digits(low: float, high: float) -> int:
    return int(min(6, max(2, 1 - np.floor(np.log10(high - low)))))


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
            "n_systems": len(board.standings), "score": make_number_format(board.decimals)(best), **_firsts(board)}


def _firsts(board: Leaderboard) -> Json:
    """Those to which the first place is open, as far as they are named; how many more; and what that means."""
    ranked = [n for n, places in enumerate(board.rank_ranges) if places is not None]
    firsts = [n for n in ranked if (board.rank_ranges[n] or (0, 0))[0] == 1]
    names = tuple(board.standings[n].display_name for n in firsts)
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


STYLES = ("base.css", "about.css", "site.css")
_SYSTEMS = 100  # of the overview
_TASKS = 8  # whose ranks it shows one by one


@dataclass(frozen=True)
class Card:
    """A task on the index: what is said of it, the same as HTML, and its first leaderboard beside those of others."""

    entry: Json
    html: Markup
    first: FirstBoard


def card(file: str, contents: TaskBoards) -> Card:
    """The card of a task that has a leaderboard, and a page in a file."""
    entry = task_entry(file, contents)
    written = rendered("card.html", of=entry, width=WIDTH, height=HEIGHT)
    return Card(entry, Markup(written), first_board(contents))  # noqa: S704  (the template escapes)


def site_index(cards: Sequence[Card], left_out: Sequence[str] = ()) -> str:
    """The index of a site.

    Args:
        cards: The tasks; those that were compared last come first.
        left_out: What is said of tasks that have no page.
    """
    across = overview([of.first for of in cards])
    cards = sorted(cards, key=lambda of: of.entry["compared"], reverse=True)
    entries = [of.entry for of in cards]
    names, said = searched(entries), totals(entries)
    newest = max((of["compared"] for of in entries), default="")
    styled, scripted = style(STYLES), script("site")
    return rendered(
        "index.html", heading="Leaderboards", preview=f"{said}; last compared {newest}." if newest else f"{said}.",
        cards=[of.html for of in cards], links={of["task"]: of["link"] for of in entries}, totals=said, newest=newest,
        left_out=left_out, across=across, most=_SYSTEMS, each=across is not None and len(across.tasks) <= _TASKS,
        unsearched=names["left_out"], names=Markup(dump_json(names["names"])),  # noqa: S704
        style=styled, script=scripted, policy=policy(styled, scripted))


ENTRIES = 100  # entries, the last ones
_LISTED = 30  # systems that an entry names
_KINDS = {NewGold: "gold", NewSystems: "systems", Withdrawn: "withdrawn", BestOf: "best"}


def feed(changes: Changes, address: str = "") -> str:
    """The feed of a site, which lies beside its index.

    Args:
        changes: What changed.
        address: Of the site's folder, ending with a slash; without it links are relative to the feed, which not all
            programs that read feeds follow.
    """
    shown = changes.changes[:ENTRIES]
    updated = shown[0].at if shown else datetime(1970, 1, 1)
    return rendered("feed.xml", id=_id(changes.origin), updated=_written(updated), address=address, entries=[
        _entry(changes.origin, of, address) for of in shown])


def _entry(origin: str, of: Change, address: str) -> dict[str, Any]:
    headline, content, view = _told(of)
    link = f"{address}tasks/{quote(of.task)}.html" + (f"#{urlencode(view)}" if view else "")
    return {"id": _id(f"{origin}|{of.key}"), "kind": _KINDS[type(of.what)],
            "title": f"{of.title or of.task}: {headline}", "updated": _written(of.at), "link": link,
            "organisers": of.organisers, "content": content}


def _told(of: Change) -> tuple[str, str, dict[str, str]]:
    """A headline, what else there is to say, and the view of the task's page that shows it."""
    match of.what:
        case NewGold() as gold:
            items = counted(gold.n_items, "item")
            view = {"set": gold.test_set}
            if gold.revision == 1:
                return f"new test set {gold.test_set}", f"Test set {gold.test_set} of task {of.task} has {items}.", view
            return (f"corrected gold of {gold.test_set}", f"Revision {gold.revision} of the gold of {of.task}/"
                    f"{gold.test_set} has {items}; scores by earlier ones are not comparable with it.", view)
        case NewSystems() as systems:
            return _headline_of(systems), " ".join(filter(None, (
                _listed("New:", systems.new), _listed("New versions:", systems.again)))), {}
        case Withdrawn(names):
            return (f"{names[0]} withdrawn" if len(names) == 1 else f"{len(names)} submissions withdrawn",
                    _listed("No longer on the boards:", names), {})
        case BestOf() as best:
            return _told_of_best(best)


def _headline_of(systems: NewSystems) -> str:
    if len(systems.new) + len(systems.again) == 1:
        return f"new system {systems.new[0]}" if systems.new else f"new version {systems.again[0]}"
    return " and ".join(filter(None, (
        counted(len(systems.new), "new system") if systems.new else "",
        counted(len(systems.again), "new version") if systems.again else "")))


def _listed(what: str, names: Sequence[str]) -> str:
    return f"{what} {listed(names, _LISTED)}." if names else ""


def _told_of_best(of: BestOf) -> tuple[str, str, dict[str, str]]:
    best, before, score = of.best, of.before, make_number_format(of.decimals)
    where = of.key.test_set + (f", track {of.key.track}" if of.key.track else "")
    same = (best.team, best.system) == (before.team, before.system)
    said = [f"{best.display_name} is first on {where}, with {of.metric} {score(best.score)}; before, "
            f"it was {before.display_name}, with {score(before.score)}."]
    if best.tied:
        said.append(f"{counted(best.tied, 'other has', 'others have')} the same rank.")
    p = f" (adjusted p {format_p_value(best.p_adjusted)})" if best.p_adjusted is not None else ""
    if best.significant is not None and not same:
        said.append(f"The difference between the two is {'' if best.significant else 'not '}significant{p}.")
    said += [f"Since then {why}." for why in best.why]
    view = {"metric": of.key.metric, "set": of.key.test_set} | ({"track": of.key.track} if of.key.track else {})
    return f"{'new score of the best' if same else 'new best'}, {best.display_name}", " ".join(said), view


def _id(name: str) -> str:
    return f"urn:uuid:{uuid5(NAMESPACE_URL, f'evalregistry:{name}')}"


def _written(at: datetime) -> str:
    return at.replace(tzinfo=UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
