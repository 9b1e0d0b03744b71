"""A test set's items: read from its gold files, held against what the manifest groups and names, and digested."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Literal

from registry.errors import InputError, ManifestError, suggest
from registry.evaluation.resolve import ResolvedTask
from registry.identity import canonical_json, digest_lines
from registry.items import Item, by_key
from registry.manifest import Manifest, TestSet
from registry.readers import Document, Reader

Name = Literal["type", "key"]  # of an answer


def read_gold(task: ResolvedTask, test_set: TestSet, documents: Mapping[str, Document]) -> list[Item]:
    """Read a test set's items and check that they carry what the manifest groups them by.

    Raises:
        InputError: A file is not of its format, an item stands twice, an attribute is not there, or strata cut through
            the clusters that are tested; where the documents collect problems, those are collected.
    """
    gold, significance, reader = documents["gold"], task.manifest.significance, task.readers[test_set.name]
    items = list(by_key(reader.read_gold(documents), gold.path, reader.repeated, gold.report).values())

    def report(item: Item, message: str) -> None:
        gold.report(InputError(message, path=gold.path, line=item.line, item=item.key))

    for metric in task.metrics.values():
        try:
            metric.check_gold(items)
        except InputError as error:
            report(next(item for item in items if item.key == error.item), error.message)
    is_grouped = True
    for key, wanted in _groups(task.manifest, test_set):
        lacking = [item for item in items if not item.attributes.get(wanted)]
        for item in lacking[:1] if len(lacking) == len(items) else lacking:
            known = ", ".join(sorted(name for name, value in item.attributes.items() if value)) or "none"
            report(item, f"has no attribute {wanted!r}, which the manifest's {key} names; its attributes: {known}")
            is_grouped = False
    cluster, strata = test_set.cluster, significance.strata
    if is_grouped and significance.unit != "item" and cluster is not None and strata is not None:
        at = split_cluster([item.attributes[cluster] for item in items], [item.attributes[strata] for item in items])
        if at is not None:
            report(items[at], f"its {cluster} has items of several {strata!r}, but significance.strata must keep "
                              'clusters whole; take another attribute, or unit = "item"')
    return items


def _groups(manifest: Manifest, test_set: TestSet) -> Iterator[tuple[str, str]]:
    """The attributes that the manifest groups a test set's items by, each with its key."""
    table = f"test_set[{manifest.test_set.index(test_set)}]"
    if test_set.cluster is not None:
        yield f"{table}.cluster", test_set.cluster
    yield from ((f"{table}.facets", facet) for facet in test_set.facets)
    if manifest.significance.strata is not None:
        yield "significance.strata", manifest.significance.strata


def split_cluster(clusters: Iterable[Hashable], strata: Iterable[Hashable]) -> int | None:
    """The position of the first item that lies in another stratum than an earlier one of its cluster, or None."""
    stratum_of: dict[Hashable, Hashable] = {}
    return next((n for n, (cluster, stratum) in enumerate(zip(clusters, strata, strict=True))
                 if stratum_of.setdefault(cluster, stratum) != stratum), None)


def check_names(task: ResolvedTask, known: Mapping[str, Callable[[Name], Set[str]]]) -> list[str]:
    """Check that there are the types of answers and the labels that metrics name; warns of test sets without them.

    Args:
        task: The task.
        known: For every test set, what gives the types or the keys (labels) of all answers in its gold.

    Raises:
        ManifestError: The gold of no test set has answers of the type, or with the label.
    """
    warnings = []
    for n, (alias, metric) in enumerate(task.metrics.items()):
        named: list[tuple[Name, str, str]] = [("type", type_, f"{metric.takes} of type") for type_ in metric.types()]
        named += [("key", label, "label") for label in metric.list_option_labels()]
        for name, wanted, what in named:
            there = {test_set: values(name) for test_set, values in known.items()}
            if wanted not in (everywhere := set[str]().union(*there.values())):
                raise ManifestError(f"the gold has no {what} {wanted!r}; {suggest(wanted, everywhere)}",
                                    path=task.root.manifest, key=f"metric[{n}]")
            warnings += [f"{alias}: the gold of test set {test_set!r} has no {what} {wanted!r}; "
                         f"{suggest(wanted, values)}" for test_set, values in there.items() if wanted not in values]
    return warnings


def gold_digest(reader: Reader, items: Sequence[Item]) -> str:
    """The digest of what the gold says, whatever the order of its items and the form of its files."""
    return digest_lines(canonical_json([i.key, reader.content(i.gold), dict(i.attributes)])
                        for i in sorted(items, key=lambda item: item.key))
