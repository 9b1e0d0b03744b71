"""Formats that are recognised by their lines: trees, rankings, alignments, sets, tagged tokens, lists of spans.

For each format, several readers are tried on the files, from strict to lenient. The first reader that reads all files
is chosen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any, NamedTuple

from registry.column_names import find_columns, has_role
from registry.errors import InputError, listed
from registry.items import Answer, Item
from registry.quick.plan import (
    Plan,
    QuestionError,
    Request,
    System,
    SystemFile,
    Trial,
    get_options,
    option,
    reader_option,
)
from registry.quick.tables import (
    Table,
    find_item_columns,
    is_number,
    read_json_objects,
    read_lines,
    read_table,
    remove_mark,
    repair_option,
)
from registry.readers import Bio, Conllu, Document, Pharaoh, Reader, Responses, Spans, Trec
from registry.readers.bio import is_tag, suggest_tag
from registry.readers.parsing.delimited import split_cells
from registry.readers.parsing.json_values import ABSENT, get_value

ENOUGH_DOCUMENTS = 10  # minimum number of documents, if documents are the units of resampling
_LOOKED_AT = 1000  # lines of a file that are inspected
_SHOWN = 60  # characters of a line
_TAGS = 0.98  # minimum share of valid tags in a column of tags; readers report the other cells
_SAME_TOKENS = 0.8  # minimum share of tokens that equal the gold's, if other tokens are allowed
_SENTENCE_END = "EndOfSentence"  # in a cell of the last token, as in files of HIPE
_SCHEMES = ("iob2", "iob1", "bioes", "bilou")
PLACES = (("start", "end"), ("begin", "end"), ("start_offset", "end_offset"), ("start_char", "end_char"),
           ("startOffset", "endOffset"), ("from", "to"))
TYPES = ("type", "label", "tag", "class", "category", "entity_type", "entity_group", "entity", "labels")
_LISTS = re.compile(r"(?<![a-z])(spans?|entities|ents|annotations?|labels?|ner|result|predictions?|gold)(?![a-z])",
                    re.I)
_DEEPEST = 4  # maximum depth of objects in which lists of spans are searched


class _Format(NamedTuple):
    """File format that is recognised by regular expressions for its lines.

    Attributes:
        what: A description for messages.
        name: The name of the reader.
        gold: The regular expression of each line of a gold file.
        system: The regular expression of each line of a system's file.
        readers: A function that returns the readers to try for a file, from strict to lenient.
    """

    what: str
    name: str
    gold: re.Pattern[str]
    system: re.Pattern[str]
    readers: Callable[[Document], Sequence[Reader]]


_WORD = re.compile(r"\d+(?:[-.]\d+)?(?:\t[^\t]*){9}")
_LINKS = re.compile(r"\s*|\s*\d+[-p]\d+(?:\s+\d+[-p]\d+)*\s*")
_JUDGED = re.compile(r"\S+\s+\S+\s+\S+\s+[+-]?\d+\s*")
_RANKED = re.compile(r"\S+\s+\S+\s+\S+\s+[+-]?\d+\s+[+-]?[0-9.eE+-]+\s+\S+\s*")
_ANSWERS = re.compile(r'\s*\{(?=.*"item"\s*:).*"answers"\s*:.*\}\s*')
_FORMATS = (
    _Format("ten columns of CoNLL-U", "conllu", _WORD, _WORD, lambda _: [
        Conllu(), Conllu(empty_columns="underscore"), Conllu(roots="any"),
        Conllu(roots="any", empty_columns="underscore")]),
    _Format("TREC's judgments and runs", "trec", _JUDGED, _RANKED, lambda _: [Trec(), Trec(unknown_items="ignore")]),
    _Format("links of words on each line", "pharaoh", _LINKS, _LINKS, lambda document: [
        Pharaoh.build({"offset": offset}) for offset in (
            (0,) if re.search(r"(?<!\d)0[-p]|[-p]0(?!\d)", remove_mark(document).text()) else (1, 0))]),
    _Format("sets of answers in JSON Lines", "responses", _ANSWERS, _ANSWERS, lambda _: [Responses()]),
)
FORMATS = (*(format_.name for format_ in _FORMATS), "bio", "spans")


def plan_format(gold: Document, systems: Sequence[SystemFile], request: Request, trial: Trial) -> Plan | None:
    """Find out how to read files in a known format, such as CoNLL-U or TREC.

    Args:
        gold: The gold file.
        systems: The files of the systems.
        request: The options of the user.
        trial: Reads the files to find the reader that fits.

    Returns:
        The readers of all files; None if the gold has no known format.

    Raises:
        InputError: The gold has a known format, but a system's file does not.
        QuestionError: A column or the format is unclear.
    """
    if request.value is not None and request.kind not in FORMATS and not (request.label and _find_tag_layout(gold)):
        return None
    return (_plan_marked(gold, systems, request, trial) or _plan_tagged(gold, systems, request, trial)
            or _plan_span_lists(gold, systems, request, trial))


def _plan_marked(gold: Document, systems: Sequence[SystemFile], request: Request, trial: Trial) -> Plan | None:
    for format_ in _FORMATS:
        gives = format_.readers(gold)[0].gives
        if not request.allows(format_.name, gives) or not _has_lines(gold, format_.gold):
            continue
        for file in systems:
            _require_lines(file.document, format_, gold)
        reader = next((reader for reader in format_.readers(gold) if not isinstance(
            trial.items(gold, reader), InputError)), format_.readers(gold)[0])
        reader = replace(reader, **{name: value for name, value in request.options.items()
                                    if name in reader.__dataclass_fields__})
        items = trial.items(gold, reader)
        plan = Plan(gold, reader, ())
        chosen = [System(file.name, file.document, reader) for file in systems] if isinstance(
            items, InputError) else [trial.find_fitting(plan, items, (
                System(file.name, file.document, own_reader)
                for own_reader in (reader, *format_.readers(file.document)))) for file in systems]
        notes = tuple(f"{listed([system.name for system in chosen if system.reader == other], 3)}: read by {other!r}"
                      for other in dict.fromkeys(system.reader for system in chosen) if other != reader)
        roles = [reader_option(name, value) for name, value in get_options(reader).items()]
        return Plan(gold, reader, tuple(chosen), (f"--as {format_.name}", *roles), notes=notes)
    return None


def _has_lines(document: Document, pattern: re.Pattern[str]) -> bool:
    inspected = list(islice((line for line in read_lines(document) if line.strip() and not line.startswith(
        "#")), _LOOKED_AT))
    return bool(inspected) and all(map(pattern.fullmatch, inspected))


def _require_lines(document: Document, format_: _Format, gold: Document) -> None:
    for number, line in enumerate(read_lines(document), 1):
        if line.strip() and not line.startswith("#") and not format_.system.fullmatch(line):
            shown = line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
            raise document.error(f"{shown!r} does not have the format of {gold.path} ({format_.what}); correct the "
                                 "line, or name another reader with --as", number)


@dataclass(frozen=True)
class _TagLayout:
    """Layout of a file with one token and its tags per line.

    Attributes:
        separator: The separator of columns.
        width: The number of columns.
        token: The index of the column of tokens.
        tags: The indices of the columns with tags.
        extras: Further options of the reader.
        names: The names of the columns; empty without a header.
    """

    separator: str
    width: int
    token: int
    tags: tuple[int, ...]
    extras: Mapping[str, Any]
    names: tuple[str, ...] = ()

    def name(self, n: int) -> str:
        """Return the name of a column; without a header, its number from 1.

        Args:
            n: The index of the column, from 0.
        """
        return self.names[n] if self.names else str(n + 1)

    def find(self, name: str) -> int | None:
        """Return the index of the column with a name or number; None if there is none."""
        return next((n for n in range(self.width) if name in (self.name(n), str(n + 1))), None)

    def options(self, tag: int) -> dict[str, Any]:
        """Return the options with which the reader finds the tags in column `tag`."""
        names = [f"column{n + 1}" for n in range(self.width)]
        names[self.token], names[tag] = "token", "label"
        columns = {"columns": names} if not self.names else {
            "header": True, "token": self.names[self.token], "label": self.names[tag]}
        return {"separator": self.separator, **columns, **self.extras}


def _find_marks(lines: Sequence[str], names: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return options for comments between tokens, and for marks of documents and sentence ends, as in files of HIPE.

    Args:
        lines: The lines of the file.
        names: The names of the columns.
        rows: The cells of the tokens.
    """
    if not any(line.startswith("#") and before[:1].strip("#") for before, line in pairwise(lines)):
        return {}
    keys = Counter(line.strip("# ").partition("=")[0].strip() for line in lines if line.startswith("#") and "=" in line)
    document = next((key for key, times in keys.items() if times > 1 and has_role(key.rpartition(":")[2], "document")),
                    "")
    end = next((name for n, name in enumerate(names) if any(_SENTENCE_END in row[n].split("|") for row in rows)), "")
    return {"comments": "anywhere", **({"document": document} if document else {}),
            **({"sentence_end": [end, _SENTENCE_END]} if end else {})}


