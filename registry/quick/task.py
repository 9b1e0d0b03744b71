"""Conversion of plans to a task: manifest, copies of the files, and a preview of items and answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from registry.identity import canonical_json
from registry.items import AnswerSet, Item, Links, Tagged
from registry.manifest.folder import TaskFolder
from registry.manifest.naming import make_slugs, name_files, split_models
from registry.manifest.patterns import FACTORS
from registry.quick.files import find_runs
from registry.quick.plan import Part, Plan, Request, System, get_options
from registry.readers import Reader, Scores

SEED = 1  # of random numbers; it is fixed, so that the same files give the same leaderboard
_TESTS = {"judged": "prediction-powered"}  # kinds of values with a different default test
_ROWS, _SYSTEMS, _LINE = 3, 3, 80  # maximum numbers in a preview: rows, systems, characters of a line


class Identity(NamedTuple):
    """Team, system, version and track of a file, and what distinguishes its run.

    Attributes:
        names: Values of the keys `team`, `system`, `version` and `track` of a `[[submit]]` table.
        factors: Levels of `run`, `prompt`, `annotator` and `seed`; empty if the file is the only run.
    """

    names: Mapping[str, str]
    factors: Mapping[str, str] = MappingProxyType({})

    @property
    def model(self) -> str:
        """Name of the system, with its team: `team/system`."""
        return "/".join(filter(None, (self.names.get("team"), self.names["system"])))

    @property
    def version(self) -> str:
        """Version of the submission."""
        return self.names.get("version", "1")

    @property
    def submission(self) -> str:
        """Name that all runs of a submission share: `team/system@version`."""
        return self.model + (f"@{self.names['version']}" if "version" in self.names else "")


class _Place(NamedTuple):
    """Location of a system's file in the folder of a task.

    Attributes:
        copy: The path of the copy in the task's folder.
        file: The path or pattern in the manifest. A pattern matches all runs of a system.
    """

    copy: str
    file: str


def identify_systems(plan: Plan, names: Mapping[str, Mapping[str, str]], *, guess_runs: bool) -> dict[str, Identity]:
    """Return the identity of each system in a plan, by its name in the plan.

    Args:
        plan: The systems.
        names: The names that the path of each file contains, by the name of its system in the plan; {} for a file that
            no pattern matches.
        guess_runs: True if systems whose names differ only in a number, such as `a.seed1` and `a.seed2`, are runs.

    Raises:
        InputError: Two systems would have the same name.
    """
    factors = {system.name: {factor: level for factor, level in names.get(system.name, {}).items() if factor in FACTORS}
               for system in plan.systems}
    runs = find_runs([name for name, levels in factors.items() if not levels]) if guess_runs else []
    numbers = {name: (group.name, number) for group in runs for number, name in group.systems.items()}
    models = split_models(numbers.get(name, (name,))[0] for name in factors if name in numbers or not names.get(name))
    identities = {}
    for name, levels in factors.items():
        if name in numbers:
            model, number = numbers[name]
            identities[name] = Identity(models[model], {"run": number})
        else:
            identities[name] = Identity(models[name] if name in models else {
                key: value for key, value in names[name].items() if key not in (*FACTORS, "test_set")}, levels)
    return identities


def task_folder(plans: Mapping[str, Plan], metrics: Sequence[Mapping[str, Any]], request: Request,
                settings: Mapping[str, Any], read_as: str, identities: Sequence[Mapping[str, Identity]]) -> TaskFolder:
    """Make the manifest and the files of a task.

    Args:
        plans: The files and readers of each test set, by its name.
        metrics: The tables that declare the metrics.
        request: The options of the user.
        settings: The user's settings of `[significance]`.
        read_as: Command-line options that describe how files were read, for a comment in the manifest.
        identities: For each test set, the identity of each system, by its name in the plan.
    """
    test_sets: list[dict[str, Any]] = []
    submits: list[dict[str, Any]] = []
    files: dict[str, bytes] = {}
    copies: dict[str, str] = {}
    sources: dict[str, str] = {}
    has_several = len(plans) > 1
    slugs = make_slugs(plans, Path(next(iter(plans.values())).gold.path))
    common: dict[str, Any] = {}
    for name, plan, identity in zip(slugs.values(), plans.values(), identities, strict=True):
        documents = {plan.gold.path: plan.gold, **{system.document.path: system.document for system in plan.systems}}
        folder = f"{name}/" if has_several else ""
        places = _choose_places(plan, identity, folder)
        options = [get_options(_without_columns(system.reader), plan.reader) for system in plan.systems]
        if not has_several and len(documents) > 1:
            common = _find_common_options(options)
        gold = _gold_name(plan, folder)
        test_sets.append({
            "name": name, "gold": gold, "format": plan.reader.name,
            **({"options": reader_options} if (reader_options := get_options(plan.reader)) else {}),
            **({"cluster": plan.cluster} if plan.cluster else {})})
        entries = [_make_submit_table(system, reader_options, common, places[system.name].file,
                                      identity[system.name].names)
                   for system, reader_options in zip(plan.systems, options, strict=True)]
        entries = _use_pattern([entry for n, entry in enumerate(entries) if entry not in entries[:n]])
        submits += [{**entry, **({"test_set": name} if has_several else {})} for entry in entries]
        plan_copies = {gold: plan.gold.path} | {
            places[system.name].copy: system.document.path for system in plan.systems}
        copies |= plan_copies
        files |= {file: documents[path].content for file, path in plan_copies.items()}
        originals = [document.original if isinstance(document, Part) else document for document in documents.values()]
        sources |= {document.path: document.digest for document in originals}
    first = next(iter(plans.values()))
    usual = "crossed" if request.runs == "random" else _TESTS.get(first.reader.gives, "permutation")
    significance: dict[str, Any] = {"test": usual, **({"runs": request.runs} if request.runs else {}), "seed": SEED}
    return TaskFolder(
        {"task": {}, "test_set": test_sets,
         "submission": {"missing": request.missing, **({"options": common} if common else {})},
         "metric": [dict(table) for table in metrics],
         "significance": {**significance, **settings}, "submit": submits},
        files, sources, copies=copies, is_import=False, comments={
            "task": ("Made by `registry new`; check it before use.",),
            "test_set": (f"Read as: {read_as}", *first.notes),
            "submission": ("Items without an answer: reject the file, count them as worst, or drop them for all "
                           "systems.",),
            "metric": (f"{'Requested' if request.metrics else 'The usual one'}; `registry list metrics` lists others "
                       f"of {first.reader.gives}s.",),
            "significance": ("`registry list tests`; the defaults are correction = \"holm\" and alpha = 0.05.",)})


def _without_columns(reader: Reader) -> Reader:
    """Return a reader without the columns of scores that metrics name."""
    return replace(reader, score=Scores.score, other_scores=()) if isinstance(
        reader, Scores) and reader.other_scores else reader


def _gold_name(plan: Plan, folder: str) -> str:
    gold = Path(plan.gold.path)
    return folder + name_files([gold.name])[gold.name]


def _choose_places(plan: Plan, identities: Mapping[str, Identity], folder: str) -> dict[str, _Place]:
    """Choose where the file of each system is stored in the task's folder.

    Answers that are in the gold's file need no other file. The systems of a team share a folder, and so do the files
    of a system's runs.

    Args:
        plan: The systems with their files.
        identities: The identity of each system, by its name in the plan.
        folder: The folder of the test set within the task's folder, with a final slash; or empty.
    """
    gold = _gold_name(plan, folder)
    in_gold = [system for system in plan.systems
               if system.document.path == plan.gold.path and not identities[system.name].factors]
    rest = [system for system in plan.systems if system not in in_gold]
    stems = _name_team_files(dict.fromkeys(identities[system.name].submission for system in rest))
    endings: dict[str, set[str]] = {}
    for system in rest:
        endings.setdefault(identities[system.name].submission, set()).add(_ending(Path(system.document.path)))
    places = {system.name: _Place(gold, gold) for system in in_gold}
    for system in rest:
        submission, factors = identities[system.name].submission, identities[system.name].factors
        ending = next(iter(endings[submission])) if len(endings[submission]) == 1 else ""  # one pattern covers all runs
        place = f"{folder}systems/{stems[submission]}"
        places[system.name] = _Place("/".join([place, *factors.values()]) + ending,
                                     "/".join([place, *(f"{{{factor}}}" for factor in factors)]) + ending)
    return places


def _name_team_files(names: Iterable[str]) -> dict[str, str]:
    """Map each name, such as `team/system`, to a distinct path without its ending."""
    systems: dict[str, list[str]] = {}
    for name in names:
        team, _, system = name.rpartition("/")
        systems.setdefault(team, []).append(system)
    folders = name_files(filter(None, systems))
    return {"/".join(filter(None, (team, system))): "/".join(filter(None, (folders.get(team), stem)))
            for team, entries in systems.items() for system, stem in name_files(entries).items()}


def _use_pattern(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Replace entries for single files by one entry with a pattern, if possible.

    The entries may differ only in team and system, and both must be in the paths of the files.
    """
    merged: list[dict[str, Any]] = []
    for entry in entries:
        head, place, tail = entry["file"].partition(f"systems/{entry.get('team')}/{entry['system']}")
        rest = {name: value for name, value in entry.items() if name not in ("file", "team", "system")}
        merged.append({"file": f"{head}systems/{{team}}/{{system}}{tail}", **rest} if place else entry)
    return merged[:1] if len(entries) > 1 and all(entry == merged[0] for entry in merged) else entries


