"""Tagged text: a token and its tag on each line, blank lines between sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from registry.errors import counted
from registry.guessing.guess import LIKELY, SURE, Asked, Given, Guess, System
from registry.guessing.looks import ENOUGH_DOCUMENTS, is_number, text_lines
from registry.guessing.records import mended
from registry.guessing.trial import Trial
from registry.items import Answer, Item
from registry.readers import Bio, Document
from registry.readers.bio import is_tag, suggest_tag
from registry.readers.parsing.delimited import split

TAGS = 0.98  # the share of a column's cells that are tags at the least; the reader tells of the others
ALIKE = 0.8  # the share of tokens that are the gold's, of a file that is let pass with others
_SAID = ("outside", "invalid_tags", "comments")  # of tags and lines, in all files
_SCHEMES = ("iob2", "iob1", "bioes", "bilou")


@dataclass(frozen=True)
class _Form:
    """How a file of tagged text is written: the separator, its columns, those of tokens and tags, what is no token.

    `names` are those of the columns, where the first line gives them; `said` are options that the user gives of all.
    """

    separator: str
    width: int
    token: int
    tags: tuple[int, ...]
    comment: bool
    docstart: bool
    mended: Mapping[str, Any]
    names: tuple[str, ...] = ()
    said: Mapping[str, Any] = field(default_factory=dict)

    def name(self, n: int) -> str:
        """What a column of tags is called."""
        return self.names[n] if self.names else f"column{n + 1}"

    def options(self, tag: int) -> dict[str, Any]:
        """The reader's options where tags stand in one of the columns."""
        names = [f"column{n + 1}" for n in range(self.width)]
        names[self.token] = "token"
        label = names[tag] if len(self.tags) > 1 else "label"
        names[tag] = label
        columns = {"columns": names, "label": label} if not self.names else {
            "header": True, "token": self.names[self.token], "label": self.names[tag]}
        return {"separator": self.separator, **columns,
                **({"comment": "#"} if self.comment else {}), **({"docstart": "-DOCSTART-"} if self.docstart else {}),
                **self.mended, **self.said}


def tagged(gold: Document, systems: Sequence[Given], asked: Asked, trial: Trial) -> Iterator[Guess]:
    """Guess scheme and columns of tagged text."""
    if not asked.allows("bio", "span"):
        return
    forms = list(_forms(gold))
    if not forms:
        _refuse_unusual_tags(gold)
    for form in forms:
        theirs = [next(_forms(given.document), None) for given in systems]
        found = [one for one in theirs if one is not None]
        if len(found) == len(systems):
            said = {name: value for name, value in asked.options.items() if name in _SAID}
            if any(given.document.path == gold.path for given in systems):
                form = replace(form, tags=_repeated(gold, form, [given.document for given in systems]) or form.tags)
            form, found = replace(form, said=said), [replace(one, said=said) for one in found]
            guesses = list(_of_form(gold, form, list(zip(systems, found, strict=True)), asked, trial))
            yield from [one for one in guesses if not _is_copied(one, trial)] or guesses


def _repeated(gold: Document, form: _Form, others: Sequence[Document]) -> tuple[int, ...]:
    """The columns of tags that all files have alike: the gold's, where it is named as a system's file too."""
    rows = [[split(line, form.separator) for _, line in text_lines(document) if line.strip()] for document in (
        gold, *others)]
    of_all = {n: [[row[n] if n < len(row) else "" for row in of] for of in rows] for n in form.tags}
    return tuple(n for n, cells in of_all.items() if all(one == cells[0] for one in cells))


def _of_form(gold: Document, form: _Form, systems: Sequence[tuple[Given, _Form]], asked: Asked,
             trial: Trial) -> Iterator[Guess]:
    for tag in form.tags:
        if not asked.names("label", [form.name(n) for n in form.tags], form.name(tag)):
            continue
        for scheme in _SCHEMES:
            for lenient, more in ((False, {}), (True, {"invalid_tags": "begin"})):
                reader = Bio.build({"scheme": scheme, **more, **form.options(tag)})
                items = trial.items(gold, reader)
                if not isinstance(items, Exception):
                    yield _guess((gold, reader, items), systems, trial, lenient=lenient, several=len(form.tags) > 1)


