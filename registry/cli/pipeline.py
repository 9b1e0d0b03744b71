"""The main job as commands do it: a manifest resolved, applied, scored and compared, and what is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from registry.cli.console import say, say_all
from registry.errors import ManifestError

if TYPE_CHECKING:
    from registry.at_once import BroughtUp
    from registry.evaluation.ingest.context import Ingest
    from registry.evaluation.ingest.declared import DeclaredSubmission
    from registry.evaluation.resolve import ResolvedTask
    from registry.manifest.spec import Submit
    from registry.parallel.execution import Progress
    from registry.readers import Document
    from registry.significance import Execution
    from registry.store.database import Database
    from registry.store.log import Journal
    from registry.store.session import Session

def resolved(manifest: Path, root: Path | None) -> tuple[ResolvedTask, bytes]:
    """Read a manifest and resolve its names; give the bytes that were read too."""
    from registry.evaluation.resolve import resolve
    from registry.manifest import load_manifest

    if root is not None and not root.is_dir():
        raise ManifestError(f"--root {root} is no folder", path=manifest)
    specification, content = load_manifest(manifest)
    return resolve(specification, manifest, root), content


def bring_up(database: Database, manifest: Path, root: Path | None, how: Execution, actor: str | None, *,
             dry_run: bool = False, public: bool = False) -> BroughtUp:
    """Apply, score and compare what a manifest declares; `public`: say nothing that is hidden."""
    from registry.at_once import Job, applied_sentences, applying, evaluated, shown_in_messages
    from registry.store.log import Journal

    task, content = resolved(manifest, root)
    journal = Journal("run", {"manifest": task.root.manifest_name}, actor=actor)

    def bring(session: Session) -> Ingest:
        ingest, applied = applying(session, journal, task, content, how.progress)
        say_all(applied_sentences(applied, shown_in_messages(session.connection, ingest.slug, public=public)))
        return ingest

    return evaluated(Job(database, journal, how, say, public=public), bring, create=True, dry_run=dry_run)


@dataclass
class Submitting:
    """One more submission to a task that is there.

    Attributes:
        task: The task's id.
        entry: What is said of the submission, as a manifest would.
        documents: Its files.
        journal: Of the command.
        progress: Told how far each stage of the work is.
        one: The submission by the rules of the task, once it is brought in.
    """

    task: str
    entry: Submit
    documents: Sequence[Document]
    journal: Journal
    progress: Progress | None
    one: DeclaredSubmission = field(init=False)

    def bring(self, session: Session) -> Ingest:
        """Bring it in, and tell what was found."""
        from registry.at_once import applied_sentences
        from registry.evaluation.ingest.apply import submit
        from registry.evaluation.ingest.context import Ingest
        from registry.evaluation.ingest.declared import build_submission
        from registry.evaluation.resolve import resolve_stored
        from registry.store import catalog

        (row,) = catalog.tasks(session.connection, self.task)
        known = resolve_stored(row.manifest, self.task)
        self.one = build_submission(known, self.entry, self.documents, {}, "")
        ingest = Ingest(session.connection, self.journal, known, progress=self.progress)
        say_all(applied_sentences(submit(ingest, self.one)))
        return ingest


def say_end(*, changed: bool, dry_run: bool, then: str = "") -> None:
    """Tell whether anything was written, and what comes next, if anything does."""
    if not changed:
        say_unchanged("nothing changed")
    elif dry_run:
        say("dry run: nothing was written")
    elif then:
        say(f"next: {then} to date")


def say_unchanged(message: str) -> None:
    """Tell that everything was there; who changes the code is told why the numbers are those of before."""
    from registry.provenance import code

    say(message)
    if code().dirty:
        say("note: the code differs from its revision; `registry score --stale` computes scores anew whose metric is "
            "other code; all else is known by its name and the package's version, not computed anew: take another --db")
