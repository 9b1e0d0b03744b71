"""Temporary files for large arrays, and for arrays that several processes use."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from registry.errors import RegistryError
from registry.parallel.processes import shared_folder
from registry.platforms import allocate

Number = TypeVar("Number", bound=np.generic)


def make_array(shape: tuple[int, ...], max_bytes: int, dtype: type[Number] | np.dtype[Number]) -> NDArray[Number]:
    """Return an array without initial values, in a temporary file if it is large.

    The disk space of a file is reserved immediately. Otherwise, the operating system would kill the process (SIGBUS)
    when the disk becomes full.

    Args:
        shape: The shape of the array.
        max_bytes: The largest size of an array in memory.
        dtype: The type of the elements.

    Raises:
        RegistryError: The disk is full, or there is no folder for temporary files.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size <= max_bytes:
        return np.empty(shape, dtype)
    with _explain_disk_errors(size, "increase --memory"), TemporaryFile() as file:
        allocate(file, size)
        return np.memmap(file, dtype=dtype, mode="r+", shape=shape)


@dataclass(frozen=True)
class SharedArray:
    """Array in a temporary file that several processes can map into memory."""

    path: Path
    shape: tuple[int, ...]
    dtype: str

    def load(self) -> NDArray[Any]:
        """Return the array, mapped into memory from its file.

        If a process changes the array, other processes do not see this.
        """
        return np.asarray(np.memmap(self.path, dtype=self.dtype, mode="c", shape=self.shape))


@contextmanager
def shared_array(array: NDArray[np.generic], remedy: str) -> Iterator[SharedArray]:
    """Write an array to a file that worker processes can map into memory.

    The file is deleted at the end of the `with` block.

    Args:
        array: The array.
        remedy: End of the error message: advice how to avoid the file.

    Raises:
        RegistryError: The disk is full, or there is no folder for temporary files.
    """
    with _explain_disk_errors(array.nbytes, remedy):
        path = shared_folder() / f"{secrets.token_hex(8)}.array"
    try:
        with _explain_disk_errors(array.nbytes, remedy):
            array.tofile(path)
        yield SharedArray(path, array.shape, array.dtype.str)
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def _explain_disk_errors(size: int, remedy: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RegistryError(f"a temporary file of {size / 2**20:,.0f} MiB cannot be made: {error.strerror or error}; "
                            f"set TMPDIR to a folder with more room, or {remedy}") from None
