"""The first step of `registry quick` and `registry new`: make a task and a preview from files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from registry.column_names import is_called
from registry.errors import InputError, UnknownNameError, counted
from registry.importers import IMPORTERS, Importer
from registry.manifest.folder import TaskFolder
from registry.metric_names import common_metric, declared_metric, usual_metric
from registry.metrics import BLEU, METRICS, Metric
from registry.metrics.texts import ReferenceMetric
from registry.quick.answers import plan_answers, read_all
from registry.quick.files import Files, Named, files_of_benchmarks, find_runs, find_systems, is_pattern
from registry.quick.formats import plan_format
from registry.quick.parts import split_plan
from registry.quick.plan import (
    Asked,
    Given,
    OpenRoles,
    Plan,
    QuestionError,
    System,
    Trial,
    option,
    reader_option,
    reword,
    with_options,
)
from registry.quick.scores import plan_scores, plan_table, split_options
from registry.quick.tables import even_mark, item_columns, json_parts, read_table, repair_option, text_lines
from registry.quick.task import SEED, preview, task_folder
from registry.readers import READERS, Document, Reader, Texts
from registry.values import build, get_name, parse

_TABLES = ("wide", "long", "plain")  # importers that read any table or text, so only --as selects them
_EXPECTS = {
    "labels": "an item and its label on each line, or columns called so",
    "scores": "an item and its number in each row",
    "texts": "an item and its text in each row",
    "lines": "a text on each line, in the same order in all files",
    "bio": "a token and its tag on each line, and blank lines between sentences",
    "spans": "JSON with a list of spans (start, end, type) in each item",
    "trec": "four columns of judgments and six of a run",
}
_SHOWN = 60  # characters of a line
_GOLD_STEM = re.compile(r"(gold|gold[-_ ]?(labels|standard)|ground[-_ ]?truth)", re.IGNORECASE)  # names of nothing else


@dataclass(frozen=True)
class Made:
    """A task that was made from files.

    Attributes:
        folder: The manifest and files of the task.
        preview: The lines of a table with the gold and answers of the first items.
        read_as: The equivalent options, which describe how files were read.
        notes: Notes for the user about automatic choices that may be wrong.
    """

    folder: TaskFolder
    preview: tuple[str, ...]
    read_as: str
    notes: tuple[str, ...]


def make(paths: Sequence[Path], asked: Asked, test: str | None = None) -> Made:
    """Make a task from a gold and systems, from tables of scores, or from the logs of another program.

    Args:
        paths: Files, folders and patterns of systems. Without a gold, also one table of all systems, or logs.
        asked: The user's options.
        test: The significance test; None for the default.

    Raises:
        QuestionError: The role of a file or column is unclear.
        InputError: A file cannot be read, or no reader supports its layout.
    """
    _check(asked)
    if asked.kind is not None and asked.kind in IMPORTERS and asked.kind not in READERS:
        if asked.gold is not None:
            raise InputError(f"--gold belongs to files of a reader; {asked.kind} reads the gold itself")
        return _import_results(asked.kind, paths, asked, test)
    if asked.gold is None and asked.kind is None and (made := _of_program(paths, asked, test)) is not None:
        return made
    gold, note = _gold_file(paths, asked), tuple[str, ...]()
    if gold is None and (named := _find_gold(paths)) is not None:
        gold, paths = named, [path for path in paths if path != named]
        note = (f"{named} is the gold, because of its name; --gold FILE names another file",)
    if gold is not None and is_pattern(gold):
        golds: dict[str, Path | None] = {**files_of_benchmarks(gold)}
        known = {path.resolve() for path in golds.values() if path is not None}
        files = find_systems(paths, None)
        files = files._replace(systems=[named for named in files.systems if named.path.resolve() not in known])
    else:
        files = find_systems(paths, gold)
        golds = dict.fromkeys(dict.fromkeys(named.benchmark or "test" for named in files.systems), gold)
    trial = Trial(asked.missing)
    plans: dict[str, Plan] = {}
    for benchmark, path in golds.items():
        systems = [named for named in files.systems if (named.benchmark or "test") == benchmark or not named.benchmark]
        if not systems:
            raise InputError(f"no system has a file of the benchmark {benchmark!r}", path=path)
        plan = _plan(path, systems, asked, trial)
        prefix = f"{benchmark}-" if len(golds) > 1 else ""
        plans |= {benchmark: plan} if asked.by is None else {
            f"{prefix}{value}": part for value, part in split_plan(plan, asked.by, asked).items()}
    return _make_task(plans, files._replace(notes=(*note, *files.notes)), asked, trial, test)


def _check(asked: Asked) -> None:
    """Raise an error for an unknown reader or metric, or for options that exclude each other."""
    if asked.kind is not None and asked.kind not in READERS and asked.kind not in IMPORTERS:
        raise UnknownNameError("reader or importer", asked.kind, [*READERS, *IMPORTERS])
    if asked.metric is not None and not any(asked.metric_of(metric.takes) for metric in METRICS.values()):
        if get_name(asked.metric) in METRICS:
            parse("metric", METRICS, asked.metric)  # raises an error about its options
        raise UnknownNameError("metric", asked.metric, METRICS)
    if asked.item and asked.in_order:
        raise InputError("--item and --in-order exclude each other; give one of them")
    assert asked.value is None or asked.value  # raises an error if several kinds are named


def _gold_file(paths: Sequence[Path], asked: Asked) -> Path | None:
    """Return the gold file; None if `--gold` is not given, or names a column of a single table."""
    if asked.gold is None:
        return None
    path = Path(asked.gold)
    if path.exists() or is_pattern(path):
        if path.is_dir():
            raise _ask_about_gold_folder(path, paths[0])
        return path
    if len(paths) == 1 and paths[0].is_file():
        document = Document.load(paths[0])
        table = read_table(document, asked.options)
        if table is not None and table.header is None:
            table = read_table(document, {**asked.options, "header": not asked.gold.isdigit()})
        if table is None or table.column(asked.gold) is not None:
            return None
        raise InputError(f"--gold {asked.gold}: no such file, and no such column; columns: {table.shown()}",
                         path=paths[0])
    raise InputError("--gold: no such file", path=path)


def _find_gold(paths: Sequence[Path]) -> Path | None:
    """Return the only one of several files whose name says that it is the gold, such as `gold.tsv`."""
    named = [path for path in paths if path.is_file() and _GOLD_STEM.fullmatch(path.stem)]
    return named[0] if len(named) == 1 < len(paths) else None


def _ask_about_gold_folder(gold: Path, systems: Path) -> InputError:
    """Ask whether the files in the gold's folder are benchmarks or documents; return the question."""
    suffixes = {path.suffix for path in gold.iterdir() if path.is_file() and not path.name.startswith(".")}
    suffix = next(iter(suffixes)) if len(suffixes) == 1 else ".ENDING"
    return QuestionError("--gold is a folder; name a file. If its files are documents, join them, and each system's in "
                         "the same order (cat FOLDER/* > FILE). If they are benchmarks, name patterns:", {
                             f"--gold '{gold}/{{benchmark}}{suffix}' '{systems}/{{model}}/{{benchmark}}{suffix}'": ""},
                         str(gold))


