"""What a user says instead of leaving it to be guessed."""

import re

import pytest

from registry.errors import InputError
from registry.guessing.guess import Asked
from registry.guessing.made import made
from tests.guessing.test_guessing import SPANS, WRONG, readers, tagged


def test_labels_of_others_make_no_header_an_item(layout):
    """Whatever else is said; by the header each file would have one label of the gold's."""
    paths = layout(WRONG["a header of all, and labels of others"][0])
    with pytest.raises(InputError, match="no label is one of the gold's"):
        made(paths, Asked(options={"separator": "tab"}))


def test_words_that_look_like_names_are_text_if_said(layout):
    found = made(layout(WRONG["names before text"][0]), Asked("lines"))
    assert readers(found)[0].name == "lines"


def test_a_reader_that_is_named_says_itself_what_is_wrong(layout):
    paths = layout(WRONG["a score that is no number"][0])
    with pytest.raises(InputError, match=r"system1:2: .*'nan'.*\(read as trec\)"):
        made(paths, Asked("trec"))


def test_a_reader_with_all_its_options_is_no_guess(layout):
    """Columns by which nothing is known, as of tagged text with a header."""
    header = "TOKEN\tTAG\tNOTE\n"
    tags = header + tagged([f"{tag}\t_" for tag in SPANS]).replace("\n\n", "\tend\n").replace("_\tend", "end")
    options = {"scheme": "iob2", "header": True, "token": "TOKEN", "label": "TAG", "sentence_end": ["NOTE", "end"]}
    gold, system = readers(made(layout([tags, tags]), Asked("bio", options)))
    assert gold.sentence_end == system.sentence_end == ("NOTE", "end")


@pytest.mark.parametrize(("metric", "said"), [
    ("Success", "Success needs the option 'cutoff'"),
    ("P(cutof=3)", "unknown option 'cutof' of P; did you mean 'cutoff'"),
    ("Sucess", "unknown metric 'Sucess'; did you mean 'Success'")])
def test_a_metric_that_cannot_be_made_says_why(layout, metric, said):
    with pytest.raises(InputError, match=re.escape(said)):
        made(layout(["a\tx\n", "a\tx\n"]), Asked(metric=metric))
