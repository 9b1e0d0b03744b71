"""From many guesses to one: those that do not read all files fall away, and of the others one is left, or a question.

A question is an error that shows the options which answer it, and never asked at a prompt: what was meant stands in the
command then, for whoever reads or repeats it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from shlex import quote, split
from typing import Any

from registry.errors import InputError, counted, together
from registry.guessing.guess import LIKELY, OPEN, SURE, Asked, Guess, QuestionError, System, options_of, reworded
from registry.guessing.looks import tables
from registry.guessing.trial import Trial
from registry.readers import Reader
from registry.values import Value

_TOLD = 5  # files that nothing reads
_SAID_HERE = {"fold_case": "true", "check_order": "false"}  # what a manifest would say of all files
_LABELS = 2  # columns of them, at least, that may be all meant
_ASKED = {"header": "does the first line name the columns?", "gold": "which column has the gold?",
          "label": "which column has the labels?", "score": "which column has the scores?",
          "item": "which column names the items?", "offset": "are words counted from 0 or from 1?",
          "scheme": "in which scheme are the tags?", "separator": "what separates the columns?",
          "comment": "are lines that begin with # comments?", "score_column": "which column has the scores?",
          "text": "which column has the texts?", "columns": "which column is which?",
          "spans": "which column has the lists of spans?"}


def decide(guesses: Iterable[Guess], asked: Asked, trial: Trial) -> Guess:
    """Give the guess that holds.

    Raises:
        QuestionError: Several hold, and nothing in the files tells which is meant.
        InputError: None holds; says why the nearest one does not.
    """
    failing: list[tuple[int, Guess, list[InputError]]] = []
    chosen, options = _chosen(list(guesses), asked.options)
    for sure in (SURE, LIKELY, OPEN):  # what is less sure is not looked at where a guess holds
        holding = []
        for guess in (guess for guess in chosen if guess.sure == sure):
            try:
                tried = list(_tried(guess, options, asked.missing))
            except InputError as error:  # options that go with other guesses
                failing.append((1, guess, [InputError(error.message, path=guess.gold.path)]))
                continue
            problems = [trial.problems(one) for one in tried]
            holding += [one for one, wrong in zip(tried, problems, strict=True) if not wrong][:1]
            if all(problems):
                failing.append((len(problems[0]), tried[0], problems[0]))
        best = _unlike(holding, trial)
        beside = [one for one in failing if best and (best[0].repeated or (
            one[1].is_rival and not _is_none(*one[1:], best[0])))]
        if beside and len(best) == 1 and (best[0].repeated or best[0].is_rival):
            raise _nothing(beside)  # the column beside has a mistake
        surer = [one for one in failing if one[1].sure > sure == OPEN and all(_is_of_label(error) for error in one[2])]
        if best and surer and not asked.options and asked.kind is None:
            raise _nothing(surer)  # labels are written otherwise, and what alone is left is unlikely
        if len(best) > 1 or (best and sure == OPEN and best[0].answer and not _is_said(best[0].answer, asked)):
            raise _question(best, asked)
        if best and (sure > OPEN or best[0].answer or asked.options):
            return best[0]
    if not failing:
        raise _question(best, asked)  # what alone holds is unlikely
    raise _nothing(failing)


def _is_none(guess: Guess, problems: Sequence[InputError], best: Guess) -> bool:
    """Whether no system has any of the gold's labels where the best guess, of another column of the gold, sees its."""
    return [_column(one.reader) for one in guess.systems] == [_column(one.reader) for one in best.systems] and len(
        problems) == len(guess.systems) and all(problem.category == "label" for problem in problems)


def _is_of_label(error: InputError) -> bool:
    return (error.category == "label" and "fold_case = true" in error.message) or "in double quotes" in error.message


def _column(reader: Reader) -> str | int | None:
    """The column of a system's labels or numbers, by its name or place."""
    name = getattr(reader, "label", None) or getattr(reader, "score", None)
    columns = getattr(reader, "columns", None) or ()
    return columns.index(name) if name in columns else name


