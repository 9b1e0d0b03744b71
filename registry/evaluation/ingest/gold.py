"""Read the items of a test set from its gold files, and check them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Literal

from registry.errors import InputError, ManifestError, suggest
from registry.evaluation.resolve import ResolvedTask
from registry.identity import canonical_json, digest_lines
from registry.items import Item, index_by_key
from registry.manifest import Manifest, TestSet
from registry.readers import Document, Reader

NamePart = Literal["type", "key"]  # a column of an answer


def read_gold(task: ResolvedTask, test_set: TestSet, documents: Mapping[str, Document]) -> list[Item]:
    """Read the items of a test set, and check that they fit the manifest.

    Args:
        task: The manifest with its readers and metrics.
        test_set: The test set.
        documents: The gold files by role, such as `gold` or `attributes`.

    Raises:
        InputError: A file has an invalid format, an item occurs twice, an item lacks an attribute that the manifest
            names, or a cluster has items of several strata. If the documents collect problems, nothing is raised.
    """
    gold, significance, reader = documents["gold"], task.manifest.significance, task.readers[test_set.name]
    items = list(index_by_key(reader.read_gold(documents), gold.path, reader.repeated, gold.report).values())

    def report(item: Item, message: str) -> None:
        gold.report(InputError(message, path=gold.path, line=item.line, item=item.key))

    for metric in task.get_metrics(test_set.name).values():
        try:
            metric.check_gold(items)
        except InputError as error:
            report(next(item for item in items if item.key == error.item), error.message)
    has_groups = True
    for key, attribute in _list_grouping_attributes(task.manifest, test_set):
        incomplete_items = [item for item in items if not item.attributes.get(attribute)]
        for item in incomplete_items[:1] if len(incomplete_items) == len(items) else incomplete_items:
            names = ", ".join(sorted(name for name, value in item.attributes.items() if value)) or "none"
            report(item, f"has no attribute {attribute!r}, which the key {key} of the manifest names; the item has the "
                         f"attributes: {names}")
            has_groups = False
    cluster, strata = test_set.cluster, significance.strata
    if has_groups and significance.unit != "item" and cluster is not None and strata is not None:
        split = find_split_cluster(
            [item.attributes[cluster] for item in items], [item.attributes[strata] for item in items])
        if split is not None:
            report(items[split], f"its {cluster} has items with different values of {strata!r}, but all items of a "
                                 'cluster must be in the same stratum; name another attribute in '
                                 'significance.strata, or set unit = "item"')
    return items


def _list_grouping_attributes(manifest: Manifest, test_set: TestSet) -> Iterator[tuple[str, str]]:
    """Yield manifest keys that group items, with the attributes that they name.

    Example: `("test_set[0].cluster", "document")`.
    """
    table = f"test_set[{manifest.test_set.index(test_set)}]"
    if test_set.cluster is not None:
        yield f"{table}.cluster", test_set.cluster
    yield from ((f"{table}.facets", facet) for facet in test_set.facets)
    if manifest.significance.strata is not None:
        yield "significance.strata", manifest.significance.strata


def find_split_cluster(clusters: Iterable[Hashable], strata: Iterable[Hashable]) -> int | None:
    """Find a cluster with items of several strata.

    Args:
        clusters: The cluster of each item.
        strata: The stratum of each item.

    Returns:
        The index of the first item that is in another stratum than an earlier item of its cluster; None if no such item
        exists.
    """
    first_strata: dict[Hashable, Hashable] = {}
    return next((n for n, (cluster, stratum) in enumerate(zip(clusters, strata, strict=True))
                 if first_strata.setdefault(cluster, stratum) != stratum), None)


def check_names(task: ResolvedTask,
                names_by_test_set: Mapping[str, Callable[[NamePart], Set[str]]]) -> list[str]:
    """Check that types and labels in the options of metrics occur in the gold.

    Args:
        names_by_test_set: For each test set, a function that returns all types or all keys (labels) of its gold
            answers.
        task: The manifest with its metrics.

    Returns:
        Warnings about test sets that lack a type or label that another test set has.

    Raises:
        ManifestError: No test set has the type or label.
    """
    warnings = []
    for n, (alias, metric) in enumerate(task.metrics.items()):
        named: list[tuple[NamePart, str, str]] = [
            ("type", type_, f"{metric.takes} of type") for type_ in metric.types()]
        named += [("key", label, "label") for label in metric.list_option_labels()]
        for part, name, kind in named:
            by_test_set = {test_set: list_names(part) for test_set, list_names in names_by_test_set.items()
                           if alias in task.get_metrics(test_set)}
            if name not in (all_names := set[str]().union(*by_test_set.values())):
                raise ManifestError(f"the gold has no {kind} {name!r}; {suggest(name, all_names)}",
                                    path=task.root.manifest, key=f"metric[{n}]")
            warnings += [f"{alias}: the gold of test set {test_set!r} has no {kind} {name!r}; {suggest(name, names)}"
                         for test_set, names in by_test_set.items() if name not in names]
    return warnings


def digest_gold(reader: Reader, items: Sequence[Item]) -> str:
    """Return the digest of the gold; order and file format have no effect."""
    return digest_lines(canonical_json([item.key, reader.content(item.gold), dict(item.attributes)])
                        for item in sorted(items, key=lambda item: item.key))
