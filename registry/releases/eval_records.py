"""Records of Every Eval Ever of a task's boards: a new folder that is whole or not there.

An aggregate record for every submission to every test set, with its samples beside it, where the format's data store
would have them. The same registry gives the same bytes: there is no time of now in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from registry.boards.leaderboard import Leaderboard, Standing
from registry.boards.load import BOARD_PAIRS
from registry.boards.snapshot import snapshot
from registry.files import new_folder, portable
from registry.importers.every_eval_ever import LAYOUT, SAMPLES, SCHEMA, SUBMISSION, TASK, TEST_SET
from registry.manifest import Manifest, stored_manifest
from registry.releases.samples import DeclaredMetric, Items, declared_metrics, layout_of, lines, one_line
from registry.releases.tables import choose, require_current
from registry.reports.exports import Described, aggregate_record, evaluation_id, file_number, model_of
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.store.database import Database
from registry.submission_fields import SUBMISSION_FIELDS

_SUBMISSIONS = """
    SELECT s.*, gold_revision_id FROM released_submission AS s JOIN released_gold USING (test_set)
    ORDER BY s.test_set, submission"""


@dataclass(frozen=True)
class Written:
    """How many records were written, and how many lines of samples."""

    records: int = 0
    samples: int = 0


def write_records(database: Database, task: str, output: Path) -> Written:
    """Write the records of a task's boards as they stand into a new folder.

    Args:
        database: The registry.
        task: The task's id.
        output: The folder; there must be none of that name.

    Raises:
        UnknownNameError: There is no such task.
        MismatchError: There is no board, or one is out of date.
        HiddenError: Scores are.
        InputError, StoreError: The folder is there already, or cannot be written.
    """
    with database.reading() as connection:
        (row,) = catalog.tasks(connection, task)
        require_current(connection, row)
        choose(connection, row)
        with new_folder(output) as folder:
            written = list(_records(connection, row, folder))
    return Written(len(written), sum(written))


def _records(connection: Connection, row: TaskRow, folder: Path) -> Iterator[int]:
    """Write every record; give the number of its samples."""
    manifest = stored_manifest(row.manifest)
    (boards,) = snapshot(connection, row.slug, pairs=BOARD_PAIRS).tasks
    stands: dict[tuple[str, str], list[tuple[Leaderboard, Standing]]] = {}
    for board in boards.boards:
        for at in board.standings:
            stands.setdefault((board.test_set, at.submission), []).append((board, at))
    metrics = declared_metrics(connection)
    compared: dict[str, datetime] = {of.test_set: of.at for of in connection.exec_driver_sql(
        'SELECT test_set, max(compared_at) AS "at" FROM released_board GROUP BY ALL')}
    submissions = connection.exec_driver_sql(_SUBMISSIONS).all()
    factors = catalog.replicate_factors(connection, [of.submission_id for of in submissions])
    items = dict[int, Items]()
    for of in submissions:
        details = {
            TASK: one_line(_declared(row, manifest, metrics)), TEST_SET: of.test_set, LAYOUT: layout_of(metrics),
            SUBMISSION: one_line(_submission(of, factors.get(of.submission_id, ())))}
        described = Described(row.slug, of.test_set, row.title, ", ".join(manifest.task.organisers), manifest.task.url,
                              compared[of.test_set], details)
        of_gold = items.setdefault(of.gold_revision_id, Items(connection, of.gold_revision_id))
        yield _write(folder, described, stands[of.test_set, of.submission],
                     (of_gold, metrics, of.scoring_id) if manifest.release.gold else None)


def _write(folder: Path, of: Described, stands: Sequence[tuple[Leaderboard, Standing]],
           samples: tuple[Items, list[DeclaredMetric], int] | None) -> int:
    """Write one record and its samples, if they may be; give the number of these."""
    standing, evaluation = stands[0][1], evaluation_id(of, stands[0][1])
    within = Path("data", portable(of.task), portable(standing.team), portable(
        standing.system + (f"@{standing.version}" if standing.version != "1" else "")))
    (folder / within).mkdir(parents=True, exist_ok=True)
    number, told = file_number(evaluation), None
    n, name = 0, within / f"{number}{SAMPLES}"
    if samples is not None:
        items, metrics, scoring_id = samples
        common = {"schema_version": SCHEMA, "evaluation_id": evaluation, "model_id": model_of(standing),
                  "evaluation_name": f"{of.task}.{of.test_set}", "evaluation_result_id": of.test_set}
        checksum = sha256()
        with (folder / name).open("xb") as file:
            for line in lines(items, metrics, scoring_id, common, of.details[LAYOUT]):
                n += file.write(content := line.encode()) > 0
                checksum.update(content)
        told = {"format": "jsonl", "file_path": name.as_posix(), "hash_algorithm": "sha256",
                "checksum": checksum.hexdigest(), "total_rows": n}
    (folder / within / f"{number}.json").write_text(aggregate_record(of, stands, told), "utf-8", newline="\n")
    return n


def _declared(row: TaskRow, manifest: Manifest, metrics: Sequence[DeclaredMetric]) -> dict[str, Any]:
    """What a task declares, as far as it is made again."""
    forms = {of.id: of.model_dump(include={"title", "decimals"}, exclude_none=True) for of in manifest.metric}
    return {
        "id": row.slug, "title": row.title, "version": row.version,
        "test_sets": [{"name": of.name, "cluster": of.cluster, "facets": of.facets} for of in manifest.test_set],
        "metrics": [{"id": of.alias, "name": repr(of.metric), "primary": of.alias == manifest.primary.id,
                     **forms[of.alias]} for of in metrics],
        "significance": manifest.significance.model_dump(mode="json", exclude_none=True) | {"seed": row.seed},
        "board": {"rank_baselines": manifest.board.rank_baselines, "rank_late": manifest.board.rank_late,
                  "ranks": manifest.board.ranks},
    }


def _submission(of: Any, factors: Sequence[dict[str, str]]) -> dict[str, Any]:
    """What a task declares of a submission, as far as it is made again."""
    facts = {field.name: getattr(of, field.name) for field in SUBMISSION_FIELDS
             if field.is_released and field.name != "digest"}
    return {"team": of.team, "system": of.system, **facts, "attributes": json.loads(of.attributes),
            **({"factors": list(factors)} if factors else {})}
