"""The first step of `registry quick` and `registry new`: make a task and a preview from files."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Any

from registry.column_names import find_columns, has_role
from registry.columns import JoinedColumns
from registry.errors import InputError, UnknownNameError, counted, listed
from registry.importers import IMPORTERS, Importer
from registry.importers.judgments import list_found_columns, list_unused_columns
from registry.items import Answer, Item
from registry.manifest.folder import TaskFolder
from registry.manifest.naming import make_slugs, natural_key, split_model
from registry.manifest.patterns import SYNONYMS, list_captures
from registry.metric_names import (
    UnknownMetricError,
    common_metric,
    get_default_metric,
    list_kinds,
    make_column_table,
    make_metric_tables,
)
from registry.metrics import BLEU, METRICS, Mean, Metric
from registry.metrics.texts import ReferenceMetric
from registry.quick.answers import plan_answers, read_all, require_column
from registry.quick.checks import ask_about_votes
from registry.quick.files import Files, NamedFile, find_golds, find_runs, find_systems, is_pattern
from registry.quick.formats import plan_format
from registry.quick.parts import extract_rows, find_row_paths, split_plan
from registry.quick.plan import (
    Plan,
    QuestionError,
    Questions,
    Request,
    System,
    SystemFile,
    Trial,
    option,
    reader_option,
    reword,
    with_options,
)
from registry.quick.scores import plan_scores, plan_table, split_options
from registry.quick.tables import (
    find_even_mark,
    find_item_columns,
    read_json_parts,
    read_lines,
    read_table,
    repair_option,
)
from registry.quick.task import SEED, Identity, identify_systems, preview, task_folder
from registry.readers import READERS, Document, Reader, Texts
from registry.readers.parsing.fast_tables import MAGIC
from registry.values import build, get_name, parse

_TABLES = ("wide", "long", "ratings", "plain")  # importers that read any table or text, so only --as selects them
_EXPECTS = {
    "labels": "an item and its label on each line, or columns called item and label",
    "scores": "an item and its number in each row",
    "texts": "an item and its text in each row",
    "lines": "a text on each line, in the same order in all files",
    "bio": "a token and its tag on each line, and blank lines between sentences",
    "spans": "JSON with a list of spans (start, end, type) in each item",
    "trec": "four columns of judgments and six of a run",
}
_SHOWN = 60  # characters of a line
_MOST_NAMES = 3  # of test sets in a message
_GOLD_STEM = re.compile(r"(gold|gold[-_ ]?(labels|standard)|ground[-_ ]?truth)", re.IGNORECASE)  # names of nothing else


@dataclass(frozen=True)
class QuickTask:
    """Task that was made from files without a manifest.

    Attributes:
        folder: The manifest and files of the task.
        preview: The lines of a table with the gold and answers of the first items.
        read_as: The command-line options that describe how the files were read.
        notes: Notes for the user about automatic choices that may be wrong.
    """

    folder: TaskFolder
    preview: tuple[str, ...]
    read_as: str
    notes: tuple[str, ...]


def make(paths: Sequence[Path], request: Request, settings: Mapping[str, Any] = MappingProxyType({}), *,
         new_task: str = "", names: Mapping[Path, str] = MappingProxyType({})) -> QuickTask:
    """Make a task from files, and find out how to read them.

    The files are a gold and the outputs of systems, tables of scores, or logs of another program.

    Args:
        paths: Files, folders and patterns of systems. Without a gold, also one table of all systems, or logs.
        request: The options of the user.
        settings: The user's settings of `[significance]`, such as the test.
        new_task: Id of a task that is only written, not evaluated: invalid files of systems are left out if at least
            one is valid, and warnings name them. Empty: invalid files are an error.
        names: Names of systems by their files. The names of other systems are made from the paths of their files.

    Raises:
        QuestionError: The purpose of a file or column is unclear, so the user must name it.
        InputError: A file cannot be read, or no reader supports its layout.
    """
    _check_request(request)
    if request.kind is not None and request.kind in IMPORTERS and (
            request.kind not in READERS or not READERS[request.kind].answers_all):
        if request.gold is not None:
            raise InputError(f"--gold does not apply to --as {request.kind}, which finds the gold itself; remove "
                             "--gold")
        return _import_results(request.kind, paths, request, settings)
    if request.gold is None and request.kind is None and (task := _import_logs(paths, request, settings)) is not None:
        return task
    gold, note = _find_gold_file(paths, request), tuple[str, ...]()
    if gold is None and (named := _find_gold(paths)) is not None:
        gold, paths = named, [path for path in paths if path != named]
        note = (f"{named} is the gold, because of its name; --gold FILE names another file",)
    golds: dict[str, Path | None] = {**find_golds(gold)} if gold is not None and is_pattern(gold) else {}
    gold_paths = {path.resolve() for path in golds.values() or [gold] if path is not None}
    files = find_systems(paths, gold, lambda path: path.resolve() in gold_paths and not _has_answers(path, request))
    files = files._replace(systems=[named._replace(name=names.get(named.path, named.name)) for named in files.systems])
    if golds:
        files, golds = _match_test_sets(files, golds)
    else:
        golds = dict.fromkeys(dict.fromkeys(named.test_set or "test" for named in files.systems), gold)
    files, unreadable = _leave_out_unreadable(files) if new_task else (files, [])
    names_of_systems = list(dict.fromkeys(named.name for named in files.systems))
    trial, absent = Trial(request.missing), list[str]()
    plans: dict[str, Plan] = {}
    for benchmark, path in golds.items():
        systems = [named for named in files.systems if named.test_set in ("", benchmark)]
        absent += [f"{name} has no file of {benchmark!r}" for name in names_of_systems
                   if name not in {named.name for named in systems}]
        try:
            plan = _plan_test_set(path, systems, request, trial, _suggest_gold(paths, systems),
                                  is_table=len(names_of_systems) == 1)
        except QuestionError as question:  # the user may mean a file that was not read
            unread = [note for note in files.notes if note.startswith("not read")]
            question.excerpt = "\n".join([question.excerpt, *unread])
            raise
        prefix = f"{benchmark}-" if len(golds) > 1 else ""
        plans |= {benchmark: plan} if request.by is None else {
            f"{prefix}{value}": part for value, part in split_plan(plan, request.by, request).items()}
    task = _make_task(plans, files._replace(notes=(*note, *files.notes)), request, trial, settings, new_task=new_task,
                      unreadable=unreadable)
    if absent:
        warning = (f"{listed(absent, _MOST_NAMES)}; add the file, because a system without a file is not on the board "
                   "of this test set, and has no average over test sets")
        task = replace(task, folder=replace(task.folder, notes=(*task.folder.notes, warning)))
    return task


def _leave_out_unreadable(files: Files) -> tuple[Files, list[tuple[str, str, InputError]]]:
    """Leave out files of systems that are empty or no text.

    If no file is readable, none is left out.

    Returns:
        The other files; and the test set, system and error of each file that was left out.
    """
    errors: list[tuple[str, str, InputError]] = []
    for named in files.systems:
        document = Document.load(named.path)
        try:
            if not document.content.startswith(MAGIC):
                next(document.lines(), None)
        except InputError as error:
            errors.append((named.test_set, named.name, error))
    left_out = {(test_set, name) for test_set, name, _ in errors}
    systems = [named for named in files.systems if (named.test_set, named.name) not in left_out]
    return (files._replace(systems=systems), errors) if systems else (files, [])


def _match_test_sets(files: Files, golds: Mapping[str, Path | None]) -> tuple[Files, dict[str, Path | None]]:
    """Leave out test sets that have only a gold file, or only files of systems.

    Returns:
        The files of systems, with notes about left-out test sets; and the gold file of each test set.

    Raises:
        InputError: Gold and systems have no test set in common.
    """
    used = dict.fromkeys(named.test_set for named in files.systems)
    if "" in used:
        used |= dict.fromkeys(golds)
    unknown = [named for named in files.systems if named.test_set and named.test_set not in golds]
    without_gold = listed([repr(name) for name in used if name and name not in golds], _MOST_NAMES)
    without_system = listed([repr(name) for name in golds if name not in used], _MOST_NAMES)
    if not golds.keys() & used.keys():
        raise InputError(f"the gold has the test sets {without_system}, but the systems' files have {without_gold}; "
                         "correct one of the patterns", path=unknown[0].path)
    notes = [f"no gold for {without_gold}: {counted(len(unknown), 'file is', 'files are')} not read"] if unknown else []
    notes += [f"no system has a file of {without_system}"] if without_system else []
    return Files([named for named in files.systems if named not in unknown], (*files.notes, *notes)), {
        name: path for name, path in golds.items() if name in used}


def _has_answers(path: Path, request: Request) -> bool:
    """Return True if a gold file has a system's answers in another column."""
    if request.value is not None and len(request.value[1]) > 1:
        return True
    if _GOLD_STEM.fullmatch(path.stem):
        return False
    table = read_table(Document.load(path), request.options)
    if table is None or not table.header:
        return False
    golds = [*find_columns(table.names, "gold"), *find_columns(table.names, "label")]
    answers = find_columns([*table.names, *table.nested], "answer")
    return bool(golds and {*answers} - {*golds})


