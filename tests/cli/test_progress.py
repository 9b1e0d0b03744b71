"""How far work is: over one line on a terminal, now and then elsewhere, and not at all where nobody asks."""

import pytest

from registry.cli.progress import Reporter


@pytest.fixture
def told():
    """A reporter off a terminal, a clock to be set by `told.now`, and what was written, by the second."""
    class Told(list):
        now = 0.0

    lines = Told()
    lines.report = Reporter(lambda text: lines.append((lines.now, text)), is_terminal=False, clock=lambda: lines.now)
    return lines


def work(told, what, steps, seconds):
    told.report(what, 0, steps)
    for done in range(1, steps + 1):
        told.now += seconds
        told.report(what, done, steps)


def test_short_work_is_not_told_of(told):
    work(told, "pairs", 9, 1)
    assert told == []


def test_long_work_is_told_after_ten_seconds_and_every_thirty(told):
    work(told, "pairs", 100, 1)
    assert [second for second, _ in told] == [10, 40, 70]
    assert told[1][1] == "40 of 100 pairs (about 60 s left)\n"


def test_many_short_stages_are_long_work(told):
    for _ in range(12):
        work(told, "pairs", 3, 1)
    assert [second for second, _ in told] == [10]


def test_outer_stages_stand_first_each_with_its_time_left(told):
    told.report("boards", 0, 3)
    work(told, "pairs", 4, 2)
    told.report("boards", 1, 3)
    work(told, "pairs", 4, 2)
    assert told == [(10, "1 of 3 boards (about 20 s left); 1 of 4 pairs (about 6 s left)\n")]


def test_time_left_is_unknown_before_anything_is_done(told):
    told.report("pairs", 0, 2)
    told.now = 11.0
    told.report("draws", 0, 5)
    assert told == [(11, "0 of 2 pairs; 0 of 5 draws\n")]


def test_a_terminal_has_one_line_that_is_cleared_at_the_end():
    now, written = [0.0], []
    report = Reporter(written.append, is_terminal=True, clock=lambda: now[0])
    for done in range(3):
        report("pairs", done, 2)
        now[0] += 5
    assert written[0].endswith("\r0 of 2 pairs")
    assert written[1].endswith("\r1 of 2 pairs (about 5 s left)")
    assert written[2].strip("\r ") == ""
    assert len(written[2].strip("\r")) == len("1 of 2 pairs (about 5 s left)")


@pytest.mark.parametrize("how", [("--quiet",), ()])
def test_quiet_silences_it(task, registry, monkeypatch, how):
    monkeypatch.setattr("registry.cli.progress.FIRST_DELAY", 0)
    monkeypatch.setattr("registry.cli.progress.NEXT_DELAY", 0)
    if not how:
        assert "submissions to read" in registry("run", task.write(), "--db", "told.duckdb").stderr
        monkeypatch.setenv("REGISTRY_QUIET", "1")
    outcome = registry("run", task.write(), *how)
    assert "submissions to" not in outcome.stderr
    assert "nothing changed" in registry("run", task.manifest, *how).stderr
