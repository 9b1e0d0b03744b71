"""Plans for files without a gold file: one table of scores per system, or one table of all systems.

A table of all systems is wide if it has one column per system, and long if it has one row per item and system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from registry.column_names import columns_of, directions, is_called, is_measure, is_size, usual_form
from registry.errors import InputError, counted, listed
from registry.metrics import Mean
from registry.quick.answers import (
    choose_items,
    choose_kind,
    form_options,
    is_answer_column,
    plan_answers,
    plan_tables,
    possible_kinds,
    read_all,
    reader_of,
    require_column,
)
from registry.quick.checks import ask_about_codes, ask_about_groups, choose_systems, refuse_summary
from registry.quick.files import GOLD_NAME, find_runs
from registry.quick.parts import group_rows, split_runs, split_set, system_column, take_rows
from registry.quick.plan import OPTION, Asked, Given, OpenRoles, Plan, QuestionError, System, option
from registry.quick.tables import (
    Table,
    are_numbers,
    are_texts,
    are_truths,
    is_number,
    item_columns,
    read_table,
    refuse_unusual_numbers,
)
from registry.readers import Document

_FLAGS = ({"true", "false"}, {"yes", "no"}, {"0", "1"}, {"y", "n"}, {"t", "f"})
_LIKE_LABELS = 0.2  # minimum share of a system's cells that are labels of the gold; other cells may be mistakes
_SHOWN = 4  # columns shown in a message


def plan_scores(systems: Sequence[Given], asked: Asked, items_of: Document | None = None) -> Plan:
    """Plan how to read one table of scores per system, and optionally a file that lists all items, `items_of`.

    Raises:
        QuestionError: No column has a usual name of scores, or it is unclear whether higher scores are better.
        InputError: A table has no scores, or other items than the first one.
    """
    tables = read_all([given.document for given in systems], asked)
    if tables is None:
        raise _name_gold("which file is the gold?", "", systems)
    runs = split_runs(systems, [asked.item or item_columns(table) for table in tables], asked)
    if len(runs) > len(systems):
        systems, tables = runs, read_all([given.document for given in runs], asked) or []
    first = tables[0]
    asking = OpenRoles()
    scores = [_score_column(table, asked) for table in tables]
    if not all(scores):
        raise _ask_for_roles(tables, systems, asked)
    names = [name for name in scores if name is not None]
    score = names[0]
    items: list[str] = []
    if asked.item:
        items = [require_column(first, name) for name in asked.item]
    elif not asked.in_order and not first.is_lines:
        items = choose_items(first, asked, asking, tables[1:])
    ask_about_groups(first, items, asked, asking)
    ask_about_codes([cell for table, name in zip(tables, names, strict=True) for cell in table.cells(name)], asked,
                    asking)
    better = _choose_direction([score], asked, asking, first, gold=str(first.document.path))
    asking.raise_if_any(first.document.path, first.shown())
    for table in tables:
        if any(name not in table.names for name in items):
            raise table.document.error(f"no column {', '.join(map(repr, items))}, as {first.document.path} has; "
                                       f"columns: {table.shown()}")
        refuse_summary(table, items)
    if not items and len({len(table.rows) for table in tables}) > 1:
        raise first.document.error("has another number of rows than the other files, and no names of items; name their "
                                   "column: --item COLUMN")
    whole = (read_table(items_of, asked.options) if items_of is not None else None) or max(
        tables, key=lambda table: len({*table.keys(items)}))
    read = [System(given.name, given.document, reader_of(table, "scores", items, {"score": name},
                                                         options=asked.options))
            for given, table, name in zip(systems, tables, names, strict=True)]
    roles = [option("--item", name) for name in items] or ["--in-order"]
    return Plan(whole.document, reader_of(whole, "scores", items, {}, options=asked.options), tuple(read),
                (*roles, option("--score", score), *form_options(tables)), Mean.build({"better": better}),
                notes=(f"no gold: {counted(len(systems), 'file')} of scores; the mean of each, {better} is better",))


def _score_column(table: Table, asked: Asked) -> str | None:
    """Return the column of scores: the one that the user names, or the only column with a usual name of scores."""
    if asked.value is not None:
        kind, names = asked.value
        if kind != "score":
            raise InputError(f"{OPTION[kind]} compares answers with a gold; name its file: --gold FILE")
        return require_column(table, names[0])
    likely = [name for name in table.names if table.header and (is_called(name, "score") or is_measure(name))
              and not is_called(name, "label", "gold", "item") and _are_scores(table.cells(name))]
    return likely[0] if len(likely) == 1 else None


def _are_scores(cells: Sequence[str]) -> bool:
    return are_numbers(cells) or are_truths(cells)


def _ask_for_roles(tables: Sequence[Table], systems: Sequence[Given], asked: Asked) -> InputError:
    """Make the question which file is the gold, or which column has the scores."""
    first = tables[0]
    golds = [name for name in columns_of(first.names, "gold") if all(name in table.names for table in tables)]
    answers = [name for name in columns_of([*first.names, *first.nested], "answer") if name not in golds and all(
        name in table.names or name in table.nested for table in tables)]
    if first.header and golds and answers and asked.kind is None:
        gold, output = golds[0], answers[0]
        unused = [name for name in first.names if name not in (*golds, *answers)]
        command = f"--gold {first.document.path} {' '.join(given.document.path for given in systems[:2])} ..."
        remedy = {} if output in first.nested else {
            f"{command} --text {gold} --text {output}": "texts, by BLEU or --metric",
            f"{command} --label {gold} --label {output}": "labels, correct if every letter is the gold's"}
        lists = f"; {output!r} has lists: write its text" if output in first.nested else ""
        return QuestionError(
            f"all files repeat the gold in column {gold!r} and have the systems' answers in column {output!r}{lists}; "
            f"no other column ({listed(unused, 4)}) is called as scores are. Add one of these options:",
            {**remedy, "--score COLUMN": "the score of each answer"}, first.document.path)
    numbers = [name for name in first.names if all(table.column(name) for table in tables)
               and _are_scores(first.cells(name))
               and not (first.header and is_called(name, "item", "label"))]
    if len(first.names) > 1:
        numbers = [name for name in numbers if not (first.header is False and name == "1")]
    return _name_gold("which file is the gold? Or if the files have scores, which column?", first.shown(), systems,
                      numbers)


def _name_gold(question: str, columns: str, systems: Sequence[Given], numbers: Sequence[str] = ()) -> QuestionError:
    named = [given.document.path for given in systems if GOLD_NAME.search(Path(given.document.path).stem)]
    answers = {f"{option('--gold', named[0] if len(named) == 1 else 'FILE')}": "the file of the correct answers"}
    answers |= {option("--score", name): "each file has the scores of a system" for name in numbers}
    shown = f" Columns of {systems[0].document.path}: {columns}." if columns else ""
    return QuestionError(f"{question}{shown} Add one of these options:", answers,
                         systems[0].document.path)


def _choose_direction(names: Sequence[str], asked: Asked, asking: OpenRoles, table: Table, *, gold: str = "") -> str:
    """Return `higher` or `lower`, whichever scores are better; record a question if it is unclear.

    The user's option decides, or else the words in `names`, the names of columns and files.
    """
    better = asked.options.get("better")
    if better in ("higher", "lower"):
        return str(better)
    if isinstance(metric := asked.metric_of("score"), Mean) and "better" in (asked.metric or ""):
        return metric.better
    found = {better for name in names for better in directions(name)} if any(map(directions, names)) else set()
    if len(found) == 1:
        return next(iter(found))
    answers = {f"--option better={better}": f"{better} ones" for better in ("higher", "lower")}
    if gold and table.header is not None:
        answers["--gold FILE"] = "one file has the right numbers"
    asking.add("it is open whether higher scores are better", answers)
    return "higher"


def plan_table(document: Document, asked: Asked) -> Plan | None:
    """Plan how to read one table of all systems, wide or long; return None if the file is not a table.

    Raises:
        QuestionError: The role of a column is unclear.
        InputError: Rows are systems, or columns are measures.
    """
    table = read_table(document, asked.options)
    if table is not None and table.header is None and asked.gold is not None:
        table = read_table(document, {**asked.options, "header": not asked.gold.isdigit()})
    if table is None or len(table.names) < 2 or "spans" in asked.options:
        return None
    if not table.header and asked.gold is None and asked.options.get("header") is not False:
        first, second, *_ = (*table.names, table.names[-1])
        raise QuestionError("is the only file, and its first line does not name columns. Columns: "
                            f"{table.shown()}. Add one of these options:", {
            "--gold FILE": "the right answers, if this is one system's file",
            f"--option header=false --item {first} --gold {second}": f"column {second} has the right answers",
            f"--option header=false --item {first} --option better=higher": "each other column has a system's scores",
            "--option header=true": "the first line names the columns"}, document.path)
    refuse_unusual_numbers(table, [name for name in table.names if not is_called(name, "item") and (
        asked.value is None or asked.value[0] == "score")])
    if {"model_a", "model_b", "winner"} <= {*map(usual_form, table.names)}:
        raise document.error("has comparisons of two systems by a judge, and no score of each system; a board needs a "
                             "score of each system for each item")
    system = system_column(table, asked)
    golds = columns_of(table.names, "gold") if asked.gold is None else [asked.gold]
    if system is not None and golds and (asked.gold is not None or not _likely_scores(table, [system, *golds])):
        return _plan_long_answers(table, system, golds, asked)
    if system is not None:
        return _plan_long_scores(table, system, asked)
    names = [name for name in columns_of(table.names, "system") if not are_numbers(table.cells(name))]
    if asked.gold is None and names and len({*table.cells(names[0])}) > len(table.rows) / 2:
        raise document.error(
            f"each row seems to be a system, because column {names[0]!r} has names of systems; a board needs the "
            "scores of single items: one row per item and one column per system. If the columns are items, transpose "
            "the table: python -c 'import csv, sys; "
            f"csv.writer(sys.stdout).writerows(zip(*csv.reader(open(sys.argv[1]))))' {document.path}")
    return _plan_wide(table, asked)


def _plan_long_answers(table: Table, system: str, golds: Sequence[str], asked: Asked) -> Plan | None:
    """Plan how to read a long table: one row per item and system, with a column of gold and a column of answers."""
    if len(golds) > 1:
        raise QuestionError(f"several columns have usual names of a gold. Columns: {table.shown()}. Add one of these "
                            "options:", {option("--gold", name): "" for name in golds}, table.document.path)
    rows = group_rows(table, system)
    longest = max(rows, key=lambda name: len(rows[name]))
    plan = plan_answers(take_rows(table, rows[longest], "gold"), [
        Given(name, take_rows(table, numbers, f"{system} {name}")) for name, numbers in rows.items()],
        replace(asked, gold=golds[0]))
    return plan and replace(plan, roles=(option("--gold", golds[0]), *plan.roles), notes=(
        *plan.notes, f"a row for each item and system, which column {system!r} names"))


def _likely_scores(table: Table, used: Sequence[str | None]) -> list[str]:
    """Return the columns of numbers with usual names of scores."""
    numbers = [name for name in table.names if name not in used and _are_scores(table.cells(name))]
    return [name for name in numbers if is_called(name, "score")] or [name for name in numbers if is_measure(name)]


def _plan_long_scores(table: Table, system: str, asked: Asked) -> Plan:
    """Plan how to read a long table: one row per item and system, with a column of scores."""
    asking = OpenRoles()
    names = [name for name in table.names if name == asked.options.get("run") or is_called(name, "run")]
    runs = [name for name in names if len({*table.cells(name)}) > 1]
    items = [require_column(table, name) for name in asked.item]
    if not items and not asked.in_order:
        quiet = OpenRoles()
        items = choose_items(table, asked, quiet, system=[system]) or choose_items(
            table, asked, asking, system=[system, *runs])
    ask_about_groups(table, items, asked, asking)
    numbers = [name for name in table.names if name not in (*items, system, *runs) and _are_scores(table.cells(name))
               and not is_called(name, "item", "run") and not is_size(name)]
    likely = [name for name in _likely_scores(table, [*items, system, *runs]) if name in numbers]
    score = asked.score or tuple(likely if len(likely) == 1 else numbers if len(numbers) == 1 else ())
    if not numbers:
        raise table.document.error(f"has a row for each item and system, by column {system!r}, and no column of "
                                   "numbers; if it has answers, name the gold: --gold FILE, or --gold COLUMN")
    if not score:
        asking.add(f"a row for each item and system (column {system!r}); which column has the scores?", {
            option("--score", name): "" for name in likely or numbers})
    metrics = list(dict.fromkeys(table.cells(require_column(table, asked.by)))) if asked.by is not None else []
    if {"higher", "lower"} == {better for name in metrics for better in directions(name)}:
        raise table.document.error(f"column {asked.by!r} has measures with higher values better, and others with lower "
                                   f"values better ({listed(metrics, 3)}); write a file for each measure")
    better = _choose_direction([*score, *metrics], asked, asking, table)
    if score:
        ask_about_codes(table.cells(require_column(table, score[0])), asked, asking)
    asking.raise_if_any(table.document.path, table.shown())
    refuse_summary(table, items, system)
    keys = table.keys([*items, *([asked.by] if asked.by else [])])
    first = take_rows(table, [*{key: n for n, key in reversed([*enumerate(keys)])}.values()][::-1], "items")
    systems = [Given(name, take_rows(table, rows, f"{system} {name}"))
               for name, rows in group_rows(table, system).items()]
    plan = plan_scores(systems, replace(asked, item=tuple(items), score=score, options={
        **asked.options, "better": better, "unscored": asked.options.get("unscored", [""])}), first)
    return replace(plan, notes=(f"a row for each item and system, which column {system!r} names",))


def split_options(asked: Asked) -> list[str]:
    """Return the user's options --by and --pool, which divide the rows into test sets or keep them together."""
    by = [option("--by", asked.by)] if asked.by is not None else []
    return [*by, *(option("--pool", name) for name in asked.pool)]


