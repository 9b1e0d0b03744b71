"""All that files may be: what is compared with a gold, a column of scores in each of them, or one table of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from shlex import quote

from registry.errors import InputError
from registry.guessing.files import Files, is_answers
from registry.guessing.formats.marked import marked, unlike
from registry.guessing.formats.rankings import rankings
from registry.guessing.formats.span_lists import span_lists
from registry.guessing.formats.tagged import tagged
from registry.guessing.formats.texts import texts
from registry.guessing.guess import LIKELY, OPEN, SURE, Asked, Guess
from registry.guessing.tables.apiece import apiece, may_score_lines
from registry.guessing.tables.flags import flags
from registry.guessing.tables.keyed import VALUE, keyed
from registry.guessing.tables.long import directions
from registry.guessing.tables.named import named
from registry.guessing.tables.positional import positional
from registry.guessing.tables.roles import GOLDS
from registry.guessing.tables.wide import wide
from registry.guessing.tables.written import are_references, beside_texts, written, written_wide
from registry.guessing.trial import Trial
from registry.readers import Document, Texts


def guesses(given: Files, asked: Asked, trial: Trial) -> Iterator[Guess]:
    """All guesses; that each file is one system's alone where none is called the gold."""
    gold, systems, _, named_as, no_gold = given
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
        for guess in _with_gold(given, asked, trial):
            doubted = None if named_as is None else _doubted(guess, given, trial)
            yield doubted or (_or_apart(guess) if apart and guess.reader.name in (*VALUE, "multilabel") else guess)


def _with_gold(given: Files, asked: Asked, trial: Trial) -> Iterator[Guess]:
    """Guesses with a gold; text only where nothing else could be meant, and the gold's lines tell no other format."""
    gold, systems = given.gold, given.systems
    found = list(chain(marked(gold, systems, asked, trial), tagged(gold, systems, asked, trial)))
    found = found or list(rankings(gold, systems, asked, trial))
    for family in (span_lists, flags, named, keyed, positional):
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


def _doubted(guess: Guess, given: Files, trial: Trial) -> Guess | None:
    """A guess as open, where no file is called the gold, and the first one may be a system's; else None."""
    gold = given.gold
    if isinstance(guess.reader, Texts) and not guess.reader.columns and all(
            isinstance(one.reader, Texts) and one.reader.text == guess.reader.text for one in guess.systems):
        return replace(guess, sure=OPEN, answer=guess.answer or "--as texts", means=(
            f"{gold.path} is the gold: {guess.means}; if it is a system's as the others, name the gold before it"))
    if _is_measured(guess):  # an odd gold, where the file is not called so
        return replace(_or_apart(guess), sure=OPEN)
    if guess.reader.name not in VALUE or not (is_answers(gold.path) or may_score_lines([
            gold, *(one.document for one in given.systems)]) or _is_truth(guess, trial)):
        return None
    other = ("if it is a system's, as its name says, name the gold before it" if is_answers(gold.path) else
             "if each file has scores of a system, make them columns of one table, under the systems' names")
    return replace(guess, sure=OPEN, answer=f"--as {guess.reader.name}",
                   means=f"{gold.path} is the gold: {guess.means}; {other}")


def _of_all(table: Document, asked: Asked) -> Sequence[Guess]:
    """Guesses of one file that holds all."""
    text = list(written_wide(table, asked))
    others = list(span_lists(table, (), asked)) or [one for one in wide(table, asked) if one.systems or not text]
    return _all_open([*text, *others]) if text and others else text or others


def _is_measured(guess: Guess) -> bool:
    """Whether the gold's column is called as a measure of a system: `aspen_correct`."""
    column, _ = VALUE.get(guess.reader.name, ("", ""))
    name = getattr(guess.reader, column, "")
    return name.casefold() not in GOLDS and any(directions(name))


def _is_truth(guess: Guess, trial: Trial) -> bool:
    """Whether a column of text has true and false, as of right and wrong answers."""
    items = trial.items(guess.gold, guess.reader)
    return getattr(guess.reader, "syntax", "delimited") == "delimited" and not isinstance(items, InputError) and {
        str(item.gold).casefold() for item in items} == {"true", "false"}


def _all_open(guesses: Sequence[Guess]) -> list[Guess]:
    """Guesses of other formats, of which it has to be said which is meant."""
    return [replace(guess, sure=OPEN, answer=guess.answer or f"--as {guess.reader.name}") for guess in guesses]


def _or_apart(guess: Guess) -> Guess:
    """A guess by which the first file is the gold, where as well all files may have scores of a system each."""
    name = guess.reader.name
    column, _ = VALUE.get(name, ("", ""))
    said = f"--option {quote(f'{column}={getattr(guess.reader, column)}')}" if column else f"--as {name}"
    return replace(guess, sure=min(LIKELY if column else OPEN, guess.sure), answer=said,
                   means=f"{guess.gold.path} is the gold: {guess.means}")
