"""Compressed copies of all files that commands have read.

The program can compute scores again from these copies, without the original files.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from registry.errors import MismatchError
from registry.store import models
from registry.store.log import now

_LEVEL = 4  # needs a fifth of the time of zlib's default, and a tenth more space


def store(connection: Connection, digest: str, name: str, content: bytes) -> None:
    """Store the content of a gold or submitted file, unless it is already stored.

    Args:
        connection: Connection to the registry.
        digest: Digest that identifies the content.
        name: Name of the file.
        content: Content of the file.
    """
    if not is_stored(connection, digest):
        connection.execute(models.source.insert().values(
            digest=digest, name=name, n_bytes=len(content), content=zlib.compress(content, _LEVEL), created_at=now()))


def is_stored(connection: Connection, digest: str) -> bool:
    """Return True if the registry contains a file with this digest."""
    query = select(models.source.c.digest).where(models.source.c.digest == digest)
    return connection.execute(query).first() is not None


def fetch(connection: Connection, digest: str) -> bytes:
    """Return the content of the stored file with this digest.

    Raises:
        MismatchError: The file is not stored, because the registry is a public file that was written without it.
    """
    query = select(models.source.c.content).where(models.source.c.digest == digest)
    content = connection.execute(query).scalar()
    if content is None:
        raise MismatchError("this public file lacks some files of gold and submissions, so their texts are missing; "
                            "publish again with `registry publish --sources`, which adds files of submissions without "
                            "hidden names")
    return zlib.decompress(content)


def sizes_of_submissions(connection: Connection, submission_ids: Sequence[int]) -> dict[int, int]:
    """Return the total size in bytes of the files of each submission, by its id."""
    link, source = models.submission_source, models.source
    query = select(link.c.submission_id, func.sum(source.c.n_bytes)).join(
        link, link.c.source_digest == source.c.digest).where(
            link.c.submission_id.in_(list(submission_ids))).group_by(link.c.submission_id)
    return {submission_id: int(size) for submission_id, size in connection.execute(query)}
