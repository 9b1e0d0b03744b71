"""Whether what is promised stands where it is said to stand, and whether there are rows for all of it."""

import re
from pathlib import Path

import pytest

from registry.significance import OVERALL_TESTS, TESTS
from registry.significance.multiple import CORRECTIONS
from registry.significance.rank_sets import LEAST_UNITS
from tests.validity.guarantees import GUARANTEES, with_summary
from tests.validity.record import PAGE
from tests.validity.rows import ROWS, rows

DOCS = PAGE.parent


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda of: of.says)
def test_a_promise_stands_on_its_page_and_has_rows(guarantee):
    assert guarantee.words in " ".join(Path(DOCS, guarantee.page).read_text().split())
    kept, beyond = ({row.name for row in rows(patterns)} if patterns else set()
                    for patterns in (guarantee.kept, guarantee.beyond))
    assert not kept & beyond


def test_every_row_of_a_level_is_under_a_promise():
    under = {row.name for of in GUARANTEES for row in rows((*of.kept, *of.beyond))}
    assert not [name for name, row in ROWS.items()
                if name not in under and any(band.claim is not None for band in row.band)]


def test_the_page_counts_what_its_lines_say():
    assert with_summary(PAGE.read_text()) == PAGE.read_text()


@pytest.mark.parametrize("name", [*(name for name in TESTS if name != "wald"), *OVERALL_TESTS, *CORRECTIONS,
                                  *LEAST_UNITS])
def test_whatever_is_offered_is_measured(name):
    """A test, correction or way to ranks has a row whose examination names it.

    `tests.validity.votes` and `tests.validity.ratings` simulate the Wald test.
    """
    assert [row for row in ROWS.values() if re.search(rf"\b{name.replace('-', '.')}\b", str(row.test))]
