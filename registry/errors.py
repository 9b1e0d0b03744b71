"""Errors that users can cause, each with its data and the exit status of the command.

    RegistryError                exit 1   the base class: the user can understand and correct the error
    ├── StoreError               exit 1   the database file cannot be used: no database, disk full, not a registry
    ├── LimitError               exit 1   a query exceeded its limit of time, rows or memory
    ├── HiddenError              exit 0   no error, but the requested data is hidden
    ├── InputError               exit 3   an invalid file, item or name
    │   ├── NoRegistryError      exit 3   ... no registry at the path of the database
    │   ├── ManifestError        exit 3   ... an invalid manifest, at a key path
    │   ├── UnknownNameError     exit 3   ... an unknown name
    │   └── QueryError           exit 3   ... SQL that is not allowed
    ├── MismatchError            exit 4   the request does not match the stored data, or the data is outdated
    │   └── SchemaError          exit 4   another version of the program made the database
    └── LockedError              exit 5   another process uses the database

`str(error)` is one line: the place, the problem, the remedy.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

MOST_LISTED = 20  # known names that an error lists
_MAX_LENGTH, _MAX_NAMES = 100, 1000  # compared characters of a name, and compared names

Category = Literal["encoding", "format", "tag", "duplicate", "order", "unknown", "missing", "text", "label", "header",
                   "gold", "copy", "manifest", "score", "board", "database"]


class RegistryError(Exception):
    """The base class of all errors that commands print as one line instead of a traceback.

    Attributes:
        exit_code: The exit status of the command.
        excerpt: Lines to show below the message, such as SQL with a caret at the problem.
        others: Further errors, each with its own message.
    """

    exit_code = 1
    excerpt = ""
    others: tuple[RegistryError, ...] = ()


class StoreError(RegistryError):
    """A database file, `path`, that cannot be used."""

    def __init__(self, path: str | Path, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = str(path)


class InputError(RegistryError):
    """An invalid file, item or name; `line` (counted from 1) and `item` give the place if it is known.

    `message` describes the problem without the place. `category` classifies it for programs:

    - files: `encoding` (not a text), `format` (not allowed by the format; the default), `tag`
    - submissions that do not match the gold: `order`, `duplicate`, `unknown`, `missing`, `text`, `label`
    - submissions with a surprising score: `header`, `gold`, `copy`
    - tasks: `manifest`, `score` (a metric is undefined), `board` (a test is impossible), `database` (a conflict with
      stored data)
    """

    exit_code = 3

    def __init__(self, message: str, *, path: str | Path | None = None, line: int | None = None,
                 item: str | None = None, category: Category = "format") -> None:
        message = clip(message)
        place = "" if path is None else f"{path}:" if line is None else f"{path}:{line}:"
        thing = "" if item is None else f"item {clip(item)!r}: "
        super().__init__(f"{place} {thing}{message}".strip())
        self.path = None if path is None else str(path)
        self.line = line
        self.item = item
        self.category = category
        self.message = message


class NoRegistryError(InputError):
    """A path at which no registry exists."""

    def __init__(self, path: str | Path) -> None:
        super().__init__("no registry here; `registry run MANIFEST` or `registry init` creates one, "
                         "`--db` names another", path=path)


class ManifestError(InputError):
    """An invalid manifest at `path`; `key` is the place in it, such as `submit[2].kind`."""

    def __init__(self, message: str, *, path: str | Path, key: str = "") -> None:
        super().__init__(f"{key}: {message}" if key else message, path=path, category="manifest")
        self.key = key


class UnknownNameError(InputError):
    """An unknown `name` of a task, metric, reader, test, ...; `kind` says which of these."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, path: str | Path | None = None) -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        super().__init__(f"unknown {kind} {name!r}; {suggest(name, self.known)}", path=path)


class QueryError(InputError):
    """A query that is not allowed; `excerpt` shows its line with a caret below the problem."""

    def __init__(self, message: str, *, path: str | Path = "SQL", line: int | None = None, excerpt: str = "") -> None:
        super().__init__(message, path=path, line=line)
        self.excerpt = excerpt


class LimitError(RegistryError):
    """A query that exceeded a limit and was stopped; the message names the option that sets the limit."""


