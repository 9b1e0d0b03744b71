"""Plans for files without a gold file: one table of scores per system, or one table of all systems.

A table of all systems is wide if it has one column per system, and long if it has one row per item and system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from registry.column_names import find_columns, guess_directions, has_role, is_measure, is_size, normalize
from registry.errors import InputError, UnknownNameError, counted, listed
from registry.metrics import Mean
from registry.quick.answers import (
    choose_items,
    choose_kind,
    find_possible_kinds,
    is_answer_column,
    make_layout_options,
    make_reader,
    plan_answers,
    plan_tables,
    read_all,
    require_column,
)
from registry.quick.checks import ask_about_codes, ask_about_groups, choose_systems, refuse_summary
from registry.quick.files import GOLD_NAME, find_runs
from registry.quick.parts import find_row_paths, find_system_column, group_rows, split_runs, split_set, take_rows
from registry.quick.plan import (
    OPTION,
    Kind,
    Plan,
    QuestionError,
    Questions,
    Request,
    System,
    SystemFile,
    option,
    with_options,
)
from registry.quick.tables import (
    Table,
    are_numbers,
    are_texts,
    are_truths,
    find_item_columns,
    is_number,
    read_table,
    refuse_unusual_numbers,
)
from registry.readers import Document
from registry.values import format_option

_FLAGS = ({"true", "false"}, {"yes", "no"}, {"0", "1"}, {"y", "n"}, {"t", "f"})
_LIKE_LABELS = 0.2  # minimum share of a system's cells that are labels of the gold; other cells may be mistakes
_USUAL_MEASURES = ("map", "Rprec", "bpref", "recip_rank", "P_5", "P_10", "P_20", "ndcg", "ndcg_cut_10", "ndcg_cut_20",
                   "recall_100", "recall_1000")  # of trec_eval
_SHOWN = 4  # columns shown in a message


def plan_scores(systems: Sequence[SystemFile], request: Request, items_of: Document | None = None,
                gold_arguments: str = "--gold FILE") -> Plan:
    """Find out how to read one table of item scores per system, without a gold.

    Args:
        systems: The files of the systems.
        request: The options of the user.
        items_of: A file that lists all items; None: the table with the most items.
        gold_arguments: Arguments for questions, which take the gold from the files of a system.

    Raises:
        QuestionError: It is unclear which column has the scores, or whether higher scores are better.
        InputError: A table has no scores, or other items than the first one.
    """
    tables = read_all([file.document for file in systems], request)
    if tables is None:
        unread = [file for file in systems if read_table(file.document, request.options) is None]
        if paths := find_row_paths(unread[0].document):
            raise QuestionError("the file is one JSON object, not rows of items. Add one of these options:", {
                option("--option", f"rows={path}"): counted(n, "row") for path, n in paths.items()},
                unread[0].document.path)
        raise _ask_for_gold("the file has no row for each item; write its scores as rows of item and score. Or, if the "
                            "files have answers, which file is the gold?", "", unread)
    runs = split_runs(systems, [request.item or find_item_columns(table) for table in tables], request)
    if len(runs) > len(systems):
        systems, tables = runs, read_all([file.document for file in runs], request) or []
    first = tables[0]
    questions = Questions()
    if name := next((name for name in ("worst", "low", "high") if name in request.options), None):
        raise InputError(f"--option {name}={request.options[name]}: this is an option of the metric; write --metric "
                         f"'Mean({name}={request.options[name]})'")
    if request.value is not None and request.value[0] != "score":
        raise _ask_for_gold_of_answers(tables, request.value, gold_arguments)
    columns = [_find_score_columns(table, request) for table in tables]
    if not all(columns):
        raise _ask_for_measure(tables) if first.is_measures else _ask_for_roles(
            tables, systems, request, gold_arguments)
    if request.value is None and len({normalize(name) for (name,) in columns}) > 1:
        raise _ask_about_different_columns(tables, [name for (name,) in columns])
    items: list[str] = []
    if request.item:
        items = [require_column(first, name) for name in request.item]
    elif not request.in_order and not first.is_lines:
        items = choose_items(first, request, questions, tables[1:])
    ask_about_groups(first, items, request, questions)
    for names in zip(*columns, strict=True):
        ask_about_codes([cell for table, name in zip(tables, names, strict=True) for cell in table.cells(name)],
                        request, questions)
    directions = _choose_directions(columns[0], request, questions, first)
    questions.raise_if_any(first.document.path, first.preview())
    for table in tables:
        if any(name not in table.names for name in items):
            raise table.document.error(f"the file has no column {', '.join(map(repr, items))}, but "
                                       f"{first.document.path} has; columns: {table.preview()}")
        refuse_summary(table, items, others=tables)
    if not items and len({len(table.rows) for table in tables}) > 1:
        raise first.document.error("the files have different numbers of rows and no item names, so their rows cannot "
                                   "be matched; name the column of item names with --item COLUMN")
    whole = (read_table(items_of, request.options) if items_of is not None else None) or max(
        tables, key=lambda table: len({*table.keys(items)}))
    roles = [*([option("--item", name) for name in items] or ["--in-order"])]
    notes = "no gold: the files have scores of items; systems are compared by their mean "
    gold = make_reader(whole, "scores", items, {}, options=request.options)
    worst = [_choose_worst_score(
        [cell for table, name in zip(tables, names, strict=True) for cell in table.cells(name)], better, request)
        for names, better in zip(zip(*columns, strict=True), directions, strict=True)]
    metrics = _make_column_metrics(columns, directions, worst, request, first)
    if not metrics:
        read = tuple(System(file.name, file.document, make_reader(table, "scores", items, {"score": name},
                                                                  options=request.options))
                     for file, table, (name,) in zip(systems, tables, columns, strict=True))
        roles += [option("--score", columns[0][0]), *make_layout_options(tables)]
        return Plan(whole.document, gold, read, tuple(roles), Mean.build({"better": directions[0], "worst": worst[0]}),
                    notes=(f"{notes}score ({directions[0]} is better)",))
    own_columns = {"score": "", "other_scores": [metric.column for metric in metrics]}
    read = tuple(System(file.name, file.document, with_options(
        make_reader(table, "scores", items, {}, options=request.options), own_columns))
        for file, table in zip(systems, tables, strict=True))
    roles += [option("--score", f"{name}:{better}") for name, better in zip(columns[0], directions, strict=True)]
    described = listed([f"{metric.column} ({metric.better} is better)" for metric in metrics], len(metrics))
    return Plan(whole.document, gold, read, (*roles, *make_layout_options(tables)), metrics[0],
                notes=(f"{notes}{described}",), column_metrics=metrics)


def _find_score_columns(table: Table, request: Request) -> list[str]:
    """Return the columns of scores; empty if they are unclear.

    These are the columns that the user names, or the only column of numbers with a usual name of scores.
    """
    if request.value is not None:
        return [require_column(table, split_direction(name, table)[0]) for name in request.value[1]]
    likely = _list_measures([table]) if table.is_measures else [
        name for name in table.names if table.header and (has_role(name, "score") or is_measure(name))
        and not has_role(name, "label", "gold", "item") and _are_scores(table.cells(name))]
    return likely if len(likely) == 1 else []


def split_direction(name: str, table: Table) -> tuple[str, str | None]:
    """Split the value of `--score`, such as `cost:lower`, into the column and the better direction.

    The direction is None if the value is the name of a column.
    """
    column, _, better = name.rpartition(":")
    is_direction = column and better in ("higher", "lower") and table.column(name) is None
    return (column, better) if is_direction else (name, None)


def _choose_directions(columns: Sequence[str], request: Request, questions: Questions, table: Table) -> list[str]:
    """Decide for each column of scores whether `higher` or `lower` scores are better.

    The direction after the name of a column, as in `cost:lower`, decides. Without it, `_choose_direction` decides about
    the only column; if there are several columns, the words of their names decide, or the user is asked later.

    Raises:
        InputError: There are several columns, and the option `better` does not say which of them it means.
    """
    declared = [split_direction(name, table)[1] for name in request.score] or [None]
    if len(declared) == 1 and declared[0] is None:
        return [_choose_direction(columns, request, questions, table, gold=str(table.document.path))]
    if "better" in request.options and None in declared:
        name = columns[declared.index(None)]
        raise InputError(f"--option better={request.options['better']} does not say which of {len(columns)} columns it "
                         f"means; write the direction after each column, as in --score {name}:lower")
    directions = []
    for name, better in zip(columns, declared, strict=True):
        guesses = guess_directions(name) if better is None else {better}
        if len(guesses) != 1:
            questions.add(f"are higher or lower values of {name!r} better?", {
                option("--score", f"{name}:{direction}"): f"{direction} ones, instead of --score {name}"
                for direction in ("higher", "lower")})
        directions.append(next(iter(guesses)) if len(guesses) == 1 else "higher")
    return directions


def _choose_worst_score(cells: Sequence[str], better: str, request: Request) -> float | None:
    """Return the score of items without an answer: the worse one of 0 and 1 if all scores are 0, 1, true or false.

    The result is None if such items do not count as the worst, or if there are other scores.
    """
    values = {cell.strip().casefold() for cell in cells} - {"", "null"}
    is_binary = values <= {"0", "1", "0.0", "1.0", "true", "false"}
    return float(better == "lower") if request.missing == "worst" and is_binary else None


def _make_column_metrics(columns: Sequence[Sequence[str]], directions: Sequence[str],
                         worst_scores: Sequence[float | None], request: Request, table: Table) -> tuple[Mean, ...]:
    """Make a metric for each column of scores, with the name of the column.

    The result is empty if there is only one column whose name says nothing, such as `score`, or is not the same in all
    files.
    """
    names = columns[0]
    is_one = len(names) == 1 and len(request.score) < 2 and ":" not in "".join(request.score)
    if is_one and (has_role(names[0], "score") or names[0].isdigit() or any(other != names for other in columns)):
        return ()
    means = []
    for text, metric in zip(request.metrics, request.find_metrics("score"), strict=True):
        if not isinstance(metric, Mean):
            raise InputError(f"--metric {text} compares numbers with a gold, but there is none; remove it, or name the "
                             "gold file with --gold FILE")
        means.append(metric)
    columns_of_metrics = [name if table.header else f"column{name}" for name in names]
    by_column = {mean.column: mean for mean in means}
    for text, mean in zip(request.metrics, means, strict=True):
        if mean is not by_column[mean.column]:
            raise InputError(f"--metric {text}: another --metric is of the same columns; name a column in each, as in "
                             f"--metric 'Mean(column={format_option(columns_of_metrics[0])}, worst=NUMBER)'")
        if mean.column is not None and mean.column not in columns_of_metrics:
            raise UnknownNameError("column of scores", mean.column, columns_of_metrics)
    metrics = []
    for column, better, worst in zip(columns_of_metrics, directions, worst_scores, strict=True):
        mean = by_column.get(column, by_column.get(None, Mean()))
        if (mean.better, better) == ("lower", "higher"):
            raise InputError(f"--metric '{mean!r}' contradicts --score {column}:{better}; correct one of them")
        metrics.append(Mean(low=mean.low, high=mean.high, worst=worst if mean.worst is None else mean.worst,
                            better="lower" if better == "lower" else "higher", column=column))
    return tuple(metrics)


def _ask_about_different_columns(tables: Sequence[Table], names: Sequence[str]) -> InputError:
    """Make the question which scores to compare if the files have different columns of scores."""
    other = next(n for n, name in enumerate(names) if normalize(name) != normalize(names[0]))
    shared = [name for name in tables[0].names if all(name in table.names for table in tables)
              and _are_scores(tables[0].cells(name)) and not has_role(name, "item")]
    message = (f"the scores are in column {names[0]!r}, but those of {tables[other].document.path} are in column "
               f"{names[other]!r}")
    if not shared:
        return tables[0].document.error(f"{message}; give the columns the same name if they are the same measure")
    return QuestionError(f"{message}. Add one of these options:", {option("--score", name): "" for name in shared},
                         tables[0].document.path)


def _list_measures(tables: Sequence[Table]) -> list[str]:
    """Return the measures that all files have, the most usual first, and counts such as `num_ret` last."""
    names = [name for name in tables[0].names[1:] if all(
        name in table.names and _are_scores(table.cells(name)) for table in tables)]
    return sorted(names, key=lambda name: (name.casefold().startswith("num"), name not in _USUAL_MEASURES))


def _ask_for_measure(tables: Sequence[Table]) -> InputError:
    if not (names := _list_measures(tables)):
        return tables[0].document.error(f"the files have no measure in common; columns: {tables[0].preview()}")
    return QuestionError(f"the files have {counted(len(names), 'measure')} of each item. Add one of these options:",
                         {option("--score", name): "" for name in names}, tables[0].document.path)


def _are_scores(cells: Sequence[str]) -> bool:
    return are_numbers(cells) or are_truths(cells)


def _ask_for_gold_of_answers(tables: Sequence[Table], value: tuple[Kind, tuple[str, ...]],
                             gold_arguments: str) -> InputError:
    """Make the error that `--label` or `--text` needs a gold, which the files of each system may contain."""
    kind, names = value
    message = f"{OPTION[kind]} compares answers with a gold"
    if len(names) < 2 or any(table.column(name) is None for table in tables for name in names):
        return InputError(f"{message}; name the gold file with --gold FILE")
    roles = " ".join(option(OPTION[kind], name) for name in names)
    return QuestionError(f"{message}, which all files have in column {names[0]!r}. Take it from one system's files:", {
                         f"{gold_arguments} {roles}": ""}, tables[0].document.path)


def _ask_for_roles(tables: Sequence[Table], systems: Sequence[SystemFile], request: Request,
                   gold_arguments: str) -> InputError:
    """Make the question which file is the gold, or which column has the scores."""
    first = tables[0]
    golds = [name for name in find_columns(first.names, "gold") if all(name in table.names for table in tables)]
    answers = [name for name in find_columns([*first.names, *first.nested], "answer") if name not in golds and all(
        name in table.names or name in table.nested for table in tables)]
    if first.header and golds and answers and request.kind is None:
        gold, output = golds[0], answers[0]
        unused = [name for name in first.names if name not in (*golds, *answers)]
        remedy = {} if output in first.nested else {
            f"{gold_arguments} --text {gold} --text {output}": "texts: BLEU, or another --metric",
            f"{gold_arguments} --label {gold} --label {output}": "labels: correct if equal to the gold"}
        lists = ", which has lists but must have text" if output in first.nested else ""
        return QuestionError(
            f"all files have the gold in column {gold!r} and the systems' answers in column {output!r}{lists}; "
            f"no other column ({listed(unused, 4)}) has a usual name of scores. Add one of these options:",
            {**remedy, "--score COLUMN": "the score of each answer"}, first.document.path)
    numbers = [name for name in first.names if all(table.column(name) for table in tables)
               and _are_scores(first.cells(name))
               and not (first.header and has_role(name, "item", "label"))]
    if len(first.names) > 1:
        numbers = [name for name in numbers if not (first.header is False and name == "1")]
    return _ask_for_gold("which file is the gold? Or, if the files have scores, which column has them?",
                         first.preview(), systems, numbers)


def _ask_for_gold(question: str, columns: str, systems: Sequence[SystemFile],
                  numbers: Sequence[str] = ()) -> QuestionError:
    named = [file.document.path for file in systems if GOLD_NAME.search(Path(file.document.path).stem)]
    answers = {f"{option('--gold', named[0] if len(named) == 1 else 'FILE')}": "the file of the correct answers"}
    answers |= {option("--score", name): "each file has the scores of a system" for name in numbers}
    shown = f" Columns of {systems[0].document.path}: {columns}." if columns else ""
    return QuestionError(f"{question}{shown} Add one of these options:", answers,
                         systems[0].document.path)


def _choose_direction(names: Sequence[str], request: Request, questions: Questions, table: Table, *,
                      gold: str = "") -> str:
    """Decide whether `higher` or `lower` scores are better.

    The user's option decides, or else words such as `error` in the names of columns and files. If both do not help, the
    user is asked later.

    Args:
        names: The names.
        request: The options of the user.
        questions: Collects the question.
        table: The table.
        gold: Not empty if one of the files may be the gold, so that the question suggests this.
    """
    usual = "higher" if table.is_measures else None  # trec_eval has no measure of errors
    better = request.options.get("better", usual)
    if better in ("higher", "lower"):
        return str(better)
    for name, metric in zip(request.metrics, request.find_metrics("score"), strict=True):
        if isinstance(metric, Mean) and "better" in name:
            return metric.better
    named_directions = {better for name in names for better in guess_directions(name)}
    if len(named_directions) == 1:
        return next(iter(named_directions))
    answers = {f"--option better={better}": f"{better} ones" for better in ("higher", "lower")}
    if gold and table.header is not None:
        answers["--gold FILE"] = "one file has the correct numbers"
    questions.add("are higher or lower scores better?", answers)
    return "higher"


def plan_table(document: Document, request: Request) -> Plan | None:
    """Find out how to read the only file, a table of all systems.

    The table has one column per system (wide), or one row per item and system (long).

    Returns:
        The plan for reading it; None if the file is no table.

    Raises:
        QuestionError: The purpose of a column is unclear.
        InputError: Rows are systems instead of items, or columns are measures instead of systems.
    """
    table = read_table(document, request.options)
    if table is not None and table.header is None and request.gold is not None:
        table = read_table(document, {**request.options, "header": not request.gold.isdigit()})
    if table is None or len(table.names) < 2 or "spans" in request.options:
        return None
    if not table.header and request.gold is None and request.options.get("header") is not False:
        first, second, *_ = (*table.names, table.names[-1])
        raise QuestionError("this is the only file, and its first line does not name columns. Columns: "
                            f"{table.preview()}. Add one of these options:", {
            "--gold FILE": "the correct answers, if this is the file of one system",
            f"--option header=false --item {first} --gold {second}": f"column {second} has the correct answers",
            f"--option header=false --item {first} --option better=higher": "each other column has a system's scores",
            "--option header=true": "the first line names the columns"}, document.path)
    refuse_unusual_numbers(table, [name for name in table.names if not has_role(name, "item") and (
        request.value is None or request.value[0] == "score")])
    if {"model_a", "model_b", "winner"} <= {*map(normalize, table.names)}:
        raise document.error("the file has votes between two systems, but some cannot be read; --as votes says which")
    system = find_system_column(table, request)
    golds = find_columns(table.names, "gold") if request.gold is None else [request.gold]
    if system is not None and golds and (request.gold is not None or not _find_likely_scores(table, [system, *golds])):
        return _plan_long_answers(table, system, golds, request)
    if system is not None:
        return _plan_long_scores(table, system, request)
    names = [name for name in find_columns(table.names, "system") if not are_numbers(table.cells(name))]
    if request.gold is None and names and len({*table.cells(names[0])}) > len(table.rows) / 2:
        raise document.error(
            f"each row seems to be a system, because column {names[0]!r} has names of systems, but a board needs one "
            "row per item and one column per system; if the columns are items, transpose the table: python -c 'import "
            f"csv, sys; csv.writer(sys.stdout).writerows(zip(*csv.reader(open(sys.argv[1]))))' {document.path}")
    return _plan_wide(table, request)


def _plan_long_answers(table: Table, system: str, golds: Sequence[str], request: Request) -> Plan | None:
    """Find out how to read a table with item, system, gold and answer in each row.

    Args:
        table: The table.
        system: The column with the name of the system.
        golds: The columns that may have the gold; more than one raises a QuestionError.
        request: The options of the user.
    """
    if len(golds) > 1:
        raise QuestionError(f"several columns may be the gold. Columns: {table.preview()}. Add one of these "
                            "options:", {option("--gold", name): "" for name in golds}, table.document.path)
    rows = group_rows(table, system)
    longest = max(rows, key=lambda name: len(rows[name]))
    plan = plan_answers(take_rows(table, rows[longest], "gold"), [
        SystemFile(name, take_rows(table, numbers, f"{system} {name}")) for name, numbers in rows.items()],
        replace(request, gold=golds[0]))
    return plan and replace(plan, roles=(option("--gold", golds[0]), *plan.roles), notes=(
        *plan.notes, f"each row is one item of one system; column {system!r} names the system"))


def _find_likely_scores(table: Table, used: Sequence[str | None]) -> list[str]:
    numbers = [name for name in table.names if name not in used and _are_scores(table.cells(name))]
    return [name for name in numbers if has_role(name, "score")] or [name for name in numbers if is_measure(name)]


def _plan_long_scores(table: Table, system: str, request: Request) -> Plan:
    """Find out how to read a table with one row per item and system, and a score.

    Args:
        table: The table.
        system: The column with the name of the system.
        request: The options of the user.
    """
    questions = Questions()
    names = [name for name in table.names if name == request.options.get("run") or has_role(name, "run")]
    runs = [name for name in names if len({*table.cells(name)}) > 1]
    items = [require_column(table, name) for name in request.item]
    if not items and not request.in_order:
        quiet = Questions()
        items = choose_items(table, request, quiet, system=[system]) or choose_items(
            table, request, questions, system=[system, *runs])
    ask_about_groups(table, items, request, questions)
    numbers = [name for name in table.names if name not in (*items, system, *runs) and _are_scores(table.cells(name))
               and not has_role(name, "item", "run") and not is_size(name)]
    likely = [name for name in _find_likely_scores(table, [*items, system, *runs]) if name in numbers]
    score = request.score or tuple(likely if len(likely) == 1 else numbers if len(numbers) == 1 else ())
    if not numbers:
        raise table.document.error(f"each row is one item of one system (column {system!r}), but no column has "
                                   "scores; if a column has answers, name the gold with --gold FILE or --gold COLUMN")
    if not score:
        questions.add(f"each row is one item of one system (column {system!r}); which column has the scores?", {
            option("--score", name): "" for name in likely or numbers})
    metrics = list(dict.fromkeys(table.cells(require_column(table, request.by)))) if request.by is not None else []
    if {"higher", "lower"} == {better for name in metrics for better in guess_directions(name)}:
        raise table.document.error(f"column {request.by!r} mixes measures for which higher or lower values are better "
                                   f"({listed(metrics, 3)}); write a separate file for each measure")
    plain = [split_direction(name, table) for name in score]
    better = {} if len(plain) > 1 or any(direction for _, direction in plain) else {
        "better": _choose_direction([*score, *metrics], request, questions, table)}
    for name, _ in plain:
        ask_about_codes(table.cells(require_column(table, name)), request, questions)
    questions.raise_if_any(table.document.path, table.preview())
    refuse_summary(table, items, system)
    keys = table.keys([*items, *([request.by] if request.by else [])])
    first = take_rows(table, [*{key: n for n, key in reversed([*enumerate(keys)])}.values()][::-1], "items")
    systems = [SystemFile(name, take_rows(table, rows, f"{system} {name}"))
               for name, rows in group_rows(table, system).items()]
    plan = plan_scores(systems, replace(request, item=tuple(items), score=score, options={
        **request.options, **better, "unscored": request.options.get("unscored", [""])}), first)
    return replace(plan, notes=(f"each row is one item of one system; column {system!r} names the system",))


def split_options(request: Request) -> list[str]:
    """Return the user's options --by and --pool as text for a command line.

    `--by` divides the rows of a table into test sets, and `--pool` keeps them together.
    """
    by = [option("--by", request.by)] if request.by is not None else []
    return [*by, *(option("--pool", name) for name in request.pool)]


def _plan_wide(table: Table, request: Request) -> Plan:
    """Find out how to read a table with one row per item and one column per system.

    The table may also have a column of gold.
    """
    questions = Questions()
    items = _choose_items_of_wide(table, request, questions)
    refuse_summary(table, items)
    ask_about_groups(table, items, request, questions)
    gold = _choose_gold_of_wide(table, items, request)
    columns = [name for name in table.names if name not in (gold, request.by, *request.pool) and is_answer_column(
        name, items)]
    numbers = [name for name in columns if are_numbers(table.cells(name))]
    if gold is not None:
        return _plan_wide_with_gold(table, items, gold, columns, request, questions)
    truths = [name for name in columns if are_truths(table.cells(name))]
    flags = [name for name in columns if {cell.casefold() for cell in table.cells(name)} in _FLAGS]
    words = [name for name in columns if name not in (*numbers, *truths) and not are_texts(table.cells(name))]
    measures = [name for name in numbers if is_measure(name)]
    if any(split_direction(name, table)[1] for name in request.score):
        raise table.document.error("--score with a direction names a column of every system's file, but this is the "
                                   "only file; name the files of all systems, or write --score COLUMN for each system "
                                   "and --option better=higher")
    if request.score:
        numbers = [require_column(table, name) for name in request.score]
    elif len(measures) > 1 and 2 * len(measures) >= len(numbers) and "better" not in request.options:
        raise table.document.error(
            f"the columns seem to be measures ({listed(measures, _SHOWN)}), not systems, but a board needs one measure "
            "with a column or a file for each system; if the columns are systems, add --option better=higher")
    scored = [name for name in columns if name in numbers or name in truths] if request.score == () else numbers
    if len(kinds := {last for name in scored if is_measure(last := normalize(name).rpartition("_")[2])}) > 1 and (
            not request.system):
        raise table.document.error(f"the columns belong to several measures ({listed(sorted(kinds), _SHOWN)}); choose "
                                   f"the columns of one measure: --system '*{min(kinds)}'")
    similar = [name for name in words if name not in flags and any(
        other != name and {*table.cells(other)} & {*table.cells(name)} for other in words)]
    if not request.system and (not scored or (len(scored) < 2 and not (len(flags) > 0 and numbers)) or (
            "better" not in request.options and not numbers) or (
            similar and len(similar) > len(numbers) and "better" not in request.options)):
        first = "" if table.header or items else f"{option('--item', table.names[0])} "
        answers = {first + option("--gold", name): "the correct answers; the other columns are systems'"
                   for name in (similar or flags or words or columns) if not first or name != table.names[0]}
        if truths:
            answers["--option better=higher"] = "true and false: whether each system was correct"
        raise QuestionError("this is the only file, and no column has a usual name of a gold. Columns: "
                            f"{table.preview()}. Add one of these options:", answers or {
                                "--gold FILE": "the correct answers"}, table.document.path)
    scored = choose_systems(table, scored, request, questions) if not request.score else scored
    ask_about_codes([cell for name in scored for cell in table.cells(name)], request, questions)
    unread = [name for name in table.names if name not in (*items, *scored)]
    file_name = Path(table.document.path).stem
    names = [file_name] if is_measure(file_name) else []
    names += measures if len(measures) == len(scored) == 1 else []
    direction = Questions()
    better = _choose_direction(names, request, direction, table)
    for question in direction.questions:
        candidates = [name for name in flags if not are_numbers(table.cells(name))]
        golds = {" ".join((*(option("--item", part) for part in _candidate_names(table, name)), option("--gold", name),
                           "--metric 'SetP(best=100)'")): "this column flags the correct candidates"
                 for name in candidates}
        golds |= {option("--gold", name): "the correct answers, with which other columns are compared"
                  for name in dict.fromkeys((*flags[:_SHOWN], *numbers[:_SHOWN])) if name not in candidates}
        questions.add(f"{question.removesuffix('?')} in the columns {listed(scored, _SHOWN)}?",
                      direction.answers | golds)
    questions.raise_if_any(table.document.path, table.preview())
    systems = tuple(System(name, table.document, make_reader(table, "scores", items, {"score": name},
                                                           options=request.options)) for name in scored)
    roles = [option("--item", name) for name in items] + [f"--option better={better}"]
    roles += [option("--score", name) for name in request.score] + [option("--system", name) for name in request.system]
    return Plan(table.document, make_reader(table, "scores", items, {}, options=request.options), systems,
                (*roles, *make_layout_options([table])), Mean.build({"better": better}),
                notes=(f"{counted(len(scored), 'column')} of scores; systems are compared by their mean score "
                       f"({better} is better)",
                       *([f"not read: {listed(unread, 5)}"] if unread else []), *_describe_column_runs(scored)))


def _describe_column_runs(columns: Sequence[str]) -> list[str]:
    """Describe columns that may be runs of a system, such as `a.seed1` and `a.seed2`.

    The message names the option that averages the runs.
    """
    return [f"{', '.join(runs.systems.values())} are separate systems; if they are runs of one system, add --as wide "
            f"--option 'runs={{system}}{first.removeprefix(runs.name).removesuffix(number)}{{run}}'"
            for runs in find_runs(columns) for number, first in [next(iter(runs.systems.items()))]]


def _choose_items_of_wide(table: Table, request: Request, questions: Questions) -> list[str]:
    """Choose the columns that identify items in a table with one column per system.

    The result is empty if items have no names, or if it is unclear; the user is then asked later.
    """
    if request.in_order:
        return []
    if request.item:
        return [require_column(table, name) for name in request.item]
    if any(has_role(name, "item") or not name.strip() for name in table.names) or not table.header:
        return choose_items(table, request, questions)
    runs = [name for name in find_columns(table.names, "run") if 2 * len({*table.cells(name)}) <= len(table.rows)]
    if runs and request.by != runs[0]:
        questions.add(f"column {runs[0]!r} may number several runs of the same items", {
            option("--by", runs[0]): "a board for each run", "--in-order": "every row is an item"})
    return []


def _choose_gold_of_wide(table: Table, items: Sequence[str], request: Request) -> str | None:
    """Choose the gold's column in a table with one column per system.

    The result is the column that the user names, or the only column with a usual name such as `gold`. The result is
    None if there is no such column.

    Raises:
        QuestionError: Several columns have usual names of a gold.
    """
    if request.gold is not None:
        return require_column(table, request.gold)
    if request.value is not None and request.value[0] != "score":
        return require_column(table, request.value[1][0])
    if "better" in request.options:
        return None
    usual = (*find_columns(table.names, "gold"), *find_columns(table.names, "label"))
    golds = list(dict.fromkeys(name for name in usual if name not in items))
    if len(golds) > 1:
        raise QuestionError(f"several columns may be the gold. Columns: {table.preview()}. Add one of these "
                            "options:", {option("--gold", name): "" for name in golds}, table.document.path)
    return golds[0] if golds else None


def _plan_wide_with_gold(table: Table, items: list[str], gold: str, columns: Sequence[str], request: Request,
                         questions: Questions) -> Plan:
    """Find out how to read a table with a gold column and one column per system.

    The systems are the columns with the same kind of values as the gold.

    Args:
        table: The table.
        items: The columns that identify the items.
        gold: The column of gold values.
        columns: The columns that may be systems.
        request: The options of the user.
        questions: Collects questions about unclear columns.
    """
    golds = table.cells(gold)
    values = {cell.strip().casefold() for cell in golds if cell.strip()}
    numbers = [name for name in columns if are_numbers(table.cells(name))]
    decimals = [name for name in numbers if any(is_number(cell) and not float(cell).is_integer()
                                                for cell in table.cells(name))]
    if values in _FLAGS and decimals and request.value is None and not any(request.find_metrics("score")):
        numbers = choose_systems(table, numbers, request, questions) if request.system else numbers
        return _plan_candidates(table, items, gold, numbers, request, questions)
    answers = [table.cells(name) for name in (numbers if are_numbers(golds) else columns) if name not in items]
    kind = choose_kind(golds, answers, [gold], find_possible_kinds(request), request, questions, columns=(gold, None))
    if kind == "score":
        systems = numbers
        ask_about_codes([cell for name in (gold, *numbers) for cell in table.cells(name)], request, questions)
    elif kind == "segment":
        systems = [name for name in columns if are_texts(table.cells(name)) or normalize(name) == normalize(gold)]
    else:
        labels = {label for value in values for label in _labels_of(value, request)}
        systems = [name for name in columns if sum(
            bool(labels & _labels_of(cell, request)) for cell in table.cells(name)) > _LIKE_LABELS * len(table.rows)]
    systems = choose_systems(table, [name for name in systems if not has_role(name, "gold")], request, questions,
                             has_one_scale=kind != "score")
    questions.raise_if_any(table.document.path, table.preview())
    assert kind is not None
    if not systems:
        raise table.document.error(f"column {gold!r} is the gold, but no other column has similar values; name another "
                                   f"column with --gold, or name the systems' files; columns: {table.preview()}")
    unread = [name for name in table.names if name not in (*items, gold, *systems)]
    plan = plan_tables(table, items, gold, kind, [(SystemFile(name, table.document), table, items, name)
                                                  for name in systems], request)
    roles = [option("--item", name) for name in items] or ["--in-order"]
    roles += [option("--gold", gold)] + [option("--system", name) for name in request.system]
    roles += [option("--sets", request.sets)] if request.sets is not None else (
        [f"--as {plan.reader.name}"] if request.kind or request.value else [])
    return replace(plan, roles=(*roles, *make_layout_options([table])),
                   notes=(*plan.notes, *([f"not read: {listed(unread, 5)}"] if unread else [])))


def _labels_of(cell: str, request: Request) -> set[str]:
    text = cell.strip().casefold()
    return {text} if request.sets is None else {*split_set(text, request.sets)}


def _candidate_names(table: Table, flag: str) -> list[str]:
    words = [name for name in table.names if name != flag and not are_numbers(table.cells(name))]
    return next((words[:size] for size in range(1, len(words) + 1) if table.is_unique(words[:size])), [])


def _plan_candidates(table: Table, items: list[str], flag: str, systems: Sequence[str], request: Request,
                     questions: Questions) -> Plan:
    """Find out how to read a table of candidates with a score by every system.

    Candidates are, for example, word pairs; a gold column marks each as correct or incorrect.

    Args:
        table: The table, with one row per candidate.
        items: The columns that identify a candidate.
        flag: The gold column, with values such as true and false.
        systems: The columns of scores.
        request: The options of the user.
        questions: Collects questions about unclear columns.
    """
    spellings = {cell.strip().casefold(): cell for cell in table.cells(flag)}
    true, false = next((spellings[yes], spellings[no]) for yes, no in (
        ("true", "false"), ("yes", "no"), ("1", "0"), ("y", "n"), ("t", "f")) if {yes, no} == spellings.keys())
    if not items:
        named = _candidate_names(table, flag)
        questions.add("no column has a usual name for the candidates", {
            " ".join(option("--item", name) for name in named) or "--item COLUMN": "a different value in every row"})
    if not request.metrics:
        questions.add(f"column {flag!r} says which candidates are correct; which metric compares the systems?", {
            "--metric 'SetP(best=100)'": "precision of the 100 best candidates",
            "--metric 'SetR(best=100)'": "recall of the 100 best candidates",
            "--metric 'SetF(threshold=0)'": "F1 of the candidates with a score of 0 or more",
            "--metric Spearman": "correlation of the scores with 1 (correct) and 0"})
    questions.raise_if_any(table.document.path, table.preview())
    options = {"true": [true], "false": [false], **request.options}
    readers = {name: make_reader(table, "candidates", items, {"gold": flag, "score": name}, options=options)
               for name in systems}
    return Plan(table.document, make_reader(table, "candidates", items, {"gold": flag}, options=options),
                tuple(System(name, table.document, reader) for name, reader in readers.items()),
                (*(option("--item", name) for name in items), option("--gold", flag)), None,
                notes=(f"{table.cells(flag).count(true)} of {len(table.rows)} candidates are correct; higher scores "
                       "are better in all columns",))
