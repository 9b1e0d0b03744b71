"""Gold annotations into the registry: a test set's revisions, items and gold answers."""

from __future__ import annotations

from collections.abc import Sequence

from registry.errors import MismatchError
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.gold_items import gold_digest, read_gold
from registry.items import Item
from registry.manifest import TestSet
from registry.readers import Reader
from registry.store import catalog, models, statistics
from registry.store.catalog import GoldRevisionRow, TaskRow, TestSetRow
from registry.store.log import now
from registry.store.rows import insert, insert_bulk, next_id


def apply_gold(ingest: Ingest, test_set: TestSet, stored: TestSetRow, before: TaskRow | None, *,
               redeclared: bool) -> int | None:
    """Bring the gold of a test set, `stored` before, into the registry; gives its revision where it is new or changed.

    The same content in another order or file form is the same gold. A changed one needs a `task.version` other than the
    one `before`. Files that were read before are read again only where the task is `redeclared`, and may group items by
    something else.

    Raises:
        InputError: See `read_gold`.
        MismatchError: The gold has changed under the same version of the task.
    """
    connection, task, reader = ingest.connection, ingest.task, ingest.task.readers[test_set.name]
    documents = task.gold_documents(test_set, ingest.parsed.load)
    for document in documents.values():
        ingest.journal.read(document.name, document.digest)
    files = {role: document.digest for role, document in documents.items()}
    revision = stored.gold_revision_id
    if revision is not None and not redeclared and files == catalog.gold_sources(connection, revision, repr(reader)):
        return None
    items = read_gold(task, test_set, documents)
    digest = gold_digest(reader, items)
    known = catalog.find(connection, GoldRevisionRow, test_set_id=stored.test_set_id, digest=digest)
    changed = revision is not None and (known is None or known.gold_revision_id != revision)
    if changed and before is not None and before.version == task.manifest.task.version:
        raise MismatchError(
            f"{documents['gold'].path}: the gold of test set {test_set.name!r} has changed, but task.version is "
            f"still {task.manifest.task.version!r}; raise it, and every submission is scored anew")
    if known is None:
        gold_revision_id = _insert_gold(ingest, stored, reader, items, digest)
        ingest.parsed.keep_items(gold_revision_id, items)
    else:
        gold_revision_id = int(known.gold_revision_id)
    for role, document in documents.items():
        ingest.keep(document)
        row = {"gold_revision_id": gold_revision_id, "role": role, "source_digest": document.digest,
               "reader": repr(reader)}
        if connection.execute(models.gold_source.select().filter_by(**row)).first() is None:
            connection.execute(models.gold_source.insert().values(row))
            ingest.journal.run_id(connection)  # even if the gold is the same: the log then has digests of the tables
    if revision == gold_revision_id:
        return None
    catalog.set_values(connection, models.test_set, stored.test_set_id, gold_revision_id=gold_revision_id)
    ingest.event("gold", f"{ingest.slug}/{test_set.name}", digest=digest, items=len(items))
    return gold_revision_id


def _insert_gold(ingest: Ingest, stored: TestSetRow, reader: Reader, items: Sequence[Item], digest: str) -> int:
    connection = ingest.connection
    earlier = connection.execute(
        models.gold_revision.select().where(models.gold_revision.c.test_set_id == stored.test_set_id)).all()
    gold_revision_id = insert(
        connection, models.gold_revision, test_set_id=stored.test_set_id, revision=len(earlier) + 1, digest=digest,
        task_version=ingest.task.manifest.task.version, reader=repr(reader),
        n_items=len(items), run_id=ingest.run_id, created_at=now())
    names = sorted({name for item in items for name in item.attributes})
    first = statistics.insert_items(connection, gold_revision_id, [item.key for item in items],
                                    {name: [item.attributes.get(name) for item in items] for name in names})
    answers = [(first + n, answer.key, answer.type) for n, item in enumerate(items)
               for answer in reader.answer_set(item.gold)]
    if answers:
        ids, keys, types = (list(column) for column in zip(*answers, strict=True))
        insert_bulk(connection, models.answer, statistics.answer_columns(
            gold_revision_id, next_id(connection, models.answer), ids, keys, types, in_gold=True))
    return gold_revision_id
