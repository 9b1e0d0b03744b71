"""The page of studies shows just the tables and figures that are there, and stays small."""

import re

import pytest

from tests.conftest import ROOT
from tests.study_gallery import SHOWN, STUDIES

PAGE = (STUDIES / "README.md").read_text()


def test_the_page_shows_every_figure_and_table():
    named = re.findall(r'src="([\w./-]+\.png)', PAGE)
    assert sorted(named) == sorted(str(path.relative_to(STUDIES)) for path in STUDIES.glob("*/*.png"))
    tables = list(STUDIES.glob("*/*.md"))
    assert {str(path.relative_to(STUDIES)) for path in tables} == {
        f"{folder}/{shown.name}.md" for folder, studies in SHOWN.items() for shown in studies}
    assert all(path.read_text().rstrip() in PAGE for path in tables)
    assert len(named) > 10


def test_figures_are_small():
    assert sum(path.stat().st_size for path in STUDIES.glob("*/*.png")) < 1e6


@pytest.mark.parametrize("shown", [shown for studies in SHOWN.values() for shown in studies], ids=lambda s: s.name)
def test_every_study_is_said_to_show_something_and_not_another(shown):
    """Three sentences or more, and a command whose options `registry study` has."""
    assert shown.said.count(". ") >= 2
    assert shown.said in PAGE
    assert f"## {shown.study}" in (ROOT / "docs" / "studies.md").read_text()
