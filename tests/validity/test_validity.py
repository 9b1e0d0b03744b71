"""Every row of the table in quick mode; in full: `python -m tests.validity`."""

import pytest

from registry.errors import UnknownNameError
from tests.validity.__main__ import main
from tests.validity.rows import ROWS, rows

pytestmark = pytest.mark.simulation


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_the_band_holds(row):
    left = [measured for measured in row.measure(row.runs_quick) if not measured.holds]
    assert not left


def test_a_row_is_the_same_every_time():
    row = ROWS["permutation-lognormal-25"]
    assert (row.outcomes(150) == row.outcomes(250)[:150]).all()


def test_patterns_choose_rows():
    assert [row.name for row in rows(["coverage-t-*", "size-fisher"])] == [
        "size-fisher", "coverage-t-normal", "coverage-t-binary"]
    with pytest.raises(UnknownNameError):
        rows(["no-such-row"])


def test_the_command_prints_the_table(capsys):
    assert main(["mcnemar-less", "--quick", "--markdown", "--processes", "1"]) == 0
    header, rule, line = capsys.readouterr().out.splitlines()
    assert header.startswith("| row | population |")
    assert rule.startswith("| ---")
    assert line.startswith("| mcnemar-less |")
    assert line.endswith("| ok |")
