"""Kept files compared with their digests, and their names with what the log says that commands have read."""

from __future__ import annotations

import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator

from sqlalchemy import Connection, select

from registry.errors import counted
from registry.evaluation.verifying.faults import Fault
from registry.identity import digest
from registry.store import models
from registry.store.log import entries

_NUMBER = re.compile(r" \(\d+\)$")  # of files that have one name and are not the same


def verify_files(connection: Connection) -> Iterator[Fault]:
    """Compare the bytes and names of kept files with their digests and with the inputs of runs."""
    inputs = _Inputs(connection)
    table = models.source.c
    for row in connection.execute(select(table.digest, table.name, table.n_bytes, table.content).order_by(
            table.digest)):
        stream = zlib.decompressobj()
        try:
            content = stream.decompress(row.content)
        except zlib.error as error:
            yield Fault("damaged", "source", row.name, f"its kept bytes cannot be read: {error}")
            continue
        if digest(content) != row.digest or len(content) != row.n_bytes or not stream.eof:
            yield Fault("altered", "source", row.name, f"its kept bytes are not those of {row.digest}")
        if stream.unused_data:
            yield Fault("surplus", "source", row.name, f"{counted(len(stream.unused_data), 'byte')} follow its content")
        if not inputs.have(row.digest, row.name):
            yield Fault("altered", "source", row.name, "no command has read a file of that name and digest")
    of, submission = models.submission_source.c, models.submission.c
    for digest_, name, run_id in connection.execute(select(of.source_digest, of.name, submission.run_id).join(
            models.submission, submission.submission_id == of.submission_id).order_by(
                of.submission_id, of.replicate)):
        if not inputs.have(digest_, name, run_id):
            yield Fault("altered", "submission", name, f"run {run_id} has read no file of that name and digest")


class _Inputs:
    """The names of files that commands have read, by their digests; a purge may have taken some away."""

    def __init__(self, connection: Connection) -> None:
        self._names: defaultdict[tuple[str, int | None], set[str]] = defaultdict(set)
        ended = {of.run_id for of in entries(connection, "end") if of.details}
        runs = connection.execute(select(models.run.c.run_id, models.run.c.inputs)).all()
        self._blanked = {row.run_id for row in runs if row.run_id not in ended and row.inputs == "{}"}
        for run_id, inputs in runs:
            for name, of in json.loads(inputs).items():
                for key in ((of, run_id), (of, None)):
                    self._names[key] |= {name, _NUMBER.sub("", name)}
        self._manifests = {of.details.get("normalized") for of in entries(connection, "task")}  # what a purge left

    def have(self, digest: str, name: str, run_id: int | None = None) -> bool:
        """True if a run (None: any) has read such a file, or if that is not known any more."""
        blanked = bool(self._blanked) if run_id is None else run_id in self._blanked
        return blanked or name in self._names[digest, run_id] or (run_id is None and digest in self._manifests)
