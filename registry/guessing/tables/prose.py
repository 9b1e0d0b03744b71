"""Columns of texts in tables: what their names say of them, and whether they are some."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import mean

from registry.guessing.guess import Asked
from registry.guessing.looks import WORDS, Column, Table
from registry.guessing.tables.keys import Matched
from registry.guessing.words import bleu_of, n_words
from registry.metrics import CER, WER, Metric

_REFERENCES = frozenset(("expected", "gold", "golden", "groundtruth", "gt", "highlights", "ref", "reference",
                         "references", "refs", "target", "targets", "truth"))
_ANSWERS = frozenset(("candidate", "decoded", "generated", "generation", "hyp", "hypo", "hypotheses", "hypothesis",
                      "model", "mt", "pred", "predict", "predicted", "prediction", "predictions", "preds", "response",
                      "system"))
_SOURCES = frozenset(("source", "src"))
_GIVEN = _SOURCES | {"article", "code", "context", "conversation", "dialog", "dialogue", "document", "input", "inputs",
                     "instruction", "instructions", "passage", "prompt", "query", "question", "sources", "story"}
_PLAIN = frozenset(("content", "sentence", "segment", "str", "text"))  # say nothing at a name's end
_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_RECORDING = re.compile(r".*\.(?:flac|m4a|mp3|ogg|opus|sph|wav)", re.IGNORECASE)


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)]


def is_reference(name: str) -> bool:
    """Whether a column is called as one of references.

    >>> [name for name in ("ref", "goldText", "Predicted Target", "reference_summary", "output") if is_reference(name)]
    ['ref', 'goldText', 'reference_summary']
    """
    words = _words(name)
    return not _REFERENCES.isdisjoint(words) and not is_answer(name)


def is_answer(name: str) -> bool:
    """Whether a column is called as one of what systems wrote: `pred_text`, `generated`, `Hypothesis`."""
    return not _ANSWERS.isdisjoint(_words(name))


def is_given(name: str) -> bool:
    """Whether a column is called as one of what systems were given.

    >>> [name for name in ("source", "input_text", "doc.source", "document_summary", "ref_context") if is_given(name)]
    ['source', 'input_text', 'doc.source']
    """
    return _last(name) in _GIVEN and not is_reference(name) and not is_answer(name)


def is_source(name: str) -> bool:
    """Whether a column is called as that of sources."""
    return _last(name) in _SOURCES and not is_reference(name) and not is_answer(name)


def _last(name: str) -> str:
    words = _words(name)
    while len(words) > 1 and words[-1] in _PLAIN:
        words.pop()
    return words[-1] if words else ""


def is_text(column: Column) -> bool:
    """Whether cells are mostly different ones of several words."""
    filled = [cell for cell in column.cells if cell.strip()]
    return 2 * len({*filled}) > len(filled) > 0 and mean(map(n_words, filled)) >= WORDS


def texts_of(table: Table, keys: Sequence[int], asked: Asked) -> list[int]:
    """The columns of text; where texts are asked for and none are of several words, any of words."""
    columns = [(n, column) for n, column in enumerate(table.columns) if n not in keys]
    found = [n for n, column in columns if is_text(column)]
    if (found and asked.options.get("text") not in {*table.names} - {table.names[n] for n in found}) or (
            asked.kind is None and asked.metric is None and "text" not in asked.options):
        return found
    return [n for n, column in columns if any(map(str.strip, column.values)) and not column.is_numeric]


def metric_of(table: Table, n: int) -> Metric | None:
    """The metric of texts in a column: of what was heard, where another one names recordings, the rate of errors.

    For scripts without blanks it is of characters. None is the usual one of texts.
    """
    of_characters = bleu_of(table.column(n).cells)
    is_heard = any(2 * sum(_RECORDING.fullmatch(cell) is not None for cell in table.column(m).cells) > len(table.rows)
                   for m in range(len(table.names)) if m != n)
    return of_characters if not is_heard else WER() if of_characters is None else CER()


def has_text_above(table: Table) -> bool:
    """Whether what would be a column's name is a text itself."""
    return table.header and any(n_words(name) >= WORDS and is_text(table.column(n))
                                for n, name in enumerate(table.names))


def repeats(gold: Matched, n: int, one: Matched, m: int) -> bool:
    """Whether a system's column `m` has the texts of the gold's column `n`, of the items that it has."""
    right = gold.of_items(n)
    return all(right.get(key, cell) == cell for key, cell in one.pairs(m))
