"""Results without a format of their own: wide and long tables of scores, and folders of plain text."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from registry.errors import InputError, suggest
from registry.importers.base import (
    Collected,
    Importer,
    Measure,
    Place,
    Run,
    ScoredImporter,
    check_metric_name,
    find_files,
    make_duplicate_error,
    make_slugs,
    make_title,
    split_model,
)
from registry.manifest.fields import BRACES, braces
from registry.manifest.folder import TaskFolder
from registry.readers import Document, Scores
from registry.readers.parsing.delimited import Separator, Written, read_cells, read_header
from registry.readers.parsing.fast_tables import MAGIC, Syntax, read_parquet_head
from registry.readers.tables import Row, is_unscored, shorten, to_number, to_text


class _Head(NamedTuple):
    """The columns and the first row of a table, and where both stand in a text."""

    columns: Sequence[str]
    first: Sequence[Any]
    line: int | None = None
    first_line: int | None = None


class Wide(Importer):
    """Delimited text with a header, or Parquet: a row for every item, a column of scores for every system.

    Attributes:
        item: The columns that together name an item; without any the rows are numbered from 1.
        attributes: Columns that are attributes of the item.
        systems: The columns of the systems; without any all that no other option names.
        runs: What these columns are called where a system has several, one for each run: `{system}.{run}`.
        separator: Between columns of text: `comma`, `semicolon`, `tab` or `whitespace`.
        unscored: What stands in place of a score where a system has none for the item.
        better: Whether `higher` or `lower` scores are the better ones.
        metric: What boards call the mean of the scores.
        missing: Items without a score by one of the systems: `reject` the table, or `drop` the item for all systems.
    """

    name: ClassVar[str] = "wide"

    item: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    separator: Separator = "comma"
    unscored: tuple[str, ...] = ("",)
    better: Literal["higher", "lower"] = "higher"
    metric: str = "score"
    missing: Literal["reject", "drop"] = "reject"
    runs: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_metric_name(self.name, self.metric)
        if self.runs is not None and sorted(braces(self.runs)) != ["run", "system"]:
            raise InputError(f"option 'runs' is {self.runs!r}; it must have {{system}} and {{run}}, each once, as in "
                             '"{system}.{run}"')

    def read(self, path: Path) -> TaskFolder:
        """Declare every system's column as its submission; the table itself is the gold with the items."""
        collected = Collected(path, self.missing, self.better)
        document = collected.load(path)
        is_parquet = document.content.startswith(MAGIC)
        head = self._read_parquet_head(document) if is_parquet else self._read_delimited_head(document)
        systems = self.systems or tuple(name for name in head.columns if name not in (*self.item, *self.attributes))
        if not systems:
            raise InputError("no column is left for a system", path=path, line=head.line)
        if not all(name.strip() for name in systems):
            raise InputError("a column has no name; if it names the items, as row names do, --option 'item=[\"\"]'; "
                             "else name it in the header", path=path, line=head.line)
        self._check_columns(systems, dict(zip(head.columns, head.first, strict=False)),
                            Place(document.path, head.first_line), text=not is_parquet)
        if self.runs is not None:
            columns = _split_columns(systems, self.runs, Place(document.path, head.line))
            return self._read_runs(document, columns, collected)
        file = "scores.parquet" if is_parquet else "scores.csv"
        written = {"syntax": "parquet"} if is_parquet else {"separator": self.separator}
        options = {**written, "item": list(self.item), "attributes": list(self.attributes),
                   "unscored": list(self.unscored)}
        return TaskFolder({
            "task": {"title": make_title(path)},
            "test_set": [{"name": "test", "gold": file, "format": "scores", "options": options}],
            "submission": {"missing": self.missing},
            "metric": [Measure(name=self.metric).describe_metric(self.better)],
            "submit": [{"file": file, **split_model(name), "options": {"score": name}} for name in systems],
        }, {file: document.content}, collected.digests, copies={file: document.path})

    def _read_runs(self, document: Document, columns: Mapping[str, tuple[str, str]],
                   collected: Collected) -> TaskFolder:
        reader = Scores(item=self.item, attributes=self.attributes, separator=self.separator, unscored=self.unscored,
                        syntax="parquet" if document.content.startswith(MAGIC) else "delimited")
        scores: dict[str, Run] = {column: {} for column in columns}
        for row in reader.read_rows(document, tuple(columns), self.attributes):
            place = Place(document.path, row.line)
            collected.describe("test", row.key, row.attributes, place)
            for (column, found), cell in zip(scores.items(), row.cells, strict=True):
                if row.key in found:
                    raise make_duplicate_error(row.key, place, found[row.key][1])
                found[row.key] = (reader.parse_number(cell, column, row), place)
        for column, (system, run) in columns.items():
            collected.add("test", system, run, scores[column])
        return collected.make_task(Measure(name=self.metric))

    def _read_delimited_head(self, document: Document) -> _Head:
        rows = read_cells(document, Written(self.separator))
        line, header = next(rows, (1, []))
        if len(header) == 1 and any(mark in header[0] for mark in "\t,;|"):
            raise document.error(f"only one column, {header[0]!r}; --option separator=comma, semicolon, tab or "
                                 "whitespace says what separates them", line=line)
        columns = read_header(header, (*self.item, *self.attributes, *self.systems), document, line)
        first_line, first = next(rows, (line, []))
        return _Head(columns, first, line, first_line)

    def _read_parquet_head(self, document: Document) -> _Head:
        columns, first = read_parquet_head(document)
        for name in (*self.item, *self.attributes, *self.systems):
            if name not in columns:
                raise document.error(f"no column {name!r}; {suggest(name, columns)}")
        return _Head(columns, first)

    def _check_columns(self, systems: tuple[str, ...], first: dict[str, Any], place: Place, *, text: bool) -> None:
        """Check by the first row that the systems' columns have scores."""
        for name in systems:
            cell = first.get(name)
            is_there = not is_unscored(cell, self.unscored) and str(cell).strip()
            is_meant = isinstance(cell, bool) and self.systems  # else a flag of the items might be taken for a system
            if is_there and not is_meant and math.isnan(to_number(cell, text=text)):
                raise place.error(f"column {name!r} has {str(cell)[:60]!r}, which is no score; if it names the items, "
                                  f"--option item={name}; else --option systems or unscored")


