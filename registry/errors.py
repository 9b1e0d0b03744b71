"""Every error that a user can cause, drawn as a tree; each carries data and the exit status of the command it ends.

    RegistryError                exit 1   something the user can understand and mend
    ├── StoreError               exit 1   the database file cannot be used: no database, disk full, not a registry
    ├── LimitError               exit 1   a query was ended at one of its limits: time, rows, memory
    ├── HiddenError              exit 0   nothing is wrong, but what is asked for is hidden for now
    ├── InputError               exit 3   a file, an item or a name that was given is wrong
    │   ├── NoRegistryError      exit 3   ... there is no registry at the path of the database
    │   ├── ManifestError        exit 3   ... in the manifest, at a key path
    │   ├── UnknownNameError     exit 3   ... a name that is not among the known ones
    │   └── QueryError           exit 3   ... SQL that is refused
    ├── MismatchError            exit 4   what is stored and what is asked for do not belong together, or are stale
    │   └── SchemaError          exit 4   another version of the program made the database
    └── LockedError              exit 5   another process holds the database

`str(error)` is one line: the place, what is wrong, the remedy.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

MOST_LISTED = 20  # known names that an error lists
_LONGEST, _MOST = 100, 1000  # how much of a name is compared, and with how many known ones

Category = Literal["encoding", "format", "tag", "duplicate", "order", "unknown", "missing", "text", "label", "header",
                   "gold", "copy", "manifest", "score", "board", "database"]


class RegistryError(Exception):
    """The root: anything that ends a command with one line instead of a traceback.

    `excerpt` is what to show below that line, where the place is easier seen than told; `others` are further errors
    that were found together with this one, each told in a line of its own.
    """

    exit_code = 1
    excerpt = ""
    others: tuple[RegistryError, ...] = ()


class StoreError(RegistryError):
    """The database file `path` cannot be used."""

    def __init__(self, path: str | Path, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = str(path)


class InputError(RegistryError):
    """A file that was given is wrong, at `line` (counted from 1) and `item` where they are known.

    `message` is what is wrong, without the place. `category` is a word for it that programs can rely on: `encoding`
    (what is no text), `format` (what the format does not allow, the default), `tag`; of a submission that does not go
    with the gold `order`, `duplicate`, `unknown`, `missing`, `text` and `label`, and of what makes its score surprising
    also `header`, `gold` and `copy`; of a whole task `manifest`, `score` (what a metric cannot count), `board` (what
    cannot be tested) and `database` (what does not go with what is stored).
    """

    exit_code = 3

    def __init__(self, message: str, *, path: str | Path | None = None, line: int | None = None,
                 item: str | None = None, category: Category = "format") -> None:
        message = clipped(message)
        place = "" if path is None else f"{path}:" if line is None else f"{path}:{line}:"
        thing = "" if item is None else f"item {clipped(item)!r}: "
        super().__init__(f"{place} {thing}{message}".strip())
        self.path = None if path is None else str(path)
        self.line = line
        self.item = item
        self.category = category
        self.message = message


class NoRegistryError(InputError):
    """There is no registry at `path`."""

    def __init__(self, path: str | Path) -> None:
        super().__init__("no registry here; `registry run MANIFEST` or `registry init` creates one, "
                         "`--db` names another", path=path)


class ManifestError(InputError):
    """The manifest `path` is wrong at `key`, a path such as `submit[2].kind`."""

    def __init__(self, message: str, *, path: str | Path, key: str = "") -> None:
        super().__init__(f"{key}: {message}" if key else message, path=path, category="manifest")
        self.key = key


class UnknownNameError(InputError):
    """`name` is no known `kind` (task, metric, reader, test, ...)."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, path: str | Path | None = None) -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        super().__init__(f"unknown {kind} {name!r}; {suggest(name, self.known)}", path=path)


class QueryError(InputError):
    """A query (`path`: where it was read from) is refused; `excerpt` is its line with a caret below what is wrong."""

    def __init__(self, message: str, *, path: str | Path = "SQL", line: int | None = None, excerpt: str = "") -> None:
        super().__init__(message, path=path, line=line)
        self.excerpt = excerpt