def _check_request(request: Request) -> None:
    """Check that reader and metric exist, and that no options contradict each other."""
    if request.kind is not None and request.kind not in READERS and request.kind not in IMPORTERS:
        raise UnknownNameError("reader or importer", request.kind, [*READERS, *IMPORTERS])
    for name in request.metrics:
        if not list_kinds(name):
            if get_name(name) not in METRICS:
                raise UnknownMetricError(name)
            parse("metric", METRICS, name)  # raises an error if its options are invalid
    if request.item and request.in_order:
        raise InputError("--item and --in-order cannot be combined; remove one")
    assert request.value is None or request.value  # raises an error if several kinds are named


def _find_gold_file(paths: Sequence[Path], request: Request) -> Path | None:
    """Return the gold file that the option `--gold` names.

    The result is None without this option, or if it names a column of the only table.

    Raises:
        InputError: The file does not exist.
        QuestionError: The option names a folder.
    """
    if request.gold is None:
        return None
    path = Path(request.gold)
    if path.exists() or is_pattern(path):
        if path.is_dir():
            raise _ask_about_gold_folder(path, paths[0])
        return path
    if len(paths) == 1 and paths[0].is_file():
        document = Document.load(paths[0])
        table = read_table(document, request.options)
        if table is not None and table.header is None:
            table = read_table(document, {**request.options, "header": not request.gold.isdigit()})
        if table is None or table.column(request.gold) is not None:
            return None
        raise InputError(f"--gold {request.gold} is neither a file nor a column; columns: {table.preview()}",
                         path=paths[0])
    raise InputError("--gold: no such file; check the path", path=path)