class HiddenError(RegistryError):
    """Requested data that is hidden until a time or a command. The exit status is 0: this is no error."""

    exit_code = 0


class MismatchError(RegistryError):
    """A request that does not match the stored data."""

    exit_code = 4


class SchemaError(MismatchError):
    """A database at `path` whose schema belongs to another version of the program."""

    def __init__(self, path: str | Path, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = str(path)


class LockedError(RegistryError):
    """A database at `path` that another process uses; `pid` is the id of the process, None if it is unknown."""

    exit_code = 5

    def __init__(self, path: str | Path, pid: int | None, holder: str | None = None) -> None:
        process = "another process" if pid is None else f"process {pid}" + (f" ({holder})" if holder else "")
        super().__init__(f"{path}: the database is in use by {process}; wait for it to end, or stop it, and try again")
        self.path, self.pid = str(path), pid


E = TypeVar("E", bound=RegistryError)


def combine_errors(errors: Sequence[E]) -> E:
    """Return the first error, with the other errors in its `others`."""
    first, *others = errors
    for error in others:
        first.others += (error, *error.others)
    return first


def add_keys(errors: Sequence[tuple[str, InputError]], path: Path) -> RegistryError:
    """Combine the errors of a manifest into one; errors without a key get the key that is paired with them."""
    return combine_errors([error if isinstance(error, ManifestError) else combine_errors(
        [ManifestError(str(problem), path=path, key=key) for problem in (error, *error.others)])
        for key, error in errors])


def clip(text: str) -> str:
    """Cut out the middle of a text above 1000 characters, because messages quote untrusted files."""
    return text if len(text) <= 1000 else f"{text[:600]} ... {text[-300:]}"


def one_line(message: str) -> str:
    """Escape control characters and shorten a long text, because file names and items are untrusted."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in clip(message))


def suggest(name: str, known: Iterable[str]) -> str:
    """Suggest the `known` names that are similar to `name`.

    >>> suggest("Acuracy", ["Accuracy", "BLEU"])
    "did you mean 'Accuracy'? Known: Accuracy, BLEU"
    >>> suggest("x", [])
    'none is known'
    """
    known = sorted(known)
    if not known:
        return "none is known"
    matches = nearest(name, known)
    n_omitted = len(known) - MOST_LISTED
    names = ", ".join(k or "''" for k in known[:MOST_LISTED]) + (f", and {n_omitted} more" if n_omitted > 0 else "")
    if matches:
        return f"did you mean {' or '.join(map(repr, matches[:3]))}? Known: {names}"
    return f"known: {names}"


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return the `known` names that are similar to `name`, the most similar first.

    >>> nearest("PERSON", ["LOC", "PER"])
    ['PER']
    """
    folded = {k[:_MAX_LENGTH].casefold(): k for k in sorted(known)[:_MAX_NAMES]}
    folded_name = name[:_MAX_LENGTH].casefold()
    matches = [k for k in folded if min(len(k), len(folded_name)) > 2
               and (k.startswith(folded_name) or folded_name.startswith(k))]
    return [folded[k] for k in matches or difflib.get_close_matches(folded_name, folded, n=3, cutoff=0.6)]


def counted(n: int, thing: str, plural: str | None = None) -> str:
    """Format a count with its noun; `plural` is for irregular nouns, or for a noun with its verb.

    >>> counted(1, "pair"), counted(2, "pair"), counted(1, "item has", "items have")
    ('1 pair', '2 pairs', '1 item has')
    """
    return f"{n} {thing if n == 1 else plural or thing + 's'}"


def listed(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """Format the first names and the number of the others.

    >>> listed(["a", "b", "c"], 2), listed(["a", "b", "c"], 3)
    ('a, b and 1 more', 'a, b, c')
    """
    return separator.join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def format_duration(seconds: float) -> str:
    """Format an estimated duration for people.

    >>> format_duration(0.2), format_duration(42), format_duration(200), format_duration(9000)
    ('1 s', '42 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


Refuse = Callable[[RegistryError], None]  # handles an error: raises it, or collects it and continues


def raise_error(error: RegistryError) -> None:
    """Raise the error. Functions that report errors use this handler if errors are not collected."""
    raise error
