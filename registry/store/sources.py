"""What was read, kept compressed, so that scores can be recomputed without the original files."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from registry.errors import MismatchError
from registry.store import models
from registry.store.log import now

_LEVEL = 4  # a fifth of the time of zlib's default, for a tenth more room


def keep(connection: Connection, digest: str, name: str, content: bytes) -> None:
    """Keep a file's bytes under their digest, called as it was first; one that is already kept is not kept twice."""
    if not is_kept(connection, digest):
        connection.execute(models.source.insert().values(
            digest=digest, name=name, n_bytes=len(content), content=zlib.compress(content, _LEVEL), created_at=now()))


def is_kept(connection: Connection, digest: str) -> bool:
    """Whether the bytes of a file are kept."""
    query = select(models.source.c.digest).where(models.source.c.digest == digest)
    return connection.execute(query).first() is not None


def fetch(connection: Connection, digest: str) -> bytes:
    """Give back the bytes of a kept file.

    Raises:
        MismatchError: It is not kept: a public file has no files of hidden submissions, and others if they were asked
            for.
    """
    query = select(models.source.c.content).where(models.source.c.digest == digest)
    content = connection.execute(query).scalar()
    if content is None:
        raise MismatchError("texts are read from files of gold and submissions, and some are not in this public file: "
                            "`registry publish --sources` adds those of submissions whose names are not hidden")
    return zlib.decompress(content)


def sizes_of_submissions(connection: Connection, submission_ids: Sequence[int]) -> dict[int, int]:
    """How many bytes the kept files of each submission have."""
    of, kept = models.submission_source, models.source
    query = select(of.c.submission_id, func.sum(kept.c.n_bytes)).join(of, of.c.source_digest == kept.c.digest).where(
        of.c.submission_id.in_(list(submission_ids))).group_by(of.c.submission_id)
    return {submission_id: int(size) for submission_id, size in connection.execute(query)}
