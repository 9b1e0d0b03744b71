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
    """One label for each item: a text, a whole number, or a bool."""

    takes, reader = "label", "labels"

    @property
    def options(self) -> Row:
        return {"syntax": "jsonl"}

    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        return json_lines({"item": name, "label": label, **(attributes if gold else {})}
                          for name, label, attributes in self.iterate(values, label_of))


def label_of(value: Any) -> str:
    """Return a label as text.

    A float without decimals is written as a whole number, because whole numbers become floats in columns with missing
    values.
    """
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{value!r} is no label; expected text or a whole number: take the class with the largest "
                         "probability, or a metric of numbers such as MAE")
    if isinstance(value, str) and not value.strip():
        raise ValueError(f"{value!r:.60} is no label; None is no answer, and missing= says what that is")
    if not isinstance(value, str | int | float):
        raise ValueError(f"{value!r:.60} is no label; expected text or a whole number")
    return str(int(value)) if isinstance(value, float) else str(value)


class Numbers(Form):
    """One number for each item: the score of the item, or, with a gold, an estimate of the gold's number."""

    takes, reader = "score", "scores"

    @property
    def options(self) -> Row:
        return {"syntax": "jsonl"} | self.attributes | ({} if self._bare else {"gold": "gold"})

    @cached_property
    def _bare(self) -> bool:
        return all(value is None for value in self.items.golds)

    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        if gold and self._bare:
            return json_lines({"item": name, **attributes}
                              for name, _, attributes in self.iterate([0] * len(values), number_of))
        return json_lines({"item": name, "gold" if gold else "score": number, **(attributes if gold else {})}
                          for name, number, attributes in self.iterate(values, number_of))


def number_of(value: Any) -> float:
    """Return a value as a finite number."""
    if isinstance(value, bool):
        return int(value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, str | bytes) or not math.isfinite(number):
        raise ValueError(f"{value!r:.60} is no finite number")
    return int(value) if isinstance(value, int) else number


class Spans(Form):
    """A list of spans for each item: (start, end, type), (start, end), or dicts; the end is exclusive."""

    takes, reader = "span", "spans"

    @property
    def options(self) -> Row:
        return {"syntax": "jsonl"} | self.attributes | {"overlaps": "allow"} | ({} if self._typed else {"type": ""})

    @cached_property
    def _typed(self) -> bool:
        return {len(span) == 3 for _, spans, _ in self.iterate(self.items.golds, spans_of) for span in spans} != {False}

    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        return json_lines(self._rows(values, gold=gold))

    def _rows(self, values: Sequence[Any], *, gold: bool) -> Iterator[Row]:
        for name, spans, attributes in self.iterate(values, spans_of):
            more = attributes if gold else {}
            for span in spans or [(None, None, None)]:
                if (len(span) == 3) != self._typed and spans:
                    raise InputError(f"{span!r} is a span {'without' if self._typed else 'with'} a type, unlike the "
                                     "gold's", item=name)
                start, end, *type_ = span
                yield {"item": name, "start": start, "end": end, **({"type": type_[0]} if type_ else {}), **more}


def spans_of(value: Any) -> list[tuple[Any, ...]]:
    """Return the spans of an item in order; a span that occurs twice raises an error, as in files."""
    if not is_many(value):
        raise ValueError(f"{value!r:.60} is no list of spans; expected (start, end, type) for each")
    spans = sorted(map(span_of, value))
    if twice := next((span for span, after in pairwise(spans) if span == after), None):
        raise ValueError(f"span {twice!r} occurs twice; keep one")
    return spans


def span_of(value: Any) -> tuple[Any, ...]:
    """Return a span as (start, end) or (start, end, type)."""
    if isinstance(value, Mapping):
        type_ = next((value[key] for key in ("type", "label", "entity", "entity_group") if key in value), None)
        value = (value.get("start"), value.get("end"), *([] if type_ is None else [type_]))
    try:
        start, end, *rest = value
        start, end = operator.index(start), operator.index(end)
    except (TypeError, ValueError):
        in_parts = "; a span has one part" if is_many(value) and any(map(is_many, value)) else ""
        raise ValueError(f"{value!r:.60} is no span; expected (start, end, type){in_parts}") from None
    if len(rest) > 1 or not all(isinstance(type_, str) and type_ for type_ in rest):
        raise ValueError(f"{value!r:.60} is no span; expected (start, end, type), the type as text")
    return (start, end, *rest)


class Tags(Form):
    """A list of tags for each item, with one tag per token, in IOB2 or a similar scheme."""

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
        for name, tags, attributes in self.iterate(values, tags_of):
            if len(tags) != lengths[name]:
                raise InputError(f"{counted(len(tags), 'tag')} where the gold has {lengths[name]}", item=name)
            if wrong := next((tag for tag in tags if tag != "O" and tag[0] not in PREFIXES[self._scheme]), None):
                raise InputError(f"tag {wrong!r} is of another scheme than the gold's, {self._scheme}", item=name)
            comments = {"id": name} | (attributes if gold else {})
            lines += [*(f"# {key} = {value}" for key, value in comments.items()),
                      *(f"{n}\t{tag}" for n, tag in enumerate(tags)), ""]
        return _lines(lines)


