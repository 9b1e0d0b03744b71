"""Texts of items in tables: references, sources and what systems wrote, by keys."""

from contextlib import nullcontext

import pytest
import sacrebleu

from registry.errors import InputError
from registry.metrics import METRICS
from registry.readers import READERS, Document
from tests.fuzz.trial import at_most

GOLD = """{"id": "a", "src": "Der Hund schläft heute.", "refs": ["The dog sleeps today.", "The dog is asleep."], "n": 1}
{"id": "b", "src": "Es regnet oft hier.", "refs": ["It often rains here.", "It rains here\\nquite a lot."], "n": 2}
{"id": "c", "src": "Ja.", "refs": ["Yes.", "Yes, indeed."], "n": 3}
"""
CSV = 'id,text\nb,"It rains here, often."\nc,\na,Today the dog sleeps.\n'


def reader(**options):
    return READERS["texts"].build({"item": ["id"], **options})


def gold(**options):
    return reader(syntax="jsonl", text="refs.0", **options).read_gold({"gold": Document("g", GOLD.encode())})


def test_bleu_is_sacrebleu_s_of_the_same_texts_in_the_gold_s_order():
    items = gold(references=["refs.1"], source="src", attributes=["n"])
    answers = {one.key: one for one in reader(separator="comma").read_answers(Document("s", CSV.encode()))}
    assert answers.keys() == {"a", "b"}, "a blank one is no answer"
    metric = METRICS["BLEU"](references=("gold", "refs.1"))
    found = metric.score(metric.corpus_statistics(items, [answers.get(item.key) for item in items]).sum(axis=0))
    references = [[item.gold[name] for item in items] for name in ("gold", "refs.1")]
    assert references[1][1] == "It rains here\nquite a lot."
    given = ["Today the dog sleeps.", "It rains here, often.", ""]
    assert float(found) == pytest.approx(sacrebleu.corpus_bleu(given, references).score, rel=1e-12)
    assert [(item.gold["source"], item.attributes) for item in items][2] == ("Ja.", {"n": "3"})


@pytest.mark.parametrize(("text", "says"), [
    ('{"id": "a", "refs": [["x"]]}', "'refs.0' is \\[\"x\"\\]; expected text; name one element of the list, such as "
                                     "'refs.0.0'"),
    ('{"id": "a", "refs": [1.5]}', "'refs.0' is 1.5; expected text$"),
    ('{"id": "a", "refs": ["a \\ud83d b"]}', "g:1: item 'a': 'refs.0' has half of a character"),
    ('{"id": "a", "refs": []}', "g:1: the key 'refs.0' is missing")])
def test_what_is_no_text_is_named_with_its_line(text, says):
    with pytest.raises(InputError, match=says):
        reader(syntax="jsonl", text="refs.0").read_gold({"gold": Document("g", text.encode())})


def test_null_is_no_answer_and_whole_numbers_are_texts():
    answers = reader(syntax="jsonl").read_answers(Document("s", b'{"id": "a", "text": null}\n{"id": "b", "text": 42}'))
    assert [(one.key, one.value) for one in answers] == [("b", "42")]


@pytest.mark.parametrize(("cells", "is_refused"), [
    (['"Say ""yes"", he said."', "No, never."], True), (['"One text."', '"Another one."'], True),
    (['"One" text.', 'A "text"'], False), (['"One text."', "Another one."], False)])
def test_quotes_of_csv_between_tabs_would_count_as_words(cells, is_refused):
    given = Document("s", "".join(f"{n}\t{cell}\n" for n, cell in enumerate(cells)).encode())
    of = reader(columns=["id", "text"])
    if is_refused:
        with pytest.raises(InputError, match="s:1: item '0': column 'text' has double quotes as in CSV"):
            of.read_answers(given)
    else:
        assert [one.value for one in of.read_answers(given)] == cells


@pytest.mark.parametrize("references", [["x", "x"], ["gold"], ["source"]])
def test_references_have_names_of_their_own(references):
    with pytest.raises(InputError, match="option 'references' of texts names a column twice"):
        reader(references=references)


def test_numbered_rows_that_are_shuffled_are_refused():
    words = [f"{n * 7919 % 10007} and {n * 6007 % 10007}, near {n * 104729 % 10007}" for n in range(1, 61)]
    rows = "".join(f'{{"text": "{text}"}}\n' for text in words)
    items = reader(item=[], syntax="jsonl").read_gold({"gold": Document("g", rows.encode())})
    for order, is_told in ((words, False), (words[::-1], True), (words[1:], True)):
        given = Document("s", "".join(f'{{"text": "{text} z"}}\n' for text in order).encode())
        for check in (True, False):
            of = reader(item=[], syntax="jsonl", check_order=check)
            assert (of.implausible(items, of.read_answers(given)) is not None) == (is_told and check)


def test_very_many_quotes_take_no_time():
    """Half a million pairs, and one quote more: the former are CSV's, the latter are the text's own."""
    pairs = '"' * 10**6
    for cell, is_told in ((f'"{pairs}"', True), (f'"{pairs}""', False)):
        document = Document("s", f"id\ttext\na\t{cell}\nb\tyes\n".encode())
        with at_most(5), pytest.raises(InputError, match="has double quotes as in CSV") if is_told else nullcontext():
            reader().read_answers(document)
