"""Word alignments: both formats say the same, offsets are declared, and what is no alignment is named."""

import pytest

from registry.errors import InputError
from registry.items import Links
from registry.readers import Document, Naacl, Pharaoh


def document(text):
    return Document("f", text.encode())


def gold(reader, text):
    return [(item.key, item.gold, item.line) for item in reader.read_gold({"gold": document(text)})]


EXPECTED = Links(((0, 0), (2, 1)), ((1, 1),))


def test_both_formats_from_either_offset_give_the_same_links():
    for offset, text in ((1, "1-1 2p2 3-2\n\n"), (0, "0-0  2-1\t1p1 \n\n")):
        assert gold(Pharaoh(offset=offset), text) == [("1", EXPECTED, 1), ("2", Links(), 2)]
    text = "0001 1 1 S 0.5\n0001 2 2 P\n0001 3 2\n\n0012 1 1 0.25\n"
    assert gold(Naacl(offset=1), text) == [("1", EXPECTED, 1), ("12", Links(((0, 0),)), 5)]


def test_answers_are_links_counted_from_1_whatever_the_offset():
    (answer,) = Pharaoh(offset=0).read_answers(document("2-1 0-0\n"))
    assert [r.key for r in Pharaoh(offset=0).answer_set(answer.value)] == ["1-1", "3-2"]
    assert [r.key for r in Pharaoh(offset=0).answer_set(EXPECTED)] == ["1-1", "2-2", "3-2"]


def test_declared_markers_also_where_one_begins_with_the_other():
    assert gold(Pharaoh(offset=1, sure=":", possible="::"), "1:1 3:2 2::2\n") == [("1", EXPECTED, 1)]
    assert gold(Naacl(offset=1, sure="sure", possible="poss"), "7 1 1 sure\n7 3 2\n7 2 2 poss 1\n") == [
        ("7", EXPECTED, 1)]
    with pytest.raises(InputError, match="are both 'p'; set different markers"):
        Pharaoh(offset=1, sure="p")
    with pytest.raises(InputError, match="without digits and blanks"):
        Pharaoh(offset=1, sure="1")


def test_links_to_no_word():
    text = "1 0 1 S\n2 1 1 S\n2 3 0 P\n"
    with pytest.raises(InputError, match="f:1: link 0 1: position 0 does not exist, because offset = 1"):
        gold(Naacl(offset=1), text)
    assert gold(Naacl(offset=1, null="drop"), text) == [
        ("1", Links(), 1), ("2", Links(((0, 0),)), 2)]


@pytest.mark.parametrize(("reader", "text", "message"), [
    (Pharaoh(offset=1), "1-1\n0-1\n", "f:2: link '0-1': position 0 does not exist, because offset = 1"),
    (Pharaoh(offset=0), "0-x\n", "f:1: link '0-x': position 'x' is not a number"),
    (Pharaoh(offset=0), "0-1-2\n", "position '1-2' is not a number"),
    (Pharaoh(offset=0), "0-\n", "position '' is not a number"),
    (Pharaoh(offset=0), "0-²\n", "position '²' is not a number"),
    (Pharaoh(offset=0), "0:1\n", "'0:1' is not a link; expected two positions with '-' or 'p' between them"),
    (Pharaoh(offset=0), "0-1 0-1\n", "item '1': link 0-1 occurs twice"),
    (Pharaoh(offset=1), "1-2 1p2\n", "item '1': link 1-2 occurs twice"),
    (Naacl(offset=1), "1 1\n", "the line has 2 columns; expected 3 to 5"),
    (Naacl(offset=1), "x 1 1\n", "the number of the sentence pair is 'x'"),
    (Naacl(offset=1), "1 1 1 Q\n", "marker 'Q' is unknown; expected 'S' or 'P'"),
    (Naacl(offset=1), "1 1 1 0.5 S\n", "marker '0.5' is unknown"),
    (Naacl(offset=1), " \n", "the file is empty"),
])
def test_what_is_no_alignment_is_refused_with_its_line(reader, text, message):
    with pytest.raises(InputError) as caught:
        gold(reader, text)
    assert message in str(caught.value)


def test_systems_have_no_possible_links():
    with pytest.raises(InputError, match="f:1: item '1': link 1-2 is marked as possible, but only the gold can have "
                                         "possible links"):
        Pharaoh(offset=1).read_answers(document("1p2\n"))


def test_a_file_that_counts_from_1_is_not_taken_for_one_from_0():
    """The first words of ten pairs are linked in the gold, and never by a system with offset 0."""
    items = Pharaoh(offset=1).read_gold({"gold": document("1-1 2-2\n" * 10)})
    answers = Pharaoh(offset=0).read_answers(document("1-1 2-2\n" * 10))
    line, why = Pharaoh(offset=0).implausible(items, answers)
    assert (line, why[:25]) == (1, "no link has position 0, s")
    assert Pharaoh(offset=0, check_offset=False).implausible(items, answers) is None
    for text, reader in (("0-1 2-2\n" * 10, Pharaoh(offset=0)), ("\n" * 10 + "1-1\n", Pharaoh(offset=0)),
                         ("2-2\n" * 10, Pharaoh(offset=1))):
        assert reader.implausible(items, reader.read_answers(document(text))) is None