def tags_of(value: Any) -> list[str]:
    """Return the tags of an item; raise an error if the list is empty or a tag is invalid."""
    if not isinstance(value, list | tuple) or not value or not all(
            isinstance(tag, str) and tag.strip() and tag.isprintable() for tag in value):
        raise ValueError(f"{value!r:.60} is no list of tags; expected one for each token, such as O and B-PER")
    for n, tag in enumerate(value, 1):
        if not is_tag(tag):
            remedy = suggest_tag(tag) or "leave such tokens out, or write 'O'"
            raise ValueError(f"token {n} has the tag {tag!r}, which is neither O nor a prefix of IOB2, BIOES or BILOU, "
                             f"a hyphen and a type; {remedy}")
    return list(value)


class Sets(Form):
    """An unordered set of answers for each item."""

    takes, reader = "answer", "responses"

    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        return json_lines({"item": name, "answers": answers, **({"attributes": attributes} if gold else {})}
                          for name, answers, attributes in self.iterate(values, _answers))


def _answers(value: Any) -> list[str]:
    if not is_many(value) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{value!r:.60} is no set of answers; expected texts")
    if not isinstance(value, AbstractSet) and len(set(value)) < len(value):
        raise ValueError(f"an answer occurs twice in {value!r:.60}; give each once, or sets")
    return sorted(value)


class Texts(Form):
    """A text for each item, with one or several references; line breaks become blanks."""

    takes, reader, ending = "segment", "lines", ".txt"

    @property
    def options(self) -> Row:
        return self.attributes | ({"check_order": False} if self.items.keyed else {})

    @cached_property
    def _references(self) -> int:
        return max((1 if isinstance(gold, str) else len(gold) for gold in self.items.golds), default=1)

    def metric_options(self) -> Row:
        names = ["gold", *(f"reference{n}" for n in range(2, self._references + 1))]
        return {"references": names} if len(names) > 1 else {}

    def test_set(self) -> tuple[Row, dict[str, bytes]]:
        columns = list(zip(*(golds for _, golds, _ in self.iterate(self.items.golds, self._of_item)), strict=True))
        files = {f"reference{n}.txt": _lines(texts) for n, texts in enumerate(columns, 1)}
        table: Row = {"name": "test", "gold": "reference1.txt", "format": self.reader, "options": self.options}
        if len(files) > 1:
            table["references"] = [{"name": name.removesuffix(".txt"), "path": name} for name in list(files)[1:]]
        if self.items.clusters is not None:
            table |= {"attributes": "clusters.txt", "cluster": "cluster"}
            files["clusters.txt"] = _lines(self.items.clusters)
        return table, files

    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:  # noqa: ARG002
        texts = {name: text for name, text, _ in self.iterate(values, text_of)}
        return _lines([texts.get(name, "") for name in self.items.names])

    def check_gold(self, metric: Metric) -> None:
        names = tuple(self.metric_options().get("references", ["gold"]))
        references = list(zip(*(golds for _, golds, _ in self.iterate(self.items.golds, self._of_item)), strict=True))
        for n, texts in enumerate(references, 1):
            if not any(map(str.strip, texts)):
                raise InputError(
                    f"all {len(texts)} texts of the gold are empty; give the references" if len(references) == 1 else
                    f"reference {n} of the gold is empty in all {len(texts)} items; leave it out")
        if isinstance(metric, ReferenceMetric):
            replace(metric, references=names).check_gold([
                Item(name, dict(zip(names, golds, strict=True)))
                for name, golds, _ in self.iterate(self.items.golds, self._of_item)])

    def is_blank(self, value: Any, gold: Any) -> bool:
        texts = [gold] if isinstance(gold, str) else gold
        return isinstance(value, str) and not value.strip() and any(map(str.strip, texts))

    def _of_item(self, gold: Any) -> list[str]:
        texts = list(map(text_of, [gold] if isinstance(gold, str) else gold))
        return texts + [""] * (self._references - len(texts))


def text_of(value: Any) -> str:
    """Return a text as one line."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.60} is no text")
    return " ".join(value.splitlines())


def is_many(value: Any) -> bool:
    """Return True if a value is a list, a tuple or a set."""
    return isinstance(value, list | tuple | AbstractSet)


def _lines(texts: Sequence[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


class Rankings(Form):
    """A dict for each query: the relevance of each document in the gold, its score in the output of a system."""

    takes, reader, ending = "ranking", "trec", ".trec"

    def test_set(self) -> tuple[Row, dict[str, bytes]]:
        if self.items.clusters is not None:
            raise InputError("rankings take no clusters: queries are units")
        if spaced := [name for name in self.items.names if re.search(r"\s", name)]:
            raise InputError("there is a blank in the name of a query", item=spaced[0])
        return super().test_set()

    def is_blank(self, value: Any, gold: Any) -> bool:  # noqa: ARG002
        return isinstance(value, Mapping) and not value

    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        lines = []
        for name, ranked, _ in self.iterate(values, _documents):
            for document, grade in ranked.items() if gold else ():
                if grade != int(grade):
                    raise InputError(f"the relevance of {document!r:.60} is {grade}, no whole number", item=name)
            lines += [f"{name} 0 {document} {int(number)}" if gold else f"{name} Q0 {document} 0 {number!r} system"
                      for document, number in ranked.items()]
        return _lines(lines)


def _documents(value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{value!r:.60} is no dict of documents")
    for name in value:
        if not str(name).strip() or re.search(r"\s", str(name)):
            raise ValueError(f"document {name!r:.60} is empty or has a blank in its name")
    return {str(name): number_of(number) for name, number in value.items()}