def _plan(gold: Path | None, systems: Sequence[Named], asked: Asked, trial: Trial) -> Plan:
    """Plan how to read the files of one test set."""
    given = [Given(named.name, Document.load(named.path)) for named in systems]
    if asked.system and (gold is not None or len(given) > 1):
        raise InputError("--system names columns of one table of all systems; name systems' files without it",
                         path=given[0].document.path)
    if gold is None:
        if len(given) == 1 and asked.kind in (None, "candidates", "labels", "scores", "texts"):
            plan = plan_table(given[0].document, asked)
            if plan is None:
                raise _describe_unsupported(given[0].document, alone=True)
            return plan
        if asked.kind not in (None, "scores"):
            raise InputError(f"--as {asked.kind} compares answers with a gold; name its file: --gold FILE",
                             path=given[0].document.path)
        return plan_scores(given, asked)
    same = next((named.document for named in given if Path(named.document.path).resolve() == gold.resolve()), None)
    document = same or Document.load(gold)
    plan_ = plan_format(document, given, asked, trial) or plan_answers(document, given, asked)
    if plan_ is not None:
        return plan_
    if asked.kind is not None:
        return _as_asked(document, given, asked)
    raise _describe_unsupported(next(named for named in (document, *(of.document for of in given)) if read_table(
        named, asked.options) is None))


