"""What changed as an Atom feed (RFC 4287), for readers of feeds: the last changes, each with an id that stays."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode
from uuid import NAMESPACE_URL, uuid5

from registry.boards.site import BestOf, Change, Changes, NewGold, NewSystems, Withdrawn
from registry.errors import counted, listed
from registry.rendering.table import number, p_value
from registry.reports.page.templates import rendered

MOST = 100  # entries, the last ones
_LISTED = 30  # systems that an entry names
_KINDS = {NewGold: "gold", NewSystems: "systems", Withdrawn: "withdrawn", BestOf: "best"}


def feed(changes: Changes, address: str = "") -> str:
    """The feed of a site, which lies beside its index.

    Args:
        changes: What changed.
        address: Of the site's folder, ending with a slash; without it links are relative to the feed, which not all
            programs that read feeds follow.
    """
    shown = changes.changes[:MOST]
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
    best, before, score = of.best, of.before, number(of.decimals)
    where = of.key.test_set + (f", track {of.key.track}" if of.key.track else "")
    same = (best.team, best.system) == (before.team, before.system)
    said = [f"{best.shown} is first on {where}, with {of.metric} {score(best.score)}; before, it was {before.shown}, "
            f"with {score(before.score)}."]
    if best.tied:
        said.append(f"{counted(best.tied, 'other has', 'others have')} the same rank.")
    p = f" (adjusted p {p_value(best.p_adjusted)})" if best.p_adjusted is not None else ""
    if best.significant is not None and not same:
        said.append(f"The difference between the two is {'' if best.significant else 'not '}significant{p}.")
    said += [f"Since then {why}." for why in best.why]
    view = {"metric": of.key.metric, "set": of.key.test_set} | ({"track": of.key.track} if of.key.track else {})
    return f"{'new score of the best' if same else 'new best'}, {best.shown}", " ".join(said), view


def _id(name: str) -> str:
    return f"urn:uuid:{uuid5(NAMESPACE_URL, f'evalregistry:{name}')}"


def _written(at: datetime) -> str:
    return at.replace(tzinfo=UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
