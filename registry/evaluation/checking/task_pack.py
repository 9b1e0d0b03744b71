"""Task packs: a manifest with the list of the items to answer in place of their gold, for participants to check with.

An item list is JSON Lines: `{"item": "s1"}`, and under `text` what systems were given, where the format has it
(tokens, the source of a translation). Nothing in a pack depends on the answers: items come in the order of their keys,
since that of the gold's file may tell them, and without attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from registry.errors import InputError, suggest
from registry.evaluation.ingest.declared import natural
from registry.evaluation.ingest.gold import read_gold
from registry.evaluation.resolve import ResolvedTask
from registry.identity import canonical_json
from registry.items import Item, by_key
from registry.manifest import Manifest, TestSet, format_toml
from registry.manifest.folder import write_files
from registry.readers import Document, Labels, Reader
from registry.readers.parsing.json_values import parse_object

_KEYS = ("item", "text")


def expected_documents(task: ResolvedTask, test_set: TestSet) -> dict[str, Document]:
    """Load the files of what a test set's submissions are held against, by role: of its gold, or its list of `items`.

    Raises:
        InputError: A file is not there, or cannot be read.
    """
    if test_set.items is None:
        return task.gold_documents(test_set)
    key = f"test_set[{task.manifest.test_set.index(test_set)}].items"
    return {"items": Document.load(task.root.resolve(test_set.items, key), task.root.folder)}


def expected_items(task: ResolvedTask, test_set: TestSet, documents: Mapping[str, Document]) -> list[Item]:
    """Read what a test set's submissions are held against, from its `expected_documents`.

    Raises:
        InputError: A file is not of its format; see `read_gold`.
    """
    if (document := documents.get("items")) is None:
        return read_gold(task, test_set, documents)
    items = by_key(_listed(document, task.readers[test_set.name]), document.path, report=document.report)
    if not items:
        document.report_empty("item")
    return list(items.values())


def task_pack(task: ResolvedTask) -> dict[str, str]:
    """Give the files of a task's pack by name: the manifest, and a list of items for every test set.

    Raises:
        InputError: The gold is wrong, or there is none.
    """
    files, test_sets = {}, []
    for test_set in task.manifest.test_set:
        name, reader = f"{test_set.name}.items.jsonl", task.readers[test_set.name]
        items = read_gold(task, test_set, task.gold_documents(test_set))
        entries = [{"item": item.key, "text": reader.task_text(item.gold)} for item in items]
        files[name] = "".join(
            canonical_json({key: value for key, value in entry.items() if value is not None}) + "\n"
            for entry in sorted(entries, key=lambda entry: (natural(entry["item"]), entry["item"])))
        test_sets.append({"name": test_set.name, "items": name, "format": test_set.format,
                          **({"options": test_set.options} if test_set.options else {})})
    return {"task.toml": with_test_sets(task.manifest, test_sets), **files}


def with_test_sets(manifest: Manifest, test_sets: Sequence[Mapping[str, Any]]) -> str:
    """What a manifest declares but for tests, submissions and boards, with other test sets, as TOML."""
    kept = manifest.model_dump(mode="json", exclude_defaults=True, include={"manifest", "task", "submission", "metric"})
    tables = kept | {"test_set": test_sets}
    order = ("manifest", "task", "test_set", "submission", "metric")
    return format_toml({key: tables[key] for key in order if key in tables})


def revealed(task: ResolvedTask) -> list[str]:
    """What a task's pack tells of the gold, beside its items and their texts: labels and types that are declared."""
    manifest = task.manifest
    declared = [(f"test set {test_set.name!r}", test_set.options) for test_set in manifest.test_set]
    found = [(where, "label", options["labels"]) for where, options in [
        *declared, ("[submission]", manifest.submission.options or {})] if options.get("labels")]
    for alias, metric in task.metrics.items():
        found += [(f"metric {alias!r}", "type", metric.types()),
                  (f"metric {alias!r}", "label", metric.list_option_labels())]
    return [f"the pack tells the {what if len(names) == 1 else f'{what}s'} {', '.join(names)}, which {where} names"
            for where, what, names in found if names]


def unchecked(task: ResolvedTask) -> list[str]:
    """What participants cannot find out with a task's pack: whether the gold has their labels, where none are named."""
    return [f"test set {name!r}: this pack tells nobody of labels that the gold does not have; the gold's option "
            "labels = [...] would name those that it has" for name, reader in task.readers.items()
            if isinstance(reader, Labels) and not reader.labels]


def write_pack(files: dict[str, str], folder: Path) -> list[Path]:
    """Write the files of a pack into `folder`, made if need be; gives those that are new.

    Raises:
        InputError: A file is there with other content, or cannot be written.
    """
    return write_files(folder, {name: content.encode() for name, content in files.items()},
                       conflict="exists with other content; name another folder, or remove this file",
                       failure="cannot write the pack")


def _listed(document: Document, reader: Reader) -> Iterator[Item]:
    for number, line in document.lines():
        try:
            yield _item(parse_object(line, document.path, number), reader, document, number)
        except InputError as error:
            document.report(error)


def _item(entry: Mapping[str, Any], reader: Reader, document: Document, line: int) -> Item:
    if unknown := [key for key in entry if key not in _KEYS]:
        raise document.error(f"unknown key {unknown[0]!r}; {suggest(unknown[0], _KEYS)}", line)
    key = entry.get("item")
    if not isinstance(key, str) or not key:
        raise document.error("no key 'item' with the item's name", line)
    try:
        return Item(key, reader.make_unanswered(entry.get("text")), {}, line)
    except ValueError as error:
        raise document.error(f"'text': {error}", line, key) from None
