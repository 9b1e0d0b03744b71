"""What Codabench tells of a competition's submissions beside their files: whose, from when, and what became of them.

Its list of submissions is a table (`Download as CSV`: Submission ID, File Name, Owner, Created When, Status, Phase) or
the JSON of `/api/submissions/`; its leaderboard a table whose Username is `owner-id`, or the JSON of `results.json`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from registry.errors import InputError, counted
from registry.importers.files import whole_json
from registry.readers import Document

_COLUMNS = ("Submission ID", "Owner", "Created When", "Status", "Phase")


@dataclass(frozen=True)
class Listed:
    """A submission as the platform lists it.

    `finished` says whether the platform has scored it, `leads` whether it is on the leaderboard, where that is told.
    """

    id: int
    owner: str
    at: datetime
    finished: bool
    phase: str
    leads: bool | None = None


def read_list(document: Document) -> dict[int, Listed]:
    """Read a list of submissions, CSV or JSON, by their numbers.

    Raises:
        InputError: It is neither; names the line or the entry.
    """
    is_json = document.text().lstrip().startswith(("[", "{"))
    found: dict[int, Listed] = {}
    for line, of in _of_json(document) if is_json else _rows(document, _COLUMNS):
        one = _listed(of, document, line)
        if one.id in found:
            raise document.error(f"submission {one.id} stands twice", line, category="duplicate")
        found[one.id] = one
    if not found:
        raise document.error("no submission is listed")
    return found


def read_leaderboard(document: Document) -> set[int]:
    """Read the numbers of the submissions on a leaderboard, CSV or JSON.

    Raises:
        InputError: It is neither, or a name in it does not end in a number.
    """
    if document.text().lstrip().startswith("{"):
        boards = whole_json(document)
        names: list[tuple[int | None, str]] = [
            (None, name) for board in boards.values() if isinstance(board, Mapping) for name in board]
    else:
        names = [(line, str(of["Username"])) for line, of in _rows(document, ("Username",))]
    found = set()
    for line, name in names:
        _, dash, number = name.rpartition("-")
        if not dash or not _is_number(number):
            raise document.error(f"{name!r} is not of the form OWNER-ID, as the platform's leaderboards name "
                                 "submissions", line)
        found.add(int(number))
    if not found:
        raise document.error("no submission is on this leaderboard")
    return found


def _rows(document: Document, columns: tuple[str, ...]) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    """The rows of a table with a header, each with its line."""
    reader = csv.DictReader(io.StringIO(document.text()), strict=True)
    try:
        if absent := [name for name in columns if name not in (reader.fieldnames or ())]:
            raise document.error(f"no column {absent[0]!r}; is this the table that the platform writes?", 1)
        for row in reader:
            if any(row[name] is None for name in columns):
                raise document.error("has fewer cells than the header", reader.line_num)
            yield reader.line_num, row
    except csv.Error as error:
        raise document.error(f"not CSV: {error}", reader.line_num) from None


def _of_json(document: Document) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    """The entries of a list as the platform's interface gives it, without the parts of those that have several."""
    told = whole_json(document)
    entries = told.get("results") if isinstance(told, dict) else told
    if not isinstance(entries, list):
        raise document.error("neither a list of submissions nor an object with one under 'results'")
    keys = dict(zip(_COLUMNS, ("id", "owner", "created_when", "status", "phase_name"), strict=True))
    for n, entry in enumerate(entries, 1):
        if not isinstance(entry, dict) or (absent := [key for key in keys.values() if key not in entry]):
            what = f"no key {absent[0]!r}" if isinstance(entry, dict) else "no object"
            raise document.error(f"submission {n} of the list: {what}")
        if entry.get("parent") is None:
            leads = {"leads": entry["on_leaderboard"] is True} if "on_leaderboard" in entry else {}
            yield None, {column: entry[key] for column, key in keys.items()} | leads


def _listed(of: Mapping[str, Any], document: Document, line: int | None) -> Listed:
    number, owner, at, status, phase = (str(of[name]) for name in _COLUMNS)
    if not _is_number(number):
        raise document.error(f"{number!r} is no number of a submission", line)
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        raise document.error(f"{at!r} is no date and time", line) from None
    moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    return Listed(int(number), owner, moment, status == "Finished", phase, of.get("leads"))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16


def require_all(wanted: Iterator[int], listed: Mapping[int, Listed], document: Document) -> None:
    """Refuse a list that does not tell of all submissions.

    Raises:
        InputError: It lacks one.
    """
    if absent := sorted(set(wanted) - listed.keys()):
        more = f" ({counted(len(absent), 'submission')} in all)" if len(absent) > 1 else ""
        raise InputError(f"says nothing of submission {absent[0]}{more}, which was downloaded; take the list of the "
                         "same competition, of all its phases", path=document.path)