def _as_asked(gold: Document, systems: Sequence[Given], asked: Asked) -> Plan:
    """Plan how to read files with the reader of `--as`; usual names of columns give the items."""
    assert asked.kind is not None
    tables = read_all([gold, *(given.document for given in systems)], asked)
    known = READERS[asked.kind].__dataclass_fields__
    asking = OpenRoles()

    def reader(n: int, document: Document) -> Reader:
        options: dict[str, Any] = {name: value for name, value in repair_option(document).items() if name in known}
        if tables is not None and "item" in known:
            table = tables[n]
            options |= {name: value for name, value in table.form.items() if name in known}
            items = list(asked.item) or item_columns(table)[:1]
            options["item"] = [] if asked.in_order else items
            if asked.kind == "multilabel" and "labels" not in asked.options:
                options["labels"] = [name for name in table.names if name not in items and {
                    *map(str.casefold, table.cells(name))} <= {"0", "1", "0.0", "1.0", "true", "false"}]
            if not table.header and "columns" in known:
                options["columns"] = list(table.names)
        return READERS[asked.kind or ""].build({**options, **asked.options})

    read = [reader(n, document) for n, document in enumerate((gold, *(given.document for given in systems)))]
    asking.raise_if_any(gold.path, "")
    items = getattr(read[0], "item", ())
    roles = [option("--item", name) for name in ([items] if isinstance(items, str) else items) if name]
    return Plan(gold, read[0], tuple(System(given.name, given.document, one) for given, one in zip(
        systems, read[1:], strict=True)), (f"--as {asked.kind}", *roles, *(
            reader_option(name, value) for name, value in asked.options.items())))


def _make_task(plans: dict[str, Plan], files: Files, asked: Asked, trial: Trial,
          test: str | None) -> Made:
    """Read the files as planned, and make the task."""
    shown: list[str] = []
    for name, plan in plans.items():
        try:
            items, answers = trial.check(plan)
        except InputError as error:
            if asked.missing == "reject" or not hasattr(plan.reader, "blank"):
                raise _with_roles(error, plan, asked) from None
            plans[name] = plan = replace(plan, systems=tuple(
                replace(system, reader=with_options(system.reader, {"blank": "missing"})) for system in plan.systems))
            try:
                items, answers = trial.check(plan)
            except InputError:
                raise _with_roles(error, plan, asked) from None
        shown = shown or preview(plan, items, answers)
    first = next(iter(plans.values()))
    metric = _with_references(_metric(first, asked), first.reader, asked)
    read_as = _read_as(first, metric, asked)
    notes = (*files.notes, *first.notes, *_notes_on_runs(first, asked))
    return Made(task_folder(plans, metric, asked, test, read_as), tuple(shown), read_as, notes)


def _with_roles(error: InputError, plan: Plan, asked: Asked) -> InputError:
    """Add to an error the options that describe how files were read, because a role may be wrong."""
    if asked.kind is not None or not plan.roles:
        return error
    item_names = [role.removeprefix("--item ") for role in plan.roles if role.startswith("--item ")]
    is_usual = any(is_called(name, "item") for name in item_names)
    more = "; if files have no names of items, say --in-order" if (
        error.category == "unknown" and item_names and not is_usual) else ""
    again = reword(error, error.message.replace(f" (read as {plan.reader.name})",
                                                  f" (read as: {' '.join(plan.roles)})") + more)
    again.others = error.others
    return again


def _read_as(plan: Plan, metric: Metric, asked: Asked) -> str:
    options = [*plan.roles, *split_options(asked), *(
        reader_option(name, value) for name, value in asked.options.items())]
    options += [f"--runs {asked.runs}"] if asked.runs else []
    if asked.missing != "reject":
        options.append(f"--missing {asked.missing}")
    return " ".join(dict.fromkeys([*options, option("--metric", asked.metric or (
        metric.name if metric == usual_metric(metric.takes) else repr(metric)))]))


def _notes_on_runs(plan: Plan, asked: Asked) -> list[str]:
    """Return notes that name the files that are, or may be, runs of one system."""
    by_name = {system.name: system for system in plan.systems}
    if len({system.document.path for system in plan.systems}) < len(plan.systems):
        by_name = {}
    systems = find_runs(list(by_name))
    if asked.runs is None:
        return [f"{', '.join(runs.values())} are separate systems; --runs fixed or random reads them as runs of one, "
                "scored by their average" for _, runs in systems]
    if not systems:
        raise InputError("--runs: no two systems' files differ only by a number after seed, run or fold, as in "
                         "aspen.seed1.tsv and aspen.seed2.tsv; `registry import wide` reads a table's columns as runs")
    for name, runs in systems:
        first, *rest = (by_name[runs_found] for runs_found in runs.values())
        if (other := next((run for run in rest if (run.reader, run.tokens) != (first.reader, first.tokens)), None)):
            raise InputError(f"would be a run of {name!r}, and is written differently from {first.document.path}: "
                             f"{other.reader!r}, not {first.reader!r}; write both alike", path=other.document.path)
    return [f"{name}: {counted(len(runs), 'run')}, scored by their average" for name, runs in systems]