def _unlike(guesses: Sequence[Guess], trial: Trial) -> list[Guess]:
    """Guesses of which no two lead to the same board: the first of those that do."""
    forms = [(guess.reader.gives, repr(guess.metric), guess.cluster) for guess in guesses]
    found: dict[Any, Guess] = {}
    for guess, form in zip(guesses, forms, strict=True):  # what alone is compared so need not be read for it
        found.setdefault(form if forms.count(form) == 1 else trial.content(guess), guess)
    return list(found.values())


def _is_said(answer: str, asked: Asked) -> bool:
    """Whether the user has given the options that say what is meant."""
    said = {("--as", asked.kind), *(("--option", f"{name}={_shown(value)}") for name, value in asked.options.items())}
    words = split(answer)
    return all(one in said for one in zip(words[::2], words[1::2], strict=True))


def _chosen(guesses: Sequence[Guess], options: Mapping[str, Any]) -> tuple[Sequence[Guess], dict[str, Any]]:
    """The guesses that say the same as the user's options, and those of the options that none says."""
    left = {}
    for option, value in options.items():
        same = [one for one in guesses if _says(one.reader, option, value) or _says(one.metric, option, value)] or [
            one for one in guesses if any(_says(system.reader, option, value) for system in one.systems)]
        guesses = same or guesses
        if not same:
            left[option] = value
    return guesses, left


def _says(of: Value | None, option: str, value: Any) -> bool:
    given = getattr(of, option, None)
    return given is not None and given in (value, tuple(value) if isinstance(value, list) else (value,))


def _tried(guess: Guess, options: Mapping[str, Any], missing: str) -> Iterator[Guess]:
    """The guess with these options; where items may lack answers, then also with blank labels taken for such."""
    found = list(_with_options(guess, options))
    yield from found
    if missing != "reject" and hasattr(guess.reader, "blank"):
        yield from (replace(one, systems=tuple(replace(system, reader=_with(system.reader, {"blank": "missing"}))
                                               for system in one.systems)) for one in found)


def _with_options(guess: Guess, options: Mapping[str, Any]) -> Iterator[Guess]:
    """The guess with other options: for all files, else for the gold, else for the systems."""
    if not options:
        yield guess
        return
    gold = _with(guess.reader, options)
    systems = tuple(replace(system, reader=_with(system.reader, options)) for system in guess.systems)
    yield replace(guess, reader=gold, systems=systems)
    yield replace(guess, reader=gold)
    yield replace(guess, systems=systems)


def _with(reader: Reader, options: Mapping[str, Any]) -> Reader:
    return type(reader).build({**options_of(reader), **options})


def _nothing(failing: Sequence[tuple[int, Guess, list[InputError]]]) -> InputError:
    """Say why the nearest guess does not hold."""
    _, guess, problems = min(failing, key=lambda one: (one[1].sure == OPEN, one[0]))  # the surest of equals
    what = f"read as {guess.reader.name}"
    errors = [reworded(error, error.message + ("" if n else f" ({what})") + _here(error))
              for n, error in enumerate(problems[:_TOLD])]
    if len(problems) > _TOLD:
        errors.append(InputError(f"{counted(len(problems) - _TOLD, 'more file does', 'more files do')} not read"))
    return together(errors)


def _here(error: InputError) -> str:
    """By which option of the command is said what a manifest would say."""
    if error.category == "missing":
        return "; --missing says it here"
    said = next((name for name, value in _SAID_HERE.items() if f"{name} = {value}" in error.message), None)
    return "" if said is None else f"; --option {said}={_SAID_HERE[said]} says it here"