def _find_gold(paths: Sequence[Path]) -> Path | None:
    named = [path for path in paths if path.is_file() and _GOLD_STEM.fullmatch(path.stem)]
    return named[0] if len(named) == 1 < len(paths) else None


def _ask_about_gold_folder(gold: Path, systems: Path) -> InputError:
    """Make the question whether a gold folder has benchmarks or documents."""
    suffixes = {path.suffix for path in gold.iterdir() if path.is_file() and not path.name.startswith(".")}
    suffix = next(iter(suffixes)) if len(suffixes) == 1 else ".ENDING"
    return QuestionError("--gold is a folder; name a file. If each file is a document, join the files of the gold and "
                         "of each system in the same order (cat FOLDER/* > FILE). If each file is a benchmark, name "
                         "patterns:", {
                             f"--gold '{gold}/{{benchmark}}{suffix}' '{systems}/{{model}}/{{benchmark}}{suffix}'": ""},
                         str(gold))


def _suggest_gold(paths: Sequence[Path], systems: Sequence[NamedFile]) -> str:
    """Return arguments that take the gold from the files of the first system.

    If a pattern names test sets, the gold is a pattern too, such as `--gold 'out/a/{benchmark}.tsv'`.
    """
    first = systems[0]
    if first.test_set:
        for pattern in map(str, paths):
            captures = {name: SYNONYMS.get(name, name) for name in list_captures(pattern)}
            if "test_set" in captures.values() and {*captures.values()} <= {*first.names}:
                for name, key in captures.items():
                    if key != "test_set":
                        pattern = pattern.replace(f"{{{name}}}", first.names[key])
                return f"{option('--gold', pattern)} {' '.join(quote(str(path)) for path in paths)}"
    files = " ".join(quote(str(named.path)) for named in systems[:2])
    return f"{option('--gold', str(first.path))} {files} ..."


