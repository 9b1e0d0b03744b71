"""Submissions of a competition on Codabench, as organisers download them, declared as submissions of the task.

"Download selected" gives one zip file with the participants' zip files, named
`ID_OWNER_PhaseIdN_YYYY-MM-DD_MM-SS_NAME.zip`. A participant is a team with one system, and each submission is a
version, of which the last one counts. Submissions that the platform did not score are left out.

Codabench's list of submissions is a table (`Download as CSV`: Submission ID, File Name, Owner, Created When, Status,
Phase) or the JSON of `/api/submissions/`. Its leaderboard is a table whose Username is `owner-id`, or `results.json`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from registry.competitions.scoring_program import choose_file, is_system_file
from registry.errors import InputError, counted
from registry.evaluation.ingest.declared import DeclaredSubmission, build_submission
from registry.evaluation.resolve import ResolvedTask
from registry.importers.base import read_json
from registry.importers.inspect import Archive
from registry.manifest import make_submit
from registry.readers import Document
from registry.values import Value

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
    for line, of in _read_json_rows(document) if is_json else _read_rows(document, _COLUMNS):
        one = _parse_entry(of, document, line)
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
        boards = read_json(document)
        names: list[tuple[int | None, str]] = [
            (None, name) for board in boards.values() if isinstance(board, Mapping) for name in board]
    else:
        names = [(line, str(of["Username"])) for line, of in _read_rows(document, ("Username",))]
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


def _read_rows(document: Document, columns: tuple[str, ...]) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
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


def _read_json_rows(document: Document) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    """Yield the entries of a list in JSON; parts of submissions with several parts are left out."""
    told = read_json(document)
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


def _parse_entry(of: Mapping[str, Any], document: Document, line: int | None) -> Listed:
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


def check_listed(wanted: Iterator[int], listed: Mapping[int, Listed], document: Document) -> None:
    """Refuse a list that lacks a submission.

    Raises:
        InputError: It lacks one.
    """
    if absent := sorted(set(wanted) - listed.keys()):
        more = f" ({counted(len(absent), 'submission')} in all)" if len(absent) > 1 else ""
        raise InputError(f"says nothing of submission {absent[0]}{more}, which was downloaded; take the list of the "
                         "same competition, of all its phases", path=document.path)


_NAME = re.compile(r"(\d{1,15})_(.+)_PhaseId(\d+)_(\d{4}-\d\d-\d\d)_\d\d-\d\d_(.+)", re.DOTALL)
MOST = 2**31  # bytes of all submissions, unfolded: they are held together

_FAILED = "failed.txt"  # what the platform adds where it could not give all


@dataclass(frozen=True)
class Downloaded:
    """One participant's zip file, and what the platform tells of it."""

    member: str
    listed: Listed
    is_day: bool

    @property
    def when(self) -> str:
        """Time of submission: a moment, or a day if no more is known."""
        return f"{self.listed.at:%Y-%m-%d}" if self.is_day else f"{self.listed.at:%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True)
class Download:
    """What was read of a download.

    Attributes:
        submissions: In the order in which they came.
        notes: What the organisers have to know.
        sources: The digests of the files that were read, by their names.
    """

    submissions: Sequence[DeclaredSubmission]
    notes: Sequence[str]
    sources: Mapping[str, str]


