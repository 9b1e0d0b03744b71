"""Formats that are recognised by their lines: trees, rankings, alignments, sets, tagged tokens, lists of spans.

For each format, several readers are tried on the files, from strict to lenient. The first reader that reads all files
is chosen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from registry.column_names import columns_of
from registry.errors import InputError, listed
from registry.items import Answer, Item
from registry.quick.plan import (
    Asked,
    Given,
    Plan,
    QuestionError,
    System,
    Trial,
    option,
    options_of,
    reader_option,
)
from registry.quick.tables import (
    Table,
    is_number,
    item_columns,
    json_objects,
    read_table,
    readable,
    repair_option,
    text_lines,
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
_SCHEMES = ("iob2", "iob1", "bioes", "bilou")
PLACES = (("start", "end"), ("begin", "end"), ("start_offset", "end_offset"), ("start_char", "end_char"),
           ("startOffset", "endOffset"), ("from", "to"))
TYPES = ("type", "label", "tag", "class", "category", "entity_type", "entity_group", "entity", "labels")
_LISTS = re.compile(r"(?<![a-z])(spans?|entities|ents|annotations?|labels?|ner|result|predictions?|gold)(?![a-z])",
                    re.I)
_DEEPEST = 4  # maximum depth of objects in which lists of spans are searched


class _Format(NamedTuple):
    """A format that is recognised by its lines.

    Attributes:
        what: A description for messages.
        name: The name of the reader.
        gold: The pattern of all lines of a gold file.
        system: The pattern of all lines of a system's file.
        readers: Returns the readers to try for a file, from strict to lenient.
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
    _Format("TREC's judgments and runs", "trec", _JUDGED, _RANKED, lambda _: [Trec(), Trec(other_queries="ignore")]),
    _Format("links of words on each line", "pharaoh", _LINKS, _LINKS, lambda document: [
        Pharaoh.build({"offset": offset}) for offset in (
            (0,) if re.search(r"(?<!\d)0[-p]|[-p]0(?!\d)", readable(document).text()) else (1, 0))]),
    _Format("sets of answers in JSON Lines", "responses", _ANSWERS, _ANSWERS, lambda _: [Responses()]),
)
FORMATS = (*(one.name for one in _FORMATS), "bio", "spans")


def plan_format(gold: Document, systems: Sequence[Given], asked: Asked, trial: Trial) -> Plan | None:
    """Plan how to read files, if the lines of the gold have a known format; None if they do not.

    Raises:
        InputError: The gold has a known format, but a system's file does not.
        QuestionError: A column or the format is unclear.
    """
    if asked.value is not None and asked.kind not in FORMATS and not (asked.label and _tag_columns(gold)):
        return None
    return (_plan_marked(gold, systems, asked, trial) or _plan_tagged(gold, systems, asked, trial)
            or _plan_span_lists(gold, systems, asked, trial))


def _plan_marked(gold: Document, systems: Sequence[Given], asked: Asked, trial: Trial) -> Plan | None:
    for one in _FORMATS:
        gives = one.readers(gold)[0].gives
        if not asked.allows(one.name, gives) or not _has_lines(gold, one.gold):
            continue
        for given in systems:
            _require_lines(given.document, one, gold)
        reader = next((reader for reader in one.readers(gold) if not isinstance(
            trial.items(gold, reader), InputError)), one.readers(gold)[0])
        reader = replace(reader, **{name: value for name, value in asked.options.items()
                                    if name in reader.__dataclass_fields__})
        items = trial.items(gold, reader)
        plan = Plan(gold, reader, ())
        chosen = [System(given.name, given.document, reader) for given in systems] if isinstance(
            items, InputError) else [trial.fitting(plan, items, (
                System(given.name, given.document, of) for of in (reader, *one.readers(given.document))))
                for given in systems]
        notes = tuple(f"{listed([of.name for of in chosen if of.reader == other], 3)}: read by {other!r}"
                      for other in dict.fromkeys(of.reader for of in chosen) if other != reader)
        roles = [reader_option(name, value) for name, value in options_of(reader).items()]
        return Plan(gold, reader, tuple(chosen), (f"--as {one.name}", *roles), notes=notes)
    return None


def _has_lines(document: Document, pattern: re.Pattern[str]) -> bool:
    looked = list(islice((line for line in text_lines(document) if line.strip() and not line.startswith(
        "#")), _LOOKED_AT))
    return bool(looked) and all(map(pattern.fullmatch, looked))


