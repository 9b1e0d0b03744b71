"""Texts in tables: which columns have the references and the systems' own, or what is asked."""

import json

import pytest

from registry.errors import InputError
from registry.guessing.guess import Asked
from registry.guessing.made import made
from tests.guessing.test_layouts import GOLD, SENTENCES, WORDS, N, readers

PROMPTS = [text[::-1] for text in SENTENCES]
WRITTEN = {name: [text if n % every else f"{word} {text} now" for n, (text, word) in enumerate(zip(
    SENTENCES, WORDS, strict=True))] for name, every in (("alpha", 1), ("bravo", 2))}


def lines(**columns):
    """Rows in JSON Lines, of columns by their names."""
    return "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n"
                   for row in zip(*columns.values(), strict=True))


def table(**columns):
    """Rows in CSV, of columns by their names."""
    return "".join(",".join(map(str, row)) + "\n" for row in (columns, *zip(*columns.values(), strict=True)))


TEXTS = {  # files, the gold's first, the columns of the gold and of each system
    "by a key": ([lines(id=N, reference=SENTENCES), *(table(id=N[::-1], output=of[::-1]) for of in WRITTEN.values())],
                 "reference", ["output", "output"]),
    "with prompts": ([lines(id=N, prompt=PROMPTS, answer=SENTENCES), *(
        lines(id=N, prompt=PROMPTS, response=of) for of in WRITTEN.values())], "answer", ["response", "response"]),
    "all files repeat the gold": ([lines(id=N, target=SENTENCES, prediction=of) for of in WRITTEN.values()],
                                  "target", ["prediction", "prediction"]),
    "one table of all": ([table(id=N, source=PROMPTS, ref=SENTENCES, **WRITTEN, length=N)], "ref", ["alpha", "bravo"]),
    "in order": ([lines(reference=SENTENCES), *(lines(hyp=of) for of in WRITTEN.values())], "reference",
                 ["hyp", "hyp"]),
    "no header": (["".join(f"x{n}\t{text}\n" for n, text in enumerate(of)) for of in (SENTENCES, *WRITTEN.values())],
                  "text", ["text", "text"]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_in_tables(name, layout):
    files, column, own = TEXTS[name]
    gold, systems = readers(made(layout(files, "alpha"), Asked()))
    assert (gold.name, gold.text) == ("texts", column)
    assert [one.text for one in systems.values()] == own


@pytest.mark.parametrize(("gold", "given"), [
    ({"text": SENTENCES, "label": GOLD}, {"reason": PROMPTS, "class": [label.lower() for label in GOLD]}),
    ({"one": SENTENCES, "other": PROMPTS}, {"output": WRITTEN["alpha"]}),
    ({"reference": SENTENCES}, {"one": WRITTEN["alpha"], "other": WRITTEN["bravo"]})])
def test_texts_of_which_others_may_be_meant_are_never_taken_in_silence(gold, given, layout):
    """Reasons beside labels that are written otherwise, two references, and two texts of one system."""
    with pytest.raises(InputError):
        made(layout([lines(id=N, **gold), lines(id=N, **given)]), Asked())