def _find_tag_layout(document: Document) -> _TagLayout | None:
    """Find the columns of tokens and tags in a file, such as `Ada B-PER` on a line.

    The result is None if no column has tags.
    """
    lines = read_lines(document)
    filled = [line for line in lines if line.strip()]
    is_one_block = all(line.strip() for line in lines[:-1])
    for separator in ("tab", "whitespace"):
        rows = [split_cells(line, separator) for line in filled]
        plain = [row for row in rows if not row[0].startswith(("#", "-DOCSTART-"))] or rows
        if not plain:
            return None
        (width, times), = Counter(map(len, plain)).most_common(1)
        if width < 2 or times < _TAGS * len(plain):
            continue
        even = [row for row in plain if len(row) == width]
        tag_columns = [n for n in range(1, width) if len(even) > 2 and all(is_tag(row[n]) for row in even[1:])]
        is_header = bool(tag_columns) and even[0] is plain[0] and len({*even[0]}) == width and not any(
            is_tag(even[0][n]) for n in tag_columns)
        names = tuple(even.pop(0)) if is_header else ()
        tags = tuple(n for n in range(1, width) if sum(is_tag(row[n]) for row in even) >= _TAGS * len(even))
        token = next((n for n in range(width) if n not in tags and not all(is_number(row[n]) for row in even)), None)
        if tags and token is not None and (names or not is_one_block):
            comments = any(row[0].startswith("#") and (len(row) != width or "=" in row) for row in rows)
            docstart = any(row[0].startswith("-DOCSTART-") for row in rows)
            return _TagLayout(separator, width, token, tags, {
                **({"comment": "#"} if comments else {}), **({"docstart": "-DOCSTART-"} if docstart else {}),
                **(_find_marks(lines, names, even) if comments else {}), **repair_option(document)}, names)
    return None


