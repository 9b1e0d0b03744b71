"""Importers of common formats: tables of scores, and folders of plain text."""

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
    Importer,
    Measure,
    Place,
    Run,
    ScoreCollection,
    ScoredImporter,
    add_score,
    check_metric_name,
    find_files,
    make_title,
)
from registry.manifest.folder import TaskFolder
from registry.manifest.naming import name_files, split_model
from registry.manifest.patterns import BRACES, list_captures
from registry.readers import Document, Scores
from registry.readers.parsing.delimited import Separator, TextFormat, read_cells, read_header
from registry.readers.parsing.fast_tables import MAGIC, Syntax, read_parquet_head
from registry.readers.tables import Row, is_unscored, shorten, to_number, to_text


class _Head(NamedTuple):
    columns: Sequence[str]
    first: Sequence[Any]
    line: int | None = None
    first_line: int | None = None


class Wide(Importer):
    """Text or Parquet table: a row per item, a column of scores per system.

    This importer makes one test set from a table, which is delimited text with a header, or Parquet.

    Attributes:
        item: Columns that together identify an item; empty to number the rows from 1.
        attributes: Columns that are attributes of the item.
        systems: Columns with the scores of systems; empty for all columns that no other option names.
        runs: Pattern of the column names if each run of a system has a column, such as `{system}.{run}`.
        separator: Separator of columns in text: `comma`, `semicolon`, `tab` or `whitespace`.
        unscored: Cell values that mean that a system has no score for the item.
        better: Direction of scores: `higher` or `lower` scores are better.
        metric: Name of the mean score on leaderboards.
        missing: Treatment of an item without a score by one of the systems: `reject` the table, or `drop` the item for
            all systems.
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
        if self.runs is not None and sorted(list_captures(self.runs)) != ["run", "system"]:
            raise InputError(f"option 'runs' is {self.runs!r}; expected {{system}} and {{run}}, each once, such as "
                             '"{system}.{run}"')

    def read(self, path: Path) -> TaskFolder:
        """Convert a table into a task in which each system's column is a submission.

        The table is also the gold file, which lists the items. If systems have several runs, the scores are copied to
        separate files instead.
        """
        collection = ScoreCollection(path, self.missing, self.better)
        document = collection.load(path)
        is_parquet = document.content.startswith(MAGIC)
        head = self._read_parquet_head(document) if is_parquet else self._read_delimited_head(document)
        systems = self.systems or tuple(name for name in head.columns if name not in (*self.item, *self.attributes))
        if not systems:
            raise InputError("no column is left for a system; correct --option item, systems or attributes", path=path,
                             line=head.line)
        if not all(name.strip() for name in systems):
            raise InputError("a column has no name in the header; name it, or add --option 'item=[\"\"]' if it has "
                             "the item names", path=path, line=head.line)
        self._check_columns(systems, dict(zip(head.columns, head.first, strict=False)),
                            Place(document.path, head.first_line), text=not is_parquet)
        if self.runs is not None:
            columns = _split_columns(systems, self.runs, Place(document.path, head.line))
            return self._read_runs(document, columns, collection)
        file = "scores.parquet" if is_parquet else "scores.csv"
        syntax = {"syntax": "parquet"} if is_parquet else {"separator": self.separator}
        options = {**syntax, "item": list(self.item), "attributes": list(self.attributes),
                   "unscored": list(self.unscored)}
        return TaskFolder({
            "task": {"title": make_title(path)},
            "test_set": [{"name": "test", "gold": file, "format": "scores", "options": options}],
            "submission": {"missing": self.missing},
            "metric": [Measure(name=self.metric).describe_metric(self.better)],
            "submit": [{"file": file, **split_model(name), "options": {"score": name}} for name in systems],
        }, {file: document.content}, collection.digests, copies={file: document.path})

    def _read_runs(self, document: Document, columns: Mapping[str, tuple[str, str]],
                   collection: ScoreCollection) -> TaskFolder:
        reader = Scores(item=self.item, attributes=self.attributes, separator=self.separator, unscored=self.unscored,
                        syntax="parquet" if document.content.startswith(MAGIC) else "delimited")
        scores: dict[str, Run] = {column: {} for column in columns}
        for row in reader.read_rows(document, tuple(columns), self.attributes):
            place = Place(document.path, row.line)
            collection.set_attributes("test", row.key, row.attributes, place)
            for (column, column_scores), cell in zip(scores.items(), row.cells, strict=True):
                add_score(column_scores, row.key, reader.parse_number(cell, column, row), place)
        for column, (system, run) in columns.items():
            collection.add_run("test", system, run, scores[column])
        return collection.make_task(Measure(name=self.metric))

    def _read_delimited_head(self, document: Document) -> _Head:
        rows = read_cells(document, TextFormat(self.separator))
        line, header = next(rows, (1, []))
        if len(header) == 1 and any(mark in header[0] for mark in "\t,;|"):
            raise document.error(f"the table has only one column, {header[0]!r}; set the separator with --option "
                                 "separator=comma, semicolon, tab or whitespace", line=line)
        columns = read_header(header, (*self.item, *self.attributes, *self.systems), document, line)
        first_line, first = next(rows, (line, []))
        return _Head(columns, first, line, first_line)

    def _read_parquet_head(self, document: Document) -> _Head:
        columns, first = read_parquet_head(document)
        for name in (*self.item, *self.attributes, *self.systems):
            if name not in columns:
                raise document.error(f"the file has no column {name!r}; {suggest(name, columns)}")
        return _Head(columns, first)

    def _check_columns(self, systems: tuple[str, ...], first: dict[str, Any], place: Place, *, text: bool) -> None:
        """Check that the columns of systems have scores, not text, in the first row.

        Blank cells, and the values of the option `unscored`, are valid.

        Args:
            systems: Names of the columns with scores.
            first: Cells of the first row, by column.
            place: File and line of the first row.
            text: True if cells are text that must be parsed as numbers.

        Raises:
            InputError: A column has another text.
        """
        for name in systems:
            cell = first.get(name)
            is_scored = not is_unscored(cell, self.unscored) and str(cell).strip()
            is_flag = isinstance(cell, bool) and self.systems  # by default a truth value may be an attribute of items
            if is_scored and not is_flag and math.isnan(to_number(cell, text=text)):
                raise place.error(f"column {name!r} has {str(cell)[:60]!r}, which is not a score; add --option "
                                  f"item={name} if the column has the item names, otherwise --option systems or "
                                  "unscored")


def _split_columns(columns: Iterable[str], pattern: str, place: Place) -> dict[str, tuple[str, str]]:
    """Split column names into system and run by a pattern.

    For example, pattern "{system}.{run}" and column "large.1" give `{"large.1": ("large", "1")}`.

    Raises:
        InputError: A column does not match the pattern, or matches it in several ways.
    """
    parts = BRACES.split(pattern)
    shortest, longest = ("".join(f"(?P<{part}>{text})" if n % 2 else re.escape(part) for n, part in enumerate(parts))
                         for text in (".+?", ".+"))
    runs = {}
    for column in columns:
        first, last = (re.fullmatch(expression, column, re.DOTALL) for expression in (shortest, longest))
        if first is None or last is None:
            raise place.error(f"the column {column!r} does not match {pattern}; name the systems' columns with "
                              "--option systems, or others with --option attributes")
        if first.groupdict() != last.groupdict():
            raise place.error(f"the column {column!r} matches {pattern} in several ways; rename it")
        runs[column] = (first["system"], first["run"])
    return runs


class Long(ScoredImporter):
    """Text, JSON or Parquet table: a row for every score of every system.

    This importer makes a test set for each benchmark in a table, which is delimited text, JSON or Parquet.

    Attributes:
        item: Columns that together identify an item.
        system: Column with the name of the system.
        score: Column with the score.
        run: Column that distinguishes the runs of a system.
        test_set: Column with the name of the benchmark, if the table has several.
        attributes: Columns that are attributes of the item.
        syntax: `delimited`, `jsonl` or `json`. In JSON a column may be a path to a nested value. Parquet is detected
            automatically.
        separator: Separator of columns in text: `comma`, `semicolon`, `tab` or `whitespace`.
        columns: Names of the columns in order, if the text has no header.
        unscored: Cell values that mean that there is no score.
        metric: Name of the mean score on leaderboards.
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
            raise InputError("option 'item' of long must name one or more columns, because an item has several rows")
        if "item" in self.attributes:
            raise InputError("option 'attributes' of long cannot name a column 'item', because this name is reserved "
                             "for the item names; rename the column")

    def read(self, path: Path) -> TaskFolder:
        """Convert a table into a task with one file of scores per run of a system."""
        collection = ScoreCollection(path, self.missing, self.better)
        document = collection.load(path)
        reader = Scores(item=self.item, attributes=self.attributes, separator=self.separator, columns=self.columns,
                        unscored=self.unscored, syntax="parquet" if document.content.startswith(MAGIC) else self.syntax)
        names = (self.system, *(name for name in (self.run, self.test_set) if name is not None))
        runs: dict[tuple[str, str, str], Run] = defaultdict(dict)
        remedy = "; if these rows are runs, name the column of runs with --option run=COLUMN" * (self.run is None)
        for row in reader.read_rows(document, (self.score, *names), self.attributes):
            place = Place(document.path, row.line)
            score, *cells = row.cells
            texts = {name: _to_name(cell, name, row) for name, cell in zip(names, cells, strict=True)}
            system = texts[self.system]
            run, test_set = texts.get(self.run or "", "1"), texts.get(self.test_set or "", "test")
            collection.set_attributes(test_set, row.key, row.attributes, place)
            add_score(runs[test_set, system, run], row.key, reader.parse_number(score, self.score, row), place,
                      f"{row.key} (system {system!r})", remedy)
        for (test_set, system, run), scores in runs.items():
            collection.add_run(test_set, system, run, scores)
        return collection.make_task(Measure(name=self.metric))


