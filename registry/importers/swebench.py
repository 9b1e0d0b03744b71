"""Importer of SWE-bench: reports of its harness, and published results.

- `MODEL.RUN.json` is the report that the harness writes since version 2.0. The report lists instances by outcome.
  Files `report.json` of single instances in the harness's logs are different and cannot be imported.
- `SYSTEM/results/results.json` (in SWE-bench/experiments) lists instances that are resolved, not generated, or without
  logs. All other instances are unresolved, so that the importer also needs a list of all instances. Results of the
  harness before 2.0 have more lists.
- `SYSTEM/per_instance_details.json` (there too) has an object per instance with the key `resolved`.
- `SYSTEM/metadata.yaml` (there too) has the names of submitter and model. This module reads the nodes that PyYAML
  parses, because merged mappings can fill all memory when they become objects. Without PyYAML (extra `swe-bench`) the
  file is ignored.

The outcome of an instance is its label, and the gold label is `resolved`, so that accuracy is SWE-bench's score. Other
labels are `unresolved`, `error` (the evaluation failed), `empty_patch` and `incomplete` (no patch was submitted).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from registry.errors import InputError, counted
from registry.importers.base import Importer, Place, Sources, find_files, get_member, make_title
from registry.manifest.folder import TaskFolder
from registry.manifest.naming import make_name, name_files

_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)_.+")
_MAX_BYTES = 2**16  # limit of a metadata file
_MAX_CHARACTERS, _MAX_TEXTS = 300, 20  # stored characters of a text, and texts of a list
_TAGS = ("str", "bool", "int", "float", "null", "timestamp", "seq", "map")  # tags of single programs are refused
_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
# Keys of every attribute in newer and older files.
_KEYS = {
    "name": (("info", "name"), ("name",)), "site": (("info", "site"), ("site",)), "report": (("info", "report"),),
    "organisation": (("tags", "org"),), "model": (("tags", "model"),), "open_model": (("tags", "os_model"),),
    "open_system": (("tags", "os_system"), ("oss",)), "checked": (("tags", "checked"), ("verified",)),
    "attempts": (("tags", "system", "attempts"), ("system", "attempts")),
}


def read_attributes(folder: Path, sources: Sources) -> dict[str, Any]:
    """Return the attributes of a submission, such as its date and model.

    The attributes are read from the name of the submission's folder, and from the file `metadata.yaml` in it.

    Raises:
        InputError: The metadata are not YAML, or too large.
    """
    attributes: dict[str, Any] = {}
    if match := _DATE.fullmatch(folder.name):
        attributes["date"] = "-".join(match.groups())
    file = folder / "metadata.yaml"
    if not file.is_file() or (metadata := _read_metadata(file, sources)) is None:
        return attributes
    for name, paths in _KEYS.items():
        value = next((value for keys in paths if (value := _get_text(metadata, keys)) is not None), None)
        if value is not None:
            attributes[name] = value
    return attributes


def _read_metadata(file: Path, sources: Sources) -> Any:
    """Parse `metadata.yaml` to a YAML node; return None if PyYAML is not installed.

    Raises:
        InputError: The file is not YAML, is too large, or uses unsupported features of YAML.
    """
    try:
        import yaml
    except ImportError:
        return None
    document = sources.load(file)
    if len(document.content) > _MAX_BYTES:
        raise InputError(f"the metadata file is larger than {_MAX_BYTES >> 10} KiB; shorten it", path=file)
    try:
        metadata = yaml.compose(document.text(), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(f"not YAML: {str(error).partition(chr(10))[0][:200] or 'nested too deeply'}",
                         path=file) from None
    for node in _list_nodes(metadata):
        _check_node(node, file)
    return metadata


def _list_nodes(root: Any) -> Iterator[Any]:
    pending, visited = [] if root is None else [root], set()
    while pending:
        node = pending.pop()
        if id(node) not in visited:
            visited.add(id(node))
            yield node
            pending += () if node.id == "scalar" else chain(*node.value) if node.id == "mapping" else node.value


def _check_node(node: Any, file: Path) -> None:
    """Check that a YAML file uses no unsupported features.

    Not supported are custom tags, merge keys (`<<`) and duplicate keys.

    Raises:
        InputError: The node, or a node below it, has such a feature.
    """
    line = node.start_mark.line + 1
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if kind not in _TAGS:
        problem = ("'<<' merges mappings; write out their keys" if kind == "merge" else
                   f"the tag {kind[:60]!r}; remove it")
        raise InputError(f"not supported in YAML: {problem}", path=file, line=line)
    keys = [key.value for key, _ in node.value if key.id == "scalar"] if node.id == "mapping" else []
    if len(set(keys)) < len(keys):
        duplicate = next(key for n, key in enumerate(keys) if key in keys[:n])
        raise InputError(f"not YAML: the key {duplicate[:60]!r} occurs twice", path=file, line=line)


def _get_text(metadata: Any, keys: Sequence[str]) -> str | bool | None:
    """Return the text or bool under nested keys of YAML metadata; None if absent.

    The texts of a list are joined with commas.

    Args:
        metadata: Root node.
        keys: Keys from the root to the value.
    """
    node = metadata
    for key in keys:
        members = node.value if node.id == "mapping" else ()
        if (node := next((value for name, value in members if name.value == key), None)) is None:
            return None
    if node.id == "scalar" and isinstance(value := _to_plain(node), bool):
        return value
    texts = map(_to_plain, node.value[:_MAX_TEXTS] if node.id == "sequence" else [node])
    text = ", ".join(element for element in texts if isinstance(element, str))
    return text if text and text.isprintable() else None


def _to_plain(node: Any) -> str | bool | None:
    kind = node.tag.rpartition(":")[2] if node.id == "scalar" else ""
    if kind == "bool":
        return _TRUTHS.get(node.value.lower())
    if kind == "int":
        return node.value if re.fullmatch(r"-?\d{1,9}", node.value, re.ASCII) else None
    return node.value[:_MAX_CHARACTERS].strip() if kind == "str" else None


Outcomes = dict[str, str]  # by instance

OUTCOMES = ("resolved", "unresolved", "error", "empty_patch", "incomplete")
_GOLD = "instances.tsv"
_INSTANCE_REPORT = "report.json"
_FAILED = ("install_fail", "reset_failed", "no_apply", "test_errored", "test_timeout")  # `error_ids` since 2.0


class SweBench(Importer):
    """SWE-bench: reports of the evaluation harness, or published results.

    This importer makes one test set, in which the label of an instance is its outcome, such as "resolved". Published
    results are a folder with files from the repository SWE-bench/experiments.

    Attributes:
        run: RUN in the names MODEL.RUN.json of the reports to import; systems are then called MODEL. If it is empty,
            all reports are imported, and systems are called MODEL.RUN.
        instances: File in the folder with the names of all instances, one per line; required for published
            `results.json`.
        missing: Treatment of instances that are not in one system's file: `reject` the files, or `drop` these instances
            for all systems.
    """

    name = "swe-bench"

    run: str = ""
    instances: str | None = None
    missing: Literal["reject", "drop"] = "reject"

    def read(self, path: Path) -> TaskFolder:
        outcomes: dict[str, Outcomes] = {}
        attributes: dict[str, dict[str, Any]] = {}
        sources = Sources(path)
        all_instances = self._list_instances(sources)
        suffix = f".{self.run}.json" if self.run else ".json"
        files = find_files(path, lambda name: name.endswith(suffix) and name != _INSTANCE_REPORT,
                           f"report called {'MODEL.RUN.json' if not self.run else f'MODEL{suffix}'}")
        published = [file for file in files if file.name in _PUBLISHED]
        for file in published or files:
            system = _find_folder(file).name if published else file.name.removesuffix(suffix)
            if system in outcomes:
                raise InputError(f"this is a second report of {system!r}; remove one of the two reports", path=file,
                                 category="duplicate")
            read_outcomes = _PUBLISHED.get(file.name, _read_report)
            attributes[system] = read_attributes(_find_folder(file), sources) if published else {}
            outcomes[system] = read_outcomes(*sources.load_json(file), all_instances)
            for instance in outcomes[system]:
                if not instance.strip() or not instance.isprintable():
                    raise InputError(f"{instance!r} is not a valid instance id, because it is blank or has invisible "
                                     "characters", path=file)
                if all_instances and instance not in all_instances:
                    raise InputError(f"this instance is not in {self.instances!r}; add it there, or correct the report",
                                     path=file, item=instance, category="unknown")
        instances = sorted(all_instances or {instance for reported in outcomes.values() for instance in reported})
        for system, reported in outcomes.items():
            missing = [instance for instance in instances if instance not in reported]
            if missing and self.missing == "reject":
                raise InputError(f"{system!r} has no outcome of {counted(len(missing), 'instance')} that other systems "
                                 f"have, such as {missing[0]!r}; add --option missing=drop to drop such instances for "
                                 "all systems", path=path, category="missing")
        return self._make_task(sources, instances, outcomes, attributes)

    def _make_task(self, sources: Sources, instances: list[str], outcomes: Mapping[str, Outcomes],
                   attributes: Mapping[str, dict[str, Any]]) -> TaskFolder:
        files = {_GOLD: _format_table((instance, "resolved", instance.rpartition("-")[0] or instance)
                                      for instance in instances)}
        stems = name_files(outcomes)
        for system, reported in outcomes.items():
            files[f"systems/{stems[system]}.tsv"] = _format_table(
                (instance, reported[instance]) for instance in instances if instance in reported)
        return TaskFolder({
            "task": {"title": make_title(sources.path)},
            "test_set": [{"name": "test", "gold": _GOLD, "format": "labels",
                          "options": {"columns": ["item", "label", "repository"], "labels": list(OUTCOMES)},
                          "cluster": "repository"}],
            "submission": {"options": {"columns": ["item", "label"]}, "missing": self.missing},
            "metric": [{"id": "resolved", "name": "Accuracy"}],
            "submit": [{"file": f"systems/{stem}.tsv", "system": make_name(system),
                        **({"attributes": attributes[system]} if attributes[system] else {})}
                       for system, stem in stems.items()],
        }, files, sources.digests)

    def _list_instances(self, sources: Sources) -> frozenset[str]:
        if self.instances is None:
            return frozenset()
        document = sources.load((sources.path if sources.path.is_dir() else sources.path.parent) / self.instances)
        return frozenset(line.strip() for _, line in document.lines() if line.strip())


def _find_folder(file: Path) -> Path:
    folder = file.absolute().parent
    return folder.parent if folder.name == "results" else folder


def _read_report(report: Any, place: Place, all_instances: frozenset[str]) -> Outcomes:  # noqa: ARG001
    """Map each instance in a report to its outcome, such as "resolved".

    The report has the format of harness 2.0 or newer.
    """
    if not isinstance(report, dict) or "resolved_ids" not in report:
        raise place.error("no key 'resolved_ids', so this is not the report of a run; name such a report, or select "
                          "files called MODEL.RUN.json with --option run=RUN")
    outcomes: Outcomes = {}
    for outcome in OUTCOMES:
        _add_outcome(outcomes, _get_names(report, f"{outcome}_ids", place), outcome, place)
    total = get_member(report, "total_instances", kind=int, place=place)
    if total != len(outcomes) or not outcomes:
        raise place.error(f"the report has outcomes of {counted(len(outcomes), 'instance')}, but 'total_instances' is "
                          f"{total}; name the report of a run on all instances", category="missing")
    return outcomes


def _read_results(results: Any, place: Place, all_instances: frozenset[str]) -> Outcomes:
    """Map each instance to its outcome, such as "resolved", by a `results.json`.

    In files of the harness before 2.0 the lists overlap: `generated` also contains resolved instances.

    Args:
        results: Parsed file.
        place: Path of the file, for errors.
        all_instances: Names of all instances; empty if unknown.
    """
    outcomes: Outcomes = {}
    _add_outcome(outcomes, _get_names(results, "resolved", place), "resolved", place)
    _add_outcome(outcomes, _get_names(results, "no_generation", place), "empty_patch", place)
    if "generated" not in results:
        if not all_instances:
            raise place.error("the report lists only resolved instances; add --option instances=FILE, a file in the "
                              "folder that lists all instances, one per line")
        _add_outcome(outcomes, _get_names(results, "no_logs", place), "error", place)
        return outcomes | {instance: "unresolved" for instance in all_instances if instance not in outcomes}
    generated, logged = (_get_names(results, name, place) for name in ("generated", "with_logs"))
    failed = {instance for name in _FAILED for instance in _get_names(results, name, place)}
    failed |= set(generated) - set(logged)
    remaining = [instance for instance in generated if instance not in outcomes]
    _add_outcome(outcomes, (instance for instance in remaining if instance in failed), "error", place)
    _add_outcome(outcomes, (instance for instance in remaining if instance not in failed), "unresolved", place)
    return outcomes | {instance: "incomplete" for instance in all_instances if instance not in outcomes}


def _read_details(details: Any, place: Place, all_instances: frozenset[str]) -> Outcomes:  # noqa: ARG001
    if not isinstance(details, dict) or not details:
        raise place.error("the file is not an object of instances; name a report of SWE-bench")
    return {instance: "resolved" if get_member(details, instance, "resolved", kind=bool, place=place) else "unresolved"
            for instance in details}


_PUBLISHED: dict[str, Callable[[Any, Place, frozenset[str]], Outcomes]] = {
    "results.json": _read_results, "per_instance_details.json": _read_details}


def _get_names(report: Any, name: str, place: Place) -> list[str]:
    listed: list[Any] = get_member(report, name, kind=list, place=place)
    if wrong := [instance for instance in listed if not isinstance(instance, str)]:
        raise place.error(f"{name!r} contains {wrong[0]!r}; expected instance ids as text")
    return listed


def _add_outcome(outcomes: Outcomes, instances: Iterable[str], outcome: str, place: Place) -> None:
    """Store an outcome, such as "resolved", for several instances.

    Args:
        outcomes: Maps instances to outcomes; receives the new entries.
        instances: Names of the instances.
        outcome: The outcome of all these instances.
        place: Path of the report, for errors.

    Raises:
        InputError: An instance already has another outcome.
    """
    for instance in instances:
        if (other := outcomes.setdefault(instance, outcome)) is not outcome:
            raise place.error(f"the instance is both {other} and {outcome}; correct the report", instance,
                              category="duplicate")


def _format_table(rows: Iterable[tuple[str, ...]]) -> bytes:
    return "".join("\t".join(row) + "\n" for row in rows).encode()