def _split_columns(columns: Iterable[str], pattern: str, place: Place) -> dict[str, tuple[str, str]]:
    """Return the system and run of every column by a pattern that matches in one way."""
    found = {}
    for column in columns:
        first, last = (re.fullmatch(_make_expression(pattern, how), column, re.DOTALL) for how in (".+?", ".+"))
        if first is None or last is None:
            raise place.error(f"the column {column!r} is not called {pattern}; --option systems names those that are "
                              "systems', --option attributes others")
        if first.groupdict() != last.groupdict():
            raise place.error(f"the column {column!r} is called {pattern} in more than one way; give it another name")
        found[column] = (first["system"], first["run"])
    return found


def _make_expression(pattern: str, how: str) -> str:
    pieces = enumerate(BRACES.split(pattern))
    return "".join(f"(?P<{piece}>{how})" if n % 2 else re.escape(piece) for n, piece in pieces)


class Long(ScoredImporter):
    """Delimited text with a header, JSON or Parquet: a row for every score of every system.

    Attributes:
        item: The columns that together name an item.
        system: The column that names the system.
        score: The column that holds the score.
        run: The column that tells the runs of a system apart.
        test_set: The column that names the benchmark, where there are several.
        attributes: Columns that are attributes of the item.
        syntax: `delimited`, `jsonl` or `json`, whose columns may be paths; Parquet is known by its content.
        separator: Between columns of text: `comma`, `semicolon`, `tab` or `whitespace`.
        columns: The names of the columns in order, where the text has no header.
        unscored: What stands in place of a score where there is none.
        metric: What boards call the mean of the scores.
    """

    name: ClassVar[str] = "long"

    item: tuple[str, ...] = ("item",)
    system: str = "system"
    score: str = "score"
    run: str | None = None
    test_set: str | None = None
    attributes: tuple[str, ...] = ()
    syntax: Syntax = "delimited"
    separator: Separator = "comma"
    columns: tuple[str, ...] = ()
    unscored: tuple[str, ...] = ("",)
    metric: str = "score"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_metric_name(self.name, self.metric)
        if not self.item:
            raise InputError("option 'item' of long must name one column or more: an item has a row for each system")
        if "item" in self.attributes:
            raise InputError("option 'attributes' of long cannot name 'item', which the items' own names are called")

    def read(self, path: Path) -> TaskFolder:
        """Read the table once, and write one file per run."""
        collected = Collected(path, self.missing, self.better)
        document = collected.load(path)
        reader = Scores(item=self.item, attributes=self.attributes, separator=self.separator, columns=self.columns,
                        unscored=self.unscored, syntax="parquet" if document.content.startswith(MAGIC) else self.syntax)
        names = (self.system, *(name for name in (self.run, self.test_set) if name is not None))
        found: dict[tuple[str, str, str], Run] = defaultdict(dict)
        for row in reader.read_rows(document, (self.score, *names), self.attributes):
            place = Place(document.path, row.line)
            score, *cells = row.cells
            of = {name: _to_name(cell, name, row) for name, cell in zip(names, cells, strict=True)}
            system, run, test_set = of[self.system], of.get(self.run or "", "1"), of.get(self.test_set or "", "test")
            collected.describe(test_set, row.key, row.attributes, place)
            number, scores = reader.parse_number(score, self.score, row), found[test_set, system, run]
            if row.key in scores:
                raise make_duplicate_error(f"{row.key} (system {system!r})", place, scores[row.key][1], (
                    "; if these are runs, --option run says which column tells them apart" if self.run is None else ""))
            scores[row.key] = (number, place)
        for (test_set, system, run), scores in found.items():
            collected.add(test_set, system, run, scores)
        return collected.make_task(Measure(name=self.metric))


