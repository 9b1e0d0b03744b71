"""Forms of gold and answers: labels, numbers, spans, tags, sets, texts and rankings."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from registry.direct.form import Form, Row
from registry.errors import InputError, counted
from registry.items import Item
from registry.manifest.folder import json_lines
from registry.metrics import Metric
from registry.metrics.texts import ReferenceMetric
from registry.readers.bio import PREFIXES, Scheme, is_tag, suggest_tag


class Labels(Form):
    """Answers that are one label per item: a text, a whole number or a bool."""

    takes, reader = "label", "labels"

    @property
    def options(self) -> Row:
        return {"syntax": "jsonl"}

    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        return json_lines({"item": name, "label": label, **(attributes if gold else {})}
                          for name, label, attributes in self.iterate(values, to_label))


def to_label(value: Any) -> str:
    """Convert a value to the text of a label.

    A float without decimals becomes a whole number (2.0 -> '2'), because data frames store whole numbers as floats if
    values are missing.

    Raises:
        ValueError: The value is no label, such as 0.5 or an empty text.
    """
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{value!r} is not a label; expected text or a whole number; pass the class with the largest "
                         "probability, or use a metric of numbers such as MAE")
    if isinstance(value, str) and not value.strip():
        raise ValueError(f"{value!r:.60} is not a label; use None for a missing answer, and set missing= to 'worst' or "
                         "'drop'")
    if not isinstance(value, str | int | float):
        raise ValueError(f"{value!r:.60} is not a label; expected text or a whole number")
    return str(int(value)) if isinstance(value, float) else str(value)


class Numbers(Form):
    """Answers that are one number per item.

    With a gold, a number is an estimate of the gold's number. Without a gold, it is the score of the item.
    """

    takes, reader = "score", "scores"

    @property
    def options(self) -> Row:
        return {"syntax": "jsonl"} | self.attributes | ({} if self._has_no_gold else {"gold": "gold"})

    @cached_property
    def _has_no_gold(self) -> bool:
        return all(value is None for value in self.items.golds)

    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        if gold and self._has_no_gold:
            return json_lines({"item": name, **attributes}
                              for name, _, attributes in self.iterate([0] * len(values), to_number))
        return json_lines({"item": name, "gold" if gold else "score": number, **(attributes if gold else {})}
                          for name, number, attributes in self.iterate(values, to_number))


def to_number(value: Any) -> float:
    """Convert a value to a number; raise a ValueError for texts, nan and infinity."""
    if isinstance(value, bool):
        return int(value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, str | bytes) or not math.isfinite(number):
        raise ValueError(f"{value!r:.60} is not a finite number")
    return int(value) if isinstance(value, int) else number


class Spans(Form):
    """Answers that are a list of spans per item, such as [(0, 2, "PER")].

    A span is (start, end, type), (start, end) or a dict; the end is exclusive.
    """

    takes, reader = "span", "spans"

    @property
    def options(self) -> Row:
        return {"syntax": "jsonl"} | self.attributes | {"overlaps": "allow"} | ({} if self._is_typed else {"type": ""})

    @cached_property
    def _is_typed(self) -> bool:
        return {len(span) == 3 for _, spans, _ in self.iterate(self.items.golds, to_spans) for span in spans} != {False}

    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        return json_lines(self._rows(values, gold=gold))

    def _rows(self, values: Sequence[Any], *, gold: bool) -> Iterator[Row]:
        for name, spans, attributes in self.iterate(values, to_spans):
            more = attributes if gold else {}
            for span in spans or [(None, None, None)]:
                if (len(span) == 3) != self._is_typed and spans:
                    raise InputError(f"span {span!r} has {'no' if self._is_typed else 'a'} type, but the spans of the "
                                     f"gold have {'types' if self._is_typed else 'none'}; use the form of the "
                                     "gold", item=name)
                start, end, *type_ = span
                yield {"item": name, "start": start, "end": end, **({"type": type_[0]} if type_ else {}), **more}


def to_spans(value: Any) -> list[tuple[Any, ...]]:
    """Convert a list of spans to sorted tuples.

    Raises:
        ValueError: The value is no list of spans, or a span occurs twice.
    """
    if not is_collection(value):
        raise ValueError(f"{value!r:.60} is not a list of spans; expected (start, end, type) for each span")
    spans = sorted(map(to_span, value))
    if repeated := next((span for span, after in pairwise(spans) if span == after), None):
        raise ValueError(f"span {repeated!r} occurs twice; keep one")
    return spans


def to_span(value: Any) -> tuple[Any, ...]:
    """Convert a span to (start, end) or (start, end, type).

    Example: {"start": 0, "end": 2, "label": "PER"} -> (0, 2, "PER").

    Raises:
        ValueError: The value is no span.
    """
    if isinstance(value, Mapping):
        type_ = next((value[key] for key in ("type", "label", "entity", "entity_group") if key in value), None)
        value = (value.get("start"), value.get("end"), *([] if type_ is None else [type_]))
    try:
        start, end, *rest = value
        start, end = operator.index(start), operator.index(end)
    except (TypeError, ValueError):
        in_parts = "; spans of several parts are not supported" if is_collection(value) and any(
            map(is_collection, value)) else ""
        raise ValueError(f"{value!r:.60} is not a span; expected (start, end, type){in_parts}") from None
    if len(rest) > 1 or not all(isinstance(type_, str) and type_ for type_ in rest):
        raise ValueError(f"{value!r:.60} is not a span; expected (start, end, type), with text as type")
    return (start, end, *rest)


class Tags(Form):
    """Answers that are a list of tags per item, one tag per token.

    The tags follow the scheme IOB2, BIOES or BILOU, such as ["B-PER", "I-PER", "O"].
    """

    takes, reader, ending = "span", "bio", ".conll"

    @property
    def options(self) -> Row:
        return {"scheme": self._scheme, "invalid_tags": "begin", "comment": "#"}

    @cached_property
    def _scheme(self) -> Scheme:
        prefixes = {tag[0] for tags in self.items.golds for tag in tags}
        return "bioes" if prefixes & set("ES") else "bilou" if prefixes & set("LU") else "iob2"

    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        lines = []
        lengths = dict(zip(self.items.names, map(len, self.items.golds), strict=True))
        for name, tags, attributes in self.iterate(values, to_tags):
            if len(tags) != lengths[name]:
                raise InputError(f"the item has {counted(len(tags), 'tag')}, but the gold has {lengths[name]}; pass "
                                 "one tag for each token", item=name)
            if other_tag := next((tag for tag in tags if tag != "O" and tag[0] not in PREFIXES[self._scheme]), None):
                raise InputError(f"tag {other_tag!r} is not valid in the scheme of the gold, {self._scheme}; convert "
                                 "the tags", item=name)
            comments = {"id": name} | (attributes if gold else {})
            lines += [*(f"# {key} = {value}" for key, value in comments.items()),
                      *(f"{n}\t{tag}" for n, tag in enumerate(tags)), ""]
        return _lines(lines)


def to_tags(value: Any) -> list[str]:
    """Check a list of tags, such as ["B-PER", "O"], and return it.

    Raises:
        ValueError: The list is empty, or a tag is invalid.
    """
    if not isinstance(value, list | tuple) or not value or not all(
            isinstance(tag, str) and tag.strip() and tag.isprintable() for tag in value):
        raise ValueError(f"{value!r:.60} is not a list of tags; expected a tag for each token, such as O or B-PER")
    for n, tag in enumerate(value, 1):
        if not is_tag(tag):
            remedy = suggest_tag(tag) or "remove such tokens, or write 'O'"
            raise ValueError(f"token {n} has the tag {tag!r}; expected O, or a tag of IOB2, BIOES or BILOU such as "
                             f"B-PER; {remedy}")
    return list(value)


class Sets(Form):
    """Answers that are a set of texts per item, whose order does not matter."""

    takes, reader = "answer", "responses"

    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        return json_lines({"item": name, "answers": answers, **({"attributes": attributes} if gold else {})}
                          for name, answers, attributes in self.iterate(values, _answers))


def _answers(value: Any) -> list[str]:
    if not is_collection(value) or not all(isinstance(answer, str) for answer in value):
        raise ValueError(f"{value!r:.60} is not a set of answers; expected a set or list of text")
    if not isinstance(value, AbstractSet) and len(set(value)) < len(value):
        raise ValueError(f"an answer occurs twice in {value!r:.60}; remove one, or pass a set")
    return sorted(value)


class Texts(Form):
    """Answers that are a text per item, such as translations.

    The gold has one or several reference texts per item. Line breaks in texts become blanks.
    """

    takes, reader, ending = "segment", "lines", ".txt"

    @property
    def options(self) -> Row:
        return self.attributes | ({"check_order": False} if self.items.has_keys else {})

    @cached_property
    def _n_references(self) -> int:
        return max((1 if isinstance(gold, str) else len(gold) for gold in self.items.golds), default=1)

    def metric_options(self) -> Row:
        names = ["gold", *(f"reference{n}" for n in range(2, self._n_references + 1))]
        return {"references": names} if len(names) > 1 else {}

    def test_set(self) -> tuple[Row, dict[str, bytes]]:
        columns = list(zip(*(golds for _, golds, _ in self.iterate(self.items.golds, self._get_texts)), strict=True))
        files = {f"reference{n}.txt": _lines(texts) for n, texts in enumerate(columns, 1)}
        table: Row = {"name": "test", "gold": "reference1.txt", "format": self.reader, "options": self.options}
        if len(files) > 1:
            table["references"] = [{"name": name.removesuffix(".txt"), "path": name} for name in list(files)[1:]]
        if self.items.clusters is not None:
            table |= {"attributes": "clusters.txt", "cluster": "cluster"}
            files["clusters.txt"] = _lines(self.items.clusters)
        return table, files

    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:  # noqa: ARG002
        texts = {name: text for name, text, _ in self.iterate(values, to_line)}
        return _lines([texts.get(name, "") for name in self.items.names])

    def check_gold(self, metric: Metric) -> None:
        names = tuple(self.metric_options().get("references", ["gold"]))
        references = list(zip(*(golds for _, golds, _ in self.iterate(self.items.golds, self._get_texts)), strict=True))
        for n, texts in enumerate(references, 1):
            if not any(map(str.strip, texts)):
                raise InputError(
                    f"all {len(texts)} texts of the gold are empty; pass the references" if len(references) == 1 else
                    f"reference {n} of the gold is empty in all {len(texts)} items; remove it")
        if isinstance(metric, ReferenceMetric):
            replace(metric, references=names).check_gold([
                Item(name, dict(zip(names, golds, strict=True)))
                for name, golds, _ in self.iterate(self.items.golds, self._get_texts)])

    def is_blank(self, value: Any, gold: Any) -> bool:
        texts = [gold] if isinstance(gold, str) else gold
        return isinstance(value, str) and not value.strip() and any(map(str.strip, texts))

    def _get_texts(self, gold: Any) -> list[str]:
        texts = list(map(to_line, [gold] if isinstance(gold, str) else gold))
        return texts + [""] * (self._n_references - len(texts))


def to_line(value: Any) -> str:
    """Return a text with blanks instead of line breaks."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.60} is not text; expected text")
    return " ".join(value.splitlines())


