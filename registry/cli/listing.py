"""The command that lists what the registry holds and what the program knows."""

from __future__ import annotations

from dataclasses import fields
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from registry.cli.console import show
from registry.cli.options import Db, OutputFormat, database
from registry.families import FAMILIES

if TYPE_CHECKING:

    from registry.plugins import Catalogue


Thing = Literal[
    "tasks", "teams", "submissions", "metrics", "readers", "importers", "tests", "corrections", "runs"]
OWN = "evalregistry"  # where what is no package's comes from
Listing = tuple[list[str], list[dict[str, Any]]]


def list_(
    thing: Annotated[Thing, typer.Argument(help="What to list.")],
    db: Db = None, format_: OutputFormat = None,
) -> None:
    """List what the registry holds, or what the program knows.

    It holds tasks, teams, submissions and runs; the program knows metrics, readers, importers, tests and corrections.
    """
    from registry.rendering.table import Table

    known = {"metrics": _metrics, "readers": _readers, "importers": _importers, "tests": _tests,
             "corrections": _corrections}
    if thing in known:
        keys, rows = known[thing]()
    else:
        from registry.store import history

        with database(db).reading() as connection:
            keys, rows = getattr(history, f"list_{thing}")(connection)
    show([Table(rows, keys=keys)], format_)


def _metrics() -> Listing:
    from registry.metrics import METRICS

    rows = [{"id": name, "family": m.family, "statistics": _statistics(m.family), "takes": m.takes, "better": m.better,
             "options": _options(m), "about": _about(m), "citation": m.citation, "compared_with": m.scorer,
             "extra": m.extra, "from": OWN} for name, m in METRICS.items()]
    return _with_offered(rows, METRICS)


def _statistics(family: str) -> str:
    """A family's columns; of numbered ones the first and the last."""
    runs = [list(run) for _, run in groupby(FAMILIES[family].columns, key=lambda name: name.rstrip("0123456789"))]
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else run[0] for run in runs)


def _readers() -> Listing:
    from registry.metrics import METRICS
    from registry.readers import READERS

    rows = [{"id": name, "gives": r.gives,
             "metrics": ", ".join(metric for metric, m in METRICS.items() if m.takes == r.gives),
             "options": _options(r), "about": _about(r), "from": OWN} for name, r in READERS.items()]
    return _with_offered(rows, READERS)


def _importers() -> Listing:
    from registry.competitions.download import Codabench
    from registry.importers import IMPORTERS

    known = (*IMPORTERS.items(), (Codabench.name, Codabench))
    rows = [{"id": name, "options": _options(i), "about": _about(i), "from": OWN} for name, i in known]
    return _with_offered(rows, IMPORTERS)


def _with_offered(rows: list[dict[str, Any]], known: Catalogue[Any]) -> Listing:
    """What the program knows, and what packages offer, none of which is loaded to be listed."""
    keys = list(rows[0])
    return keys, rows + [dict.fromkeys(keys) | {"id": of.full_name, "from": f"{of.package} {of.version}"}
                         for of in known.offered()]


def _tests() -> Listing:
    from registry.significance import OVERALL_TESTS, TESTS

    def families(names: tuple[str, ...] | None) -> str:
        return "any that adds up" if names is None else "any" if names == tuple(FAMILIES) else ", ".join(names)

    def units(kinds: tuple[str, ...]) -> str:
        *others, last = (f"{kind}s" for kind in kinds)
        return ", ".join(others) + " or " * bool(others) + last

    rows = [
        {"id": name, "of": of, "options": _options(t), "units": units(t.units),
         "families": families(getattr(t, "families", None)),
         "independent": "assumes independent results" if getattr(t, "independent", False) else "", "about": _about(t),
         "null": t.null, "assumes": t.assumes, "citation": t.citation, "from": OWN}
        for of, known in (("pairs", TESTS), ("all systems", OVERALL_TESTS)) for name, t in known.items()]
    return _with_offered(rows, TESTS)


def _corrections() -> Listing:
    from registry.significance import CORRECTIONS

    return ["id", "controls", "assumes", "citation"], [
        {"id": name, "controls": c.controls, "assumes": c.assumes, "citation": c.citation}
        for name, c in CORRECTIONS.items()]


def _options(value: Any) -> str:
    return ", ".join(field.name for field in sorted(fields(value), key=lambda of: bool(of.metadata.get("terse"))))


def _about(value: Any) -> str:
    return str(value.__doc__).partition("\n")[0]