def _require_lines(document: Document, format_: _Format, gold: Document) -> None:
    for number, line in enumerate(text_lines(document), 1):
        if line.strip() and not line.startswith("#") and not format_.system.fullmatch(line):
            shown = line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
            raise document.error(f"{shown!r} is no line of {format_.what}, which {gold.path} seems to have; if it has "
                                 "not, name the reader: --as", number)


@dataclass(frozen=True)
class _Tags:
    """Layout of a file of tagged tokens.

    Attributes:
        separator: The separator of columns.
        width: The number of columns.
        token: The column of tokens, from 0.
        tags: The columns with tags, from 0.
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
        """Return the name of column `n`, or its number from 1 if the file has no header."""
        return self.names[n] if self.names else str(n + 1)

    def options(self, tag: int) -> dict[str, Any]:
        """Return the reader's options if the tags are in column `tag`."""
        names = [f"column{n + 1}" for n in range(self.width)]
        names[self.token], names[tag] = "token", "label"
        columns = {"columns": names} if not self.names else {
            "header": True, "token": self.names[self.token], "label": self.names[tag]}
        return {"separator": self.separator, **columns, **self.extras}


def _tag_columns(document: Document) -> _Tags | None:
    """Return the layout of a file with a token and tags on every line; None if the file has another format."""
    lines = text_lines(document)
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
        below = [n for n in range(1, width) if len(even) > 2 and all(is_tag(row[n]) for row in even[1:])]
        is_header = bool(below) and even[0] is plain[0] and len({*even[0]}) == width and not any(
            is_tag(even[0][n]) for n in below)
        names = tuple(even.pop(0)) if is_header else ()
        tags = tuple(n for n in range(1, width) if sum(is_tag(row[n]) for row in even) >= _TAGS * len(even))
        token = next((n for n in range(width) if n not in tags and not all(is_number(row[n]) for row in even)), None)
        if tags and token is not None and (names or not is_one_block):
            comments = any(row[0].startswith("#") and (len(row) != width or "=" in row) for row in rows)
            docstart = any(row[0].startswith("-DOCSTART-") for row in rows)
            return _Tags(separator, width, token, tags, {
                **({"comment": "#"} if comments else {}), **({"docstart": "-DOCSTART-"} if docstart else {}),
                **repair_option(document)}, names)
    return None


def _plan_tagged(gold: Document, systems: Sequence[Given], asked: Asked, trial: Trial) -> Plan | None:
    """Plan how to read tagged tokens: choose the column and the scheme of the tags."""
    if not asked.allows("bio", "span"):
        return None
    gold_form = _tag_columns(gold)
    if gold_form is None:
        _refuse_unusual_tags(gold)
        return None
    system_forms: list[_Tags] = []
    for given in systems:
        if (form := _tag_columns(given.document)) is None:
            raise given.document.error(f"has no column of tags such as B-PER, as {gold.path} has")
        system_forms.append(form)
    tag = _tag(gold_form, asked.label[:1], gold, systems)
    options = {name: value for name, value in asked.options.items() if name in Bio.__dataclass_fields__}
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
        return Plan(gold, reader, tuple(System(given.name, given.document, reader) for given in systems))
    plan = Plan(gold, reader, ())
    chosen: list[System] = []
    for given, form in zip(systems, system_forms, strict=True):
        own_tag = _own_tag(form, gold_form, tag, asked, given, gold)
        chosen.append(_choose_tag_reader(plan, items, given, form, own_tag, options, trial))
    groups = {item.attributes.get("document", "") for item in items}
    cluster = "document" if "" not in groups and ENOUGH_DOCUMENTS <= len(groups) < len(items) else None
    notes = [f"documents: {len(groups)}; items of a document are not independent, so documents are the units"] * bool(
        cluster)
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
    roles += [f"--label {gold_form.name(tag)}"] * (len(gold_form.tags) > 1 or bool(asked.label))
    roles += [f"--label {name}" for name in asked.label[1:]]
    return Plan(gold, reader, tuple(chosen), tuple(roles), cluster=cluster, notes=tuple(notes))


def _tag(form: _Tags, names: Sequence[str], document: Document, systems: Sequence[Given]) -> int:
    """Return the number of the column of tags, from 0; `names` are the columns that the user names."""
    if names:
        place = next((n for n in range(form.width) if form.name(n) == names[0] or str(n + 1) == names[0]), None)
        if place is None:
            raise document.error(f"no column {names[0]!r}; columns: {', '.join(map(form.name, range(form.width)))}")
        return place
    if len(form.tags) > 1:
        is_copy = any(given.document.path == document.path for given in systems)
        raise QuestionError("several columns have tags" + (
            ", and a file is named as the gold and as a system" if is_copy else "") + ". Add one of these options (two "
            "of them, if systems' tags are in another column than the gold's):",
            {f"--label {form.name(n)}": "" for n in form.tags}, document.path)
    return form.tags[0]