def _plan_tagged(gold: Document, systems: Sequence[SystemFile], request: Request, trial: Trial) -> Plan | None:
    """Find out how to read tagged tokens: which column has tags, and in which scheme.

    The result is None if the gold has no column of tags.
    """
    if not request.allows("bio", "span"):
        return None
    gold_form = _find_tag_layout(gold)
    if gold_form is None:
        _refuse_unusual_tags(gold)
        return None
    system_forms: list[_TagLayout] = []
    for file in systems:
        if (form := _find_tag_layout(file.document)) is None:
            raise file.document.error(f"the file has no column of tags such as B-PER, but {gold.path} has one; add it")
        system_forms.append(form)
    tag = _choose_tags(gold_form, request.label[:1], gold, systems)
    options = {name: value for name, value in request.options.items() if name in Bio.__dataclass_fields__}
    reader, items = None, None
    schemes = (options["scheme"],) if "scheme" in options else _SCHEMES
    for more in ({}, {"invalid_tags": "begin"}):
        for scheme in schemes:
            tried = Bio.build({"scheme": scheme, **more, **gold_form.options(tag), **options})
            result = trial.items(gold, tried)
            if items is None or (isinstance(items, InputError) and not isinstance(result, InputError)):
                reader, items = tried, result
    assert reader is not None
    assert items is not None
    if isinstance(items, InputError):
        reader = Bio.build({"scheme": schemes[0], **gold_form.options(tag), **options})
        return Plan(gold, reader, tuple(System(file.name, file.document, reader) for file in systems))
    plan = Plan(gold, reader, ())
    chosen: list[System] = []
    for name in request.label[1:]:
        if all(form.find(name) is None for form in system_forms):
            _choose_tags(system_forms[0], [name], systems[0].document, ())
    for file, form in zip(systems, system_forms, strict=True):
        own_tag = _choose_own_tags(form, gold_form, tag, request, file, gold)
        chosen.append(_choose_tag_reader(plan, items, file, form, own_tag, options, trial))
    groups = {item.attributes.get("document", "") for item in items}
    cluster = "document" if "" not in groups and ENOUGH_DOCUMENTS <= len(groups) < len(items) else None
    notes = [f"{len(groups)} documents; tests use documents as units, because items of one document are not "
             "independent"] * bool(cluster)
    if reader.invalid_tags == "begin":
        notes.append("some gold tags begin a span with I- (invalid_tags = begin)")
    for system in chosen:
        differing = [f"{name} = {value}" for name in ("separator", "scheme", "invalid_tags", "boundaries")
                     if (value := getattr(system.reader, name)) != getattr(reader, name)]
        differing += ["some tokens differ from the gold's"] * (system.tokens == "warn")
        notes += [f"{system.name}: {', '.join(differing)}"] * bool(differing)
    roles = ["--as bio"]
    roles += [reader_option("scheme", reader.scheme)] * all(getattr(system.reader, "scheme", "") == reader.scheme
                                                            for system in chosen)
    roles += [f"--label {gold_form.name(tag)}"] * (len(gold_form.tags) > 1 or bool(request.label))
    roles += [f"--label {name}" for name in request.label[1:]]
    return Plan(gold, reader, tuple(chosen), tuple(roles), cluster=cluster, notes=tuple(notes))


