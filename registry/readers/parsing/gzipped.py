"""Gzip files of strangers, which may unfold to very much, or consist of very many parts."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable

MARK = b"\x1f\x8b"  # the first bytes of every gzip file
_MEMBERS = 1000  # and one more per `_MEMBER` bytes, as some programs compress blocks by themselves
_MEMBER = 2**10


def unfold(content: bytes, most: int) -> bytes:
    """Return what a gzip file holds, or just more than `most` bytes of it.

    Raises:
        ValueError: The file is damaged, or has too many parts.
    """
    if (members := content.count(MARK + b"\x08")) > _MEMBERS + len(content) // _MEMBER:  # each takes 64 microseconds
        raise ValueError(f"some {members:,} gzip files, one after the other; compress the text as one file")
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            return read_at_most(most, file.read)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"damaged gzip file: {str(error).rstrip('.')}") from None


def read_at_most(limit: int, read: Callable[[int], bytes]) -> bytes:
    """Read a file, or just more than `limit` bytes of it; asked for all of them at once it would reserve as many."""
    parts, size = [], 0
    while size <= limit and (part := read(2**16)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)
