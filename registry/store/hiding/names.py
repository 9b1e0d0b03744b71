"""Messages of commands that write, without the names that are hidden.

Such a command works with the names themselves, so what it says of an anonymous task is put into the words that readers
know: pseudonyms, and the name of a submission in the place of the name of its file. What has no pseudonym, because it
was refused, is "a submission that is not in the registry".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from sqlalchemy import Connection, text

from registry.errors import InputError, ManifestError, RegistryError
from registry.store import catalog
from registry.store.hiding.concealment import concealed, concealing
from registry.store.row_types import TaskRow

REFUSED, SOME = "a submission that is not in the registry", "a submission"
WRONG = "what is wrong here names participants; `registry --organiser check` shows it"
_SUBMISSIONS = """
    SELECT submission_id, team.name AS team, system.name AS system, version FROM submission
    JOIN system USING (system_id) JOIN team USING (team_id) WHERE list_contains(:tasks, team.task_id)
    ORDER BY submission_id"""
_FILES = """
    SELECT DISTINCT submission_id, kept.name, source.name AS also FROM submission_source AS kept
    JOIN submission USING (submission_id) JOIN test_set USING (test_set_id)
    LEFT JOIN source ON source.digest = source_digest WHERE list_contains(:tasks, task_id)"""
_LOGGED = """
    SELECT DISTINCT subject FROM event JOIN task ON task.slug = split_part(subject, '/', 1)
    WHERE list_contains(:tasks, task_id) AND len(string_split(subject, '/')) = 4"""


@dataclass(frozen=True)
class Names:
    """What is said `instead` of names, of which longer ones go first; `blind` are the tasks whose scores are hidden."""

    instead: Mapping[str, str] = field(default_factory=dict)
    blind: frozenset[str] = frozenset()

    def said(self, message: str) -> str:
        """A message without hidden names."""
        return message if not self.instead else self._known.sub(lambda found: self.instead[found[0]], message)

    @cached_property
    def _known(self) -> re.Pattern[str]:
        names = "|".join(map(re.escape, sorted(self.instead, key=len, reverse=True)))
        return re.compile(rf"(?<!\w)(?:{names})(?!\w)")

    def conceal(self, error: RegistryError) -> None:
        """Take hidden names out of what is said of an error, and of those that were found with it."""
        if self.instead:
            without_names(error)
        for one in (error, *error.others):
            one.args = (self.said(str(one)),)
            one.excerpt = self.said(one.excerpt)
            if isinstance(one, InputError):
                one.message = self.said(one.message)
                one.path = None if one.path is None else self.said(one.path)


def without_names(error: RegistryError) -> None:
    """Leave out what is said of `[[submit]]` tables that are wrong: it names files that nobody may have read."""
    for one in (error, *error.others):
        if isinstance(one, ManifestError) and one.key.startswith("submit"):
            one.message = f"{one.key}: {WRONG}"
            one.args = (f"{one.path}: {one.message}",)


class GivenSubmission(NamedTuple):
    """A submission as a command was given it: what its files may be called, and its names, as far as they are known."""

    files: Sequence[str]
    team: str | None
    system: str | None
    version: str

    @property
    def names(self) -> Iterator[str]:
        """By what it may be called."""
        if self.team and self.system:
            yield f"{self.team}/{self.system}@{self.version}"
            yield f"{self.team}/{self.system}"
        yield from filter(None, (self.system, self.team))


class Bringing(NamedTuple):
    """What a command brings in: to which task, the submissions, and whether it is newly declared anonymous.

    Whether it is depends on the task as it was, if it was there.
    """

    task: str
    given: Callable[[], Sequence[GivenSubmission]]
    anonymous: Callable[[TaskRow | None], bool]


def names_of(connection: Connection, bringing: Bringing | None) -> Names:
    """What is said instead of the names of all anonymous tasks, and of one that a command brings in."""
    found = concealed(connection)
    blind = frozenset(found.blind)
    row = None if bringing is None else catalog.find(connection, TaskRow, slug=bringing.task)
    new = bringing is not None and bringing.task not in found.anonymous and bringing.anonymous(row)
    if not found.anonymous and not new:
        return Names(blind=blind)
    instead = _instead(connection, list(found.anonymous.values()))
    if new and row is not None:  # its submissions have no pseudonyms yet
        for there in connection.execute(text(_SUBMISSIONS), {"tasks": [row.task_id]}):
            instead |= dict.fromkeys(GivenSubmission((), *there[1:]).names, SOME)
    if bringing is not None and (new or bringing.task in found.anonymous):
        _add_given(instead, bringing)
    return Names(instead, blind)


def names_without_registry(bringing: Bringing) -> Names:
    """Return the same for a registry that does not exist yet or cannot be read, where nobody has a pseudonym."""
    instead: dict[str, str] = {}
    _add_given(instead, bringing)
    return Names(instead)


def _add_given(instead: dict[str, str], bringing: Bringing) -> None:
    """Add the submissions of a command: names and files as their pseudonyms, or as `REFUSED` if they have none."""
    for one in bringing.given():
        shown = next((instead[name] for name in one.names if name in instead), REFUSED)
        for name in (*one.names, *one.files):
            instead.setdefault(name, shown)


def _instead(connection: Connection, tasks: list[int]) -> dict[str, str]:
    """What readers know instead of each name of a submission, a system, a team and a file."""
    query, asked = text(_SUBMISSIONS), {"tasks": tasks}
    before = connection.execute(query, asked).all()
    with concealing(connection):
        after = connection.execute(query, asked).all()
    instead: dict[str, str] = {}
    of_submissions: dict[int, str] = {}
    for real, shown in zip(before, after, strict=True):
        if real.team != shown.team:
            name = of_submissions[real.submission_id] = f"{shown.team}/{shown.system}@{shown.version}"
            instead |= {real.team: shown.team, real.system: shown.system,
                        f"{real.team}/{real.system}": f"{shown.team}/{shown.system}",
                        f"{real.team}/{real.system}@{real.version}": name}
    for submission_id, *files in connection.execute(text(_FILES), asked):
        if submission_id in of_submissions:
            instead |= {file: of_submissions[submission_id] for file in files if file not in instead}
    teams = {real.team for real in before}
    for subject in connection.execute(text(_LOGGED), asked).scalars():
        _, _, team, system = subject.split("/")
        if team not in teams:  # of one that is no more
            instead |= dict.fromkeys((f"{team}/{system}", team, system.partition("@")[0]), REFUSED)
    return instead