def _metric(plan: Plan, asked: Asked) -> Metric:
    if asked.metric is not None:
        named = common_metric(asked.metric, plan.reader.gives)
        if isinstance(named, BLEU) and isinstance(plan.metric, BLEU) and "tokenize" not in asked.metric:
            return replace(named, tokenize=plan.metric.tokenize)
        return named
    metric = plan.metric or usual_metric(plan.reader.gives)
    if metric is None:
        raise QuestionError(f"no usual metric compares {plan.reader.gives}s; name one:", {"--metric NAME": (
            "`registry list metrics`")}, plan.gold.path)
    return metric


def _with_references(metric: Metric, reader: Reader, asked: Asked) -> Metric:
    if not isinstance(metric, ReferenceMetric) or not isinstance(reader, Texts) or "references" in (asked.metric or ""):
        return metric
    return replace(metric, references=reader.offers())


def _of_program(paths: Sequence[Path], asked: Asked, test: str | None) -> Made | None:
    """Make a task from the logs of another program, if one importer reads them; None if no importer does.

    Raises:
        QuestionError: Several importers read the files.
        InputError: The importer of these logs does not support an option.
    """
    folders: dict[str, TaskFolder] = {}
    problems: list[InputError] = []
    for kind in IMPORTERS:
        if kind in _TABLES or any("{" in str(path) for path in paths):
            continue
        try:
            importer = _importer(kind, asked)
            folder = importer.read(paths[0]) if len(paths) == 1 else importer.read_files(paths)
        except InputError as error:
            if error.path and paths[0].is_dir() and not error.message.startswith(("no ", "not a zip file")):
                problems.append(reword(error, f"{error.message} (read as {kind})"))
            continue
        if folder is not None:
            folders[kind] = folder
    if len(folders) > 1:
        raise QuestionError("several importers read these files. Add one of these options:", {
            f"--as {kind}": "" for kind in folders}, str(paths[0]))
    if not folders and len(problems) == 1:
        raise problems[0]
    if not folders and paths[0].is_dir() and asked.missing != "reject" and (
            _of_program(paths, replace(asked, missing="reject"), test)) is not None:
        raise InputError(f"logs of another program, whose importer has no --missing {asked.missing}; leave it out, or "
                         "say --missing drop", path=paths[0])
    for kind, folder in folders.items():
        return _of_importer(kind, _with_settings(kind, folder, asked, test), asked)
    return None


def _import_results(kind: str, paths: Sequence[Path], asked: Asked, test: str | None) -> Made:
    importer = _importer(kind, asked)
    folder = importer.read(paths[0]) if len(paths) == 1 else importer.read_files(paths)
    if folder is None:
        raise InputError(f"{kind} takes one file or folder, and {len(paths)} are given", path=paths[1])
    return _of_importer(kind, _with_settings(kind, folder, asked, test), asked)


def _importer(kind: str, asked: Asked) -> Importer:
    """Return the importer with the user's options and policy for missing items."""
    options = dict(asked.options)
    names: dict[str, Any] = {"item": list(asked.item) or None, "score": next(iter(asked.score), None)}
    options |= {name: value for name, value in names.items() if value and name in IMPORTERS[kind].__dataclass_fields__}
    if asked.missing != "reject":
        if not hasattr(IMPORTERS[kind], "missing"):
            raise InputError(f"--missing {asked.missing}: {kind} has no such option")
        options.setdefault("missing", asked.missing)
    return build("importer", IMPORTERS, kind, options)


def _with_settings(kind: str, folder: TaskFolder, asked: Asked, test: str | None) -> TaskFolder:
    """Return the task with the user's metric, test and runs, and with a fixed seed for reproducible results."""
    tables = dict(folder.tables)
    if asked.metric is not None:
        takes = next((METRICS[metric["name"]].takes for metric in tables["metric"] if metric["name"] in METRICS), "")
        if takes != "segment":
            raise InputError(f"--metric belongs to answers and a gold; the results of {kind} name their metric, or "
                             "its options do")
        declared = declared_metric(common_metric(asked.metric, takes), asked.metric)
        same = {name: value for name, value in tables["metric"][0].get("options", {}).items() if name == "references"}
        tables["metric"] = [declared | {"options": same | declared.get("options", {})}]
    settings = {name: value for name, value in (("test", test), ("runs", asked.runs)) if value is not None}
    tables["significance"] = {"seed": SEED, **tables.get("significance", {}), **settings}
    return replace(folder, tables=tables)