def _to_name(cell: Any, column: str, row: Row) -> str:
    """Convert text or a whole number to a name."""
    if (text := to_text(cell)) is None or not text.strip() or not text.isprintable():
        raise row.error(f"{column!r} is {shorten(cell)}; expected a name")
    return text


class Plain(Importer):
    """Plain text: every file of a folder that is neither reference nor source is a system's output.

    The options that name files take patterns, in which `*` is any text and `?` any character.

    Attributes:
        references: Which files are references; the first by name is the gold.
        source: Which file is the source.
        documents: Which file names the document of every segment, one per line; documents are then clusters.
        system: What systems' files are called, with `{system}` for the system's name; files called otherwise are
            passed over. An end `.txt` or `.gz` of the file's name is not looked at.
        missing: Blank lines of systems: `reject` the file, or count them as the empty text as sacrebleu does (`worst`).
    """

    name = "plain"

    references: tuple[str, ...] = ("ref*", "*.ref*")
    source: tuple[str, ...] = ("src*", "source*", "*.src*")
    documents: tuple[str, ...] = ()
    system: str = "{system}"
    missing: Literal["reject", "worst"] = "reject"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.system.count("{system}") != 1:
            raise InputError(f"option 'system' of plain is {self.system!r}; it must have one {{system}} for the name")

    def read(self, path: Path) -> TaskFolder:
        if not path.is_dir():
            raise InputError("not a folder; name the one of the references and systems", path=path)
        files = find_files(path, lambda name: not name.startswith("."), "file", deep=False)
        roles = {role: [file for file in files if any(fnmatchcase(file.name, pattern) for pattern in patterns)]
                 for role, patterns in (("reference", self.references), ("source", self.source),
                                        ("documents", self.documents))}
        if not roles["reference"]:
            raise InputError(f"no reference: no file is called {' or '.join(self.references)}; name it with the option "
                             "'references'", path=path)
        for role in ("source", "documents"):
            if len(roles[role]) > 1:
                raise InputError(f"called as a {role} file, as {roles[role][0].name} is; name it with an option",
                                 path=roles[role][1])
        given = [file for role in roles.values() for file in role]
        if twice := next((file for file in given if given.count(file) > 1), None):
            raise InputError("named by two options; reference, source and documents are different files", path=twice)
        systems = self._find_systems([file for file in files if file not in given])
        if not systems:
            raise InputError(f"no file of a system called {self.system}", path=path)
        return self._make_task(path, roles, systems)

    def _find_systems(self, files: Iterable[Path]) -> dict[str, Path]:
        before, _, after = self.system.partition("{system}")
        found: dict[str, Path] = {}
        for file in files:
            stem = file.name.removesuffix(".gz").removesuffix(".txt")
            if not (stem.startswith(before) and stem.endswith(after) and len(stem) > len(before) + len(after)):
                continue
            name = stem[len(before):len(stem) - len(after)]
            if (first := found.setdefault(name, file)) is not file:
                raise InputError(f"a second file of the system {name!r}, as {first.name} is; keep one", path=file,
                                 category="duplicate")
        return found

    def _make_task(self, path: Path, roles: dict[str, list[Path]], systems: dict[str, Path]) -> TaskFolder:
        contents: dict[str, bytes] = {}
        digests: dict[str, str] = {}
        copies: dict[str, str] = {}

        def taken(file: Path, name: str) -> str:
            document = Document.load(file, path)
            contents[name], digests[document.name], copies[name] = document.content, document.digest, document.path
            return name

        gold, *others = (taken(file, f"references/{n}.txt") for n, file in enumerate(roles["reference"], 1))
        references = [{"name": f"reference{n}", "path": name} for n, name in enumerate(others, 2)]
        test_set: dict[str, Any] = {"name": "test", "gold": gold, "format": "lines"}
        if references:
            test_set["references"] = references
        for file in roles["source"]:
            test_set["source"] = taken(file, "source.txt")
        for file in roles["documents"]:
            test_set |= {"attributes": taken(file, "documents.txt"), "cluster": "document"}
        options = {"references": ["gold", *(reference["name"] for reference in references)]}
        slugs = make_slugs(systems, path)
        return TaskFolder({
            "task": {"title": make_title(path)},
            "test_set": [test_set],
            "submission": {"missing": self.missing},
            "metric": [{"id": "bleu", "name": "BLEU", "options": options, "primary": True},
                       {"id": "chrf", "name": "chrF", "options": options}],
            "significance": {"test": "bootstrap"},
            "submit": [{"file": taken(file, f"systems/{slugs[name]}.txt"), **split_model(name)}
                       for name, file in systems.items()],
        }, contents, digests, copies=copies)