def _choose_tags(form: _TagLayout, names: Sequence[str], document: Document, systems: Sequence[SystemFile]) -> int:
    """Return the index of the column with the tags to score.

    Args:
        form: The layout of the file.
        names: The column that the user names; empty: the file must have a single column of tags.
        document: The file.
        systems: The files of the systems, for the message.

    Raises:
        InputError: The user names a column that does not exist.
        QuestionError: The file has several columns of tags.
    """
    if names:
        if (place := form.find(names[0])) is None:
            raise document.error(f"the file has no column {names[0]!r}; columns: "
                                 f"{', '.join(map(form.name, range(form.width)))}")
        return place
    if len(form.tags) > 1:
        is_copy = any(file.document.path == document.path for file in systems)
        raise QuestionError("several columns have tags" + (
            ", and one file is both the gold and a system" if is_copy else "") + ". Add one of these options. Add two "
            "(gold first) if the systems' tags are in another column:",
            {f"--label {form.name(n)}": "" for n in form.tags}, document.path)
    return form.tags[0]


def _choose_own_tags(form: _TagLayout, gold: _TagLayout, tag: int, request: Request, file: SystemFile,
                     document: Document) -> int:
    if (named := next((n for name in request.label[1:] if (n := form.find(name)) is not None), None)) is not None:
        return named
    if len(form.tags) == 1:
        return form.tags[0]
    if file.document.path == document.path:
        raise file.document.error("this file is both the gold and a system; name the two columns of tags: --label GOLD "
                                  "--label SYSTEM")
    same = [n for n in form.tags if form.name(n) == gold.name(tag)]
    if not same or not (request.label or form.width == gold.width):
        names = [gold.name(tag), *request.label[1:]]
        raise QuestionError("several columns have tags. Add one of these options:", {
            " ".join(option("--label", name) for name in (*names, form.name(n))): "" for n in form.tags},
            file.document.path)
    return same[0]


def _choose_tag_reader(plan: Plan, items: Sequence[Item], file: SystemFile, form: _TagLayout, tag: int,
                       own_options: Mapping[str, Any], trial: Trial) -> System:
    """Choose the strictest reader of tags with which a system's answers fit the gold.

    If no reader succeeds, the first one is returned, whose error is reported later.

    Args:
        plan: The plan with the reader of the gold.
        items: The items of the gold.
        file: The file of the system.
        form: The layout of the file.
        tag: The index of the column of tags.
        own_options: The user's options of the reader.
        trial: Reads the files.
    """
    scheme = plan.reader.scheme  # type: ignore[attr-defined]
    options = {**form.options(tag), **own_options}
    readers = [Bio.build({"scheme": other, **options}) for other in (
        scheme, *(reader for reader in _SCHEMES if reader != scheme and "scheme" not in own_options))]
    readers.append(Bio.build({"scheme": scheme, "invalid_tags": "begin", **options}))
    readers += [Bio.build({"scheme": other, "boundaries": "gold", **options}) for other in _SCHEMES
                if "scheme" not in own_options or other == scheme]
    tried = [System(file.name, file.document, reader) for reader in readers]
    for system in (*tried, *(replace(reader, tokens="warn") for reader in tried)):
        answers = trial.answers(plan, items, system)
        if not isinstance(answers, InputError) and (system.tokens == "reject" or _are_alike(items, answers)):
            return system
    return tried[0]


def _are_alike(items: Sequence[Item], answers: Sequence[Answer | None]) -> bool:
    pairs = [(item.gold.tokens, answer.value.tokens) for item, answer in zip(items, answers, strict=True)
             if answer is not None]
    same = sum(a == b for tokens, answer_tokens in pairs for a, b in zip(tokens, answer_tokens, strict=True))
    return bool(same >= _SAME_TOKENS * sum(len(tokens) for tokens, _ in pairs))


