"""docs/python.md is true."""

import doctest
import re

import pytest

from tests.conftest import ROOT

EXAMPLES = re.findall(r"```pycon\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)


def fails(example):
    """How many statements there are, and how many print something else than is shown."""
    test = doctest.DocTestParser().get_doctest(example, {}, "python", "python.md", 0)
    return len(test.examples), doctest.DocTestRunner().run(test).failed


def test_the_example_prints_what_is_shown():
    assert fails(EXAMPLES[0]) == (6, 0)


def test_a_long_frame_is_averaged():
    pytest.importorskip("pandas", reason="pandas")
    assert fails(EXAMPLES[1]) == (6, 0)


def test_a_registry_is_read(scored):
    """In a folder with the sample's database."""
    scored(ROOT / "sample_data" / "entities" / "task.toml")
    assert fails(EXAMPLES[2]) == (5, 0)
    assert len(EXAMPLES) == 3
