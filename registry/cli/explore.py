"""Commands that look at a registry and at the program: list, items, query, schema."""

from __future__ import annotations

import codecs
import sys
from dataclasses import fields, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from registry.cli import completion
from registry.cli.console import choose_format, inspect_terminal, print_tables, report, report_all
from registry.cli.options import (
    Db,
    OutputFormat,
    Public,
    Task,
    TestSet,
    find_database,
    find_private_database,
    parse_named_values,
    parse_size,
)
from registry.cli.settings import choose_database_path
from registry.errors import InputError, UnknownNameError
from registry.families import FAMILIES

if TYPE_CHECKING:
    from registry.plugins import Catalogue
    from registry.query.request import QueryRequest

Listing = tuple[list[str], list[dict[str, Any]]]  # columns and rows
QueryFormat = Literal["table", "tsv", "csv", "md", "json", "jsonl", "parquet"]

# The columns of lists that people see; the other columns are for programs.
_LISTED = {"metrics": ("id", "better", "about"), "readers": ("id", "gives", "about"), "importers": ("id", "about"),
           "tests": ("id", "about", "citation")}
PROGRAM = "evalregistry"  # the origin of metrics, readers and others that are not from a plugin
MIN_QUERY_MEGABYTES = 64  # with less memory, the database itself may fail to open


def list_(
    thing: Annotated[Literal["tasks", "teams", "submissions", "metrics", "readers", "importers", "tests", "corrections",
                             "runs"], typer.Argument(help="What to list.")],
    db: Db = None, format_: OutputFormat = None,
) -> None:
    """List tasks, teams, metrics, readers, tests and others.

    Tasks, teams, submissions and runs (commands) are those of the registry; metrics, readers, importers, tests and
    corrections are those of the program and its plugins.
    """
    from registry.rendering.table import Column, Table, format_text

    program_lists = {"metrics": _list_metrics, "readers": _list_readers, "importers": _list_importers,
                     "tests": _list_tests, "corrections": _list_corrections}
    if thing in program_lists:
        keys, rows = program_lists[thing]()
    else:
        from registry.store import history

        with find_database(db).reading() as connection:
            keys, rows = getattr(history, f"list_{thing}")(connection)
    shown = _LISTED.get(thing, keys) if choose_format(format_) == "table" else keys
    columns = [Column(key, key, format_text) for key in shown]
    more = ["All columns: --format json"] if len(columns) < len(keys) else []
    print_tables([Table(rows, columns, captions=more, keys=keys)], format_)


def _list_metrics() -> Listing:
    from registry.metrics import METRICS

    rows = [{"id": name, "family": metric.family, "statistics": _describe_columns(metric.family),
             "takes": metric.takes, "better": metric.better, "options": _list_options(metric),
             "about": _summarise(metric), "citation": metric.citation, "compared_with": metric.scorer,
             "extra": metric.extra, "from": PROGRAM} for name, metric in METRICS.items()]
    return _add_plugins(rows, METRICS)


def _describe_columns(family: str) -> str:
    runs = [list(run) for _, run in groupby(FAMILIES[family].columns, key=lambda name: name.rstrip("0123456789"))]
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else run[0] for run in runs)


def _list_readers() -> Listing:
    from registry.metrics import METRICS
    from registry.readers import READERS

    rows = [{"id": name, "gives": reader.gives,
             "metrics": ", ".join(id_ for id_, metric in METRICS.items() if metric.takes == reader.gives),
             "options": _list_options(reader), "about": _summarise(reader), "from": PROGRAM}
            for name, reader in READERS.items()]
    return _add_plugins(rows, READERS)


def _list_importers() -> Listing:
    from registry.competitions.download import Codabench
    from registry.importers import IMPORTERS

    importers = (*IMPORTERS.items(), (Codabench.name, Codabench))
    rows = [{"id": name, "options": _list_options(importer), "about": _summarise(importer), "from": PROGRAM}
            for name, importer in importers]
    return _add_plugins(rows, IMPORTERS)