def _plan_test_set(gold: Path | None, systems: Sequence[NamedFile], request: Request, trial: Trial,
                   gold_arguments: str, *, is_table: bool) -> Plan:
    """Find out how to read the gold and the systems of one test set.

    Args:
        gold: The gold file. None if the files have scores of items, or if the gold is a column of the only table.
        systems: The files of the systems.
        request: The options of the user.
        trial: Reads the files to find the readers that fit.
        gold_arguments: Result of `_suggest_gold`, for questions.
        is_table: True if a single file may be a table of all systems.
    """
    row_path = request.options.get("rows")
    files = [SystemFile(named.name, Document.load(named.path)) for named in systems]
    if row_path is not None:
        files = [SystemFile(file.name, extract_rows(file.document, row_path)) for file in files]
    if request.system and (gold is not None or len(files) > 1):
        raise InputError("--system names columns, and works only if one table has all systems; name systems' files "
                         "without --system", path=files[0].document.path)
    if gold is None:
        if len(files) == 1 and is_table and request.kind is None:
            ask_about_votes(files[0].document, request)
        if len(files) == 1 and is_table and request.kind in (None, "candidates", "labels", "scores", "texts"):
            plan = plan_table(files[0].document, request)
            if plan is None:
                raise _describe_unsupported(files[0].document, alone=True)
            return plan
        if request.kind not in (None, "scores"):
            raise InputError(f"--as {request.kind} compares answers with a gold; name its file: --gold FILE",
                             path=files[0].document.path)
        return plan_scores(files, request, gold_arguments=gold_arguments)
    shared = next((file.document for file, named in zip(files, systems, strict=True)
                   if named.path.resolve() == gold.resolve()), None)
    document = shared or Document.load(gold)
    if shared is None and row_path in find_row_paths(document):
        document = extract_rows(document, row_path)
    plan = plan_format(document, files, request, trial) or plan_answers(document, files, request)
    if plan is not None:
        return plan
    if request.kind is not None:
        return _plan_named_reader(document, files, request)
    raise _describe_unsupported(next(candidate for candidate in (document, *(system.document for system in files))
                                     if read_table(candidate, request.options) is None))


def _plan_named_reader(gold: Document, systems: Sequence[SystemFile], request: Request) -> Plan:
    """Plan to read all files with the reader that the user names by `--as`.

    If the files are tables, columns with usual names, such as `id`, identify the items.
    """
    assert request.kind is not None
    tables = read_all([gold, *(file.document for file in systems)], request)
    names = READERS[request.kind].__dataclass_fields__
    questions = Questions()

    def reader(n: int, document: Document) -> Reader:
        options: dict[str, Any] = {name: value for name, value in repair_option(document).items() if name in names}
        if tables is not None and "item" in names:
            table = tables[n]
            options |= {name: value for name, value in table.form.items() if name in names}
            items = list(request.item) or find_item_columns(table)[:1]
            options["item"] = [] if request.in_order else items
            if request.kind == "multilabel" and "labels" not in request.options:
                options["labels"] = [name for name in table.names if name not in items and {
                    *map(str.casefold, table.cells(name))} <= {"0", "1", "0.0", "1.0", "true", "false"}]
            if not table.header and "columns" in names:
                options["columns"] = list(table.names)
        own_options = {name: value for name, value in request.options.items() if name != "rows"}
        return READERS[request.kind or ""].build({**options, **own_options})

    read = [reader(n, document) for n, document in enumerate((gold, *(file.document for file in systems)))]
    questions.raise_if_any(gold.path, "")
    items = getattr(read[0], "item", ())
    roles = [option("--item", name) for name in ([items] if isinstance(items, str) else items) if name]
    return Plan(gold, read[0], tuple(System(file.name, file.document, own_reader) for file, own_reader in zip(
        systems, read[1:], strict=True)), (f"--as {request.kind}", *roles, *(
            reader_option(name, value) for name, value in request.options.items())))