def _refuse_unusual_tags(document: Document) -> None:
    """Check that tags have the usual spelling: B-PER, not B_PER.

    Only files with blank lines between sentences are checked.

    Raises:
        InputError: Tags have another spelling; the message suggests the correct one.
    """
    lines = [(number, line) for number, line in enumerate(read_lines(document), 1)
             if not line.startswith(("#", "-DOCSTART-"))]
    filled = [(number, line) for number, line in lines if line.strip()]
    if all(line.strip() for _, line in lines[:-1]):
        return
    for separator in ("tab", "whitespace"):
        for column in zip(*(split_cells(line, separator)[1:] for _, line in filled), strict=False):
            remedies = [None if is_tag(cell) else suggest_tag(cell) for cell in column]
            n_known = sum(map(is_tag, column)) + sum(map(bool, remedies))
            if any(remedies) and "O" in map(str.upper, column) and n_known >= _TAGS * len(column):
                number, tag, remedy = next((number, cell, remedy) for (number, _), cell, remedy in zip(
                    filled, column, remedies, strict=True) if remedy)
                raise document.error(f"tag {tag!r} is not valid; expected O, or a tag such as B-PER; {remedy}", number,
                                     category="tag")


@dataclass(frozen=True)
class _SpanList:
    """Column of a JSON file that has a list of spans in every row.

    Attributes:
        table: The file as a table.
        rows: The JSON objects.
        column: The key of the list.
        start, end, type: The keys of these parts in a span; `type` can be empty.
    """

    table: Table
    rows: Sequence[Mapping[str, Any]]
    column: str
    start: str
    end: str
    type: str

    @property
    def is_inclusive(self) -> bool:
        """True if the end of a span is its last position, not the position after it.

        The result is True if some span has equal start and end.
        """
        return any(get_value(span, self.start) == get_value(span, self.end)
                   for row in self.rows for span in get_value(row, self.column) or ())

    def reader(self, options: Mapping[str, Any]) -> Spans:
        """Return a reader of this list with further options."""
        return Spans.build({**self.table.form, "spans": self.column, "start": self.start, "end": self.end,
                            "type": self.type, **options})


def _plan_span_lists(gold: Document, systems: Sequence[SystemFile], request: Request, trial: Trial) -> Plan | None:
    """Find out how to read JSON files that have a list of spans for each item.

    The result is None if the gold has no such list. Lists and spans are recognised by usual names, such as `entities`
    and `start`.
    """
    if not request.allows("spans", "span") or (gold_list := _find_span_list(gold, request)) is None:
        return None
    system_lists: list[_SpanList] = []
    for file in systems:
        system_list = _find_span_list(file.document, request, gold_list)
        if system_list is None:
            raise file.document.error(f"the items have no list of spans with start and end, but {gold.path} has one in "
                                      f"{gold_list.column!r}; name the list with --option spans=COLUMN")
        system_lists.append(system_list)
    every = [span_list.table for span_list in (gold_list, *system_lists)]
    if request.item:
        keys = list(request.item)
    else:
        names = [name for name in find_item_columns(gold_list.table)
                 if all(name in span_list.names for span_list in every)]
        keys = next(([name] for name in names if gold_list.table.is_unique([name])), [])
    if not keys and not request.in_order:
        shared = [name for name in gold_list.table.names if all(name in span_list.names for span_list in every)]
        raise QuestionError("no column has a usual name for items. Add one of these options:", {
            **{f"--item {name}": "" for name in shared if gold_list.table.is_unique([name])},
            "--in-order": "all files have the same items in the same order"}, gold.path)
    documents = [name for name in find_columns(gold_list.table.names, "document") if [name] != keys and (
        ENOUGH_DOCUMENTS <= len({*gold_list.table.cells(name)}) < len(gold_list.rows))][:1]
    inclusive = any(span_list.is_inclusive for span_list in (gold_list, *system_lists))
    extra = {name: value for name, value in request.options.items() if name in Spans.__dataclass_fields__}
    roles = [option("--item", name) for name in keys] or ["--in-order"]
    if len({span_list.column for span_list in (gold_list, *system_lists)}) == 1:
        roles.append(reader_option("spans", gold_list.column))
    plans = []
    for overlaps in ("reject", "allow"):
        options = {"item": keys, "inclusive": inclusive, "overlaps": overlaps, **extra}
        plans.append(Plan(gold, gold_list.reader({**options, "attributes": documents}), tuple(
            System(file.name, file.document, span_list.reader({**options, "spans": span_list.column}))
            for file, span_list in zip(systems, system_lists, strict=True)), ("--as spans", *roles),
            cluster=next(iter(documents), None),
            notes=(f"{gold_list.end!r} is the last position in a span (inclusive)",) * inclusive))
        items = trial.items(gold, plans[-1].reader)
        if not isinstance(items, InputError) and not any(isinstance(trial.answers(
                plans[-1], items, system), InputError) for system in plans[-1].systems):
            return plans[-1]
    return plans[0]