def _list_tests() -> Listing:
    from registry.significance import OVERALL_TESTS, TESTS

    def describe_families(names: tuple[str, ...] | None) -> str:
        return "any that adds up" if names is None else "any" if names == tuple(FAMILIES) else ", ".join(names)

    def describe_units(kinds: tuple[str, ...]) -> str:
        *others, last = (f"{kind}s" for kind in kinds)
        return ", ".join(others) + " or " * bool(others) + last

    rows = [
        {"id": name, "of": subject, "options": _list_options(test), "units": describe_units(test.units),
         "families": describe_families(getattr(test, "families", None)),
         "independent": "assumes independent results" if getattr(test, "independent", False) else "",
         "about": _summarise(test), "null": test.null, "assumes": test.assumes, "citation": test.citation,
         "from": PROGRAM}
        for subject, tests in (("pairs", TESTS), ("all systems", OVERALL_TESTS)) for name, test in tests.items()]
    return _add_plugins(rows, TESTS)


def _list_corrections() -> Listing:
    from registry.significance import CORRECTIONS

    keys = ["id", "controls", "assumes", "citation"]
    return keys, [dict(zip(keys, (name, correction.controls, correction.assumes, correction.citation), strict=True))
                  for name, correction in CORRECTIONS.items()]


def _add_plugins(rows: list[dict[str, Any]], catalogue: Catalogue[Any]) -> Listing:
    """Append metrics or readers of installed plugins to the list of built-in ones.

    The plugins are listed by name and not loaded.

    Args:
        rows: The built-in entries.
        catalogue: The catalogue that also finds plugins.
    """
    keys = list(rows[0])
    return keys, rows + [dict.fromkeys(keys) | {"id": entry.full_name, "from": f"{entry.package} {entry.version}"}
                         for entry in catalogue.list_plugins()]


def _list_options(class_: Any) -> str:
    return ", ".join(field.name for field in sorted(fields(class_), key=lambda field: bool(
        field.metadata.get("terse"))))


def _summarise(class_: Any) -> str:
    return str(class_.__doc__).partition("\n")[0]


def items(
    task: Task,
    which: Annotated[Literal["disagree", "hard", "suspect", "show"], typer.Argument(
        metavar="disagree|hard|suspect|show", help=(
            "disagree: items on which systems disagree most; hard: items with the worst scores; suspect: items on "
            "which all systems contradict the gold; show: one item with all answers."))],
    item: Annotated[str | None, typer.Argument(metavar="ID", help="The id of the item to show.",
                                              autocompletion=completion.items)] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many items to list.")] = 20,
    test_set: TestSet = None,
    system: Annotated[list[str] | None, typer.Option(
        "--system", metavar="NAME", autocompletion=completion.systems, help=(
            "With disagree: only these systems, two or more, with their scores; repeatable."))] = None,
    db: Db = None, public: Public = False, format_: OutputFormat = None,
) -> None:
    """List notable items, or show all answers to one item.

    The first row of an item is the gold; the other rows are the systems' answers and whether they are correct.
    """
    from registry.boards import items as board_items
    from registry.reports.items import make_item_list, make_item_table
    from registry.store import catalog

    if which == "show" and item is None:
        raise InputError(f"`registry items {task} show` requires the ID of an item")
    if which != "show" and item is not None:
        raise InputError(f"`registry items {task} {which}` takes no ID; `show {item}` shows one item")
    if system and which != "disagree":
        raise InputError(f"--system selects systems for `registry items {task} disagree`; leave it out")
    lists = {"disagree": board_items.list_disputed_items, "hard": board_items.list_hard_items,
             "suspect": board_items.list_suspect_items}
    with find_private_database(db, public=public).reading() as connection:
        (row,) = catalog.tasks(connection, task)
        names = [str(declared.name) for declared in catalog.test_sets(connection, row.task_id)]
        if test_set is not None and test_set not in names:
            raise UnknownNameError(f"test set of {task}", test_set, names)
        rows: board_items.Rows = []
        if item is not None:
            tables = [make_item_table(view) for view in board_items.load_item_views(connection, row, item)
                      if test_set in (None, view.test_set)]
        else:
            most = board_items.ALL_ITEMS
            rows = (board_items.list_items_of_systems(connection, row, system, most, test_set) if system else
                    lists[which](connection, row, most, test_set))
            tables = [make_item_list(rows[:limit])]
    print_tables(tables, format_)
    if len(rows) > limit:
        report(f"{limit:,} of {len(rows):,} items are shown; --limit N shows more")


