"""Files without a gold: a table of scores for each system, or one table of all systems, wide or long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from registry.column_names import columns_of, directions, is_called, is_measure, is_size, usual_form
from registry.errors import InputError, counted, listed
from registry.importers import Long
from registry.manifest.folder import TaskFolder
from registry.metrics import Mean
from registry.quick.answers import (
    choose_items,
    choose_kind,
    form_options,
    is_answer_column,
    kinds_of,
    plan_tables,
    read_all,
    reader_of,
    refuse_summary,
    required,
)
from registry.quick.plan import OPTION, Asked, Given, OpenRoles, Plan, QuestionError, System, option, reader_option
from registry.quick.tables import Table, are_numbers, are_texts, are_truths, is_number, read_table
from registry.readers import Document

_FLAGS = ({"true", "false"}, {"yes", "no"}, {"0", "1"}, {"y", "n"}, {"t", "f"})
_LIKE_LABELS = 0.2  # the share of a system's cells that are labels of the gold, at the least; others may be mistakes
_SHOWN = 4  # columns in a message


def plan_scores(systems: Sequence[Given], asked: Asked) -> Plan:
    """Plan tables of scores, one for each system.

    Raises:
        QuestionError: No column is called as scores are, or the direction is open; the options include `--gold`.
        InputError: A file is no table.
    """
    documents = [given.document for given in systems]
    tables = read_all(documents, asked)
    if tables is None:
        raise _name_gold("no file is the gold unless it is named", "", systems)
    first = tables[0]
    asking = OpenRoles()
    scores = [_score_column(one, asked) for one in tables]
    if not all(scores):
        raise _ask_for_roles(tables, systems, asked)
    names = [name for name in scores if name is not None]
    score = names[0]
    items: list[str] = []
    if asked.item:
        items = [required(first, name) for name in asked.item]
    elif not asked.in_order and not first.is_lines:
        items = choose_items(first, asking, tables[1:])
    better = _better([score], asked, asking, first, gold=str(documents[0].path))
    asking.raise_if_any(first.document.path, first.shown())
    for one, given in zip(tables, systems, strict=True):
        if any(name not in one.names for name in items):
            raise given.document.error(f"no column {', '.join(map(repr, items))}, as {documents[0].path} has; columns: "
                                       f"{one.shown()}")
        refuse_summary(one, items)
    if not items and len({len(one.rows) for one in tables}) > 1:
        raise first.document.error("has another number of rows than the other files, and no names of items; name their "
                                   "column: --item COLUMN")
    whole = max(tables, key=lambda one: len({*one.keys(items)}))
    read = [System(given.name, given.document, reader_of(one, "scores", items, {"score": name}, options=asked.options))
            for given, one, name in zip(systems, tables, names, strict=True)]
    said = [option("--item", name) for name in items] or ["--in-order"]
    return Plan(whole.document, reader_of(whole, "scores", items, {}, options=asked.options), tuple(read),
                (*said, option("--score", score), *form_options(tables)), Mean.build({"better": better}),
                notes=(f"no gold: {counted(len(systems), 'file')} of scores; the mean of each, {better} is better",))


def _score_column(table: Table, asked: Asked) -> str | None:
    """Return the column of scores: the one that the user names, or the only one whose name is usual for scores."""
    if asked.value is not None:
        kind, names = asked.value
        if kind != "score":
            raise InputError(f"{OPTION[kind]} compares answers with a gold; name its file: --gold FILE")
        return required(table, names[0])
    likely = [name for name in table.names if table.header and (is_called(name, "score") or is_measure(name))
              and not is_called(name, "label", "gold", "item") and _are_scores(table.cells(name))]
    return likely[0] if len(likely) == 1 else None


def _are_scores(cells: Sequence[str]) -> bool:
    return are_numbers(cells) or are_truths(cells)


def _ask_for_roles(tables: Sequence[Table], systems: Sequence[Given], asked: Asked) -> InputError:
    """Return the question which file is the gold, or which column has scores."""
    first = tables[0]
    golds = [name for name in columns_of(first.names, "gold") if all(name in one.names for one in tables)]
    answers = [name for name in columns_of([*first.names, *first.nested], "answer") if name not in golds and all(
        name in one.names or name in one.nested for one in tables)]
    if first.header and golds and answers and asked.kind is None:
        gold, output = golds[0], answers[0]
        others = [name for name in first.names if name not in (*golds, *answers)]
        said = f"--gold {first.document.path} {' '.join(given.document.path for given in systems[:2])} ..."
        remedy = {} if output in first.nested else {
            f"{said} --text {gold} --text {output}": "texts, by BLEU or --metric",
            f"{said} --label {gold} --label {output}": "labels, correct if every letter is the gold's"}
        lists = f"; {output!r} has lists: write its text" if output in first.nested else ""
        return QuestionError(
            f"all files repeat the gold in column {gold!r} and have the systems' answers in column {output!r}{lists}; "
            f"no other column ({listed(others, 4)}) is called as scores are. Add one of these options:",
            {**remedy, "--score COLUMN": "the score of each answer"}, first.document.path)
    numbers = [name for name in first.names if all(one.column(name) for one in tables)
               and _are_scores(first.cells(name))
               and not (first.header and is_called(name, "item", "label"))]
    if len(first.names) > 1:
        numbers = [name for name in numbers if not (first.header is False and name == "1")]
    return _name_gold("no file is the gold unless it is named, and no column alone is called as scores are",
                      first.shown(), systems, numbers)


def _name_gold(question: str, columns: str, systems: Sequence[Given], numbers: Sequence[str] = ()) -> QuestionError:
    from registry.quick.files import GOLD_NAME

    named = [given.document.path for given in systems if GOLD_NAME.search(Path(given.document.path).stem)]
    answers = {f"{option('--gold', named[0] if len(named) == 1 else 'FILE')}": "the file of the right answers"}
    answers |= {option("--score", name): "each file has the scores of a system" for name in numbers}
    shown = f". Columns of {systems[0].document.path}: {columns}" if columns else ""
    return QuestionError(f"{question}{shown}. Add one of these options:", answers,
                         systems[0].document.path)


def _better(names: Sequence[str], asked: Asked, asking: OpenRoles, table: Table, *, gold: str = "") -> str:
    """Return which scores are better: as the user says, or by the words of a name; records the role if it is open."""
    said = asked.options.get("better")
    if said in ("higher", "lower"):
        return str(said)
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


def plan_table(document: Document, asked: Asked) -> Plan | TaskFolder | None:
    """Plan one table of all systems: a column for each, or a row for each item and system; None if it is no table.

    Raises:
        QuestionError: A role is open.
        InputError: Rows are systems, or columns are measures.
    """
    table = read_table(document, asked.options)
    if table is None or len(table.names) < 2 or "spans" in asked.options:
        return None
    if not table.header:
        raise QuestionError("is the only file, and its first line does not name columns. Add an option:", {
            "--gold FILE": "the right answers, if this is one system's file",
            "--option header=true": f"the first line names the systems ({', '.join(table.names)[:60]})"},
            document.path)
    systems = [name for name in columns_of(table.names, "system") if not are_numbers(table.cells(name)) or is_called(
        name, "system")]
    if systems and asked.gold is None:
        return _long(table, systems[0], asked)
    return _wide(table, asked)


def _long(table: Table, system: str, asked: Asked) -> TaskFolder:
    """Import a table with a row for each item and system."""
    system = required(table, str(asked.options.get("system", system)))
    if 2 * len({*table.cells(system)}) > len(table.rows):
        raise table.document.error(
            f"rows seem to be systems, by column {system!r}; a board needs the scores of all items: a row for each "
            "item and a column for each system, or columns of item, system and score")
    asking = OpenRoles()
    test_set, run = asked.options.get("test_set"), asked.options.get("run")
    known = [name for name in (system, test_set, run) if name is not None]
    if asked.item:
        items = [required(table, name) for name in asked.item]
    else:
        items = choose_items(table, asking, apart=known)
        if not items and run is None:
            for name in columns_of(table.names, "run"):
                again = OpenRoles()
                found = choose_items(table, again, apart=[*known, name])
                if found and not again.questions:
                    items, run, asking = found, name, OpenRoles()
                    break
    if run is None and items and not table.is_unique([*items, *known]):
        run = next((name for name in columns_of(table.names, "run") if name not in items and table.is_unique(
            [*items, *known, name])), None)
    used = {*items, system, *known, run}
    if asked.score:
        score: str | None = required(table, asked.score[0])
    else:
        score = asked.options.get("score")
    if score is None:
        numbers = [name for name in table.names if name not in used and _are_scores(table.cells(name))
                   and not is_called(name, "item", "run") and not is_size(name)]
        likely = [name for name in numbers if is_called(name, "score")] or [name for name in numbers if is_measure(
            name)]
        if len(likely) == 1:
            score = likely[0]
        elif not numbers:
            raise table.document.error(f"has a row for each item and system, by column {system!r}, and no column of "
                                       "numbers; if it has answers, write a file for each system and name the gold: "
                                       "--gold FILE")
        else:
            asking.add(f"a row for each item and system (column {system!r}); which column has the scores?", {
                option("--score", name): "" for name in likely or numbers})
    better = _better([score] if score else [], asked, asking, table)
    asking.raise_if_any(table.document.path, table.shown())
    form = {name: value for name, value in table.form.items() if name in ("separator", "syntax")}
    if form.get("syntax") == "parquet":
        form = {}
    options: dict[str, Any] = {**form, "item": items, "system": system, "score": score, "better": better}
    options |= {"run": run} if run else {}
    options |= {"missing": asked.missing} if asked.missing in ("drop",) else {}
    options |= {name: value for name, value in asked.options.items() if name in Long.__dataclass_fields__}
    folder = Long.build(options).read(Path(table.document.path))
    said = [option("--item", name) for name in items] + [option("--score", str(score)), f"--option better={better}"]
    said += [reader_option(name, value) for name, value in (("system", system), ("run", run)) if value]
    said += [f"--missing {asked.missing}"] * (asked.missing != "reject")
    return TaskFolder(folder.tables, folder.files, folder.sources, (
        *folder.notes, f"read as: {' '.join(said)}"), folder.advice, folder.copies, folder.comments)


def _wide(table: Table, asked: Asked) -> Plan:
    """Plan a table with a row for each item and a column for each system, perhaps with one for the gold."""
    asking = OpenRoles()
    items = _items_of_wide(table, asked, asking)
    refuse_summary(table, items)
    gold = _gold_of_wide(table, items, asked)
    others = [name for name in table.names if name != gold and is_answer_column(name, items)]
    numbers = [name for name in others if are_numbers(table.cells(name))]
    if gold is not None:
        return _with_gold(table, items, gold, others, asked, asking)
    truths = [name for name in others if are_truths(table.cells(name))]
    flags = [name for name in others if {cell.casefold() for cell in table.cells(name)} in _FLAGS]
    words = [name for name in others if name not in (*numbers, *truths) and not are_texts(table.cells(name))]
    measures = [name for name in numbers if is_measure(name)]
    if asked.score:
        numbers = [required(table, name) for name in asked.score]
    elif len(measures) > 1 and 2 * len(measures) >= len(numbers) and "better" not in asked.options:
        raise table.document.error(
            f"columns seem to be measures ({listed(measures, _SHOWN)}), and no systems: a board needs the scores of "
            "one measure, a row for each item, and a column or a file for each system. If columns are systems, add "
            "--option better=higher")
    scored = numbers or truths
    like = [name for name in words if name not in flags and any(
        other != name and {*table.cells(other)} & {*table.cells(name)} for other in words)]
    if not scored or (len(scored) < 2 and not (len(flags) > 0 and numbers)) or (
            "better" not in asked.options and not numbers) or (
            like and len(like) > len(numbers) and "better" not in asked.options):
        answers = {option("--gold", name): "the right answers; the other columns are systems'"
                   for name in (like or flags or words or others)}
        if truths:
            answers["--option better=higher"] = "true and false: what each system got right"
        raise QuestionError("is one table, and no column has a usual name of a gold. Columns: "
                            f"{table.shown()}. Add one of these options:", answers or {
                                "--gold FILE": "the right answers"}, table.document.path)
    left = [name for name in table.names if name not in (*items, *scored)]
    file_name = Path(table.document.path).stem
    names = [file_name] if is_measure(file_name) else []
    names += measures if len(measures) == len(scored) == 1 else []
    better = _better(names, asked, OpenRoles() if asked.options.get("better") else asking, table)
    if asking.questions:
        candidates = [name for name in flags if not are_numbers(table.cells(name))]
        golds = {" ".join((*(option("--item", one) for one in _candidate_names(table, name)), option("--gold", name),
                           "--metric 'SetP(best=100)'")): "candidates, of which this column flags the correct ones"
                 for name in candidates}
        golds |= {option("--gold", name): "the right answers, which the others are compared with"
                  for name in dict.fromkeys((*flags, *numbers[:_SHOWN])) if name not in candidates}
        asking.add(f"columns of numbers are {listed(scored, _SHOWN)}", golds)
    asking.raise_if_any(table.document.path, table.shown())
    systems = tuple(System(name, table.document, reader_of(table, "scores", items, {"score": name},
                                                           options=asked.options)) for name in scored)
    said = [option("--item", name) for name in items] + [f"--option better={better}"]
    said += [option("--score", name) for name in scored] if asked.score else []
    return Plan(table.document, reader_of(table, "scores", items, {}, options=asked.options), systems,
                (*said, *form_options([table])), Mean.build({"better": better}),
                notes=(f"{counted(len(scored), 'column')} of scores; the mean of each, {better} is better",
                       *([f"not read: {listed(left, 5)}"] if left else [])))


def _items_of_wide(table: Table, asked: Asked, asking: OpenRoles) -> list[str]:
    """Return the columns that name items; none if rows are numbered, which is right in one table."""
    if asked.in_order:
        return []
    if asked.item:
        return [required(table, name) for name in asked.item]
    if any(is_called(name, "item") or not name.strip() for name in table.names):
        return choose_items(table, asking)
    runs = [name for name in columns_of(table.names, "run") if 2 * len({*table.cells(name)}) <= len(table.rows)]
    if runs:
        asking.add(f"column {runs[0]!r} may number runs of an item, which are no items", {
            "--in-order": "every row is an item"})
    return []


def _gold_of_wide(table: Table, items: Sequence[str], asked: Asked) -> str | None:
    """Return the column of the gold: the one that the user names, or the only one with a usual name."""
    if asked.gold is not None:
        return asked.gold
    if asked.value is not None and asked.value[0] != "score":
        return required(table, asked.value[1][0])
    if "better" in asked.options:
        return None
    golds = list(dict.fromkeys(name for name in (*columns_of(table.names, "gold"), *columns_of(table.names, "label"))
                               if name not in items))
    if len(golds) > 1:
        raise QuestionError(f"several columns have usual names of a gold. Columns: {table.shown()}. Add one of these "
                            "options:", {option("--gold", name): "" for name in golds}, table.document.path)
    return golds[0] if golds else None


def _with_gold(table: Table, items: list[str], gold: str, others: Sequence[str], asked: Asked,
               asking: OpenRoles) -> Plan:
    """Plan a table with the gold in a column, and answers of a system in each column of the same kind."""
    right = table.cells(gold)
    values = {cell.strip().casefold() for cell in right if cell.strip()}
    numbers = [name for name in others if are_numbers(table.cells(name))]
    flags = next((of for of in _FLAGS if values == of), None)
    decimals = [name for name in numbers if any(is_number(cell) and not float(cell).is_integer()
                                                for cell in table.cells(name))]
    if flags is not None and decimals and asked.value is None and asked.metric_of("score") is None:
        return _candidates(table, items, gold, numbers, asked, asking)
    kinds = kinds_of(asked)
    kind = choose_kind(right, [table.cells(name) for name in (numbers if are_numbers(right) else others)
                               if name not in items], [gold], kinds, asking, columns=(gold, None))
    asking.raise_if_any(table.document.path, table.shown())
    assert kind is not None
    if kind == "score":
        systems = [name for name in numbers if not is_called(name, "gold")]
    elif kind == "segment":
        systems = [name for name in others if are_texts(table.cells(name)) or usual_form(name) == usual_form(gold)]
    else:
        known = {cell.strip().casefold() for cell in right}
        systems = [name for name in others if not is_called(name, "gold") and sum(
            cell.strip().casefold() in known for cell in table.cells(name)) > _LIKE_LABELS * len(table.rows)]
    if not systems:
        raise table.document.error(f"column {gold!r} is the gold, and no other column has such values; name the gold's "
                                   f"column with --gold, or the systems' files. Columns: {table.shown()}")
    left = [name for name in table.names if name not in (*items, gold, *systems)]
    plan = plan_tables(table, items, gold, kind, [(Given(name, table.document), table, items, name)
                                                  for name in systems], asked)
    said = [option("--item", name) for name in items] or ["--in-order"]
    said += [option("--gold", gold)] + ([f"--as {plan.reader.name}"] if asked.kind or asked.value else [])
    return replace(plan, roles=(*said, *form_options([table])),
                   notes=(*plan.notes, *([f"not read: {listed(left, 5)}"] if left else [])))


def _candidate_names(table: Table, flag: str) -> list[str]:
    words = [name for name in table.names if name != flag and not are_numbers(table.cells(name))]
    return next((words[:size] for size in range(1, len(words) + 1) if table.is_unique(words[:size])), [])


def _candidates(table: Table, items: list[str], flag: str, systems: Sequence[str], asked: Asked,
                asking: OpenRoles) -> Plan:
    """Plan candidates, of which a column flags the correct ones, and which systems rank by their scores."""
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