def _find_span_list(document: Document, request: Request, gold: _SpanList | None = None) -> _SpanList | None:
    """Find the list of spans in the items of a JSON file; None if there is none.

    The first possible choice counts: the list that the user names, the list with the same name as in the gold, a list
    with a usual name, or the only list.

    Args:
        document: The file.
        request: The options of the user.
        gold: The list of the gold; None if the file is the gold.

    Raises:
        QuestionError: Several lists have spans.
    """
    table = read_table(document, request.options)
    if table is None or "syntax" not in table.form:
        return None
    rows = read_json_objects(document, table)
    paths = list(dict.fromkeys(path for row in rows[:100] for path in _find_list_paths(row)))
    name = request.options.get("spans")
    candidates: list[_SpanList] = []
    for column in paths:
        lists = [get_value(row, column) for row in rows]
        spans = [span for candidate in lists if isinstance(candidate, list) for span in candidate]
        if all(candidate is None or isinstance(candidate, list) for candidate in lists) and (
                keys := _find_span_keys(spans)):
            candidates.append(_SpanList(table, rows, column, *keys))
    candidates = [candidate for candidate in candidates if candidate.type] or candidates
    chosen = [candidate for candidate in candidates if candidate.column == name] or ([] if gold is None else [
        candidate for candidate in candidates if candidate.column == gold.column])
    if not chosen and gold is not None and not candidates and all(
            get_value(row, gold.column) in ([], None) for row in rows):
        return replace(gold, table=table, rows=rows)
    chosen = chosen or [candidate for candidate in candidates
                        if len(candidates) == 1 or _LISTS.search(candidate.column)]
    if len(chosen) > 1:
        raise QuestionError("several columns have lists of spans. Add one of these options:", {
            f"--option spans={candidate.column}": "" for candidate in candidates}, document.path)
    return chosen[0] if chosen else None


def _find_list_paths(entry: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[str]:
    """Yield the paths of lists of objects in a JSON object, such as `result.spans`.

    Lists of lists are yielded, too. Nested objects are searched; a list is searched only if it has a single member.
    """
    for name, value in entry.items():
        path = f"{prefix}{name}"
        if isinstance(value, list) and all(isinstance(member, list | Mapping) for member in value):
            yield path
        only = value[0] if isinstance(value, list) and len(value) == 1 else value
        if isinstance(only, Mapping) and depth < _DEEPEST and "." not in name:
            yield from _find_list_paths(only, f"{path}." if only is value else f"{path}.0.", depth + 1)


def _find_span_keys(spans: Sequence[Any]) -> tuple[str, str, str] | None:
    """Return the keys of start, end and type in spans; None if these are no spans.

    Example: [{"begin": 0, "end": 2, "label": "PER"}] -> ("begin", "end", "label"). If spans are lists, the keys are
    indices.
    """
    if not spans:
        return None
    if all(isinstance(span, list) for span in spans):
        places = [("0", "1", "")] if {len(span) for span in spans} == {2} else [("0", "1", "2"), ("1", "2", "0")]
        return next((keys for keys in places if _are_spans(spans, *keys)), None)
    if not all(isinstance(span, Mapping) for span in spans):
        return None
    prefixes = ["", *(f"{name}." for name in spans[0] if isinstance(spans[0][name], Mapping))]
    for prefix in prefixes:
        for start, end in PLACES:
            for type_ in (*(f"{prefix}{name}{place}" for name in TYPES for place in ("", ".0")), ""):
                if _are_spans(spans, prefix + start, prefix + end, type_):
                    return prefix + start, prefix + end, type_
    return None


def _are_spans(spans: Sequence[Any], start: str, end: str, type_: str) -> bool:
    return all(type(get_value(span, name)) is int for span in spans for name in (start, end)) and (
        not type_ or all(isinstance(get_value(span, type_), str) and get_value(span, type_) is not ABSENT
                         and get_value(span, type_) for span in spans))
