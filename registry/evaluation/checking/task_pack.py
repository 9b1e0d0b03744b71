"""Task packs: tasks without gold, with which participants can check their files.

A pack contains a manifest and, instead of the gold, a list of items for each test set. The list has one JSON object per
line, such as `{"item": "s1"}`. If the format has the input of systems, such as tokens, `text` contains the input.
Nothing in a pack depends on the gold answers. So items are sorted by key, because the order of the gold file could
depend on the answers, and have only attributes that the organiser names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from registry.errors import InputError, UnknownNameError, suggest
from registry.evaluation.ingest.gold import read_gold
from registry.evaluation.resolve import ResolvedTask
from registry.identity import canonical_json
from registry.items import Item, index_by_key
from registry.manifest import Manifest, TestSet, format_toml
from registry.manifest.folder import write_files
from registry.manifest.naming import natural_key
from registry.readers import Document, Labels, Reader
from registry.readers.parsing.json_values import parse_object

_KEYS = ("item", "text", "attributes")


def load_expected_documents(task: ResolvedTask, test_set: TestSet) -> dict[str, Document]:
    """Load the files that list the items of a test set: gold or a list of items.

    A task pack (a task without gold, for participants) has a list of items instead of gold.

    Returns:
        The files by role, such as `gold`, or `items` for the list.

    Raises:
        InputError: A file does not exist, or cannot be read.
    """
    if test_set.items is None:
        return task.gold_documents(test_set)
    key = f"test_set[{task.manifest.test_set.index(test_set)}].items"
    return {"items": Document.load(task.root.resolve(test_set.items, key), task.root.folder)}


def read_expected_items(task: ResolvedTask, test_set: TestSet, documents: Mapping[str, Document]) -> list[Item]:
    """Read the items of a test set from its gold, or from a list of items.

    A task pack (a task without gold, for participants) has a list of items.

    Args:
        task: The manifest with its readers and metrics.
        test_set: The test set.
        documents: The files by role: `gold`, or `items` for a list of items.

    Raises:
        InputError: A file has an invalid format, an item occurs twice, or an item lacks a required attribute.
    """
    if (document := documents.get("items")) is None:
        return read_gold(task, test_set, documents)
    items = index_by_key(_read_list(document, task.readers[test_set.name]), document.path, report=document.report)
    if not items:
        document.report_empty("item")
    return list(items.values())


def make_task_pack(task: ResolvedTask, attributes: Sequence[str] = ()) -> dict[str, str]:
    """Make the files of a task pack, which is a task without gold.

    With a pack, participants can check their submissions.

    Args:
        task: The task with its gold.
        attributes: Names of attributes of items, such as the column of texts, that the lists of items contain.

    Returns:
        The contents of the files by name: the manifest, and a list of items for each test set.

    Raises:
        InputError: The gold is missing or invalid, or no item has one of the attributes.
    """
    files, test_sets = {}, []
    known: set[str] = set()
    for test_set in task.manifest.test_set:
        name, reader = f"{test_set.name}.items.jsonl", task.readers[test_set.name]
        items = read_gold(task, test_set, task.gold_documents(test_set))
        known.update(*(item.attributes for item in items))
        entries = [{"item": item.key, "text": reader.task_text(item.gold), "attributes": {
            name: item.attributes[name] for name in attributes if name in item.attributes} or None} for item in items]
        files[name] = "".join(
            canonical_json({key: value for key, value in entry.items() if value is not None}) + "\n"
            for entry in sorted(entries, key=lambda entry: (natural_key(entry["item"]), entry["item"])))
        test_sets.append({"name": test_set.name, "items": name, "format": test_set.format,
                          **({"options": test_set.options} if test_set.options else {}),
                          **({"metrics": test_set.metrics} if test_set.metrics else {})})
    for name in attributes:
        if name not in known:
            raise UnknownNameError("attribute of items", name, sorted(known))
    return {"task.toml": format_manifest(task.manifest, test_sets), **files}


def format_manifest(manifest: Manifest, test_sets: Sequence[Mapping[str, Any]]) -> str:
    """Return the manifest of a task pack (a task without gold), as TOML.

    The manifest has the task, the metrics of its test sets and its rules for submissions.

    Args:
        manifest: The manifest of the task with gold.
        test_sets: The tables `[[test_set]]` of the pack, with files of items instead of gold.
    """
    tables = manifest.model_dump(
        mode="json", exclude_defaults=True, include={"manifest", "task", "submission", "metric"})
    ids = [metric["id"] for metric in tables["metric"]]
    used = {id_ for test_set in test_sets for id_ in test_set.get("metrics", ids)}
    tables["metric"] = [metric for metric in tables["metric"] if metric["id"] in used]
    tables["test_set"] = test_sets
    order = ("manifest", "task", "test_set", "submission", "metric")
    return format_toml({key: tables[key] for key in order if key in tables})


def describe_revealed(task: ResolvedTask) -> list[str]:
    """Return warnings about gold labels and answer types that a task pack reveals.

    A task pack contains no gold, but its manifest can name labels or types in the options of readers and metrics.
    """
    manifest = task.manifest
    declared = [(f"test set {test_set.name!r}", test_set.options) for test_set in manifest.test_set]
    revealed = [(place, "label", options["labels"]) for place, options in [
        *declared, ("[submission]", manifest.submission.options or {})] if options.get("labels")]
    for alias, metric in task.metrics.items():
        revealed += [(f"metric {alias!r}", "type", metric.types()),
                     (f"metric {alias!r}", "label", metric.list_option_labels())]
    return [f"the pack reveals the {kind if len(names) == 1 else f'{kind}s'} {', '.join(names)} named by {place}"
            for place, kind, names in revealed if names]


def describe_unchecked(task: ResolvedTask) -> list[str]:
    """Return warnings about test sets for which a task pack cannot check labels.

    A pack has no gold. So unknown labels can be found only if the options of the test set list all labels.
    """
    return [f"test set {name!r}: this pack cannot find labels that the gold does not have; list the gold's labels in "
            "its option labels = [...]" for name, reader in task.readers.items()
            if isinstance(reader, Labels) and not reader.labels]


def write_pack(files: dict[str, str], folder: Path) -> list[Path]:
    """Write the files of a task pack, and return the paths of new files.

    Args:
        files: Contents of the files by name.
        folder: The folder; it is created if necessary.

    Raises:
        InputError: A file exists with other content, or cannot be written.
    """
    return write_files(folder, {name: content.encode() for name, content in files.items()},
                       conflict="exists with other content; name another folder, or remove this file",
                       failure="cannot write the pack")


def _read_list(document: Document, reader: Reader) -> Iterator[Item]:
    for number, line in document.lines():
        try:
            yield _make_item(parse_object(line, document.path, number), reader, document, number)
        except InputError as error:
            document.report(error)


def _make_item(entry: Mapping[str, Any], reader: Reader, document: Document, line: int) -> Item:
    if unknown := [key for key in entry if key not in _KEYS]:
        raise document.error(f"unknown key {unknown[0]!r}; {suggest(unknown[0], _KEYS)}", line)
    key = entry.get("item")
    if not isinstance(key, str) or not key:
        raise document.error("the key 'item' is missing; add the name of the item", line)
    try:
        return Item(key, reader.make_unanswered(entry.get("text")), {}, line)
    except ValueError as error:
        raise document.error(f"'text': {error}", line, key) from None