def _is_copied(guess: Guess, trial: Trial) -> bool:
    """Whether all systems have the gold's tags, as of a column that their files repeat."""
    items = trial.items(guess.gold, guess.reader)
    joined = [] if isinstance(items, Exception) else [trial.joined(guess, items, system) for system in guess.systems]
    return bool(joined) and not isinstance(items, Exception) and all(
        not isinstance(one, Exception) and _is_gold(items, one.answers) for one in joined)


def _guess(of: tuple[Document, Bio, Sequence[Item]], systems: Sequence[tuple[Given, _Form]], trial: Trial, *,
           lenient: bool, several: bool) -> Guess:
    gold, reader, items = of
    chosen = [_system(of, given, form, trial) for given, form in systems]
    spans = Counter(span.type for item in items for span in item.gold.spans)
    types = ", ".join(name for name, _ in spans.most_common(5)) + (" ..." if len(spans) > 5 else "")
    found = f"{counted(spans.total(), 'span')} ({types}) in {counted(len(items), 'sentence')}"
    why = [f"{gold.path}: a token on each line, its tag in {_column(reader)}, "
           f"{'tabs' if reader.separator == 'tab' else 'blanks'} between them",
           f"scheme {reader.scheme}: {found}" + (
               ", though some tags begin with I- (invalid_tags = begin)" if lenient else ", no tag against it")]
    others = {system.name: ", ".join(_differing(system, reader)) for system in chosen}
    why += [f"otherwise {name}: {how}" for name, how in others.items() if how]
    groups = {item.attributes.get("document", "") for item in items}
    cluster = "document" if "" not in groups and ENOUGH_DOCUMENTS <= len(groups) < len(items) else None
    if cluster:
        why.append(f"comments name {len(groups)} documents, whose sentences are not independent: whole documents are "
                   "swapped")
    is_open = several if reader.header else len(reader.columns) > 2 and reader.label != "label"
    sure = LIKELY if lenient or is_open else SURE
    return Guess(gold, reader, tuple(chosen), tuple(why), sure, f"tags in {reader.label}: {types}", cluster=cluster)


def _column(reader: Bio) -> str:
    """The column of tags, by its name or place."""
    return f"column {reader.label!r}" if reader.header else (
        f"column {reader.columns.index(reader.label) + 1} of {len(reader.columns)}")


def _differing(system: System, gold: Bio) -> Iterator[str]:
    """Say how a system's file is written otherwise than the gold."""
    reader = system.reader
    if isinstance(reader, Bio) and _column(reader) != _column(gold):
        yield f"tags in {_column(reader)}"
    for name in ("separator", "scheme", "invalid_tags", "boundaries"):
        if (value := getattr(reader, name)) != getattr(gold, name):
            yield f"{name} = {value}"
    if system.tokens == "warn":
        yield "some tokens differ from the gold's"


def _system(of: tuple[Document, Bio, Sequence[Item]], given: Given, form: _Form, trial: Trial) -> System:
    """The first way in which a system's file goes with the gold: as strictly, and as the gold, as can be.

    Of several columns of tags it is the last one, unless that repeats the gold's.
    """
    gold, reader, items = of
    readers = []
    same = [form.names.index(reader.label)] if reader.header and reader.label in form.names else []
    for tag in same or reversed(form.tags):
        options = form.options(tag)
        readers += [Bio.build({**options, "scheme": scheme}) for scheme in (
            reader.scheme, *(other for other in _SCHEMES if other != reader.scheme))]
        readers.append(Bio.build({**options, "scheme": reader.scheme, "invalid_tags": "begin", **form.said}))
        readers += [Bio.build({**options, "scheme": scheme, "boundaries": "gold"}) for scheme in _SCHEMES]
    tried = [System(given.name, given.document, one) for one in readers]
    tried += [System(given.name, given.document, one, "warn") for one in readers]
    guess, found = Guess(gold, reader, (), ()), []
    for system in tried:
        joined = trial.joined(guess, items, system)
        if not isinstance(joined, Exception) and (system.tokens == "reject" or _alike(items, joined.answers)):
            found.append(system)
            if same or len(form.tags) == 1 or not _is_gold(items, joined.answers):
                return system
    return (found or tried)[0]


