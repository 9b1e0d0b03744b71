"""Which file of a submission's folder answers a test set.

Participants upload a zip file, which the platform unpacks. What is in it is theirs: links, nested archives and files of
other purposes are refused or passed over, and nothing is opened but the one file that is meant.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from registry.errors import InputError, counted
from registry.readers import Document

MOST, DEEPEST = 1000, 10  # files of a submission, and folders within each other, that are looked at

_OF_SYSTEMS = {"metadata", "metadata.yaml", "thumbs.db", "desktop.ini"}  # of the platform, Windows


def submitted_file(folder: Path, test_set: str, test_sets: Sequence[str]) -> Document:
    """Read the file of a submission that answers `test_set`, one of the `test_sets` that it is to answer.

    Where that is one, it is the only file, whatever it is called. Where they are several, it is called after the test
    set: `dev`, `dev.tsv`, `dev.conll.gz`. Records and errors call it by its path in the folder.

    Raises:
        InputError: There is no such file, or more than one; or it is a link, or cannot be read.
    """
    name = answering(_files(folder), test_set, test_sets, "submission")
    try:
        return replace(Document.load(folder / name), path=name, name=name)
    except InputError as error:
        raise InputError(error.message, path=name) from None


def answering(files: Sequence[str], test_set: str, test_sets: Sequence[str], path: str) -> str:
    """Which of a submission's files, by their paths in it, answers a test set; see `submitted_file`.

    Raises:
        InputError: None does, or more than one; `path` is what the submission is called.
    """
    if len(test_sets) > 1:
        named = [name for name in files if _answers(Path(name).name, test_sets) == test_set]
        wanted = f"one called {test_set}, with any ending"
    else:
        named, wanted = list(files), "one"
    if len(named) != 1:
        found = f"{counted(len(named), 'file')}: {', '.join(named[:5])}{' ...' * (len(named) > 5)}" if named else (
            f"no such file among {counted(len(files), 'file')}" if files else "no file")
        raise InputError(f"the submission has {found}; zip {wanted} for test set {test_set}", path=path)
    return named[0]


def _files(folder: Path) -> list[str]:
    """The files of a submission by their paths in its folder, without those that systems add."""
    found = []
    for at, folders, names in os.walk(folder):
        if len(Path(at).relative_to(folder).parts) > DEEPEST:
            raise InputError(f"more than {DEEPEST} folders within each other; zip the system's output alone",
                             path="submission")
        folders[:] = sorted(name for name in folders if not is_added(name))
        for name in (*sorted(names), *folders):
            path = Path(at) / name
            if path.is_symlink():
                raise InputError("a link; submit the file itself", path=str(path.relative_to(folder)))
        found += [str((Path(at) / name).relative_to(folder)) for name in sorted(names) if not is_added(name)]
        if len(found) > MOST:
            raise InputError(f"the submission has more than {MOST} files; zip the system's output alone",
                             path="submission")
    return found


def is_added(name: str) -> bool:
    """Whether a file or folder is one that operating systems and platforms add."""
    return name.startswith((".", "__MACOSX")) or name.lower() in _OF_SYSTEMS


def _answers(name: str, test_sets: Sequence[str]) -> str | None:
    """The test set that a file is called after: the longest, since `dev` and `dev.hard` may both be there."""
    return max((of for of in test_sets if name == of or name.startswith(f"{of}.")), key=len, default=None)
