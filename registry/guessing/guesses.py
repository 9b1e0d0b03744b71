"""All that files may be: what is compared with a gold, a column of scores in each of them, or one table of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from shlex import quote

from registry.guessing.answer_logs import AnswerLog
from registry.guessing.files import Files
from registry.guessing.formats.marked import marked, unlike
from registry.guessing.formats.rankings import rankings
from registry.guessing.formats.span_lists import span_lists
from registry.guessing.formats.tagged import tagged
from registry.guessing.formats.texts import texts
from registry.guessing.guess import LIKELY, OPEN, SURE, Asked, Guess, gold_option
from registry.guessing.tables.apiece import apiece
from registry.guessing.tables.flags import flags
from registry.guessing.tables.keyed import VALUE, keyed
from registry.guessing.tables.named import named
from registry.guessing.tables.positional import positional
from registry.guessing.tables.wide import wide
from registry.guessing.tables.written import are_references, beside_texts, written, written_wide
from registry.guessing.trial import Trial
from registry.readers import Document


def guesses(given: Files, asked: Asked, trial: Trial, log: AnswerLog | None = None) -> Iterator[Guess]:
    """All guesses; that each file is one system's alone where none is called the gold.

    Of logs, columns of 0 and 1 beside the gold's and the systems' answers are no labels.
    """
    for guess in _all_guesses(given, asked, trial, has_flags=log is None):
        if log is None or log.allows(guess):
            yield guess


def _all_guesses(given: Files, asked: Asked, trial: Trial, *, has_flags: bool) -> Iterator[Guess]:
    gold, systems, _, named_as, no_gold, _ = given
    if not systems:
        yield from _of_all(gold, asked)
        return
    apart = [] if named_as is None or "text" in asked.options else list(apiece(named_as, asked))
    prose = list(written(gold, named_as, systems, asked)) if apart and "score" not in asked.options else []
    apart = beside_texts(apart, prose)
    if prose := [one for one in prose if any(system.document.path == gold.path for system in one.systems)]:
        yield from _all_open([*prose, *apart]) if apart else prose
        return
    yield from apart
    if no_gold is None and all(guess.sure < SURE for guess in apart):
        for guess in _with_gold(given, asked, trial, has_flags=has_flags):
            if given.is_gold_named or not guess.has_gold_file:
                yield guess
            elif apart and guess.reader.name in (*VALUE, "multilabel"):
                yield _or_apart(guess)
            else:
                yield _with_gold_option(guess, guess.answer) if guess.answer else guess


def _with_gold(given: Files, asked: Asked, trial: Trial, *, has_flags: bool) -> Iterator[Guess]:
    """Guesses with a gold; text only where nothing else could be meant, and the gold's lines tell no other format."""
    gold, systems = given.gold, given.systems
    found = list(chain(marked(gold, systems, asked, trial), tagged(gold, systems, asked, trial)))
    found = found or list(rankings(gold, systems, asked, trial))
    for family in (span_lists, *((flags,) if has_flags else ()), named, keyed, positional):
        if all(guess.sure == OPEN and guess.answer for guess in found):
            found = _all_open([*found, *family(gold, systems, asked)]) if found else list(family(gold, systems, asked))
    prose = list(written(gold, given.named, systems, asked))
    if all(guess.sure == OPEN for guess in found):
        found = [*prose, *beside_texts(found, prose)]
    elif any(are_references(guess) for guess in prose):
        found = _all_open([*found, *prose])
    text: list[Guess] = []
    if (asked.kind is not None or unlike(gold, systems) is None) and all(
            guess.sure < SURE or getattr(guess.reader, "separator", "") == "whitespace" for guess in found):
        text = list(texts(gold, systems, asked, beside=max((guess.sure for guess in found), default=None)))
    if any(guess.sure == OPEN for guess in text):
        found = [*(guess for guess in found if guess.sure == SURE), *_all_open([
            guess for guess in found if guess.sure < SURE])]
    yield from (*found, *text)


def _of_all(table: Document, asked: Asked) -> Sequence[Guess]:
    """Guesses of one file that holds all."""
    text = list(written_wide(table, asked))
    others = list(span_lists(table, (), asked)) or [one for one in wide(table, asked) if one.systems or not text]
    return _all_open([*text, *others]) if text and others else text or others


def _all_open(guesses: Sequence[Guess]) -> list[Guess]:
    """Guesses of other formats, of which it has to be said which is meant."""
    return [replace(guess, sure=OPEN, answer=guess.answer or f"--as {guess.reader.name}") for guess in guesses]


def _or_apart(guess: Guess) -> Guess:
    """Return a guess with a gold as an answer to a question, because all files may also have scores of a system."""
    column, _ = VALUE.get(guess.reader.name, ("", ""))
    answer = f"--option {quote(f'{column}={getattr(guess.reader, column)}')}" if column else ""
    return _with_gold_option(replace(guess, sure=min(LIKELY if column else OPEN, guess.sure)), answer)


def _with_gold_option(guess: Guess, answer: str) -> Guess:
    """Return a guess whose answer names the gold's file as well."""
    return replace(guess, answer=f"{gold_option(guess.gold)} {answer}".strip(),
                   means=f"{guess.gold.path} is the gold: {guess.means}")
