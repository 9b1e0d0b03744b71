"""A set of answers per item, as JSON Lines: spans, relations, links, keywords, whatever has a key."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from registry.errors import InputError, suggest
from registry.items import Answer, AnswerSet, Item, Response
from registry.readers.names import NamedSetReader
from registry.readers.parsing.bounds import ONE_ROW
from registry.readers.parsing.document import Document
from registry.readers.parsing.json_lines import json_object

_KEYS = ("item", "answers", "attributes")
_ANSWER_KEYS = ("key", "type", "score")


class Responses(NamedSetReader):
    """One JSON object per item: `{"item": "s1", "answers": [...], "attributes": {"document": "d1"}}`.

    An answer is its key, as text, or `{"key": "3-7", "type": "causes", "score": 0.9}` with an optional type and, in
    submissions, an optional score, higher being better. No two answers to an item have the same key and type; the empty
    list is an answer too. Attributes of the gold's items are text. Blank lines are passed over.

    An answer's name is its type, or its key where it has none.
    """

    name = "responses"
    lines_per_item = ONE_ROW

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the gold answers, which have no scores."""
        document = documents["gold"]
        items = [Item(key, answers, attributes, line) for line, key, answers, attributes in _objects(document)]
        for item in items:
            if any(response.score is not None for response in item.gold.responses):
                raise document.error("a gold answer has a score, which nothing would read; leave it out", item.line,
                                     item.key)
        return items

    def parse_answers(self, document: Document) -> list[Answer]:
        """Read a system's answers; attributes are passed over."""
        return [Answer(key, answers, line) for line, key, answers, _ in _objects(document)]


def _objects(document: Document) -> Iterator[tuple[int, str, AnswerSet, dict[str, str]]]:
    for number, line in document.lines():
        if not line.strip(" \t"):
            continue
        try:
            found = _read(line, number, document)
        except InputError as error:
            document.report(error)
        else:
            yield found


def _read(line: str, number: int, document: Document) -> tuple[int, str, AnswerSet, dict[str, str]]:
    entry = json_object(line, document.path, number)
    try:
        _check_keys(entry, _KEYS, required=_KEYS[:2])
        return (number, _text(entry["item"], "item"), _answer_set(entry["answers"]),
                _attributes(entry.get("attributes", {})))
    except ValueError as error:
        item = entry.get("item")
        raise document.error(str(error), number, item if isinstance(item, str) else None) from None


def _answer_set(answers: Any) -> AnswerSet:
    if not isinstance(answers, list):
        raise ValueError(f"'answers' is {_shown(answers)}; expected a list")
    responses = sorted(map(_response, answers), key=lambda response: response[:2])
    for one, other in pairwise(responses):
        if one[:2] == other[:2]:
            of_type = f" of type {one.type!r}" if one.type else ""
            raise ValueError(f"answer {one.key!r}{of_type} stands twice; keep one")
    return AnswerSet(tuple(responses))


def _response(answer: Any) -> Response:
    if isinstance(answer, str):
        return Response(_text(answer, "key"))
    if not isinstance(answer, dict):
        raise ValueError(f"an answer is {_shown(answer)}; expected text, or an object with a key")
    _check_keys(answer, _ANSWER_KEYS, required=_ANSWER_KEYS[:1])
    type_, score = answer.get("type", ""), answer.get("score")
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float)
                              or not math.isfinite(score := _float(score))):
        raise ValueError(f"'score' is {_shown(score)}; expected a finite number")
    return Response(_text(answer["key"], "key"), type_ if type_ == "" else _text(type_, "type"), score)


def _float(number: float) -> float:
    try:
        return float(number) + 0.0  # -0.0 is 0.0
    except OverflowError:
        return math.inf


def _attributes(attributes: Any) -> dict[str, str]:
    if not isinstance(attributes, dict):
        raise ValueError(f"'attributes' is {_shown(attributes)}; expected an object of texts")
    return {_text(name, "attributes"): _text(value, name) for name, value in attributes.items()}


def _check_keys(entry: Mapping[str, Any], known: tuple[str, ...], required: tuple[str, ...]) -> None:
    if unknown := [key for key in entry if key not in known]:
        raise ValueError(f"unknown key {unknown[0]!r}; {suggest(unknown[0], known)}")
    if lacking := [key for key in required if key not in entry]:
        raise ValueError(f"no key {lacking[0]!r}")


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{key!r} is {_shown(value)}; expected text")
    if not value:
        raise ValueError(f"{key!r} is empty")
    if not value.isprintable():
        raise ValueError(f"{key!r} has a control or invisible character")
    return value


def _shown(value: Any) -> str:
    return json.dumps(value)[:60]