class LimitError(RegistryError):
    """A query would go beyond one of its limits and was ended; the message names the option that sets it."""


class HiddenError(RegistryError):
    """What is asked for is hidden until a time or a command; nothing is wrong."""

    exit_code = 0


class MismatchError(RegistryError):
    """What is stored and what is asked for do not belong together."""

    exit_code = 4


class SchemaError(MismatchError):
    """The schema of the database at `path` is not the one that this program works with."""

    def __init__(self, path: str | Path, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = str(path)


class LockedError(RegistryError):
    """Another process (`pid`, where the system tells it) holds the database at `path`."""

    exit_code = 5

    def __init__(self, path: str | Path, pid: int | None, holder: str | None = None) -> None:
        who = "another process" if pid is None else f"process {pid}" + (f" ({holder})" if holder else "")
        super().__init__(f"{path}: the database is in use by {who}; wait for it to end, or stop it, and try again")
        self.path, self.pid = str(path), pid


E = TypeVar("E", bound=RegistryError)


def together(errors: Sequence[E]) -> E:
    """One error to raise for one or more that were found together: the first, which carries the others."""
    first, *others = errors
    for error in others:
        first.others += (error, *error.others)
    return first


def at_keys(errors: Sequence[tuple[str, InputError]], path: Path) -> RegistryError:
    """The errors of a manifest as one to raise: each with the key at which it was found, unless it names one."""
    return together([error if isinstance(error, ManifestError) else together(
        [ManifestError(str(one), path=path, key=key) for one in (error, *error.others)]) for key, error in errors])


def clipped(text: str) -> str:
    """Leave out the middle of what is too long to read; files are untrusted, and so is what messages quote of them."""
    return text if len(text) <= 1000 else f"{text[:600]} ... {text[-300:]}"


def one_line(message: str) -> str:
    """Write control characters as escapes and clip what is too long: file names and items are untrusted."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in clipped(message))


def suggest(name: str, known: Iterable[str]) -> str:
    """Say which of the `known` names `name` may have meant.

    >>> suggest("Acuracy", ["Accuracy", "BLEU"])
    "did you mean 'Accuracy'? Known: Accuracy, BLEU"
    >>> suggest("x", [])
    'none is known'
    """
    known = sorted(known)
    if not known:
        return "none is known"
    near = nearest(name, known)
    guess = " or ".join(map(repr, near[:3]))
    left = len(known) - MOST_LISTED
    shown = ", ".join(k or "''" for k in known[:MOST_LISTED]) + (f", and {left} more" if left > 0 else "")
    return (f"did you mean {guess}? Known: " if near else "known: ") + shown


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The `known` names that `name` may stand for, the likeliest first.

    >>> nearest("PERSON", ["LOC", "PER"])
    ['PER']
    """
    folded = {k[:_LONGEST].casefold(): k for k in sorted(known)[:_MOST]}
    asked = name[:_LONGEST].casefold()
    near = [k for k in folded if min(len(k), len(asked)) > 2 and (k.startswith(asked) or asked.startswith(k))]
    return [folded[k] for k in near or difflib.get_close_matches(asked, folded, n=3, cutoff=0.6)]


def counted(n: int, thing: str, plural: str | None = None) -> str:
    """Write a count with its noun, and with the verb where the `plural` needs another one.

    >>> counted(1, "pair"), counted(2, "pair"), counted(1, "item has", "items have")
    ('1 pair', '2 pairs', '1 item has')
    """
    return f"{n} {thing if n == 1 else plural or thing + 's'}"


def listed(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """Write the first names, and how many more there are.

    >>> listed(["a", "b", "c"], 2), listed(["a", "b", "c"], 3)
    ('a, b and 1 more', 'a, b, c')
    """
    return separator.join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def duration(seconds: float) -> str:
    """Write a time for people, with as many digits as an estimate deserves.

    >>> duration(0.2), duration(42), duration(200), duration(9000)
    ('1 s', '42 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


Refuse = Callable[[RegistryError], None]  # what is done about an error: raise it, or collect it and go on


def raising(error: RegistryError) -> None:
    """Refuse at the first thing that is wrong, where nobody collects them."""
    raise error
