"""What every importer is: it turns results of another program into a task, as if somebody had declared it.

A task is a manifest and the files that it names, in a folder of their own; so everything else works as with any task,
the folder can be looked at, kept and mended, and the registry keeps the bytes of all files.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path

from registry.errors import InputError
from registry.manifest.fields import check_slug
from registry.manifest.folder import TaskFolder
from registry.values import Value


def title(path: Path) -> str:
    """The title of a task that is made of what is at `path`."""
    return f"Imported from {path.name or 'a folder'}".encode(errors="replace").decode()


class Importer(Value):
    """A kind of foreign results, with the options that say how they are read."""

    @abstractmethod
    def read(self, path: Path) -> TaskFolder:
        """Make a task of what is at `path`.

        Raises:
            InputError: It is not of this kind; names file and line.
        """

    def read_files(self, files: Sequence[Path]) -> TaskFolder | None:  # noqa: ARG002
        """Make a task of several files; None if they are not of this kind, or the importer takes one path only.

        Raises:
            InputError: They are of this kind, and cannot be read; names file and line.
        """
        return None


def require_metric(importer: str, metric: str) -> None:
    """Refuse what boards cannot call a metric.

    Raises:
        InputError: It is no such name.
    """
    try:
        check_slug(metric)
    except ValueError as error:
        raise InputError(f"option 'metric' of {importer}: {error}, such as pass-1 for pass@1") from None