def is_collection(value: Any) -> bool:
    """Return True if a value is a list, a tuple or a set."""
    return isinstance(value, list | tuple | AbstractSet)


def _lines(texts: Sequence[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


class Rankings(Form):
    """Answers that are a ranking of documents per query, as a dict.

    The gold maps each document to its relevance. The output of a system maps each document to its score.
    """

    takes, reader, ending = "ranking", "trec", ".trec"

    def test_set(self) -> tuple[Row, dict[str, bytes]]:
        if self.items.clusters is not None:
            raise InputError("rankings do not support clusters=, because queries are the units; remove it")
        if spaced := [name for name in self.items.names if re.search(r"\s", name)]:
            raise InputError("the name of this query has a blank; rename the query", item=spaced[0])
        return super().test_set()

    def is_blank(self, value: Any, gold: Any) -> bool:  # noqa: ARG002
        return isinstance(value, Mapping) and not value

    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        lines = []
        for name, ranked, _ in self.iterate(values, _documents):
            for document, grade in ranked.items() if gold else ():
                if grade != int(grade):
                    raise InputError(f"the relevance of {document!r:.60} is {grade}; expected a whole "
                                     "number", item=name)
            # Ranks are in the order of the dict if scores are equal, so that warnings about ties can count them.
            by_score = sorted(ranked.items(), key=lambda entry: -entry[1])
            lines += [f"{name} 0 {document} {int(number)}" if gold else f"{name} Q0 {document} {rank} {number!r} system"
                      for rank, (document, number) in enumerate(by_score, 1)]
        return _lines(lines)


def _documents(value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{value!r:.60} is not a dict of documents; expected document names with numbers")
    for name in value:
        if not str(name).strip() or re.search(r"\s", str(name)):
            raise ValueError(f"the name of document {name!r:.60} is empty or has a blank; rename the document")
    return {str(name): to_number(number) for name, number in value.items()}