def _plan_wide(table: Table, asked: Asked) -> Plan:
    """Plan how to read a wide table: one row per item, one column per system, and optionally a column of gold."""
    asking = OpenRoles()
    items = _choose_items_of_wide(table, asked, asking)
    refuse_summary(table, items)
    ask_about_groups(table, items, asked, asking)
    gold = _choose_gold_of_wide(table, items, asked)
    columns = [name for name in table.names if name not in (gold, asked.by, *asked.pool) and is_answer_column(
        name, items)]
    numbers = [name for name in columns if are_numbers(table.cells(name))]
    if gold is not None:
        return _plan_wide_with_gold(table, items, gold, columns, asked, asking)
    truths = [name for name in columns if are_truths(table.cells(name))]
    flags = [name for name in columns if {cell.casefold() for cell in table.cells(name)} in _FLAGS]
    words = [name for name in columns if name not in (*numbers, *truths) and not are_texts(table.cells(name))]
    measures = [name for name in numbers if is_measure(name)]
    if asked.score:
        numbers = [require_column(table, name) for name in asked.score]
    elif len(measures) > 1 and 2 * len(measures) >= len(numbers) and "better" not in asked.options:
        raise table.document.error(
            f"columns seem to be measures ({listed(measures, _SHOWN)}), and no systems: a board needs the scores of "
            "one measure, a row for each item, and a column or a file for each system. If columns are systems, add "
            "--option better=higher")
    scored = [name for name in columns if name in numbers or name in truths] if asked.score == () else numbers
    if len(kinds := {last for name in scored if is_measure(last := usual_form(name).rpartition("_")[2])}) > 1 and (
            not asked.system):
        raise table.document.error(f"columns have several measures ({listed(sorted(kinds), _SHOWN)}); name the columns "
                                   f"of one measure: --system '*{min(kinds)}'")
    like = [name for name in words if name not in flags and any(
        other != name and {*table.cells(other)} & {*table.cells(name)} for other in words)]
    if not asked.system and (not scored or (len(scored) < 2 and not (len(flags) > 0 and numbers)) or (
            "better" not in asked.options and not numbers) or (
            like and len(like) > len(numbers) and "better" not in asked.options)):
        first = "" if table.header or items else f"{option('--item', table.names[0])} "
        answers = {first + option("--gold", name): "the right answers; the other columns are systems'"
                   for name in (like or flags or words or columns) if not first or name != table.names[0]}
        if truths:
            answers["--option better=higher"] = "true and false: what each system got right"
        raise QuestionError("is one table, and no column has a usual name of a gold. Columns: "
                            f"{table.shown()}. Add one of these options:", answers or {
                                "--gold FILE": "the right answers"}, table.document.path)
    scored = choose_systems(table, scored, asked, asking) if not asked.score else scored
    ask_about_codes([cell for name in scored for cell in table.cells(name)], asked, asking)
    left = [name for name in table.names if name not in (*items, *scored)]
    file_name = Path(table.document.path).stem
    names = [file_name] if is_measure(file_name) else []
    names += measures if len(measures) == len(scored) == 1 else []
    direction = OpenRoles()
    better = _choose_direction(names, asked, direction, table)
    for question in direction.questions:
        candidates = [name for name in flags if not are_numbers(table.cells(name))]
        golds = {" ".join((*(option("--item", part) for part in _candidate_names(table, name)), option("--gold", name),
                           "--metric 'SetP(best=100)'")): "this column flags the correct candidates"
                 for name in candidates}
        golds |= {option("--gold", name): "the right answers, which the others are compared with"
                  for name in dict.fromkeys((*flags, *numbers[:_SHOWN])) if name not in candidates}
        asking.add(f"{question}; columns of numbers are {listed(scored, _SHOWN)}", direction.answers | golds)
    asking.raise_if_any(table.document.path, table.shown())
    systems = tuple(System(name, table.document, reader_of(table, "scores", items, {"score": name},
                                                           options=asked.options)) for name in scored)
    roles = [option("--item", name) for name in items] + [f"--option better={better}"]
    roles += [option("--score", name) for name in asked.score] + [option("--system", name) for name in asked.system]
    return Plan(table.document, reader_of(table, "scores", items, {}, options=asked.options), systems,
                (*roles, *form_options([table])), Mean.build({"better": better}),
                notes=(f"{counted(len(scored), 'column')} of scores; the mean of each, {better} is better",
                       *([f"not read: {listed(left, 5)}"] if left else []), *_notes_on_runs(scored)))


