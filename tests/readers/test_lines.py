"""Segments by line: lengths, references, attributes, and lines that are not where they belong."""

import random
import re

import pytest

from registry.errors import InputError
from registry.readers import Document, Lines

WORDS = [
    "the", "a", "of", "river", "city", "mayor", "council", "decided", "yesterday", "that", "new", "bridge",
    "would", "cost", "more", "than", "planned", "children", "school", "teacher", "books", "winter", "snow",
    "mountain", "train", "station", "early", "morning", "coffee", "market", "price", "rises", "farmers",
    "protest", "government", "minister", "law", "vote", "rain", "summer", "garden", "flowers", "doctor",
    "hospital", "nurse", "patient", "waiting",
]


@pytest.fixture
def reference():
    rng = random.Random(6)
    return [" ".join(rng.choices(WORDS, k=rng.randint(6, 18))) for _ in range(300)]


def translate(lines, share, seed=1):
    """A translation that keeps this share of the words."""
    rng = random.Random(seed)
    return [" ".join(w if rng.random() < share else rng.choice(WORDS) for w in line.split()) for line in lines]


def document(lines):
    return Document("f", "".join(line + "\n" for line in lines).encode())


def judge(reference, lines, **options):
    reader = Lines(**options)
    return reader.implausible(reader.read_gold({"gold": document(reference)}), reader.read_answers(document(lines)))


@pytest.mark.parametrize("share", [1.0, 0.7, 0.45])
def test_a_translation_in_order_is_accepted_be_it_poor(reference, share):
    assert judge(reference, translate(reference, share)) is None


def test_shuffled_lines_are_found(reference):
    lines = translate(reference, 0.7)
    random.Random(2).shuffle(lines)
    line, why = judge(reference, lines)
    assert line == 1
    assert why.startswith("the lines may be shuffled, or may belong to other segments, because fewer than half")
    assert judge(reference, lines, check_order=False) is None


@pytest.mark.parametrize("at", [0, 120])
@pytest.mark.parametrize("kind", ["salad", "one sentence", "other texts"])
def test_lines_that_answer_no_segment_are_not_told_as_shuffled_alone(reference, kind, at):
    """Words in any order, a sentence again and again, and texts of another test set look like shuffled lines."""
    rng = random.Random(5)
    words = " ".join(reference).split()
    other = {"salad": lambda n: " ".join(rng.choices(words, k=12)), "one sentence": lambda n: f"nothing at all, {n}",
             "other texts": lambda n: f"{n} lorem ipsum {rng.randrange(999)} dolor sit amet"}[kind]
    lines = translate(reference, 0.7)[:at] + [other(n) for n in range(len(reference) - at)]
    _, why = judge(reference, lines)
    assert re.match(r"the lines may be (shifted, )?shuffled, or may belong to other segments", why)
    assert ("from about line" in why) == bool(at)


@pytest.mark.parametrize("at", [0, 60, 200])
def test_lines_shifted_by_one_are_found_about_where_it_begins(reference, at):
    lines = translate(reference, 0.7)
    shifted = lines[:at] + lines[at + 1:] + ["a line at the end"]
    line, why = judge(reference, shifted)
    assert abs(line - at) <= 26
    assert why.startswith("the lines seem to be shifted")
    assert "shuffled" not in why


def test_a_shift_near_the_end_is_found(reference):
    lines = translate(reference, 0.7)
    line, why = judge(reference, [*lines[:280], *lines[281:], "the end"])
    assert 270 <= line <= 300
    assert "shifted" in why


def test_a_file_of_blanks_is_named(reference):
    assert judge(reference, ["\u00a0", "\u3000"]) == (1, "all lines of the file are blank; write one segment in each "
                                                         "line")


def test_too_many_lines_are_named(reference):
    line, why = judge(reference, [*reference, "one more"])
    assert (line, why.startswith("the file has 301 lines, but the gold has 300")) == (301, True)


def test_references_and_attributes_are_read_by_name():
    items = Lines(attributes=("domain", "document")).read_gold({
        "gold": document(["a", "b"]), "reference:B": document(["c", "d"]),
        "attributes": document(["news\td1", "chat\td2"])})
    assert [(i.key, i.gold, dict(i.attributes)) for i in items] == [
        ("1", {"gold": "a", "B": "c"}, {"domain": "news", "document": "d1"}),
        ("2", {"gold": "b", "B": "d"}, {"domain": "chat", "document": "d2"})]


@pytest.mark.parametrize(("files", "says"), [
    ({"gold": ["a", "b"], "reference:B": ["c"]}, "the file has 1 line, but the gold has 2"),
    ({"gold": ["a", "b"], "source": ["a", " "]}, "the source is blank"),
    ({"gold": ["a"], "attributes": ["x\ty"]}, "the line has 2 columns; expected 1"),
    ({"gold": ["a"], "attributes": ["x", "y"]}, "the file has 2 lines, but the gold has 1"),
])
def test_gold_files_that_do_not_fit_are_named(files, says):
    with pytest.raises(InputError, match=says):
        Lines().read_gold({role: document(lines) for role, lines in files.items()})


def test_a_blank_line_is_no_answer():
    assert [a.key for a in Lines().read_answers(document(["a", "  ", "b"]))] == ["1", "3"]
