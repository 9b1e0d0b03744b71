"""Commands that compute what stands beside the p-values: effects, best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.cli.console import show
from registry.cli.execution import Memory, Quiet, Workers, execution
from registry.cli.options import Db, Format, MetricAlias, OutputFormat, TaskName, database

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from registry.evaluation.comparing.settings import Request
    from registry.significance import Execution
    from registry.store.row_types import TaskRow

Unit = Annotated[str | None, typer.Option("--unit", help="item, or cluster.")]
Analysis = Callable[["Connection", "TaskRow", "Request"], Iterator[list[dict[str, Any]]]]


def effects(
    task: TaskName = None,
    metric: MetricAlias = None,
    margin: Annotated[float | None, typer.Option("--margin", help=(
        "The largest difference of scores that does not matter: also test whether systems are equivalent."))] = None,
    confidence: Annotated[float | None, typer.Option("--confidence", help="Of the intervals.")] = None,
    unit: Unit = None,
    db: Db = None,
    format_: OutputFormat = None,
    workers: Workers = None,
    memory: Memory = None,
    quiet: Quiet = False,
) -> None:
    """Print effect sizes and equivalence of every pair.

    Clustering and normality of its differences stand beside them.
    """
    from registry.studies.effects import pair_effects

    given = {"margin": margin, "confidence": confidence, "unit": unit}
    columns = ("system_a", "system_b", "effect", "value", "low", "high", "p_value", "note")
    _show(pair_effects, given, columns, task, metric, db, format_, execution(workers, None, memory, quiet=quiet))


def best(
    task: TaskName = None,
    metric: MetricAlias = None,
    alpha: Annotated[float | None, typer.Option("--alpha", help="1 - the level of all statements together.")] = None,
    resamples: Annotated[int | None, typer.Option("--resamples", help="Of the bootstrap.")] = None,
    unit: Unit = None,
    db: Db = None,
    format_: OutputFormat = None,
    workers: Workers = None,
    memory: Memory = None,
    quiet: Quiet = False,
) -> None:
    """Print which systems may be the best, and which ranks are open.

    All statements hold together, at one level.
    """
    from registry.studies.effects import best_systems

    given = {"alpha": alpha, "resamples": resamples, "unit": unit}
    columns = ("system", "score", "may_be_best", "low", "high", "rank_low", "rank_high")
    _show(best_systems, given, columns, task, metric, db, format_, execution(workers, None, memory, quiet=quiet))


def _show(analysis: Analysis, given: dict[str, Any], columns: tuple[str, ...], task: str | None, metric: str | None,
          db: Path | None, format_: Format | None, how: Execution) -> None:
    from registry.errors import MismatchError
    from registry.evaluation import declared_request
    from registry.reports.effects import effect_table
    from registry.store import catalog

    given = {name: value for name, value in given.items() if value is not None}
    with database(db).reading() as connection:
        found = []
        rows = catalog.tasks(connection, task)
        catalog.check_metric(connection, rows, metric)
        for row in rows:
            request = declared_request(row, given, None if metric is None else (metric,), how)
            found += [effect_table(rows, columns) for rows in analysis(connection, row, request)]
    if not found:
        raise MismatchError("there is nothing to compare: no board has two systems that are scored; `registry submit` "
                            "brings one in, and `registry score` scores it")
    show(found, format_)
