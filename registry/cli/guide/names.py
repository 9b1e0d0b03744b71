"""Names that complete a command line: of a registry, or of what the program offers.

Nothing here may wait or change anything; shells ignore errors.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import typer

from registry.cli.settings import database_path


def of_registry(kind: str) -> Callable[[typer.Context, str], list[str]]:
    """Return a function that lists a registry's names of a kind, of the task if one is given."""
    def names(ctx: typer.Context, incomplete: str) -> list[str]:
        from registry.store.completions import completions

        db, task = ctx.params.get("db"), ctx.params.get("task")
        found = completions(database_path(Path(db) if db else None), kind, incomplete, task)
        return [name for name in found if not name.startswith("-")]  # which would be an option

    return names


def of_program(*tables: str) -> Callable[[], list[str]]:
    """Return a function that lists the names in tables, each given as `module:name` below `registry`."""
    def names() -> list[str]:
        parts = [table.split(":") for table in tables]
        return [name for module, attribute in parts for name in getattr(import_module(f"registry.{module}"), attribute)]

    return names


tasks, test_sets, tracks = of_registry("task"), of_registry("test set"), of_registry("track")
teams, systems, submissions = of_registry("team"), of_registry("system"), of_registry("submission")
metric_ids, items, facets = of_registry("metric"), of_registry("item"), of_registry("facet")
team_systems, tables, signatures = of_registry("team/system"), of_registry("table"), of_registry("signature")
metrics, readers, importers = of_program("metrics:METRICS"), of_program("readers:READERS"), of_program(
    "importers:IMPORTERS")
kinds = of_program("readers:READERS", "importers:IMPORTERS")
tests, corrections = of_program("significance:TESTS"), of_program("significance:CORRECTIONS")
