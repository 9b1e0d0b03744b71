"""Temporary files for arrays that are too large for the memory, or that processes share."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO, TypeVar

import numpy as np
from numpy.typing import NDArray

from registry.errors import RegistryError

Number = TypeVar("Number", bound=np.generic)


@contextmanager
def scratch(size: int, remedy: str) -> Iterator[IO[bytes]]:
    """Open an unnamed temporary file of so many bytes, which exists as long as it is mapped.

    It is allocated at once: on a full disk, the system would end a process that writes to a mapping (SIGBUS).

    Raises:
        RegistryError: There is no room, or no folder for temporary files; `remedy` says what needs none.
    """
    try:
        file = TemporaryFile()  # noqa: SIM115  (errors of the caller's are none of the file's)
    except OSError as error:
        raise RegistryError(f"no temporary file can be made: {error}; set TMPDIR, or {remedy}") from None
    with file:
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
        except OSError as error:
            raise RegistryError(f"a temporary file of {size / 2**20:,.0f} MiB cannot be made: {error.strerror}; set "
                                f"TMPDIR to a folder with more room, or {remedy}") from None
        yield file


def room(shape: tuple[int, ...], most: int, dtype: type[Number] | np.dtype[Number]) -> NDArray[Number]:
    """An uninitialized array, in memory if it takes `most` bytes at most, else in a temporary file."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size <= most:
        return np.empty(shape, dtype)
    with scratch(size, "give more --memory") as file:
        return np.memmap(file, dtype=dtype, mode="r+", shape=shape)
