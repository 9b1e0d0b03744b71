"""The log of a public file: lists of the actions and details that are published; all others are left out.

Public entries have no hash, because the hash of an entry covers private data.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from registry.identity import canonical_json
from registry.submission_fields import SUBMISSION_FIELDS

_HIDING = ("anonymous_until", "blind_until")
_SUBMITTED = (*(field.column for field in SUBMISSION_FIELDS if field.may_change and field.public != "never"), "said_in")
_COMPARED = ("digest", "signature")
# The published details of entries, by their action.
_DETAILS: Mapping[str, tuple[str, ...]] = {
    "task": ("version", "normalized", "seed", "said_in", *_HIDING), "hide": _HIDING, "reveal": _HIDING,
    "gold": ("digest", "items"), "score": ("computed", "scorers"),
    "submission-added": _SUBMITTED, "submission-changed": _SUBMITTED,
    "compare": _COMPARED, "compare-again": _COMPARED, "board-retired": _COMPARED, "study": ("signature",),
    "ladder": ("gold_revision_id", "track", "metric", "submission_id", "step", "before", "shown", "raised"),
    "purge": (),
}
_OF_COMPARISONS = ("compare", "compare-again", "board-retired")
_OF_SCORES = ("score", "study", *_OF_COMPARISONS)
_OF_SUBMISSIONS = ("submission-added", "submission-changed", "ladder", "purge")
_NUMBERS = {"gold_revision_id": "gold_revision", "submission_id": "submission", "track_id": "track"}

_ENTRIES = text("""
    SELECT e.event_id, number.new AS run_id, e."at", e.action, e.subject, e.details, task.slug, is_anonymous, is_blind,
        coalesce(run.ended_at, run.started_at) AS ended_at
    FROM event AS e JOIN public_task AS task ON task.slug = split_part(e.subject, '/', 1)
    JOIN number_run AS number ON number.old = e.run_id JOIN run ON run.run_id = e.run_id
    ORDER BY e.event_id""")
_NAMES = text("""
    SELECT prefix || real_name AS stored, prefix || team || '/' || system || '@' || version AS shown
    FROM public_submission""")
_DIGESTS = text("SELECT digest FROM comparison JOIN public_comparison USING (comparison_id)")
_STUDIES = text("SELECT signature FROM study JOIN number_study ON old = study_id")
_GOLD = text("SELECT test_set, real_digest, digest FROM public_gold")


class _Entry(NamedTuple):
    """A published entry: its stored id, its details, its other columns, and whether its submission may be named."""

    stored_id: int
    details: dict[str, Any]
    columns: dict[str, Any]
    is_named: bool


def public_log(connection: Connection, manifests: Collection[str]) -> list[dict[str, Any]]:
    """Return the rows of a public file's table `event`, in their order.

    Args:
        connection: To the registry's own file, with the temporary tables of a publication.
        manifests: The digests of published manifests; another one would confirm a guess at what its manifest names.
    """
    names = dict(map(tuple, connection.execute(_NAMES)))
    compared = set(connection.execute(_DIGESTS).scalars())
    studied = set(connection.execute(_STUDIES).scalars())
    golds = {(row.test_set, row.real_digest): row.digest for row in connection.execute(_GOLD)}
    published = []
    for row in connection.execute(_ENTRIES):
        stored = json.loads(row.details)
        if row.action not in _DETAILS or (row.is_blind and row.action in _OF_SCORES):
            continue
        if (row.action == "study" and stored.get("signature") not in studied) or (
                row.action in _OF_COMPARISONS and stored.get("digest") not in compared):
            continue
        is_named = not (row.is_anonymous and row.action in _OF_SUBMISSIONS)
        details = {key: stored[key] for key in _DETAILS[row.action]
                   if key in stored and (is_named or row.action == "ladder")
                   and (key != "normalized" or stored[key] in manifests)}
        if row.action == "gold" and "digest" in details:
            details["digest"] = golds.get((row.subject, stored["digest"]), "")
        published.append(_Entry(row.event_id, details, {
            "run_id": row.run_id, "at": row.ended_at if row.is_anonymous else row.at, "actor": None,
            "action": row.action, "subject": row.subject if is_named else names.get(row.subject, row.slug),
            "hash": "", "salt": None, "digest": ""}, is_named))
    in_order = list(_sort_submissions(published))
    numbers = {"said_in": {entry.stored_id: n for n, entry in enumerate(in_order, 1)}} | {
        column: dict(map(tuple, connection.exec_driver_sql(f"SELECT old, new FROM number_{table}")))  # noqa: S608
        for column, table in _NUMBERS.items()}
    return [entry.columns | {"event_id": n, "details": canonical_json(_renumber(entry.details, numbers))}
            for n, entry in enumerate(in_order, 1)]


def _sort_submissions(entries: list[_Entry]) -> Iterator[_Entry]:
    """Sort the submissions of each command by their public names, because files come in the order of hidden ones."""
    for (_, action), group in groupby(entries, key=lambda entry: (entry.columns["run_id"], entry.columns["action"])):
        of_command = list(group)
        if action in ("submission-added", "submission-changed") and not all(entry.is_named for entry in of_command):
            of_command.sort(key=lambda entry: str(entry.columns["subject"]))
        yield from of_command


def _renumber(details: Mapping[str, Any], numbers: Mapping[str, Mapping[int, int]]) -> dict[str, Any]:
    """Replace stored ids by public ones, and leave out ids of rows that are not published."""
    return {key: numbers[key].get(value) if key in numbers and value is not None else value
            for key, value in details.items() if key != "said_in" or value in numbers[key]}
