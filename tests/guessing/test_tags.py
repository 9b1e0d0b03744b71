"""Columns of tags that are written unusually are refused, with what to write instead."""

import pytest

from registry.errors import InputError
from registry.guessing.guess import Asked
from registry.guessing.made import made
from tests.guessing.test_guessing import SPANS, tagged


@pytest.mark.parametrize("separator", ["\t", " "])
@pytest.mark.parametrize(("change", "tag", "remedy"), [
    (lambda tag: tag.replace("-", "_"), "B_PER", "write 'B-PER'"),
    (lambda tag: "-".join(reversed(tag.split("-"))), "PER-B", "write 'B-PER'"),
    (str.lower, "b-per", "write 'B-per'"),
    (lambda tag: tag[0], "B", "its type is missing: write 'B-X'")])
def test_the_first_unusual_tag_is_named(layout, separator, change, tag, remedy):
    files = layout([tagged([change(tag) for tag in SPANS], separator)] * 2)
    with pytest.raises(InputError) as refused:
        made(files, Asked())
    assert refused.value.line == 1
    assert f"tag {tag!r} is neither O nor a prefix of a scheme, a hyphen and a type; {remedy}" in refused.value.message