def _notes_on_runs(columns: Sequence[str]) -> list[str]:
    """Return notes about columns that may be runs of one system, with the option that averages these."""
    return [f"{', '.join(runs.systems.values())} are separate systems; --as wide --option 'runs={{system}}"
            f"{first.removeprefix(runs.name).removesuffix(number)}{{run}}' reads them as runs of one"
            for runs in find_runs(columns) for number, first in [next(iter(runs.systems.items()))]]


def _choose_items_of_wide(table: Table, asked: Asked, asking: OpenRoles) -> list[str]:
    """Return the columns that name items in a wide table; empty if items are numbered by row."""
    if asked.in_order:
        return []
    if asked.item:
        return [require_column(table, name) for name in asked.item]
    if any(is_called(name, "item") or not name.strip() for name in table.names) or not table.header:
        return choose_items(table, asked, asking)
    runs = [name for name in columns_of(table.names, "run") if 2 * len({*table.cells(name)}) <= len(table.rows)]
    if runs and asked.by != runs[0]:
        asking.add(f"column {runs[0]!r} may number runs of an item, which are no items", {
            option("--by", runs[0]): "a board for each run", "--in-order": "every row is an item"})
    return []


def _choose_gold_of_wide(table: Table, items: Sequence[str], asked: Asked) -> str | None:
    """Return the gold's column: the one that the user names, or the only one with a usual name; otherwise None."""
    if asked.gold is not None:
        return require_column(table, asked.gold)
    if asked.value is not None and asked.value[0] != "score":
        return require_column(table, asked.value[1][0])
    if "better" in asked.options:
        return None
    golds = list(dict.fromkeys(name for name in (*columns_of(table.names, "gold"), *columns_of(table.names, "label"))
                               if name not in items))
    if len(golds) > 1:
        raise QuestionError(f"several columns have usual names of a gold. Columns: {table.shown()}. Add one of these "
                            "options:", {option("--gold", name): "" for name in golds}, table.document.path)
    return golds[0] if golds else None


