"""The gate's errors, with fewer test sets than in docs/gate.md, and the tables of that page."""

import math

import pytest

from tests.validity import gate
from tests.validity.record import recorded

RUNS, ALPHA = 300, 0.05


@pytest.fixture(autouse=True)
def _repeated_work_once():
    with gate.repeated_work_once():
        yield


def allowed(runs):
    return ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / runs)


@pytest.mark.simulation
@pytest.mark.parametrize("kind", ["bounded", "entities", "translations"])
def test_candidates_at_the_margin_seldom_pass_or_fail(kind):
    errors = {name: (passes, fails) for name, _, passes, fails in gate.simulate_errors(kind, 200, RUNS)}
    assert {name: rates for name, rates in errors.items() if max(rates) > allowed(RUNS)} == {}
    assert max(map(max, errors.values())) > 0.01, "the gate decides"


@pytest.mark.slow
@pytest.mark.parametrize("margin", gate.MARGINS)
def test_counted_errors_are_below_alpha(margin):
    assert max(gate.count_errors(50, margin)) <= ALPHA


@pytest.mark.simulation
def test_five_criteria_seldom_fail_at_their_margins():
    passes, fails = gate.simulate_five("scores", 0.8, RUNS)
    assert passes <= allowed(RUNS)
    assert fails <= allowed(RUNS)


def test_no_error_of_the_page_is_larger_than_5_percent():
    rows, _ = recorded(gate.PAGE.read_text(), gate.ERRORS)
    assert {row[0] for row in rows} == {"correct or incorrect", *gate.KINDS.values()}
    for row in rows:
        for units, cell in zip(gate.UNITS, row[3:], strict=True):
            runs = 2000 if units == 2000 else 5000
            assert max(map(float, cell.split(" / "))) <= 100 * allowed(runs), row
    rows, _ = recorded(gate.PAGE.read_text(), gate.FIVE)
    assert max(float(cell) for row in rows for cell in row[2:]) <= 100 * allowed(5000)
