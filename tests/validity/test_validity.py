"""Every row of the table in quick mode; in full: `python -m tests.validity`. And whether the page is of these rows."""

import pytest

from registry.errors import UnknownNameError
from tests.thorough import keep_each
from tests.validity.__main__ import main
from tests.validity.bands import kept
from tests.validity.record import DECLARED, HEADER, KEEPS, PAGE, recorded, written
from tests.validity.row import BATCH
from tests.validity.rows import ROWS, rows

pytestmark = pytest.mark.simulation


@pytest.mark.parametrize(
    "row", keep_each(3, [row for row in ROWS.values() if row.runs_quick]), ids=lambda row: row.name)
def test_the_band_holds(row):
    left = [measured for measured in row.measure(row.runs_quick) if not measured.holds]
    assert not left


def test_a_row_is_the_same_every_time():
    row = ROWS["permutation-lognormal-25"]
    assert (row.outcomes(BATCH + 1) == row.outcomes(2 * BATCH)[:BATCH + 1]).all()


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


def test_the_page_has_what_the_rows_declare():
    page, _ = recorded(PAGE.read_text())
    expected, measured = HEADER.index("expected"), {line[0] for line in page}
    assert [(*line[:DECLARED], line[expected]) for line in page] == [
        (*row.declared(band, row.runs_full), band.expected) for row in ROWS.values() if row.name in measured
        for band in row.band]
    assert {line[-1] for line in page} == {"ok"}


def test_a_level_is_kept_whatever_was_expected():
    """A rate of 5 % errs by 0.31 points at three standard errors of 20,000 runs, and by 0.92 of 5,000."""
    assert [kept(rate, 20_000, 0.05) for rate in (0.0547, 0.0545, 0.0401, 0.0399)] == [
        "no", "yes", "yes", "conservative"]
    assert [kept(rate, 5000, 0.95) for rate in (0.9407, 0.9409, 0.9599, 0.9601)] == ["no", "yes", "yes", "conservative"]
    assert kept(0.0, 100, 0.05) == "yes", "fewer errors than in 100 runs can be told from the level"
    page, _ = recorded(PAGE.read_text())
    measured = {line[0] for line in page}
    bands = [(row.runs_full, band) for row in ROWS.values() if row.name in measured for band in row.band]
    for (runs, band), line in zip(bands, page, strict=True):
        if band.claim is not None:
            assert line[KEEPS] == kept(float(line[HEADER.index("value")]), runs, band.claim), line[0]


def test_lines_are_put_in_the_place_of_older_ones():
    page = PAGE.read_text()
    line = next(line for line in recorded(page)[0] if line[0] == "size-t-binary")
    changed = (*line[:DECLARED], "0.0777", *line[DECLARED + 1:])
    assert written(page, [changed], ROWS) == page.replace(" | ".join(line), " | ".join(changed)) != page
    without = [name for name in ROWS if name != "size-t-binary"]
    assert written(page, [], without) == page.replace(f"| {' | '.join(line)} |\n", "")
