"""N-best lists: the picked candidate of every segment is its translation."""

import pytest

from registry.errors import InputError
from registry.readers import Document, Lines, NBest

LIST = """0 ||| the house ||| LM= -1 TM= -2 -3 ||| -5.5
0 ||| a house ||| LM= -1 TM= -2 -3 ||| -4.5
1 ||| two  words ||| ||| -1 ||| 0-0 1-1
2 |||  ||| ||| -9
"""


def read(text=LIST, **options):
    return [(a.key, a.value, a.line) for a in NBest(**options).read_answers(Document("f", text.encode()))]


def test_the_first_candidate_answers_the_segment_counted_as_lines_are():
    (item, *_) = Lines().read_gold({"gold": Document("g", b"the house\nx\ny\n")})
    assert read() == [(item.key, "the house", 1), ("2", "two  words", 3)]


def test_the_highest_score_can_be_picked_and_ids_may_begin_at_1():
    assert read(pick="score")[0] == ("1", "a house", 2)
    assert read("1 ||| a\n2 ||| b\n", first_id=1) == [("1", "a", 1), ("2", "b", 2)]


@pytest.mark.parametrize(("text", "options", "line", "says"), [
    ("0 ||| a\n1 ||| b\n0 ||| c\n", {}, 3, "item '1': the candidates of this segment are not in consecutive lines"),
    ("a house\n", {}, 1, "expected `id"),
    ("-1 ||| a\n", {}, 1, "the segment id is "),
    ("0 ||| a\n", {"first_id": 1}, 1, "expected a whole number, 1"),
    ("0 ||| a ||| f\n", {"pick": "score"}, 1, "has no score"),
    ("0 ||| a ||| f ||| nan\n", {"pick": "score"}, 1, "has no score"),
    ("0 ||| a\n٣ ||| b\n", {}, 2, "the segment id is "),
    (" \n \n0\n", {}, 3, "expected"),
])
def test_what_is_not_of_the_format_is_named_with_its_line(text, options, line, says):
    with pytest.raises(InputError, match=says) as caught:
        read(text, **options)
    assert caught.value.line == line


def test_it_is_no_gold():
    with pytest.raises(InputError, match='format = "lines" for the gold'):
        NBest().read_gold({"gold": Document("f", LIST.encode())})
