"""The commands that answer SQL and say what there is to ask for."""

from __future__ import annotations

import codecs
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from registry.cli.console import chosen_format, say, say_all, terminal
from registry.cli.guide import names
from registry.cli.options import Db, Public, database, named_values, private_database, size_in_bytes
from registry.cli.settings import database_path
from registry.errors import InputError

if TYPE_CHECKING:
    from registry.query.request import QueryRequest

LEAST_MEMORY = 64  # megabytes; with less the database itself may not open


QueryFormat = Literal["table", "tsv", "csv", "md", "json", "jsonl", "parquet"]
Form = Annotated[QueryFormat | None, typer.Option("--format", "-f", envvar="REGISTRY_FORMAT", case_sensitive=False,
                                                  help="As which; a table on a terminal, else tsv.")]


def query(
    sql: Annotated[str | None, typer.Argument(metavar="SQL", help=(
        "One SELECT or EXPLAIN; - reads it from stdin."))] = None,
    file: Annotated[Path | None, typer.Option("--file", metavar="FILE", readable=False, help=(
        "Read the SQL from a file instead."))] = None,
    param: Annotated[list[str] | None, typer.Option("--param", "-p", metavar="NAME=VALUE", help=(
        'What $NAME stands for: a number, true, false or text (in quotes where it looks like a number: \'v="2"\'); '
        "can be repeated."))] = None,
    db: Db = None, public: Public = False,
    format_: Form = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", readable=False, help=(
        "Write to this new file instead of stdout; parquet needs one."))] = None,
    timeout: Annotated[float, typer.Option("--timeout", envvar="REGISTRY_TIMEOUT", metavar="SECONDS", min=0, help=(
        "End the query after so long; 0: never."))] = 60,
    max_rows: Annotated[int | None, typer.Option("--max-rows", envvar="REGISTRY_MAX_ROWS", metavar="N", min=1, help=(
        "End the query after so many rows; 10000 for a table, else no limit if none is given."))] = None,
    max_memory: Annotated[str, typer.Option("--max-memory", envvar="REGISTRY_MAX_MEMORY", metavar="SIZE", help=(
        "What the query may take, such as 512M or 4G."))] = "2G",
) -> None:
    """Answer one SELECT over the registry's tables and views.

    It can change and reach nothing, and is ended at its limits. `registry schema` says what there is to ask for; texts
    of items and of what systems say, where they were brought in, are the view item_text.
    """
    from registry.query.process import ask
    from registry.query.request import Query, QueryRequest

    text, source = _read(sql, file)
    width, color = terminal() if output is None else (None, False)
    chosen = chosen_format(format_)
    path = private_database(db, public=True).path if public else database_path(db)
    question = QueryRequest(
        path, Query(text, named_values(param or [], "--param"), source), chosen,
        size_in_bytes(max_memory, "--max-memory", least=LEAST_MEMORY), max_rows, width=width, color=color)
    if output is not None:
        told = _written(question, output, timeout or None)
    elif chosen == "parquet":
        raise InputError("parquet is no text; name a new file for it with --output")
    else:
        decode = codecs.getincrementaldecoder("utf-8")().decode
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        told = ask(question, timeout or None,
                   lambda chunk: typer.echo(decode(chunk).encode(encoding, "replace"), nl=False))
    say_all(told, "note")
    if output is not None:
        say(f"{output}: written")


def _written(question: QueryRequest, output: Path, timeout: float | None) -> list[str]:
    """Write the answer into a new file; gives what is left out of it, and why."""
    from registry.files import new_file
    from registry.query.process import ask

    with new_file(output) as unfinished:
        if question.format == "parquet":
            return ask(replace(question, output=unfinished), timeout, bytes)
        with unfinished.open("wb") as file:
            return ask(question, timeout, file.write)


def _read(sql: str | None, file: Path | None) -> tuple[str, str]:
    """The SQL that is meant, and where it comes from."""
    if (sql is None) == (file is None):
        raise typer.BadParameter("give the SQL as an argument, or - to read it from stdin, or --file FILE")
    try:
        if file is not None:
            return file.read_text("utf-8"), str(file)
        if sql != "-":
            return str(sql), "SQL"
        if sys.stdin is None:
            raise InputError("there is none to read SQL from", path="stdin")
        return sys.stdin.buffer.read().decode("utf-8"), "stdin"
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path=file) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8", path=file or "stdin") from None


def schema(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help=(
        "A table, view or macro; all if none is given."), autocompletion=names.tables)] = None,
    db: Db = None,
    format_: Annotated[Literal["text", "md", "mermaid"], typer.Option("--format", "-f", case_sensitive=False, help=(
        "Text, Markdown, or a Mermaid diagram."))] = "text",
) -> None:
    """Print the data model: tables, views and macros.

    It says of each what it holds, and of every column what it is.
    """
    from registry.query.schema import load_data_model, render_schema

    with database(db).reading() as connection:
        things = load_data_model(connection)
    typer.echo(render_schema(things, name, format_), nl=False)
