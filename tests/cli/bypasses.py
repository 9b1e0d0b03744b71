"""Ways out of a registry, each opened where what it shows comes in: the search for names must then find some.

A way is a command or a function, and what is opened is a connection of its own, a message, or one of the tables that
stand for those with names in them; all other ways stay as they are.
"""

import pkgutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

from registry.store.hiding import shadows


def organisers(of):
    """A function that gives a database, giving one whose readers see what is hidden."""
    def opened(*given, **more):
        database = of(*given, **more)
        database.organiser = True
        return database
    return opened


def _nothing(of):
    """A function that changes nothing."""
    return lambda *_: None


Opened = dict[str, Callable[..., object]]  # what stands for a function, made of that, by its place


def _of(*places: str) -> Opened:
    return {f"registry.cli.{place}": organisers for place in places}


class _Organiser:
    @staticmethod
    def get() -> bool:
        return True


# By the command whose output is opened: its connections.
READING: dict[str, Opened] = {
    "board": _of("board.database_at", "board.database"), "pairs": _of("board.database_at", "board.database"),
    "diff": _of("diff.database_at", "diff.database"), "plot": _of("plot.database"), "export": _of("export.database"),
    "page": _of("page.database_at", "page.database"), "site": _of("page.database"), "items": _of("items.database"),
    "query": {"registry.cli.query.organiser": lambda _: _Organiser}, "show": _of("trust.database"),
    "list": _of("listing.database"), "effects": _of("study.command.database"), "best": _of("study.command.database"),
    "ranking": _of("study.command.database"), "study": _of("study.command.database"),
}
# Commands that write, by what they tell: boards, errors, notes; and what leaves the registry otherwise.
WRITING: dict[str, Opened] = {
    "run": _of("task.database"), "submit": _of("task.database"), "apply": _of("task.database"),
    "compare": _of("comparison.database"), "release": _of("release.database"),
    "verify": {"registry.evaluation.verifying.verify.Verified.conceal": _nothing},
    "errors": {"registry.store.hiding.names.Names.conceal": _nothing},
    "notes": {"registry.store.hiding.names.Names.said": lambda _: lambda self, message: message},
    "python": {"registry.api.registry.Database": organisers},
}
# The tables that stand for others with names in them; the salt of a tombstone only helps to guess one.
SHADOWS = ("team", "system", "submission", "submission_source", "source", "run", "event")


@contextmanager
def opened(places: Opened) -> Iterator[None]:
    """Open a way for the length of a block."""
    with ExitStack() as stack:
        for place, made in places.items():
            module, _, name = place.rpartition(".")
            of = pkgutil.resolve_name(module)
            stack.enter_context(mock.patch.object(of, name, made(getattr(of, name))))
        yield


def without(shadow: str):
    """Leave out one of the tables that stand for those with names, for the length of a block."""
    return mock.patch.dict(shadows._NAMES, {shadow: f"SELECT * FROM {{file}}.{shadow}"})