def _make_task(plans: dict[str, Plan], files: Files, request: Request, trial: Trial,
               settings: Mapping[str, Any], *, new_task: str,
               unreadable: Sequence[tuple[str, str, InputError]]) -> QuickTask:
    """Read all files to check them, and make the task.

    Args:
        plans: The plan for reading each test set, by its name.
        files: The files of the systems, with notes.
        request: The options of the user.
        trial: Reads the files.
        settings: The user's settings of `[significance]`, such as the test.
        new_task: Id of a task that is only written, without invalid files of systems; empty if they are an error.
        unreadable: Test set, system and error of each file that was left out before, because it is empty or no text.
    """
    shown: list[str] = []
    sizes: dict[str | None, float] = {}
    warnings: list[str] = []
    invalid = [(name or next(iter(plans)), system, error) for name, system, error in unreadable]
    for name, plan in plans.items():
        plan = _keep_attributes(plan, request)
        if new_task:
            plan, errors = _leave_out_invalid(plan, request, trial)
            invalid += [(name, system, error) for system, error in errors.items()]
        plans[name], items, answers = _check_plan(plan, request, trial)
        warnings += trial.list_warnings(plans[name]) if new_task else []
        shown = shown or preview(plan, items, answers)
        for mean in plan.column_metrics:
            sizes[mean.column] = max(sizes.get(mean.column, 0.0), *(_mean_size(run, mean) for run in answers))
    first = next(iter(plans.values()))
    metrics = _choose_metrics(first, request)
    read_as = _read_as(first, metrics, request)
    names = {named.name: named.names for named in files.systems}
    identities = [identify_systems(plan, names, guess_runs=request.runs is not None) for plan in plans.values()]
    notes = (*files.notes, *first.notes, *_describe_runs(first, request, identities[0]))
    tables = [make_column_table(mean, _choose_decimals(sizes[mean.column])) for mean in first.column_metrics]
    tables = tables or make_metric_tables(metrics)
    folder = task_folder(plans, tables, request, settings, read_as, identities)
    folder = replace(folder, notes=(*folder.notes, *warnings))
    if invalid:
        left_out = [f"left out: {error}" for *_, error in invalid]
        test_set, system, error = invalid[0]
        values = split_model(system) | (
            {"test-set": make_slugs(plans, Path(first.gold.path))[test_set]} if len(plans) > 1 else {})
        command = ["registry submit", quote(new_task), quote(error.path or "FILE"), *(
            option(f"--{key}", values[key]) for key in ("team", "system", "test-set") if key in values)]
        count = counted(len(invalid), "file is", "files are")
        remedy = (f"{count} left out of the manifest; after `registry run`, add corrected files by "
                  f"`{' '.join(command)}`")
        folder = replace(folder, notes=(*folder.notes, *left_out, remedy), comments={
            **folder.comments, "submit": [f"L{sentence[1:]}" for sentence in left_out]})
    return QuickTask(folder, tuple(shown), read_as, notes)


def _keep_attributes(plan: Plan, request: Request) -> Plan:
    """Return a plan whose readers keep the columns of `--attribute` as attributes of items.

    Raises:
        InputError: The gold is no table, or has no such column.
    """
    if not request.attribute:
        return plan
    table = read_table(plan.gold, request.options)
    if table is None or not hasattr(plan.reader, "attributes"):
        raise InputError(f"--attribute names a column of a table, but the file is read as {plan.reader.name}; remove "
                         "--attribute", path=plan.gold.path)
    columns = [require_column(table, name) for name in request.attribute]
    if plan.reader.attributes is None:  # all other columns
        return plan
    names = {"attributes": list(dict.fromkeys((*plan.reader.attributes, *columns)))}
    return replace(plan, reader=with_options(plan.reader, names), systems=tuple(
        replace(system, reader=with_options(system.reader, names)) for system in plan.systems))


def _mean_size(answers: Sequence[Answer | None], metric: Mean) -> float:
    """Return the absolute mean of a system's scores in the column of a metric; 0 if it has none."""
    assert isinstance(answers, JoinedColumns)
    column = answers.select_column(metric.column).given
    return abs(float(column.values.mean())) if len(column) else 0.0


def _choose_decimals(size: float) -> int:
    """Return how many decimals show four digits of a number of some size, such as 6 for 0.001234."""
    digits = math.floor(math.log10(size)) if size else -1
    return min(max(3 - digits if digits < 0 else 4 - digits, 0), 12)


def _leave_out_invalid(plan: Plan, request: Request, trial: Trial) -> tuple[Plan, dict[str, InputError]]:
    """Leave out the systems whose files are invalid.

    If all files are invalid, no system is left out, because the fault may be in the gold or in how files are read.

    Returns:
        The plan with the other systems; and the error of each system that was left out, by its name.
    """
    errors = trial.find_errors(plan)
    if errors and _may_have_blanks(plan, request):
        still_invalid = trial.find_errors(_read_blanks_as_missing(plan))
        errors = {name: error for name, error in errors.items() if name in still_invalid}
    if len(errors) == len(plan.systems):
        return plan, {}
    return replace(plan, systems=tuple(system for system in plan.systems if system.name not in errors)), errors


