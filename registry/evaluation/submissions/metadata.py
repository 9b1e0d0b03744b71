"""What runs of retrieval systems say of themselves, in comments at their begin (`registry.readers.trec`).

It is text of the participants, and may name them: of an anonymous task none is given.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from registry.readers import READERS, Document
from registry.readers.trec import Trec, metadata
from registry.store import catalog, sources
from registry.store.catalog import TaskRow
from registry.values import parse


def run_metadata(connection: Connection, name: str) -> list[dict[str, Any]]:
    """The metadata of the runs of `task/test_set/team/system`, perhaps with `@version`: a row for each line.

    Args:
        connection: To the registry.
        name: The submission's, or the system's, of which all versions are meant.
    """
    slug, _, rest = name.partition("/")
    task = catalog.find(connection, TaskRow, slug=slug)
    if task is None:
        return []
    rows = []
    for of in catalog.submissions(connection, task.task_id):
        if rest not in (of.full_name, of.full_name.removesuffix(f"@{of.version}")) or not isinstance(
                parse("reader", READERS, of.reader), Trec):
            continue
        files = catalog.submitted(connection, [of.submission_id])[of.submission_id].files
        for run, kept in enumerate(files, 1):
            if sources.is_kept(connection, kept.source_digest):
                document = Document(kept.name, sources.fetch(connection, kept.source_digest))
                rows += [{"version": of.version, "run": run, "line": line} for line in metadata(document)]
    return rows