def _plan_wide_with_gold(table: Table, items: list[str], gold: str, columns: Sequence[str], asked: Asked,
                         asking: OpenRoles) -> Plan:
    """Plan how to read a wide table with a gold column; systems are the columns with the same kind of values."""
    right = table.cells(gold)
    values = {cell.strip().casefold() for cell in right if cell.strip()}
    numbers = [name for name in columns if are_numbers(table.cells(name))]
    decimals = [name for name in numbers if any(is_number(cell) and not float(cell).is_integer()
                                                for cell in table.cells(name))]
    if values in _FLAGS and decimals and asked.value is None and asked.metric_of("score") is None:
        numbers = choose_systems(table, numbers, asked, asking) if asked.system else numbers
        return _plan_candidates(table, items, gold, numbers, asked, asking)
    answers = [table.cells(name) for name in (numbers if are_numbers(right) else columns) if name not in items]
    kind = choose_kind(right, answers, [gold], possible_kinds(asked), asked, asking, columns=(gold, None))
    if kind == "score":
        systems = numbers
        ask_about_codes([cell for name in (gold, *numbers) for cell in table.cells(name)], asked, asking)
    elif kind == "segment":
        systems = [name for name in columns if are_texts(table.cells(name)) or usual_form(name) == usual_form(gold)]
    else:
        labels = {label for value in values for label in _labels_of(value, asked)}
        systems = [name for name in columns if sum(
            bool(labels & _labels_of(cell, asked)) for cell in table.cells(name)) > _LIKE_LABELS * len(table.rows)]
    systems = choose_systems(table, [name for name in systems if not is_called(name, "gold")], asked, asking,
                             has_one_scale=kind != "score")
    asking.raise_if_any(table.document.path, table.shown())
    assert kind is not None
    if not systems:
        raise table.document.error(f"column {gold!r} is the gold, and no other column has such values; name the gold's "
                                   f"column with --gold, or the systems' files. Columns: {table.shown()}")
    left = [name for name in table.names if name not in (*items, gold, *systems)]
    plan = plan_tables(table, items, gold, kind, [(Given(name, table.document), table, items, name)
                                                  for name in systems], asked)
    roles = [option("--item", name) for name in items] or ["--in-order"]
    roles += [option("--gold", gold)] + [option("--system", name) for name in asked.system]
    roles += [option("--sets", asked.sets)] if asked.sets is not None else (
        [f"--as {plan.reader.name}"] if asked.kind or asked.value else [])
    return replace(plan, roles=(*roles, *form_options([table])),
                   notes=(*plan.notes, *([f"not read: {listed(left, 5)}"] if left else [])))