def _check_plan(plan: Plan, request: Request, trial: Trial) -> tuple[Plan, list[Item], list[Sequence[Answer | None]]]:
    """Read all files of a test set; return the plan, the items and all answers.

    If the user accepts missing answers, blank answers that cannot be read are counted as missing, by another reader in
    the plan.

    Raises:
        InputError: A file is invalid.
    """
    try:
        return plan, *trial.check(plan)
    except InputError as error:
        if not _may_have_blanks(plan, request):
            raise _add_roles(error, plan, request) from None
        plan = _read_blanks_as_missing(plan)
        try:
            return plan, *trial.check(plan)
        except InputError:
            raise _add_roles(error, plan, request) from None


def _may_have_blanks(plan: Plan, request: Request) -> bool:
    return request.missing != "reject" and hasattr(plan.reader, "blank")


def _read_blanks_as_missing(plan: Plan) -> Plan:
    return replace(plan, systems=tuple(
        replace(system, reader=with_options(system.reader, {"blank": "missing"})) for system in plan.systems))


def _add_roles(error: InputError, plan: Plan, request: Request) -> InputError:
    """Add to an error the options that describe how the files were read.

    The error may be a consequence of a wrong automatic choice, which the user can then correct.
    """
    if request.kind is not None or not plan.roles:
        return error
    item_names = [role.removeprefix("--item ") for role in plan.roles if role.startswith("--item ")]
    is_usual = any(has_role(name, "item") for name in item_names)
    more = "; if the files have no item names, add --in-order" if (
        error.category == "unknown" and item_names and not is_usual) else ""
    reworded = reword(error, error.message.replace(f" (read as {plan.reader.name})",
                                                  f" (read as: {' '.join(plan.roles)})") + more)
    reworded.others = error.others
    return reworded


def _read_as(plan: Plan, metrics: Mapping[str, Metric], request: Request) -> str:
    options = [*plan.roles, *split_options(request), *(option("--attribute", name) for name in request.attribute), *(
        reader_option(name, value) for name, value in request.options.items())]
    options += [f"--runs {request.runs}"] if request.runs else []
    if request.missing != "reject":
        options.append(f"--missing {request.missing}")
    if request.metrics or not plan.column_metrics:
        options += [option("--metric", name or (metric.name if metric == get_default_metric(metric.takes)
                                                else repr(metric))) for name, metric in metrics.items()]
    return " ".join(dict.fromkeys(options))


def _describe_runs(plan: Plan, request: Request, identities: Mapping[str, Identity]) -> list[str]:
    """Return notes about runs and versions of the systems.

    A note says which files are averaged as runs of one system, which may be runs, and which versions do not take part.

    Args:
        plan: The systems, or their runs.
        request: The options of the user.
        identities: The team, system and run of each file, by the name of its system in the plan.

    Raises:
        InputError: `--runs` is given, but no two files are runs of one system, or their formats differ.
    """
    groups: dict[str, list[System]] = {}
    versions: dict[str, dict[str, None]] = {}
    for system in plan.systems:
        identity = identities[system.name]
        groups.setdefault(identity.submission, []).append(system)
        versions.setdefault(identity.model, {})[identity.version] = None
    several = {name: systems for name, systems in groups.items() if len(systems) > 1}
    notes = [f"{', '.join(runs.values())} are separate systems; add --runs fixed or --runs random if they are runs of "
             "one system" for _, runs in ([] if request.runs or several else find_runs(_name_separate_files(plan)))]
    if request.runs and not several:
        raise InputError("--runs needs file names that differ only in a number after seed, run or fold, such as "
                         "aspen.seed1.tsv and aspen.seed2.tsv; rename the files, or name them by a pattern such as "
                         "'{system}/{run}.tsv' (for runs in the columns of one table, use `registry import wide`)")
    if request.runs == "random" and len(several) < len(groups):
        alone = [name for name in groups if name not in several]
        raise InputError(f"--runs random needs two or more files of each system, but "
                         f"{counted(len(alone), 'system has', 'systems have')} only one "
                         f"({listed(alone, _MOST_NAMES)}). To compare the systems with several runs, leave out those "
                         "with one file; to compare all systems, use --runs fixed, whose results hold for these runs")
    for name, (first, *rest) in several.items():
        if (other := next((run for run in rest if (run.reader, run.tokens) != (first.reader, first.tokens)), None)):
            raise InputError(f"this run of {name!r} has another format ({other.reader!r}) than {first.document.path} "
                             f"({first.reader!r}); write all runs in the same format", path=other.document.path)
        notes.append(f"{name}: {counted(len(rest) + 1, 'run')}, whose statistics are averaged before scoring")
    for name, numbers in versions.items():
        *older, latest = sorted(numbers, key=natural_key)
        notes += [f"{name}: version {latest} takes part, not {listed(older, _MOST_NAMES)}"] if older else []
    return notes