def _own_tag(form: _Tags, gold: _Tags, tag: int, asked: Asked, given: Given, document: Document) -> int:
    if len(asked.label) > 1:
        return _tag(form, asked.label[1:], given.document, ())
    if len(form.tags) == 1:
        return form.tags[0]
    if given.document.path == document.path:
        raise given.document.error("is the gold, and a system as well; name both columns of tags: --label GOLD --label "
                                   "SYSTEM")
    same = [n for n in form.tags if form.name(n) == gold.name(tag)]
    if not same or not (asked.label or form.width == gold.width):
        raise QuestionError("several columns have tags. Add the gold's column and one of these:", {
            f"--label {gold.name(tag)} --label {form.name(n)}": "" for n in form.tags}, given.document.path)
    return same[0]


def _choose_tag_reader(plan: Plan, items: Sequence[Item], given: Given, form: _Tags, tag: int,
                       own_options: Mapping[str, Any], trial: Trial) -> System:
    """Return the system with the strictest reader whose answers match the gold's items."""
    scheme = plan.reader.scheme  # type: ignore[attr-defined]
    options = {**form.options(tag), **own_options}
    readers = [Bio.build({"scheme": other, **options}) for other in (
        scheme, *(reader for reader in _SCHEMES if reader != scheme and "scheme" not in own_options))]
    readers.append(Bio.build({"scheme": scheme, "invalid_tags": "begin", **options}))
    readers += [Bio.build({"scheme": other, "boundaries": "gold", **options}) for other in _SCHEMES
                if "scheme" not in own_options or other == scheme]
    tried = [System(given.name, given.document, reader) for reader in readers]
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
    """Refuse a file with tags in an unusual spelling, such as B_PER; blank lines must separate its sentences."""
    lines = [(number, line) for number, line in enumerate(text_lines(document), 1)
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
                raise document.error(f"tag {tag!r} is neither O nor a prefix of a scheme, a hyphen and a type; "
                                     f"{remedy}", number, category="tag")


@dataclass(frozen=True)
class _List:
    """A column of JSON that has a list of spans in every row, and the keys of start, end and type of a span."""

    table: Table
    rows: Sequence[Mapping[str, Any]]
    column: str
    start: str
    end: str
    type: str

    @property
    def is_inclusive(self) -> bool:
        """True if the end of a span is its last position; a span with equal start and end shows this."""
        return any(get_value(span, self.start) == get_value(span, self.end)
                   for row in self.rows for span in get_value(row, self.column) or ())

    def reader(self, options: Mapping[str, Any]) -> Spans:
        """Return a reader of this list with further `options`."""
        return Spans.build({**self.table.form, "spans": self.column, "start": self.start, "end": self.end,
                            "type": self.type, **options})


def _plan_span_lists(gold: Document, systems: Sequence[Given], asked: Asked, trial: Trial) -> Plan | None:
    """Plan how to read lists of spans in JSON; the list, and the keys of a span, have usual names."""
    if not asked.allows("spans", "span") or (gold_list := _list_of(gold, asked)) is None:
        return None
    system_lists: list[_List] = []
    for given in systems:
        system_list = _list_of(given.document, asked, gold_list)
        if system_list is None:
            raise given.document.error(f"no list of spans with start and end in each item, as {gold.path} has in "
                                       f"{gold_list.column!r}; --option spans=COLUMN names it")
        system_lists.append(system_list)
    every = [span_list.table for span_list in (gold_list, *system_lists)]
    if asked.item:
        keys = list(asked.item)
    else:
        names = [name for name in item_columns(gold_list.table) if all(name in span_list.names for span_list in every)]
        keys = next(([name] for name in names if gold_list.table.is_unique([name])), [])
    if not keys and not asked.in_order:
        shared = [name for name in gold_list.table.names if all(name in span_list.names for span_list in every)]
        raise QuestionError("no column has a usual name for items. Add one of these options:", {
            **{f"--item {name}": "" for name in shared if gold_list.table.is_unique([name])},
            "--in-order": "all files have the same items in the same order"}, gold.path)
    documents = [name for name in columns_of(gold_list.table.names, "document") if [name] != keys and (
        ENOUGH_DOCUMENTS <= len({*gold_list.table.cells(name)}) < len(gold_list.rows))][:1]
    inclusive = any(span_list.is_inclusive for span_list in (gold_list, *system_lists))
    extra = {name: value for name, value in asked.options.items() if name in Spans.__dataclass_fields__}
    roles = [option("--item", name) for name in keys] or ["--in-order"]
    if len({span_list.column for span_list in (gold_list, *system_lists)}) == 1:
        roles.append(reader_option("spans", gold_list.column))
    plans = []
    for overlaps in ("reject", "allow"):
        options = {"item": keys, "inclusive": inclusive, "overlaps": overlaps, **extra}
        plans.append(Plan(gold, gold_list.reader({**options, "attributes": documents}), tuple(
            System(given.name, given.document, span_list.reader({**options, "spans": span_list.column}))
            for given, span_list in zip(systems, system_lists, strict=True)), ("--as spans", *roles),
            cluster=next(iter(documents), None),
            notes=(f"the end of a span is its last position ({gold_list.end!r})",) * inclusive))
        items = trial.items(gold, plans[-1].reader)
        if not isinstance(items, InputError) and not any(isinstance(trial.answers(
                plans[-1], items, system), InputError) for system in plans[-1].systems):
            return plans[-1]
    return plans[0]


def _list_of(document: Document, asked: Asked, gold: _List | None = None) -> _List | None:
    """Return the list of spans in each item: the one that the user names, one named as in the gold, or the only one."""
    table = read_table(document, asked.options)
    if table is None or "syntax" not in table.form:
        return None
    rows = json_objects(document, table)
    paths = list(dict.fromkeys(path for row in rows[:100] for path in _paths(row)))
    name = asked.options.get("spans")
    candidates: list[_List] = []
    for column in paths:
        lists = [get_value(row, column) for row in rows]
        spans = [span for candidate in lists if isinstance(candidate, list) for span in candidate]
        if all(candidate is None or isinstance(candidate, list) for candidate in lists) and (parts := _parts(spans)):
            candidates.append(_List(table, rows, column, *parts))
    candidates = [candidate for candidate in candidates if candidate.type] or candidates
    chosen = [candidate for candidate in candidates if candidate.column == name] or ([] if gold is None else [
        candidate for candidate in candidates if candidate.column == gold.column])
    if not chosen and gold is not None and not candidates and all(
            get_value(row, gold.column) in ([], None) for row in rows):
        return replace(gold, table=table, rows=rows)
    chosen = chosen or [candidate for candidate in candidates
                        if len(candidates) == 1 or _LISTS.search(candidate.column)]
    if len(chosen) > 1:
        raise QuestionError("several lists have spans. Add one of these options:", {
            f"--option spans={candidate.column}": "" for candidate in candidates}, document.path)
    return chosen[0] if chosen else None


def _paths(entry: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[str]:
    """Yield the paths to lists of lists or objects in a JSON object, also inside nested objects.

    The objects in a list are searched only if the list has a single member.
    """
    for name, value in entry.items():
        path = f"{prefix}{name}"
        if isinstance(value, list) and all(isinstance(member, list | Mapping) for member in value):
            yield path
        only = value[0] if isinstance(value, list) and len(value) == 1 else value
        if isinstance(only, Mapping) and depth < _DEEPEST and "." not in name:
            yield from _paths(only, f"{path}." if only is value else f"{path}.0.", depth + 1)


def _parts(spans: Sequence[Any]) -> tuple[str, str, str] | None:
    """Return the keys of start, end and type that all spans have; None if these are not spans."""
    if not spans:
        return None
    if all(isinstance(span, list) for span in spans):
        places = [("0", "1", "")] if {len(span) for span in spans} == {2} else [("0", "1", "2"), ("1", "2", "0")]
        return next((keys for keys in places if _fit(spans, *keys)), None)
    if not all(isinstance(span, Mapping) for span in spans):
        return None
    prefixes = ["", *(f"{name}." for name in spans[0] if isinstance(spans[0][name], Mapping))]
    for prefix in prefixes:
        for start, end in PLACES:
            for type_ in (*(f"{prefix}{name}{place}" for name in TYPES for place in ("", ".0")), ""):
                if _fit(spans, prefix + start, prefix + end, type_):
                    return prefix + start, prefix + end, type_
    return None


def _fit(spans: Sequence[Any], start: str, end: str, type_: str) -> bool:
    return all(type(get_value(span, name)) is int for span in spans for name in (start, end)) and (
        not type_ or all(isinstance(get_value(span, type_), str) and get_value(span, type_) is not ABSENT
                         and get_value(span, type_) for span in spans))
