"""Gold annotations into the registry: a test set's revisions, items and gold answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from registry.errors import InputError, MismatchError
from registry.evaluation.readings import Readings
from registry.evaluation.resolve import ResolvedTask
from registry.identity import canonical_json, digest_lines
from registry.items import Item, by_key
from registry.manifest import TestSet
from registry.readers import Document, Reader
from registry.store import catalog, models, sources, statistics
from registry.store.catalog import AnyRow
from registry.store.journal import Journal, now
from registry.store.rows import insert


def read_gold(test_set: TestSet, reader: Reader, documents: Mapping[str, Document]) -> list[Item]:
    """Read a test set's items and check that they carry what the manifest groups them by.

    Raises:
        InputError: A file is not of its format, an item stands twice, or an attribute is not there.
    """
    path = documents["gold"].path
    items = list(by_key(reader.read_gold(documents), path).values())
    for wanted in _groups(test_set):
        for item in items:
            if not item.attributes.get(wanted):
                known = ", ".join(sorted(item.attributes)) or "none"
                raise InputError(f"has no attribute {wanted!r}, which the manifest groups items by; its attributes: "
                                 f"{known}", path=path, line=item.line, item=item.key)
    return items


def _groups(test_set: TestSet) -> list[str]:
    """The attributes that the manifest groups items by."""
    return [name for name in (test_set.cluster, *test_set.facets) if name is not None]


def apply_gold(connection: Connection, journal: Journal, readings: Readings, task: ResolvedTask, task_row: AnyRow,
               test_set: TestSet, version_before: str | None) -> bool:
    """Bring a test set's gold into the registry; says whether it is new or changed.

    The same content in another order or file form is the same gold. A changed one needs a `task.version` other than the
    one before.

    Raises:
        InputError: See `read_gold`.
        MismatchError: The gold has changed under the same version of the task.
    """
    reader = task.readers[test_set.name]
    documents = task.gold_documents(test_set)
    journal.inputs |= {document.path: document.digest for document in documents.values()}
    stored = catalog.get(connection, models.test_set, task_id=task_row.task_id, name=test_set.name)
    files = {role: document.digest for role, document in documents.items()}
    revision = stored.gold_revision_id
    grouped = all(catalog.has_attribute(connection, revision, name) for name in _groups(test_set))
    if revision is not None and grouped and files == catalog.gold_sources(connection, revision, repr(reader)):
        return False
    items = read_gold(test_set, reader, documents)
    digest = digest_lines(canonical_json([i.key, reader.content(i.gold), dict(i.attributes)])
                          for i in sorted(items, key=lambda item: item.key))
    known = catalog.find(connection, models.gold_revision, test_set_id=stored.test_set_id, digest=digest)
    changed = revision is not None and (known is None or known.gold_revision_id != revision)
    if changed and version_before == task.manifest.task.version:
        raise MismatchError(
            f"{documents['gold'].path}: the gold of test set {test_set.name!r} has changed, but task.version is "
            f"still {task.manifest.task.version!r}; raise it, and every submission is scored anew")
    if known is None:
        gold_revision_id = _insert_gold(connection, journal, stored, task, reader, items, digest)
        readings.keep_items(gold_revision_id, items)
    else:
        gold_revision_id = known.gold_revision_id
    for role, document in documents.items():
        sources.keep(connection, document.digest, document.path, document.content)
        catalog.find_or_insert(connection, models.gold_source, {
            "gold_revision_id": gold_revision_id, "role": role, "source_digest": document.digest,
            "reader": repr(reader)})
    if revision == gold_revision_id:
        return False
    catalog.set_values(connection, models.test_set, stored.test_set_id, gold_revision_id=gold_revision_id)
    journal.event(connection, "gold", f"{task.manifest.task.id}/{test_set.name}", digest=digest, items=len(items))
    return True


def _insert_gold(connection: Connection, journal: Journal, stored: AnyRow, task: ResolvedTask, reader: Reader,
                 items: Sequence[Item], digest: str) -> int:
    earlier = connection.execute(
        models.gold_revision.select().where(models.gold_revision.c.test_set_id == stored.test_set_id)).all()
    gold_revision_id = insert(
        connection, models.gold_revision, test_set_id=stored.test_set_id, revision=len(earlier) + 1, digest=digest,
        task_version=task.manifest.task.version, reader=repr(reader), n_items=len(items),
        run_id=journal.run_id(connection), created_at=now())
    names = sorted({name for item in items for name in item.attributes})
    first = statistics.insert_items(connection, gold_revision_id, [item.key for item in items],
                                    {name: [item.attributes.get(name) for item in items] for name in names})
    answers = [(first + n, *answer) for n, item in enumerate(items) for answer in reader.answer_set(item.gold)]
    if answers:
        ids, keys, types = (list(column) for column in zip(*answers, strict=True))
        statistics.insert_answers(connection, gold_revision_id, ids, keys, types, in_gold=True)
    return gold_revision_id