def _name_separate_files(plan: Plan) -> list[str]:
    return [system.name for system in plan.systems] if len({system.document.path for system in plan.systems}) == len(
        plan.systems) else []


def _choose_metrics(plan: Plan, request: Request) -> dict[str, Metric]:
    """Return the metrics that the user named, by these names; or else the default metric with an empty name.

    Of equal metrics, only the first one counts.
    """
    metrics: dict[str, Metric] = {}
    for name in request.metrics:
        if (metric := _find_metric(plan, name)) not in metrics.values():
            metrics[name] = metric
    metrics = metrics or {"": _choose_default_metric(plan)}
    return {name: _with_references(metric, plan.reader, name) for name, metric in metrics.items()}


def _find_metric(plan: Plan, name: str) -> Metric:
    metric = common_metric(name, plan.reader.gives)
    if isinstance(metric, BLEU) and isinstance(plan.metric, BLEU) and "tokenize" not in name:
        return replace(metric, tokenize=plan.metric.tokenize)
    if isinstance(metric, Mean) and isinstance(plan.metric, Mean) and not plan.column_metrics:
        worst = plan.metric.worst if metric.worst is None else metric.worst
        return replace(metric, better=plan.metric.better, worst=worst)
    return metric


def _choose_default_metric(plan: Plan) -> Metric:
    metric = plan.metric or get_default_metric(plan.reader.gives)
    if metric is None:
        raise QuestionError(f"values of the type {plan.reader.gives} have no default metric; name a metric:", {
            "--metric NAME": "`registry list metrics`"}, plan.gold.path)
    return metric


def _with_references(metric: Metric, reader: Reader, name: str) -> Metric:
    if not isinstance(metric, ReferenceMetric) or not isinstance(reader, Texts) or "references" in name:
        return metric
    return replace(metric, references=reader.offers())


