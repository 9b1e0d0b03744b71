"""What is remarkable about submissions, as footnotes of the boards that they stand on."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, text

from registry.errors import counted

_NAMED = 5  # systems in a footnote


def remarks_of(connection: Connection, task: str) -> dict[int, tuple[str, ...]]:
    """What is remarkable about the submissions to a task that take part, by their ids; runs are numbered from 1."""
    found: dict[int, list[str]] = {}
    query = text("""
        SELECT submission_id, replicate, message, runs.n > 1 AS several FROM submission_remark
        JOIN (SELECT submission_id, count(*) AS n FROM submission_source GROUP BY ALL) AS runs USING (submission_id)
        WHERE task = :task ORDER BY submission_id, replicate NULLS LAST, category, message""")
    for row in connection.execute(query, {"task": task}):
        run = f"run {row.replicate + 1}: " if row.several and row.replicate is not None else ""
        found.setdefault(row.submission_id, []).append(run + row.message)
    return {submission: tuple(remarks) for submission, remarks in found.items()}


def footnotes(standings: Sequence[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """A sentence for each remark, with the names of the systems that it is about.

    >>> footnotes([("a", ["came twice"]), ("b", ["came twice", "left"])])
    ('a, b: came twice.', 'b: left.')
    """
    about: dict[str, list[str]] = {}
    for system, remarks in standings:
        for remark in remarks:
            about.setdefault(remark, []).append(system)
    return tuple(f"{_names(systems)}: {remark.rstrip('?.')}{'?' if remark.endswith('?') else '.'}"
                 for remark, systems in about.items())


def _names(systems: Sequence[str]) -> str:
    more = len(systems) - _NAMED
    return ", ".join(systems[:_NAMED]) + (f" and {counted(more, 'more system')}" if more > 0 else "")