def _question(best: Sequence[Guess], asked: Asked) -> QuestionError:
    """Ask which guess is meant."""
    path = best[0].gold.path
    of_guesses = [guess.answer for guess in best]
    is_told = len(set(of_guesses)) == len(best) or (
        len({guess.reader for guess in best}) > 1 and not all(_is_said(answer, asked) for answer in of_guesses))
    if len({guess.reader.name for guess in best}) > 1 or (all(of_guesses) and is_told) or len(best) == 1:
        alike = [(guess.answer, _is_named(guess)) for guess in best]  # of several columns they may say the same
        are_told = all(of_guesses) and len({*alike}) < len(best)
        answers = {_of_column(guess) if are_told else guess.answer or _said_by(guess):
                   guess.means or "; ".join(guess.why) for guess in best}
        shared = [why for why in best[0].why[1:] if len(best) > 1 and all(why in guess.why for guess in best)]
        told = "; ".join([*shared, "the files leave open what is meant, and boards differ by it; say it:" if len(
            answers) > 1 else "they can be read in one way, and nothing tells that it is meant; if it is, say it:"])
        return QuestionError(told, answers, path)
    option = next(_differing([guess.reader for guess in best]), "")
    readers = [guess.reader for guess in best]
    if not option:
        path = _other(best).document.path
        readers = [_other([guess, *best]).reader for guess in best]
        option = next(_differing(readers), "")
    what = _ASKED.get(option, f"what is {option}?")
    answers = {f"--option {quote(f'{option}={_shown(getattr(reader, option))}')}": _told(guess, best)
               for guess, reader in zip(best, readers, strict=True)}
    return QuestionError(f"{what} {len(answers)} readings fit all files, and their boards differ; say it"
                         f"{_or_all(best)}:", answers, path)


def _of_column(guess: Guess) -> str:
    """The options that say of a table which column has the gold, and what it has."""
    option = next((name for name in ("label", "gold") if hasattr(guess.reader, name)), None)
    if option is None:
        return guess.answer
    columns = None if _is_named(guess) else getattr(guess.reader, "columns", None)
    said = f"columns={json.dumps(list(columns))}" if columns else f"{option}={_shown(getattr(guess.reader, option))}"
    return f"--as {guess.reader.name} --option {quote(said)}"


def _is_named(guess: Guess) -> bool:
    """Whether columns have the names that stand in the gold's file."""
    if getattr(guess.reader, "syntax", "delimited") != "delimited" or getattr(guess.reader, "header", False):
        return True
    return not hasattr(guess.reader, "header") and not getattr(guess.reader, "columns", None)


def _or_all(best: Sequence[Guess]) -> str:
    """What to do where several columns of 0 and 1 may be labels that items have or have not."""
    columns = [dict(zip(table.names, range(len(table.names)), strict=True)).get(getattr(guess.reader, "label", ""))
               for guess in best for table in tables(guess.gold)[:1]]
    if not _LABELS <= len(best) == len({*columns}) or not all(
            n is not None and tables(best[0].gold)[0].column(n).values <= {"0", "1"} for n in columns):
        return ""
    return ". Or, if these are labels of which an item may have several, say --as multilabel"


def _said_by(guess: Guess) -> str:
    """The option that says what is open of a guess: whether there is a header, where only that is unlikely."""
    header = getattr(guess.reader, "header", None)
    return f"--as {guess.reader.name}" if guess.sure > OPEN or header is None else f"--option header={_shown(header)}"


def _told(guess: Guess, others: Sequence[Guess]) -> str:
    """What of a guess is not the same in all."""
    if len({other.means for other in others}) == len(others):
        return guess.means
    return next((why for why in guess.why if any(why not in other.why for other in others)), guess.means)


def _other(guesses: Sequence[Guess]) -> System:
    """The first guess's system that guesses read in different ways."""
    return next((of[0] for of in zip(*(guess.systems for guess in guesses), strict=True)
                 if len({system.reader for system in of}) > 1), guesses[0].systems[0])


def _differing(readers: Sequence[Reader]) -> Iterator[str]:
    """The options in which readers of one format differ; those first of which others follow."""
    found = [field.name for field in fields(readers[0]) if len({getattr(r, field.name) for r in readers}) > 1]
    yield from sorted(found, key=lambda name: (name not in _ASKED, list(_ASKED).index(name) if name in _ASKED else 0))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list) and len(value) > 1:
        return json.dumps(value)
    return str(value[0] if isinstance(value, tuple | list) and value else value)