class Codabench(Value):
    """Codabench: a zip file of submissions, as organisers download them, for a task that is in the registry.

    Attributes:
        submissions: The platform's list of submissions, CSV or JSON: their times, phases, and which were scored.
        leaderboard: The platform's leaderboard, CSV or JSON, from which `take = "leaderboard"` takes them.
        take: Of each participant and test set `all` submissions as versions, the `latest`, or that on the
            `leaderboard`.
        phase: Only those of the phase of this name, or of this number where there is no list.
        test_set: What they answer, where phases are not called after test sets.
    """

    name = "codabench"

    submissions: str | None = None
    leaderboard: str | None = None
    take: Literal["all", "latest", "leaderboard"] = "all"
    phase: str | None = None
    test_set: str | None = None

    def read(self, path: Path, task: ResolvedTask) -> Download:
        """Read a download for a task.

        Raises:
            InputError: It is none, or a submission does not say which file answers a test set; names the member.
        """
        document = Document.load(path)
        archive = Archive(document)
        listing = None if self.submissions is None else Document.load(self.submissions)
        there, notes = self._select_submissions(archive, listing)
        read = [document, *([listing] if listing else [])]
        if self.take == "leaderboard":
            leading, more = self._read_leading(there)
            there = [one for one in there if one.listed.id in leading]
            read += more
        chosen = [(one, test_set, test_sets) for one in there for test_sets in [self._find_test_sets(one, task)]
                  for test_set in test_sets]
        if self.take == "latest":
            last = {(one.listed.owner, test_set): one for one, test_set, _ in chosen}
            chosen = [of for of in chosen if last[of[0].listed.owner, of[1]] is of[0]]
        if not chosen:
            raise InputError("no submission is left to take", path=document.path)
        declared, size = [], 0
        for one, test_set, test_sets in chosen:
            document = _find_answer(archive, one, test_set, test_sets)
            if (size := size + len(document.content)) > MOST:
                raise InputError(f"all submissions together unfold to more than {MOST >> 20} MiB; take them phase by "
                                 "phase", path=archive.path)
            declared.append(_declare(document, one, test_set, task))
        return Download(declared, notes, {of.name: of.digest for of in read})

    def _select_submissions(self, archive: Archive, listing: Document | None) -> tuple[list[Downloaded], list[str]]:
        """Return the downloaded and scored submissions by time."""
        names = [name for name in archive.names
                 if not name.endswith("/") and not is_system_file(PurePosixPath(name).name)]
        notes = [f"{archive.path}: the platform did not give all submissions"] if _FAILED in names else []
        found = dict(_parse_name(archive, name) for name in names if name != _FAILED)
        if not found:
            raise InputError("no submission is in this archive", path=archive.path)
        if listing is None:
            there = list(found.values())
        else:
            listed = read_list(listing)
            check_listed(iter(found), listed, listing)
            there = [Downloaded(of.member, listed[number], is_day=False) for number, of in found.items()]
        if failed := [one for one in there if not one.listed.finished]:
            notes.append(f"{counted(len(failed), 'submission')} left out that the platform did not score")
        kept = [one for one in there if one.listed.finished and self.phase in (None, one.listed.phase)]
        if self.phase is not None and not kept:
            phases = ", ".join(sorted({one.listed.phase for one in there}))
            raise InputError(f"no submission of phase {self.phase!r}; there are {phases}", path=archive.path)
        return sorted(kept, key=lambda one: (one.listed.at, one.listed.id)), notes

    def _read_leading(self, there: Sequence[Downloaded]) -> tuple[set[int], list[Document]]:
        """Return the numbers of submissions on the leaderboard, and its file."""
        if self.leaderboard is not None:
            document = Document.load(self.leaderboard)
            return read_leaderboard(document), [document]
        if any(one.listed.leads is None for one in there):
            raise InputError("nothing says which submissions are on the leaderboard; give it by --option "
                             "leaderboard=FILE, or the list of submissions as JSON")
        return {one.listed.id for one in there if one.listed.leads}, []

    def _find_test_sets(self, one: Downloaded, task: ResolvedTask) -> list[str]:
        """Return the test sets that a submission answers: those in the name of its phase, as in a bundle."""
        known = [test_set.name for test_set in task.manifest.test_set]
        named = [self.test_set] if self.test_set is not None else one.listed.phase.split(", ")
        if set(named) <= set(known):
            return named
        if len(known) == 1 and self.test_set is None:
            return known
        raise InputError(f"{named[0]!r} is none of the test sets {', '.join(known)}; say which the phase is of by "
                         "--option phase=PHASE and --option test_set=NAME")


def _parse_name(archive: Archive, member: str) -> tuple[int, Downloaded]:
    """Parse the name of a participant's zip file."""
    if (match := _NAME.fullmatch(PurePosixPath(member).name)) is None:
        raise InputError("is not called ID_OWNER_PhaseIdN_DATE_TIME_NAME, as the platform calls submissions",
                         path=archive.make_path(member))
    number, owner, phase, day, _ = match.groups()
    try:
        at = datetime.fromisoformat(day).replace(tzinfo=UTC)
    except ValueError:
        raise InputError(f"{day} is no day", path=archive.make_path(member)) from None
    return int(number), Downloaded(member, Listed(int(number), owner, at, finished=True, phase=phase), is_day=True)


def _find_answer(archive: Archive, one: Downloaded, test_set: str, test_sets: Sequence[str]) -> Document:
    """Return the file in a participant's zip file that answers a test set."""
    inner = Archive(Document(archive.make_path(one.member), archive.read(one.member)))
    files = [name for name in inner.names if not name.endswith("/") and not any(
        map(is_system_file, PurePosixPath(name).parts))]
    name = choose_file(files, test_set, test_sets, inner.path)
    return Document(inner.make_path(name), inner.read(name), name=f"{one.listed.id}/{name}")


def _declare(document: Document, one: Downloaded, test_set: str, task: ResolvedTask) -> DeclaredSubmission:
    """Return the platform's facts about a submission as a manifest's table."""
    deadline = task.manifest.deadline(test_set)
    late = deadline is not None and (one.listed.at.date() > deadline.astimezone(UTC).date() if one.is_day
                                     else one.listed.at > deadline)
    entry = make_submit(
        file=one.member, system=one.listed.owner, team=one.listed.owner, version=str(one.listed.id),
        test_set=test_set, late=late or None, attributes={"codabench": one.listed.id, "submitted": one.when})
    return build_submission(task, entry, [document], {}, "")
