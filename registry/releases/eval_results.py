"""Files of results for model repositories of the Hugging Face Hub: a new folder that is whole or not there."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import text

from registry.boards.choose import leaderboards_by
from registry.errors import InputError
from registry.files import new_folder, portable
from registry.manifest import stored_manifest
from registry.releases.tables import require_current
from registry.reports.exports import Benchmark, dataset_of, eval_results
from registry.store import catalog
from registry.store.database import Database

_COMPARED = text("SELECT max(created_at) FROM latest_comparison WHERE task = :task")


def write_results(database: Database, task: str, output: Path, *, metric: str | None = None,
                  dataset: str | None = None) -> int:
    """Write `TEAM/SYSTEM/.eval_results/TASK.yaml` for every model on the boards of one metric; gives their number.

    Args:
        database: The registry.
        task: The task's id.
        output: The folder; there must be none of that name.
        metric: The metric's alias; None: the primary one.
        dataset: The data set of the Hub that is the benchmark; None: the one that is the task's page.

    Raises:
        UnknownNameError: There is no such task or metric.
        MismatchError: There is no board, or one is out of date.
        HiddenError: Scores are.
        InputError, StoreError: There is no data set, or the folder is there already or cannot be written.
    """
    with database.reading() as connection:
        (row,) = catalog.tasks(connection, task)
        require_current(connection, row)
        manifest = stored_manifest(row.manifest)
        boards = [board for board in leaderboards_by(connection, row, metric) if board.facet is None]
        of = Benchmark(dataset_of(dataset, manifest.task.url), row.title or row.slug, manifest.task.url,
                       connection.execute(_COMPARED, {"task": row.slug}).scalar_one())
        with new_folder(output) as folder:
            written = set()
            for team, system, content in eval_results(boards, of):
                path = folder / portable(team) / portable(system) / ".eval_results" / f"{row.slug}.yaml"
                if path in written:
                    raise InputError(f"{team}/{system} and another system would be the same folder")
                written.add(path)
                path.parent.mkdir(parents=True)
                path.write_text(content, "utf-8", newline="\n")
    return len(written)
