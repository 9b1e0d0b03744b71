"""The names by which a team is known in what a registry holds, and where a text has one of them.

What a team says of its systems tells who it is too: the addresses of a paper and of code, and a description.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

from sqlalchemy import Connection

from registry.identity import canonical_json


@dataclass(frozen=True)
class TeamNames:
    """The names of a team, its systems and its files, and the one that is to stand in their place.

    A name counts where it stands as a whole: letters and digits beside it make it another word. Case does not matter.
    """

    words: frozenset[str]
    instead: str

    @classmethod
    def of(cls, connection: Connection, team_id: int, instead: str) -> TeamNames:
        """The names of a team; those that others of its task have too tell nothing of it."""
        own, others = (set(_names(connection, team_id, which)) for which in ("=", "<>"))
        return cls(frozenset(own - others), instead)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds any of the names, written plainly or as JSON does."""
        written = self.words | {json.dumps(word, ensure_ascii=ascii_)[1:-1]
                                for word in self.words for ascii_ in (True, False)}
        either = "|".join(re.escape(word) for word in sorted(written, key=len, reverse=True)) or "(?!)"
        return re.compile(rf"(?<![^\W_])(?:{either})(?![^\W_])", re.IGNORECASE)

    def are_in(self, text: str | None) -> bool:
        """Whether a text has one of them."""
        return text is not None and self.pattern.search(text) is not None

    def are_in_values(self, written: str, formal: Iterable[str] = ()) -> bool:
        """Whether values or keys of an object, given as JSON, have one, save for the values of `formal` keys."""
        return any(self.are_in(key) or (key not in formal and self.are_in(canonical_json(value)))
                   for key, value in json.loads(written or "{}").items())

    def replaced(self, text: str) -> str:
        """The text with the other name in the place of each."""
        return self.pattern.sub(self.instead, text)

    def replaced_in(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values, some of them texts, with the other name in the place of each."""
        return {self.replaced(name): self.replaced(value) if isinstance(value, str) else value
                for name, value in values.items()}


def _names(connection: Connection, team_id: int, which: str) -> Iterable[str]:
    """The names of a team, or of all others of its task: of teams, systems and files, these also without folders.

    With them goes what is said of the systems.
    """
    of = f"team.team_id {which} $1 AND task_id = (SELECT task_id FROM team WHERE team_id = $1)"  # noqa: S608
    for team, system, file, attributes in connection.exec_driver_sql(f"""
            SELECT team.name, system.name, submission_source.name, submission.attributes
            FROM team LEFT JOIN system USING (team_id) LEFT JOIN submission USING (system_id)
            LEFT JOIN submission_source USING (submission_id) WHERE {of}""", (team_id,)):  # noqa: S608
        yield from filter(None, (team, system, file, file and PurePath(file).name))
        yield from _telling(json.loads(attributes or "{}"))


def _telling(attributes: Mapping[str, Any]) -> Iterable[str]:
    """What of a system's attributes tells whose it is; a word or two, such as "a baseline", others may say as well."""
    for name, value in attributes.items():
        if isinstance(value, str) and (
                name in ("paper", "code") or (name == "description" and len(value.split()) > 2)):
            yield value
