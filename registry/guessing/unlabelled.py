"""Labels of the gold that seem to stand for none, as a bar or NA does: whether they count is asked."""

from __future__ import annotations

import re

from registry.errors import InputError
from registry.guessing.guess import Asked, Guess, QuestionError
from registry.guessing.trial import Trial

_NONE = re.compile(r"[-_?*.]+|n/?a|nan|none|null", re.IGNORECASE)


def check_labels(guess: Guess, asked: Asked, trial: Trial) -> None:
    """See that each of the gold's labels is one, so far as the systems tell: those of no label no system gives.

    Raises:
        QuestionError: Some seem to stand for none, and the user has not said that these are labels.
    """
    items = trial.items(guess.gold, guess.reader)
    if guess.reader.gives != "label" or asked.kind is not None or isinstance(items, InputError):
        return
    none = {label for label in {item.gold for item in items} if _NONE.fullmatch(label)}
    for system in guess.systems if none else ():
        if not isinstance(joined := trial.joined(guess, items, system), InputError):
            none -= joined.labels
    if none:
        n = sum(item.gold in none for item in items)
        raise QuestionError(
            f"{n} of {len(items)} items have the gold label {' or '.join(map(repr, sorted(none)))}, which no system "
            "gives: if it stands for no label, take these items out of all files; if it is one, say it:",
            {"--as labels": "it is a label, and all systems err there"}, guess.gold.path)