def _of_importer(kind: str, folder: TaskFolder, asked: Asked) -> Made:
    options = [f"--as {kind}", *(reader_option(name, value) for name, value in asked.options.items())]
    return Made(folder, tuple(_preview_of(folder)), " ".join(options),
                (f"results of {kind}: {counted(len(folder.tables['submit']), 'submission')}",))


def _preview_of(folder: TaskFolder) -> list[str]:
    """Return a preview of the first test set of a task."""
    test_set = folder.tables["test_set"][0]
    options = test_set.get("options", {})
    gold = Document(test_set["gold"], folder.files[test_set["gold"]])
    reader = READERS[test_set["format"]].build(options)
    systems: list[System] = []
    for entry in folder.tables["submit"]:
        file = next((name for name in folder.files if re.fullmatch(re.escape(entry["file"]).replace(
            r"\{run\}", "[^/]+"), name)), None)
        if file is not None and entry.get("test_set", test_set["name"]) == test_set["name"] and len(systems) <= 3:
            shared = folder.tables.get("submission", {}).get("options", {})
            reader_options = {**options, **shared, **entry.get("options", {})}
            systems.append(System(entry["system"], gold if file == test_set["gold"] else Document(
                file, folder.files[file]), READERS[test_set["format"]].build(reader_options)))
    trial = Trial("drop")
    plan = Plan(gold, reader, tuple(systems))
    try:
        items, answers = trial.check(plan)
    except InputError:
        return []  # the error is reported when the task is ingested
    return preview(plan, items, answers)


def _describe_unsupported(document: Document, *, alone: bool = False) -> InputError:
    """Return the error for a file that no reader supports, with the format that the most similar reader expects."""
    lines = [line for line in text_lines(document) if line.strip()]
    first = f", first line {lines[0][:_SHOWN]!r}" if lines else ""
    nearest, remedy = "labels", ""
    if lines and lines[0].lstrip().startswith(("{", "[")):
        description, nearest, remedy = _describe_json(document)
    elif lines and lines[0].lstrip().startswith("<"):
        description = f"looks like XML or HTML{first}"
    else:
        widths = {len(line.split("\t")) for line in lines} if any("\t" in line for line in lines) else {
            len(line.split()) for line in lines}
        between = "tabs" if any("\t" in line for line in lines) else "blanks"
        width = f"{min(widths)} to {max(widths)}" if len(widths) > 1 else str(max(widths, default=0))
        description = f"looks like {counted(len(lines), 'line')} of {width} cells with {between} between them{first}"
        if mark := even_mark(lines):
            description = f"looks like columns with {mark!r} between them{first}"
            path = document.path
            remedy = f"; write tabs instead: sed 's/{mark}/\\t/g' {path} > {path}.tsv"
        nearest = "lines" if len(widths) > 1 else "labels"
    if alone:
        remedy += "; if it is one system's file, name the gold: --gold FILE"
    return document.error(
        f"{description}. The nearest reader is {nearest} ({_EXPECTS.get(nearest, 'see its options')}){remedy}. Name a "
        "reader with --as (`registry list readers`), or score the items with the task's own program and give a table "
        "of the scores; docs/own-task.md describes the readers")


def _describe_json(document: Document) -> tuple[str, str, str]:
    """Describe a JSON file that no reader supports.

    Returns:
        The description, the name of the most similar reader, and advice on how to extract the items.
    """
    parts = json_parts(document)
    if parts is None:
        return "looks like JSON, and is no list or object of items, nor one object on each line", "labels", ""
    sizes = {name: len(value) for _, name, value in parts if name is not None and isinstance(value, list | dict)
             and (isinstance(value, list) or all(isinstance(entry, dict | str | int | float)
                                                 for entry in value.values()))}
    objects = {name: size for name, size in sizes.items() if any(
        isinstance(entry, dict) for _, member, value in parts if member == name
        for entry in (value if isinstance(value, list) else value.values()))}
    chosen = objects or sizes
    if not chosen:
        return "looks like JSON without items that have labels, numbers or texts", "labels", ""
    largest = max(chosen, key=lambda name: chosen[name])
    rest = [name for _, name, _ in parts if name != largest]
    addition = f" (beside {', '.join(map(repr, rest[:3]))})" if rest else ""
    return (f"looks like one JSON object, whose items seem to be the {chosen[largest]} entries of "
            f"{largest!r}{addition}", "labels",
            f"; write that part alone: jq '.[\"{largest}\"]' {Path(document.path).name}")