def _import_logs(paths: Sequence[Path], request: Request, settings: Mapping[str, Any]) -> QuickTask | None:
    """Make a task from the logs of another program; None if no importer fits.

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
            importer = _make_importer(kind, request)
            folder = importer.read(paths[0]) if len(paths) == 1 else importer.read_files(paths)
        except InputError as error:
            is_other_format = error.category != "unknown" and error.message.startswith(("no ", "not a zip file"))
            if error.path and paths[0].is_dir() and not is_other_format:
                problems.append(reword(error, f"{error.message} (read as {kind})"))
            continue
        if folder is not None:
            folders[kind] = folder
    if len(folders) > 1:
        raise QuestionError("several importers can read these files. Add one of these options:", {
            f"--as {kind}": "" for kind in folders}, str(paths[0]))
    if not folders and len(problems) == 1:
        raise problems[0]
    if not folders and paths[0].is_dir() and request.missing != "reject" and (
            _import_logs(paths, replace(request, missing="reject"), settings)) is not None:
        raise InputError(f"--missing {request.missing} does not apply to logs of other programs; remove it, or write "
                         "--missing drop", path=paths[0])
    for kind, folder in folders.items():
        return _make_imported(kind, _apply_settings(kind, folder, request, settings), request)
    return None


def _import_results(kind: str, paths: Sequence[Path], request: Request, settings: Mapping[str, Any]) -> QuickTask:
    importer = _make_importer(kind, request)
    folder = importer.read(paths[0]) if len(paths) == 1 else importer.read_files(paths)
    if folder is None:
        raise InputError(f"--as {kind} reads one file or folder, but {len(paths)} are named; name one", path=paths[1])
    return _make_imported(kind, _apply_settings(kind, folder, request, settings), request)


def _make_importer(kind: str, request: Request) -> Importer:
    options = dict(request.options)
    names: dict[str, Any] = {"item": list(request.item) or None, "score": next(iter(request.score), None),
                             "attributes": list(request.attribute) or None}
    options |= {name: value for name, value in names.items() if value and name in IMPORTERS[kind].__dataclass_fields__}
    if request.missing != "reject":
        if not hasattr(IMPORTERS[kind], "missing"):
            raise InputError(f"--missing {request.missing} does not apply to --as {kind}; remove it")
        options.setdefault("missing", request.missing)
    return build("importer", IMPORTERS, kind, options)


def _apply_settings(kind: str, folder: TaskFolder, request: Request, settings: Mapping[str, Any]) -> TaskFolder:
    """Add the metric, test and runs that the user chose to an imported task.

    A fixed seed is added, so that results are reproducible.

    Args:
        kind: The name of the importer, for messages.
        folder: The imported task.
        request: The options of the user.
        settings: The user's settings of `[significance]`, such as the test.

    Raises:
        InputError: The user names a metric, but the task has only scores.
    """
    tables = dict(folder.tables)
    if request.by is not None:
        raise InputError(f"--by does not apply to results of {kind}; keep the column with --attribute {request.by}, "
                         f"and set facets = [\"{request.by}\"] in the [[test_set]] of the manifest")
    if request.attribute and "attributes" not in IMPORTERS[kind].__dataclass_fields__:
        raise InputError(f"--attribute does not apply to results of {kind}; remove it")
    if request.metrics:
        takes = next((METRICS[metric["name"]].takes for metric in tables["metric"] if metric["name"] in METRICS), "")
        if takes not in ("segment", "vote", "rating"):
            raise InputError(f"--metric applies only to answers and a gold, not to results of {kind}; remove it (use "
                             "--option for the options of the importer)")
        declared = make_metric_tables({name: common_metric(name, takes) for name in request.metrics})
        shared = {name: value for name, value in tables["metric"][0].get("options", {}).items() if name == "references"}
        tables["metric"] = [table | {"options": shared | table.get("options", {})} for table in declared]
    runs = {"runs": request.runs} if request.runs else {}
    tables["significance"] = {"seed": SEED, **tables.get("significance", {}), **runs, **settings}
    return replace(folder, tables=tables)


def _make_imported(kind: str, folder: TaskFolder, request: Request) -> QuickTask:
    columns = list_found_columns(folder)
    options = [f"--as {kind}", *(reader_option(name, value) for name, value in (columns | {**request.options}).items())]
    n_submissions = counted(len(folder.tables["submit"]), "submission was", "submissions were")
    return QuickTask(folder, tuple(_make_preview(folder)), " ".join(options),
                     (f"{n_submissions} read from results of {kind}", *list_unused_columns(folder)))


def _make_preview(folder: TaskFolder) -> list[str]:
    """Return the first items of an imported task with some answers, as lines of text.

    The list is empty if files cannot be read.
    """
    test_set = folder.tables["test_set"][0]
    if not READERS[test_set["format"]].answers_all:
        return []  # a table of votes would have almost only empty cells
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
    """Make the error that no reader supports a file.

    The message describes the file and names the most similar reader with the format that it expects.

    Args:
        document: The file.
        alone: True if it is the only file, so that the gold may be missing.
    """
    lines = [line for line in read_lines(document) if line.strip()]
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
        if mark := find_even_mark(lines):
            description = f"looks like columns with {mark!r} between them{first}"
            path = document.path
            remedy = f"; write tabs instead: sed 's/{mark}/\\t/g' {path} > {path}.tsv"
        nearest = "lines" if len(widths) > 1 else "labels"
    if alone:
        remedy += "; if this is the file of one system, name the gold with --gold FILE"
    return document.error(
        f"unknown format: the file {description}. The most similar reader is {nearest} "
        f"({_EXPECTS.get(nearest, 'see its options')}){remedy}. Name a reader with --as (`registry list readers`; see "
        "docs/own-task.md), or score the items with another program and use the table of scores")


def _describe_json(document: Document) -> tuple[str, str, str]:
    """Describe a JSON file that no reader supports, for an error.

    Returns:
        The description, the name of the most similar reader, and advice on how to extract the items.
    """
    parts = read_json_parts(document)
    if parts is None:
        return "looks like JSON, but has neither a list or object of items, nor one object on each line", "labels", ""
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
    addition = f" (other keys: {', '.join(map(repr, rest[:3]))})" if rest else ""
    return (f"looks like one JSON object, whose items seem to be the {chosen[largest]} entries of "
            f"{largest!r}{addition}", "labels",
            f"; extract this part: jq '.[\"{largest}\"]' {Path(document.path).name}")
