"""The SQL views and macros: one statement per file.

A view's file `views/<order>_<view>.sql` is one SELECT, a macro's `macros/<order>_<macro>.sql` one CREATE MACRO. The
leading comment lines say what it claims, with its sources; after a line with nothing but `--`, each `-- name: text`
says what one column is, or one parameter of a macro. The database keeps all of it: as comments on views and columns,
and as one comment on a macro, with a line `parameter NAME: text` or `column NAME: text` for each after the claim.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sqlalchemy import Connection

from registry.store.rows import driver_of, quoted

_ENTRY = re.compile(r"(\w+): (.+)")
_WORD = re.compile(r"\w+")
_MACRO = re.compile(r"CREATE MACRO (\w+)\(([^)]*)\) AS (TABLE\b)?")


@dataclass(frozen=True)
class View:
    """One view: its name, what it claims, what its columns are, and its SELECT."""

    name: str
    comment: str
    columns: Mapping[str, str]
    select: str


@dataclass(frozen=True)
class Macro:
    """One macro: its name, what it claims, its statement, and what its parameters and, of tables, columns are."""

    name: str
    comment: str
    statement: str
    is_table: bool
    parameters: Mapping[str, str]
    columns: Mapping[str, str]

    @property
    def full_comment(self) -> str:
        """The claim, and a line for each parameter and column."""
        return "\n".join([self.comment, *(f"parameter {name}: {about}" for name, about in self.parameters.items()),
                          *(f"column {name}: {about}" for name, about in self.columns.items())])


def load() -> list[View]:
    """Read every view, in the order in which they can be created."""
    return [View(path.stem.partition("_")[2], *described(path)) for path in _files("views")]


def load_macros() -> list[Macro]:
    """Read every macro, in the order in which they can be created."""
    return [_macro(*described(path)) for path in _files("macros")]


@cache
def resting_on(tables: tuple[str, ...]) -> frozenset[str]:
    """The names of some tables, and of the views and macros that read them, by others too."""
    found = set(tables)
    for name, statement in (*((view.name, view.select) for view in load()),
                            *((macro.name, macro.statement) for macro in load_macros())):  # in an order that works
        if found & set(_WORD.findall(statement)):
            found.add(name)
    return frozenset(found)


def _files(folder: str) -> list[Path]:
    return sorted((Path(__file__).parent / folder).glob("*.sql"))


def described(path: Path) -> tuple[str, dict[str, str], str]:
    """What a file says: the claim, what each name is, and the statement."""
    lines = path.read_text("utf-8").splitlines()
    n_head = next(n for n, line in enumerate(lines) if not line.startswith("--"))
    head = [line.removeprefix("--").strip() for line in lines[:n_head]]
    at = head.index("")
    entries = [_ENTRY.fullmatch(line) for line in head[at + 1:]]
    named = {entry[1]: entry[2] for entry in entries if entry is not None}
    return " ".join(head[:at]), named, "\n".join(lines[n_head:]).strip()


def _macro(claim: str, named: dict[str, str], statement: str) -> Macro:
    found = _MACRO.match(statement)
    assert found is not None
    taken = [parameter.partition(" ")[0] for parameter in found[2].split(", ")]
    return Macro(found[1], claim, statement, found[3] is not None, {k: named[k] for k in taken},
                 {k: v for k, v in named.items() if k not in taken})


def create(connection: Connection) -> None:
    """Create every view and macro, with its comments."""
    statements = []
    for view in load():
        statements.append(f'CREATE VIEW "{view.name}" AS\n{view.select}')
        statements.append(_comment(f'VIEW "{view.name}"', view.comment))
        statements += [_comment(f'COLUMN "{view.name}"."{column}"', about) for column, about in view.columns.items()]
    for macro in load_macros():
        statements.append(macro.statement)
        statements.append(_comment(f'MACRO {"TABLE " if macro.is_table else ""}"{macro.name}"', macro.full_comment))
    driver_of(connection).execute(";\n".join(statements))  # all at once: each alone takes several times as long


def _comment(thing: str, about: str) -> str:
    return f"COMMENT ON {thing} IS {quoted(about)}"