def _to_name(cell: Any, column: str, row: Row) -> str:
    if (text := to_text(cell)) is None or not text.strip() or not text.isprintable():
        raise row.error(f"{column!r} is {shorten(cell)}; expected a name")
    return text


class Plain(Importer):
    """Folder of plain text: a file per system, with reference and source files.

    This importer makes a task of translations (or other texts), with one segment per line. Every file that is neither
    reference nor source is a system's output. Options that name files are patterns: `*` matches any text and `?` any
    character.

    Attributes:
        references: Patterns of reference files. The first file by name is the gold.
        source: Patterns of the source file.
        documents: Patterns of the file with the document of every segment, one per line. Documents are then clusters.
        system: Pattern of systems' files, in which `{system}` is the system's name. Leave out `.txt` and `.gz` at the
            end. Files that do not match are ignored.
        missing: Treatment of blank lines of systems: `reject` the file, or score them as empty text, as sacrebleu does
            (`worst`).
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
            raise InputError(f"option 'system' of plain is {self.system!r}; write {{system}} once, where file names "
                             "have the system's name")

    def read(self, path: Path) -> TaskFolder:
        if not path.is_dir():
            raise InputError("this is not a folder; name the folder of the references and systems", path=path)
        files = find_files(path, lambda name: not name.startswith("."), "file", deep=False)
        roles = {role: [file for file in files if any(fnmatchcase(file.name, pattern) for pattern in patterns)]
                 for role, patterns in (("reference", self.references), ("source", self.source),
                                        ("documents", self.documents))}
        if not roles["reference"]:
            raise InputError(f"no file name matches {' or '.join(self.references)}, so the reference is missing; name "
                             "it with --option references=NAME", path=path)
        for role in ("source", "documents"):
            if len(roles[role]) > 1:
                raise InputError(f"this is a second {role} file, after {roles[role][0].name}; name one with --option "
                                 f"{role}=NAME", path=roles[role][1])
        assigned = [file for role in roles.values() for file in role]
        if duplicate := next((file for file in assigned if assigned.count(file) > 1), None):
            raise InputError("two options name this file; name different files for reference, source and documents",
                             path=duplicate)
        systems = self._find_systems([file for file in files if file not in assigned])
        if not systems:
            raise InputError(f"no file name matches {self.system}, so there is no system; change --option system",
                             path=path)
        return self._make_task(path, roles, systems)

    def _find_systems(self, files: Iterable[Path]) -> dict[str, Path]:
        prefix, _, suffix = self.system.partition("{system}")
        systems: dict[str, Path] = {}
        for file in files:
            stem = file.name.removesuffix(".gz").removesuffix(".txt")
            if not (stem.startswith(prefix) and stem.endswith(suffix) and len(stem) > len(prefix) + len(suffix)):
                continue
            name = stem[len(prefix):len(stem) - len(suffix)]
            if (first := systems.setdefault(name, file)) is not file:
                raise InputError(f"this is a second file of the system {name!r}, after {first.name}; keep "
                                 "one", path=file,
                                 category="duplicate")
        return systems

    def _make_task(self, path: Path, roles: dict[str, list[Path]], systems: dict[str, Path]) -> TaskFolder:
        contents: dict[str, bytes] = {}
        digests: dict[str, str] = {}
        copies: dict[str, str] = {}

        def add_file(file: Path, name: str) -> str:
            document = Document.load(file, path)
            contents[name], digests[document.name], copies[name] = document.content, document.digest, document.path
            return name

        gold, *others = (add_file(file, f"references/{n}.txt") for n, file in enumerate(roles["reference"], 1))
        references = [{"name": f"reference{n}", "path": name} for n, name in enumerate(others, 2)]
        test_set: dict[str, Any] = {"name": "test", "gold": gold, "format": "lines"}
        if references:
            test_set["references"] = references
        for file in roles["source"]:
            test_set["source"] = add_file(file, "source.txt")
        for file in roles["documents"]:
            test_set |= {"attributes": add_file(file, "documents.txt"), "cluster": "document"}
        options = {"references": ["gold", *(reference["name"] for reference in references)]}
        stems = name_files(systems)
        return TaskFolder({
            "task": {"title": make_title(path)},
            "test_set": [test_set],
            "submission": {"missing": self.missing},
            "metric": [{"id": "bleu", "name": "BLEU", "options": options, "primary": True},
                       {"id": "chrf", "name": "chrF", "options": options}],
            "significance": {"test": "bootstrap"},
            "submit": [{"file": add_file(file, f"systems/{stems[name]}.txt"), **split_model(name)}
                       for name, file in systems.items()],
        }, contents, digests, copies=copies)