def _ending(path: Path) -> str:
    return path.suffix if re.fullmatch(r"\.[A-Za-z0-9]{1,9}", path.suffix) else ""


def _find_common_options(readers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    (most, times), = Counter(map(canonical_json, readers)).most_common(1)
    chosen = next(options for options in readers if canonical_json(options) == most)
    return chosen if 2 * times > len(readers) and all(chosen.keys() <= options.keys() for options in readers) else {}


def _make_submit_table(system: System, options: dict[str, Any], common: dict[str, Any],
                       file: str, model: Mapping[str, str]) -> dict[str, Any]:
    reader_options = {name: value for name, value in options.items() if common.get(name) != value}
    return {"file": file, **model, **({"options": reader_options} if reader_options else {}),
            **({"tokens": system.tokens} if system.tokens != "reject" else {})}


def preview(plan: Plan, items: Sequence[Item], answers: Sequence[Sequence[Any]]) -> list[str]:
    """Return the first items with their gold and some answers, as lines of a table.

    Args:
        plan: The systems.
        items: The items with their gold.
        answers: The answers of each system, in the order of the items; None if missing.
    """
    shown = list(zip(plan.systems, answers, strict=True))[:_SYSTEMS]
    has_gold = any(item.gold is not None for item in items[:_ROWS])
    n_more = len(plan.systems) - len(shown)
    header = ["item", *(["gold"] if has_gold else []), *(system.name for system, _ in shown)]
    rows = [[item.key, *([format_value(item.gold)] if has_gold else []), *(
        format_value(joined[n] and joined[n].value) for _, joined in shown)] for n, item in enumerate(items[:_ROWS])]
    more = f"and {n_more} more" if n_more else ""
    cells = [["".join(character if character.isprintable() else " " for character in text) for text in row]
             for row in [header, *rows]]
    longest = [max(map(len, column)) for column in zip(*cells, strict=True)]
    width = next(width for width in range(_LINE, 0, -1) if sum(min(width, length) + 2 for length in longest) + len(
        more) <= _LINE)
    return ["  ".join([*((cell if len(cell) <= width else f"{cell[:width - 3]}...").ljust(min(width, length))
                         for cell, length in zip(row, longest, strict=True)), more * (n == 0)]).rstrip()
            for n, row in enumerate(cells)]


def format_value(value: Any) -> str:
    """Format a gold value or an answer as a short text.

    >>> format_value("yes"), format_value(0.5), format_value({"gold": "It rains."}), format_value(None)
    ('yes', '0.5', 'It rains.', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Tagged):
        return ", ".join(" ".join(map(str, (span.type, span.start, span.end))) for span in sorted(value.spans)) or "-"
    if isinstance(value, AnswerSet):
        return ", ".join(str(part.key) for part in value.responses) or "-"
    if isinstance(value, Mapping):
        if len(value) == 1 and isinstance(only := next(iter(value.values())), str):
            return only
        if all(isinstance(part, str) for part in value.values()):
            return str(next(iter(value.values()), "-"))
        return ", ".join(f"{name} {part:g}" if isinstance(part, float) else f"{name} {part}"
                         for name, part in list(value.items())[:3])
    if isinstance(value, Links):
        return " ".join(f"{a}-{b}" for a, b in (*value.sure, *value.possible)) or "-"
    words = getattr(value, "words", None)
    return str(value) if words is None else f"{len(words)} words"
