"""What a command brings in, as messages may call it: for an anonymous task they must not."""

from __future__ import annotations

from collections.abc import Sequence

from registry.evaluation.ingest.declared import Declared, declared
from registry.evaluation.ingest.hiding import newly_anonymous
from registry.evaluation.resolve import ResolvedTask
from registry.provenance import recorded_name
from registry.readers import Document
from registry.store.hiding.names import Bringing, GivenSubmission


def bringing(task: ResolvedTask, chosen: Sequence[Declared] | None = None) -> Bringing:
    """What a task's manifest declares to be submitted; or, of a task that is there, some `chosen` submissions."""
    return Bringing(task.manifest.task.id, lambda: _of_manifest(task) if chosen is None else list(map(_given, chosen)),
                    lambda before: newly_anonymous(task.manifest, before))


def _of_manifest(task: ResolvedTask) -> list[GivenSubmission]:
    """What it declares, and what of it is wrong, and none of these."""
    return [*map(_given, declared(task, refuse=lambda _: None)),  # it is told where the manifest is applied
            *(GivenSubmission((submit.file, str(task.root.folder / submit.file)), submit.team or submit.system,
                              submit.system, submit.version or "1") for submit in task.manifest.submit)]


def _given(one: Declared) -> GivenSubmission:
    files = [path for file in one.files for path in (
        (file.path, file.name) if isinstance(file, Document) else (str(file), recorded_name(file, one.within)))]
    return GivenSubmission(files, one.team, one.system, one.version)