def _is_gold(items: Sequence[Item], answers: Sequence[Answer | None]) -> bool:
    return all(answer is not None and answer.value.spans == item.gold.spans
               for item, answer in zip(items, answers, strict=True))


def _alike(items: Sequence[Item], answers: Sequence[Answer | None]) -> bool:
    """Whether most tokens of a file are the gold's."""
    pairs = [(item.gold.tokens, answer.value.tokens) for item, answer in zip(items, answers, strict=True)
             if answer is not None]
    same = sum(a == b for mine, theirs in pairs for a, b in zip(mine, theirs, strict=True))
    return bool(same >= ALIKE * sum(len(mine) for mine, _ in pairs))


def _refuse_unusual_tags(document: Document) -> None:
    """Raise an error for a column of tags that are written unusually, such as B_PER, in lines with blank ones between.

    Raises:
        InputError: There is one; names its first such tag, with what to write instead.
    """
    lines = [(number, line) for number, line in text_lines(document) if not line.startswith(("#", "-DOCSTART-"))]
    filled = [(number, line) for number, line in lines if line.strip()]
    if all(line.strip() for _, line in lines[:-1]):
        return
    for separator in ("tab", "whitespace"):
        for column in zip(*(split(line, separator)[1:] for _, line in filled), strict=False):
            remedies = [None if is_tag(cell) else suggest_tag(cell) for cell in column]
            n_usual = sum(map(is_tag, column))
            if "O" in map(str.upper, column) and n_usual + sum(map(bool, remedies)) >= TAGS * len(column):
                number, tag, remedy = next((number, cell, remedy) for (number, _), cell, remedy in zip(
                    filled, column, remedies, strict=True) if remedy)
                raise document.error(f"tag {tag!r} is neither O nor a prefix of a scheme, a hyphen and a type; "
                                     f"{remedy}", number, category="tag")


def _forms(document: Document) -> Iterator[_Form]:
    """The ways in which a file is tagged text."""
    lines = [line for _, line in text_lines(document)]
    filled = [line for line in lines if line.strip()]
    is_one = all(line.strip() for line in lines[:-1])  # sentence, unless columns have names
    for separator in ("tab", "whitespace"):
        rows = [split(line, separator) for line in filled]
        plain = [row for row in rows if not row[0].startswith(("#", "-DOCSTART-"))] or rows
        if not plain:
            return
        (width, times), = Counter(map(len, plain)).most_common(1)
        if width < 2 or times < TAGS * len(plain):
            continue
        even = [row for row in plain if len(row) == width]
        is_header = len(even) > 2 and even[0] is plain[0] and len(set(even[0])) == width and _is_header(even)
        names = tuple(even.pop(0)) if is_header else ()
        tags = tuple(n for n in range(1, width) if sum(
            is_tag(row[n]) for row in even) >= TAGS * len(even))
        token = next((n for n in range(width) if n not in tags and not all(is_number(row[n]) for row in even)), None)
        if tags and token is not None and (names or not is_one):
            comments = any(row[0].startswith("#") and (len(row) != width or "=" in row) for row in rows)
            yield _Form(separator, width, token, tags, comments, any(row[0].startswith("-DOCSTART-") for row in rows),
                        mended(document), names)


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row has no tag where all others have one."""
    tags = [n for n in range(1, len(rows[0])) if all(is_tag(row[n]) for row in rows[1:])]
    return bool(tags) and not any(is_tag(rows[0][n]) for n in tags)
