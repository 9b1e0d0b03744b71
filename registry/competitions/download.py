"""Submissions of a competition on Codabench, as organisers download them, declared as submissions of the task.

"Download selected" gives one zip file with the participants' zip files, named
`ID_OWNER_PhaseIdN_YYYY-MM-DD_MM-SS_NAME.zip`. A participant is a team with one system. Each submission is a
version of this system, and the last version counts. Submissions that the platform did not score are left out.

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
class ListEntry:
    """A submission in the list that Codabench exports.

    Attributes:
        time: When the submission was uploaded.
        is_scored: True if the platform has scored it.
        is_leading: True if it is on the leaderboard; None if the list does not contain this.
    """

    id: int
    owner: str
    time: datetime
    is_scored: bool
    phase: str
    is_leading: bool | None = None


def read_list(document: Document) -> dict[int, ListEntry]:
    """Read Codabench's list of submissions from a CSV or JSON file.

    Returns:
        The entries of the list, by number of the submission.

    Raises:
        InputError: The file is invalid; the message names the line or the entry.
    """
    is_json = document.text().lstrip().startswith(("[", "{"))
    entries: dict[int, ListEntry] = {}
    for line, row in _read_json_rows(document) if is_json else _read_rows(document, _COLUMNS):
        entry = _parse_entry(row, document, line)
        if entry.id in entries:
            raise document.error(f"submission {entry.id} occurs twice; remove one entry", line, category="duplicate")
        entries[entry.id] = entry
    if not entries:
        raise document.error("the list has no submissions")
    return entries


def read_leaderboard(document: Document) -> set[int]:
    """Read which submissions are on Codabench's leaderboard (CSV or JSON).

    Returns:
        Numbers of the submissions.

    Raises:
        InputError: The file is invalid, or a name in it does not end in a number.
    """
    if document.text().lstrip().startswith("{"):
        boards = read_json(document)
        names: list[tuple[int | None, str]] = [
            (None, name) for board in boards.values() if isinstance(board, Mapping) for name in board]
    else:
        names = [(line, str(row["Username"])) for line, row in _read_rows(document, ("Username",))]
    numbers = set()
    for line, name in names:
        _, dash, number = name.rpartition("-")
        if not dash or not _is_number(number):
            raise document.error(f"{name!r} is not of the form OWNER-ID of the platform's leaderboards", line)
        numbers.add(int(number))
    if not numbers:
        raise document.error("the leaderboard has no submissions")
    return numbers


def _read_rows(document: Document, columns: tuple[str, ...]) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    reader = csv.DictReader(io.StringIO(document.text()), strict=True)
    try:
        if missing := [name for name in columns if name not in (reader.fieldnames or ())]:
            raise document.error(f"no column {missing[0]!r}; use the unchanged table of the platform", 1)
        for row in reader:
            if any(row[name] is None for name in columns):
                raise document.error("the row has fewer cells than the header", reader.line_num)
            yield reader.line_num, row
    except csv.Error as error:
        raise document.error(f"not CSV: {error}", reader.line_num) from None


def _read_json_rows(document: Document) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    """Yield the submissions in a list in JSON.

    Submissions that are parts of another submission, their parent, are left out.
    """
    content = read_json(document)
    entries = content.get("results") if isinstance(content, dict) else content
    if not isinstance(entries, list):
        raise document.error("the file is neither a list of submissions nor an object with such a list under the key "
                             "'results'")
    keys = dict(zip(_COLUMNS, ("id", "owner", "created_when", "status", "phase_name"), strict=True))
    for n, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise document.error(f"submission {n} of the list is not an object")
        if missing := [key for key in keys.values() if key not in entry]:
            raise document.error(f"submission {n} of the list has no key {missing[0]!r}")
        if entry.get("parent") is None:
            leading = {"is_leading": entry["on_leaderboard"] is True} if "on_leaderboard" in entry else {}
            yield None, {column: entry[key] for column, key in keys.items()} | leading


def _parse_entry(row: Mapping[str, Any], document: Document, line: int | None) -> ListEntry:
    number, owner, created, status, phase = (str(row[name]) for name in _COLUMNS)
    if not _is_number(number):
        raise document.error(f"{number!r} is not the number of a submission", line)
    try:
        time = datetime.fromisoformat(created)
    except ValueError:
        raise document.error(f"{created!r} is not a date and time", line) from None
    time = time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    return ListEntry(int(number), owner, time, status == "Finished", phase, row.get("is_leading"))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16


_NAME = re.compile(r"(\d{1,15})_(.+)_PhaseId(\d+)_(\d{4}-\d\d-\d\d)_\d\d-\d\d_(.+)", re.DOTALL)
MAX_BYTES = 2**31  # of all uncompressed submissions, which are in memory together

_FAILED = "failed.txt"  # the platform adds it if some submissions are missing


@dataclass(frozen=True)
class DownloadedFile:
    """A participant's zip file in a download, and its entry in the submission list.

    Attributes:
        member: The path of the zip file in the download.
        entry: The entry of the list, or one derived from the file's name.
        has_only_day: True if the time of day is unknown.
    """

    member: str
    entry: ListEntry
    has_only_day: bool

    @property
    def time(self) -> str:
        """Time of the submission, or only its day if the time of day is unknown."""
        return f"{self.entry.time:%Y-%m-%d}" if self.has_only_day else f"{self.entry.time:%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True)
class Download:
    """The submissions in a file that was downloaded from Codabench.

    Attributes:
        submissions: In the order of their times.
        notes: Notes for the organisers.
        sources: The digests of the input files, by name.
    """

    submissions: Sequence[DeclaredSubmission]
    notes: Sequence[str]
    sources: Mapping[str, str]


class Codabench(Value):
    """Codabench: a downloaded zip file with the submissions to a stored task.

    Attributes:
        submissions: The platform's list of submissions, CSV or JSON, with times, phases and states.
        leaderboard: The platform's leaderboard, CSV or JSON, for `take = "leaderboard"`.
        take: For each participant and test set: `all` submissions (as versions), the `latest`, or the submission on
            the `leaderboard`.
        phase: Read only submissions of this phase: its name, or its number if the list of submissions is not given.
        test_set: The test set of the submissions, if phases are not named after test sets.
    """

    name = "codabench"

    submissions: str | None = None
    leaderboard: str | None = None
    take: Literal["all", "latest", "leaderboard"] = "all"
    phase: str | None = None
    test_set: str | None = None

    def read(self, path: Path, task: ResolvedTask) -> Download:
        """Read the submissions to a task from a file that was downloaded from Codabench.

        Raises:
            InputError: The file is not a download, or no file of a submission is the answer to a test set; names the
                member.
        """
        document = Document.load(path)
        archive = Archive(document)
        listing = None if self.submissions is None else Document.load(self.submissions)
        downloads, notes = self._select_submissions(archive, listing)
        sources = [document, *([listing] if listing else [])]
        if self.take == "leaderboard":
            leading_ids, leaderboard = self._read_leading(downloads)
            downloads = [download for download in downloads if download.entry.id in leading_ids]
            sources += leaderboard
        answers = [(download, test_set, test_sets) for download in downloads
                   for test_sets in [self._find_test_sets(download, task)] for test_set in test_sets]
        if self.take == "latest":
            latest = {(download.entry.owner, test_set): download for download, test_set, _ in answers}
            answers = [answer for answer in answers if latest[answer[0].entry.owner, answer[1]] is answer[0]]
        if not answers:
            raise InputError(f"no submission matches take = {self.take!r}", path=document.path)
        declared, size = [], 0
        for download, test_set, test_sets in answers:
            document = _find_answer(archive, download, test_set, test_sets)
            if (size := size + len(document.content)) > MAX_BYTES:
                raise InputError(f"all submissions together have more than {MAX_BYTES >> 20} MiB uncompressed; import "
                                 "each phase separately, with --option phase=PHASE", path=archive.path)
            declared.append(_declare(document, download, test_set, task))
        return Download(declared, notes, {source.name: source.digest for source in sources})

    def _select_submissions(self, archive: Archive, listing: Document | None) -> tuple[list[DownloadedFile], list[str]]:
        """Select the submissions that the platform has scored, oldest first.

        Returns:
            The submissions, and notes about the others.
        """
        names = [name for name in archive.names
                 if not name.endswith("/") and not is_system_file(PurePosixPath(name).name)]
        notes = []
        if _FAILED in names:
            notes.append(f"{archive.path}: the platform left out some submissions; see {_FAILED} in the archive")
        members = dict(_parse_name(archive, name) for name in names if name != _FAILED)
        if not members:
            raise InputError("the archive has no submissions", path=archive.path)
        downloads = list(members.values())
        if listing is not None:
            entries = read_list(listing)
            if missing := sorted(members.keys() - entries.keys()):
                more = f" ({counted(len(missing), 'submission')} in all)" if len(missing) > 1 else ""
                raise InputError(f"the list lacks the downloaded submission {missing[0]}{more}; give the list of the "
                                 "same competition with all its phases", path=listing.path)
            downloads = [DownloadedFile(download.member, entries[number], has_only_day=False)
                         for number, download in members.items()]
        scored = [download for download in downloads if download.entry.is_scored]
        if n_unscored := len(downloads) - len(scored):
            notes.append(f"{counted(n_unscored, 'submission is', 'submissions are')} left out, because the platform "
                         f"did not score {'it' if n_unscored == 1 else 'them'}")
        selected = [download for download in scored if self.phase in (None, download.entry.phase)]
        if self.phase is not None and not selected:
            phases = ", ".join(sorted({download.entry.phase for download in downloads}))
            raise InputError(f"no submission of phase {self.phase!r}; the phases are {phases}", path=archive.path)
        return sorted(selected, key=lambda download: (download.entry.time, download.entry.id)), notes

    def _read_leading(self, downloads: Sequence[DownloadedFile]) -> tuple[set[int], list[Document]]:
        """Find out which submissions are on the leaderboard.

        Returns:
            The numbers of the submissions; and a list with the file of the leaderboard. The list is empty without such
                a file.
        """
        if self.leaderboard is not None:
            document = Document.load(self.leaderboard)
            return read_leaderboard(document), [document]
        if any(download.entry.is_leading is None for download in downloads):
            raise InputError("the submissions on the leaderboard are unknown; give --option leaderboard=FILE, or the "
                             "list of submissions as JSON")
        return {download.entry.id for download in downloads if download.entry.is_leading}, []

    def _find_test_sets(self, download: DownloadedFile, task: ResolvedTask) -> list[str]:
        """Return the test sets to which a submission belongs, according to its phase.

        The names of phases are lists of test sets, such as `dev, test`.
        """
        names = [test_set.name for test_set in task.manifest.test_set]
        requested = [self.test_set] if self.test_set is not None else download.entry.phase.split(", ")
        if set(requested) <= set(names):
            return requested
        if len(names) == 1 and self.test_set is None:
            return names
        raise InputError(f"{requested[0]!r} is not a test set of the task ({', '.join(names)}); give the test set of a "
                         "phase by --option phase=PHASE and --option test_set=NAME")


def _parse_name(archive: Archive, member: str) -> tuple[int, DownloadedFile]:
    """Parse the file name of a participant's zip file.

    Returns:
        The number of the submission, and the file with the facts in its name.
    """
    if (match := _NAME.fullmatch(PurePosixPath(member).name)) is None:
        raise InputError("the name is not of the platform's form ID_OWNER_PhaseIdN_DATE_TIME_NAME",
                         path=archive.make_path(member))
    number, owner, phase, day, _ = match.groups()
    try:
        time = datetime.fromisoformat(day).replace(tzinfo=UTC)
    except ValueError:
        raise InputError(f"{day} is not a valid date", path=archive.make_path(member)) from None
    entry = ListEntry(int(number), owner, time, is_scored=True, phase=phase)
    return entry.id, DownloadedFile(member, entry, has_only_day=True)


def _find_answer(archive: Archive, download: DownloadedFile, test_set: str, test_sets: Sequence[str]) -> Document:
    inner = Archive(Document(archive.make_path(download.member), archive.read(download.member)))
    files = [name for name in inner.names if not name.endswith("/") and not any(
        map(is_system_file, PurePosixPath(name).parts))]
    name = choose_file(files, test_set, test_sets, inner.path)
    return Document(inner.make_path(name), inner.read(name), name=f"{download.entry.id}/{name}")


def _declare(document: Document, download: DownloadedFile, test_set: str, task: ResolvedTask) -> DeclaredSubmission:
    """Make a submission to the task from a participant's output.

    Owner, number and time of the submission come from the platform.

    Args:
        document: The output.
        download: The zip file that contains the output.
        test_set: Name of the test set.
        task: The task.
    """
    entry, deadline = download.entry, task.manifest.deadline(test_set)
    is_late = deadline is not None and (entry.time.date() > deadline.astimezone(UTC).date() if download.has_only_day
                                        else entry.time > deadline)
    table = make_submit(
        file=download.member, system=entry.owner, team=entry.owner, version=str(entry.id), test_set=test_set,
        late=is_late or None, attributes={"codabench": entry.id, "submitted": download.time})
    return build_submission(task, table, [document], {}, "")
