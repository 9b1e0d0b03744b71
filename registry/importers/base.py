"""What every importer is: it turns results of another program into a task, as if somebody had declared it.

A task is a manifest and the files that it names, in a folder of their own; so everything else works as with any task,
the folder can be looked at, kept and mended, and the registry keeps the bytes of all files.
"""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path

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