def query(
    sql: Annotated[str | None, typer.Argument(metavar="SQL", help=(
        "One SELECT or EXPLAIN; - reads it from stdin."))] = None,
    file: Annotated[Path | None, typer.Option("--file", metavar="FILE", readable=False, help=(
        "Read the SQL from this file."))] = None,
    param: Annotated[list[str] | None, typer.Option("--param", "-p", metavar="NAME=VALUE", help=(
        "The value of $NAME: a number, true, false or text (quote text that looks like a number: 'v=\"2\"'); "
        "repeatable."))] = None,
    db: Db = None, public: Public = False,
    format_: Annotated[QueryFormat | None, typer.Option("--format", "-f", envvar="REGISTRY_FORMAT",
                                                        case_sensitive=False, help=(
        "The output format. Default: table on a terminal, else tsv."))] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", readable=False, help=(
        "Write to this new file; required for parquet. Default: stdout."))] = None,
    timeout: Annotated[float, typer.Option("--timeout", envvar="REGISTRY_TIMEOUT", metavar="SECONDS", min=0, help=(
        "End the query after this time; 0: never."))] = 60,
    max_rows: Annotated[int | None, typer.Option("--max-rows", envvar="REGISTRY_MAX_ROWS", metavar="N", min=1, help=(
        "End the query after N rows. Default: 10000 for the format table, else no limit."))] = None,
    max_memory: Annotated[str, typer.Option("--max-memory", envvar="REGISTRY_MAX_MEMORY", metavar="SIZE", help=(
        "The memory limit of the query, such as 512M or 4G."))] = "2G",
) -> None:
    """Run one SQL query on the registry.

    The query can read the tables and views of the registry, but no files, and cannot change anything. `registry
    schema` describes the tables and views. The view item_text has the texts of items and of systems' answers, if they
    are stored.
    """
    from registry.query.process import ask
    from registry.query.request import Query, QueryRequest

    text, source = _read_sql(sql, file)
    width, color = inspect_terminal() if output is None else (None, False)
    chosen_format = choose_format(format_)
    path = find_private_database(db, public=True).path if public else choose_database_path(db)
    request = QueryRequest(
        path, Query(text, parse_named_values(param, "--param"), source), chosen_format,
        parse_size(max_memory, "--max-memory", min_megabytes=MIN_QUERY_MEGABYTES), max_rows, width=width, color=color)
    if output is not None:
        notes = _query_into_file(request, output, timeout or None)
    elif chosen_format == "parquet":
        raise InputError("parquet cannot be printed; name a new file with --output")
    else:
        decode = codecs.getincrementaldecoder("utf-8")().decode
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        notes = ask(request, timeout or None,
                    lambda chunk: typer.echo(decode(chunk).encode(encoding, "replace"), nl=False))
    report_all(notes, "info")
    if output is not None:
        report(f"{output}: written")


def _query_into_file(request: QueryRequest, output: Path, timeout: float | None) -> list[str]:
    """Run a query and write the rows to a new file.

    Returns:
        Messages about omitted data.
    """
    from registry.files import new_file
    from registry.query.process import ask

    with new_file(output) as unfinished:
        if request.format == "parquet":
            return ask(replace(request, output=unfinished), timeout, bytes)
        with unfinished.open("wb") as file:
            return ask(request, timeout, file.write)


def _read_sql(sql: str | None, file: Path | None) -> tuple[str, str]:
    """Return the SQL of a query, and the name of its source for errors.

    The SQL is the argument `sql`, or is read from `file` or stdin.
    """
    if (sql is None) == (file is None):
        raise typer.BadParameter("give the SQL as an argument, or - to read it from stdin, or --file FILE")
    try:
        if file is not None:
            return file.read_text("utf-8"), str(file)
        if sql != "-":
            return str(sql), "SQL"
        if sys.stdin is None:
            raise InputError("cannot read SQL: stdin is closed", path="stdin")
        return sys.stdin.buffer.read().decode("utf-8"), "stdin"
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path=file) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8", path=file or "stdin") from None


def schema(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help=(
        "A table, view or macro. Default: all."), autocompletion=completion.tables)] = None,
    db: Db = None,
    format_: Annotated[Literal["text", "md", "mermaid"], typer.Option("--format", "-f", case_sensitive=False, help=(
        "The output format: text, Markdown, or a Mermaid diagram."))] = "text",
) -> None:
    """Print the tables, views and macros of the registry.

    Each has a description, and so has every column.
    """
    from registry.query.schema import load_data_model, render_schema

    with find_database(db).reading() as connection:
        model = load_data_model(connection)
    typer.echo(render_schema(model, name, format_), nl=False)
