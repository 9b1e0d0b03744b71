"""Parquet files, read by DuckDB in a database of their own that can reach nothing else.

A file of some kilobytes can stand for gigabytes: equal values are kept once. So it is bounded as gzipped text is, by
the size of the text that it stands for: first by what its footer says, before anything is decoded, then by what is
really there, before any value is taken out of DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from registry.errors import suggest
from registry.readers.parsing.document import MAX_CELLS, MAX_LINE, Document
from registry.readers.parsing.sandbox import as_pattern, named, reading

_BATCH = 2048  # rows; DuckDB's own vectors hold so many
MAGIC = b"PAR1"
# What the footer says: rows; and bytes of the columns wanted (nested ones are called `column, list, element`), of which
# no value takes less than one and what separates it from the next.
_DECLARED = """
    SELECT greatest((SELECT max(num_rows) FROM parquet_file_metadata($1)), coalesce(sum(rows), 0)),
        coalesce(sum(size), 0)
    FROM (
        SELECT max(row_group_num_rows) AS rows,
            sum(greatest(total_uncompressed_size, 2 * num_values))
                FILTER (WHERE list_contains($2, split_part(path_in_schema, ', ', 1))) AS size
        FROM parquet_metadata($1) GROUP BY row_group_id
    )
"""


def parquet_rows(document: Document, names: Sequence[str] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give the columns that are named (None: all) of every row, with its number from 1.

    Raises:
        InputError: The file is not Parquet, is damaged or too large, or a column is not there.
    """
    with opened(document) as (connection, pattern):
        known = _names(connection, pattern, document)
        wanted = known if names is None else list(dict.fromkeys(names))
        for name in wanted:
            if name not in known:
                raise document.error(f"no column {name!r}; {suggest(name, known)}")
        require_declared(connection, pattern, document, wanted)
        columns = list(map(named, wanted)) or ["NULL"]
        require_measured(connection, pattern, document, columns)
        found = connection.execute(f"SELECT {', '.join(columns)} FROM read_parquet(?)", [pattern])  # noqa: S608 - quoted
        number = 0
        while batch := found.fetchmany(_BATCH):
            for number, row in enumerate(batch, number + 1):  # noqa: B020
                yield number, dict(zip(wanted, row[:len(wanted)], strict=True))


def parquet_head(document: Document) -> tuple[list[str], list[Any]]:
    """Give the names of the columns, and the first row; nothing where there is none.

    Raises:
        InputError: As `parquet_rows`.
    """
    with opened(document) as (connection, pattern):
        names = _names(connection, pattern, document)
        first = connection.execute("SELECT * FROM read_parquet(?) LIMIT 1", [pattern]).fetchone()
        return names, list(first or ())


@contextmanager
def opened(document: Document) -> Iterator[tuple[Any, str]]:
    """Open a connection that can read the file, and give the pattern by which queries name it.

    Raises:
        InputError: The file is not Parquet; or what the connection was asked for cannot be read.
    """
    try:
        import duckdb
    except ModuleNotFoundError:
        raise document.error("Parquet cannot be read here; give the table as text, or as JSON Lines") from None
    if document.repair or document.skip:
        option = "repair" if document.repair else "skip"
        raise document.error(f"a Parquet file holds no lines of text; leave the option {option!r} out")
    if not (document.content.startswith(MAGIC) and document.content.endswith(MAGIC)):
        raise document.error("not a Parquet file")
    with reading(document.content, "table.parquet") as (connection, path):
        try:
            yield connection, as_pattern(path)
        except (duckdb.OutOfMemoryException, MemoryError):
            raise document.error("unfolds to more than memory may take") from None
        except (duckdb.Error, RuntimeError, ValueError) as error:  # damaged text and dates are no duckdb.Error
            why = str(error).partition("\n")[0].replace(str(path), "it")
            raise document.error(f"cannot read this Parquet file: {why}") from None


def _names(connection: Any, pattern: str, document: Document) -> list[str]:
    """The names of the columns, unless there are too many."""
    (n_columns,) = connection.execute("SELECT count(*) FROM parquet_schema(?) WHERE num_children IS NULL",
                                       [pattern]).fetchone()
    if n_columns > MAX_CELLS:
        raise document.error(f"{n_columns:,} columns; {MAX_CELLS:,} are the most that are read")
    return [column[0] for column in connection.execute("SELECT * FROM read_parquet(?) LIMIT 0", [pattern]).description]


def require_declared(connection: Any, pattern: str, document: Document, names: Sequence[str]) -> int:
    """Refuse a file whose footer says that these columns are too large; gives the number of its rows."""
    rows, size = connection.execute(_DECLARED, [pattern, list(names)]).fetchone()
    _require_bounded(document, rows, max(size, 2 * rows * len(names)))
    return int(rows)


def require_measured(connection: Any, pattern: str, document: Document, columns: Sequence[str]) -> None:
    """Refuse a file in which these columns, given as SQL, are too large.

    What is really there is asked for: rows, bytes of all values with what separates them, and of the longest.
    """
    sizes = [f"coalesce(strlen({column}::VARCHAR), 0)" for column in columns]
    total, longest = " + ".join(f"{size} + 1" for size in sizes), ", ".join(sizes)
    query = (f"SELECT count(*), coalesce(sum({total}), 0), coalesce(max(greatest({longest})), 0) "  # noqa: S608 - quoted
             "FROM read_parquet(?)")
    _require_bounded(document, *connection.execute(query, [pattern]).fetchone())


def _require_bounded(document: Document, rows: int, size: int, longest: int = 0) -> None:
    """Refuse so many rows, and values of so many bytes in all, the `longest` of so many."""
    if rows > document.most_lines:
        raise document.beyond(f"{rows:,} rows", document.most_lines)
    if longest > MAX_LINE:
        raise document.error(f"a value of {longest:,} bytes; {MAX_LINE:,} is the most that is read")
    if size > document.most_unfolded:
        raise document.unfolds_to_more()

