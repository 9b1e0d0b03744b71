"""The command that tells what changed between two states of leaderboards."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from registry.cli.console import say, terminal, write
from registry.cli.guide import names
from registry.cli.options import Db, MetricAlias, Public, private_database
from registry.cli.settings import database_path
from registry.errors import MismatchError

if TYPE_CHECKING:
    from registry.boards.states import BoardDifference


Form = Literal["table", "md", "json", "erratum"]
State_ = Annotated[str | None, typer.Argument(metavar="STATE", help=(
    "A database file, a date or a time with its zone, or the id at the end of a signature."))]


def diff(
    before: State_ = None, after: State_ = None,
    task: Annotated[str | None, typer.Option("--task", autocompletion=names.tasks, help="Only this one.")] = None,
    metric: MetricAlias = None, db: Db = None, public: Public = False,
    format_: Annotated[Form, typer.Option("--format", "-f", case_sensitive=False, help=(
        "How to write it; erratum drafts what is to be published where the gold was corrected."))] = "table",
) -> None:
    """Tell what changed between two states of leaderboards, and why.

    A state is a database file, for the boards that it shows; a date or a time with its zone, for those that the
    database showed then; or one comparison, by the id at the end of its signature. Without AFTER it is what the
    database shows now; without both, every board is held against itself before its last comparison.
    """
    found = _differences(before, after, task, metric, db, public=public)
    write(_written(found, format_))


def _differences(before: str | None, after: str | None, task: str | None, metric: str | None,
                 db: Path | None, *, public: bool) -> list[BoardDifference]:
    from registry.boards.states import compare_states, find_correction, load_latest_states, load_states

    with ExitStack() as opened:
        if before is None:
            connection = opened.enter_context(private_database(db, public=public).reading())
            pairs = [((connection, two[1]), (connection, two[0]))
                     for two in load_latest_states(connection, task, metric).values() if len(two) > 1]
            if not pairs:
                raise MismatchError("no board has been in two states; name two databases, or compare once more")
        else:
            meant = [_meant(name, db) for name in (before, after)]
            connections = {place: opened.enter_context(private_database(*place, public=public).reading())
                           for place in dict.fromkeys((of.file, of.at) for of in meant)}
            one, other = (connections[of.file, of.at] for of in meant)
            first, second = (load_states(connection, of.identity, task, metric)
                             for connection, of in zip((one, other), meant, strict=True))
            pairs = [((one, first[key]), (other, second[key])) for key in second if key in first]
            if not pairs:
                raise MismatchError(f"{before} and {after or 'the database'} have no board in common")
            if not any(of.identity for of in meant):  # not one state by its id
                for key in first.keys() ^ second.keys():
                    say(f"note: only {before if key in first else after or 'the database'} has {key.name}")
        return [compare_states(was[1], now[1], find_correction(was, now)) for was, now in pairs]


class _Meant(NamedTuple):
    """What names a state: the file, the moment of the past, and the id of one comparison; None: now, and all."""

    file: Path
    at: str | None = None
    identity: str | None = None


def _meant(name: str | None, db: Path | None) -> _Meant:
    """What the name of a state means."""
    from registry.store.log import is_time

    if name is None:
        return _Meant(database_path(db))
    if Path(name).is_file():
        return _Meant(Path(name))
    return _Meant(database_path(db), at=name) if is_time(name) else _Meant(database_path(db), identity=name)


def _written(found: list[BoardDifference], form: Form) -> str:
    import json

    from registry.rendering.render import render
    from registry.reports.differences import draft_erratum, make_difference_data, make_difference_tables

    if form == "erratum":
        if not (corrected := [of for of in found if of.correction is not None]):
            raise MismatchError("no erratum to draft: both states of every board have the same gold")
        return draft_erratum(corrected)
    if form == "json":
        return json.dumps([make_difference_data(of) for of in found], indent=2) + "\n"
    width, color = terminal()
    return render([table for of in found for table in make_difference_tables(of)], form, width=width, color=color)