def _labels_of(cell: str, asked: Asked) -> set[str]:
    """Return the labels in a cell, in lower case: one label, or several if the cell is a set."""
    text = cell.strip().casefold()
    return {text} if asked.sets is None else {*split_set(text, asked.sets)}


def _candidate_names(table: Table, flag: str) -> list[str]:
    words = [name for name in table.names if name != flag and not are_numbers(table.cells(name))]
    return next((words[:size] for size in range(1, len(words) + 1) if table.is_unique(words[:size])), [])


def _plan_candidates(table: Table, items: list[str], flag: str, systems: Sequence[str], asked: Asked,
                     asking: OpenRoles) -> Plan:
    """Plan how to read candidates: the column `flag` marks the correct ones, and systems give each a score."""
    spelled = {cell.strip().casefold(): cell for cell in table.cells(flag)}
    true, false = next((spelled[yes], spelled[no]) for yes, no in (
        ("true", "false"), ("yes", "no"), ("1", "0"), ("y", "n"), ("t", "f")) if {yes, no} == spelled.keys())
    if not items:
        named = _candidate_names(table, flag)
        asking.add("no column has a usual name for the candidates", {
            " ".join(option("--item", name) for name in named) or "--item COLUMN": "names every row"})
    if asked.metric is None:
        asking.add(f"column {flag!r} says which candidates are correct; how are they evaluated?", {
            "--metric 'SetP(best=100)'": "the precision of the 100 best", "--metric 'SetR(best=100)'": "their recall",
            "--metric 'SetF(threshold=0)'": "F1 of those with a score of 0 or more",
            "--metric Spearman": "the correlation of scores with 1 and 0"})
    asking.raise_if_any(table.document.path, table.shown())
    options = {"true": [true], "false": [false], **asked.options}
    readers = {name: reader_of(table, "candidates", items, {"gold": flag, "score": name}, options=options)
               for name in systems}
    return Plan(table.document, reader_of(table, "candidates", items, {"gold": flag}, options=options),
                tuple(System(name, table.document, reader) for name, reader in readers.items()),
                (*(option("--item", name) for name in items), option("--gold", flag)), None,
                notes=(f"{table.cells(flag).count(true)} of {len(table.rows)} candidates are correct; higher scores "
                       "are better in all columns",))
