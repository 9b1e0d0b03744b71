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
from contextvars import ContextVar
from pathlib import Path
from typing import Literal, TypeVar

# After an interrupt: True if the command has replaced a file or registry, or has written a folder; and a message.
has_written: ContextVar[bool] = ContextVar("has_written", default=False)
NOTHING_STORED = "nothing was stored; run the command again to start over"
MOST_LISTED = 20  # known names that an error lists
_MAX_LENGTH, _MAX_NAMES = 100, 1000  # compared characters of a name, and compared names

Category = Literal["encoding", "format", "tag", "duplicate", "order", "unknown", "missing", "text", "label", "header",
                   "gold", "copy", "manifest", "score", "board", "database"]


class Termination(KeyboardInterrupt):
    """The signal SIGTERM, as an exception, so that a command ends like after Ctrl-C."""


class RegistryError(Exception):
    """Base class of all errors that users see in one line, without traceback.

    Attributes:
        exit_code: The exit status of the command.
        excerpt: Lines to show below the message, such as SQL with a caret at the problem.
        others: Further errors, each with its own message.
    """

    exit_code = 1
    excerpt = ""
    others: tuple[RegistryError, ...] = ()


class StoreError(RegistryError):
    """A database, file or folder (`path`) that cannot be used or written."""

    def __init__(self, path: str | Path, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = str(path)


class InputError(RegistryError):
    """An invalid file, item, name or option of the user.

    If the place is known, `path`, `line` (counted from 1) and `item` give it. `message` describes the problem without
    the place. `category` classifies it for programs:

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
    """The error that no registry exists at a path."""

    def __init__(self, path: str | Path) -> None:
        super().__init__("there is no registry here (a command that fails stores nothing); `registry run MANIFEST` or "
                         "`registry quick FILE... --keep TASK` creates one, and `--db` names another", path=path)


class ManifestError(InputError):
    """An invalid manifest (the file that declares a task).

    `path` is the path of the file; `key` is the place in it, such as `submit[2].kind`.
    """

    def __init__(self, message: str, *, path: str | Path, key: str = "") -> None:
        super().__init__(f"{key}: {message}" if key else message, path=path, category="manifest")
        self.key = key


class UnknownNameError(InputError):
    """A name that does not exist, with suggestions of similar names.

    `kind` says what the name should be, such as "task" or "metric".
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], *, path: str | Path | None = None) -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        super().__init__(f"unknown {kind} {name!r}; {suggest(name, self.known)}", path=path)


class QueryError(InputError):
    """An SQL query that is invalid or forbidden.

    `excerpt` shows its line with a caret below the problem.
    """

    def __init__(self, message: str, *, path: str | Path = "SQL", line: int | None = None, excerpt: str = "") -> None:
        super().__init__(message, path=path, line=line)
        self.excerpt = excerpt


class LimitError(RegistryError):
    """A query that was stopped because it exceeded a limit, such as a time limit.

    The message names the option that sets the limit.
    """


class HiddenError(RegistryError):
    """A request for data that is not public yet.

    The exit status is 0, because this is not a failure.
    """

    exit_code = 0


class MismatchError(RegistryError):
    """A request that does not fit the stored data, such as one for missing results."""

    exit_code = 4


class SchemaError(MismatchError):
    """A database that another version of this program made, and that cannot be read.

    `path` is the path of the file.
    """

    def __init__(self, path: str | Path, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = str(path)


class LockedError(RegistryError):
    """A database that another process is using.

    `path` is the path of the file; `pid` is the id of the process, or None if it is unknown.
    """

    exit_code = 5

    def __init__(self, path: str | Path, pid: int | None, holder: str | None = None) -> None:
        process = "another process" if pid is None else f"process {pid}" + (f" ({holder})" if holder else "")
        super().__init__(f"{path}: the database is in use by {process}; wait for it to end, or stop it, and try again")
        self.path, self.pid = str(path), pid


E = TypeVar("E", bound=RegistryError)


def combine_errors(errors: Sequence[E]) -> E:
    """Combine several errors into one: the first, with the others in its `others`."""
    first, *others = errors
    for error in others:
        first.others += (error, *error.others)
    return first


def add_keys(errors: Sequence[tuple[str, InputError]], path: Path) -> RegistryError:
    """Combine several errors in a manifest into one error.

    Args:
        errors: Pairs of a key, such as `submit[2]`, and an error. The error gets this key unless it already names one.
        path: Path of the manifest.
    """
    return combine_errors([error if isinstance(error, ManifestError) else combine_errors(
        [ManifestError(str(problem), path=path, key=key) for problem in (error, *error.others)])
        for key, error in errors])


def clip(text: str) -> str:
    """Shorten a text of more than 1000 characters by cutting out its middle.

    Error messages quote texts from files, which may be of any length.
    """
    return text if len(text) <= 1000 else f"{text[:600]} ... {text[-300:]}"


def one_line(message: str) -> str:
    """Make an untrusted text safe to print: escape control characters and shorten it."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in clip(message))


def suggest(name: str, known: Iterable[str]) -> str:
    """Suggest correct names for a misspelt one, and list all valid names.

    >>> suggest("Acuracy", ["Accuracy", "BLEU"])
    "did you mean 'Accuracy'? Known: Accuracy, BLEU"
    >>> suggest("x", [])
    'there are no other names to choose from'
    """
    known = sorted(known)
    if not known:
        return "there are no other names to choose from"
    matches = nearest(name, known)
    n_omitted = len(known) - MOST_LISTED
    names = ", ".join(k or "''" for k in known[:MOST_LISTED]) + (f", and {n_omitted} more" if n_omitted > 0 else "")
    if matches:
        return f"did you mean {' or '.join(map(repr, matches[:3]))}? Known: {names}"
    return f"known: {names}"


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return the valid names that are most similar to a misspelt one, best first.

    >>> nearest("PERSON", ["LOC", "PER"])
    ['PER']
    """
    folded = {k[:_MAX_LENGTH].casefold(): k for k in sorted(known)[:_MAX_NAMES]}
    folded_name = name[:_MAX_LENGTH].casefold()
    matches = [k for k in folded if min(len(k), len(folded_name)) > 2
               and (k.startswith(folded_name) or folded_name.startswith(k))]
    return [folded[k] for k in matches or difflib.get_close_matches(folded_name, folded, n=3, cutoff=0.6)]


def counted(n: int, thing: str, plural: str | None = None) -> str:
    """Format a number with its noun: `2 pairs`, `1,000 pairs`.

    Args:
        n: The number.
        thing: The noun in the singular.
        plural: The plural if it is not the noun with "s". Noun and plural may include a verb.

    >>> counted(1, "pair"), counted(2, "pair"), counted(1, "item has", "items have")
    ('1 pair', '2 pairs', '1 item has')
    """
    return f"{n:,} {thing if n == 1 else plural or thing + 's'}"


def listed(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """Join names for a message, at most `most` names: `a, b and 7 more`.

    >>> listed(["a", "b", "c"], 2), listed(["a", "b", "c"], 3)
    ('a, b and 1 more', 'a, b, c')
    """
    return separator.join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def format_duration(seconds: float) -> str:
    """Format a number of seconds as an approximate duration.

    >>> format_duration(0.2), format_duration(42), format_duration(200), format_duration(9000)
    ('1 s', '42 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


Refuse = Callable[[RegistryError], None]  # handles an error: raises it, or collects it and continues


def raise_error(error: RegistryError) -> None:
    """Raise an error.

    This function is the default of parameters that can also be a function that collects errors.
    """
    raise error
