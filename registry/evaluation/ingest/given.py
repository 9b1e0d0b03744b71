"""What a command brings in, as messages may call it: for an anonymous task they must not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry.errors import RegistryError
from registry.evaluation.ingest.declared import Declared, declared
from registry.evaluation.ingest.hiding import declared_hiding
from registry.evaluation.resolve import ResolvedTask
from registry.provenance import recorded_name
from registry.readers import Document
from registry.store.hiding.names import Bringing, Given
from registry.store.log.journal import now
from registry.store.row_types import TaskRow


def bringing(task: ResolvedTask, chosen: Sequence[Declared] | None = None) -> Bringing:
    """What a task's manifest declares to be submitted; or, of a task that is there, some `chosen` submissions."""
    def newly(before: TaskRow | None) -> bool:
        until = declared_hiding(task.manifest, before).get("anonymous_until")
        return until is not None and until > now()

    return Bringing(task.manifest.task.id, newly, lambda: list(
        _of_manifest(task) if chosen is None else map(_given, chosen)))


def _of_manifest(task: ResolvedTask) -> Iterator[Given]:
    yield from map(_given, declared(task, refuse=_ignore))
    for submit in task.manifest.submit:  # also what is wrong, and is none of these
        files = (submit.file, str(task.root.folder / submit.file))
        yield Given(files, submit.team or submit.system, submit.system, submit.version or "1")


def _ignore(error: RegistryError) -> None:
    """The error is told where the manifest is applied."""


def _given(one: Declared) -> Given:
    files = [path for file in one.files for path in (
        (file.path, file.name) if isinstance(file, Document) else (str(file), recorded_name(file, one.within)))]
    return Given(files, one.team, one.system, one.version)
