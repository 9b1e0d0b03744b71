"""New bests of a history of versions, against p-values and levels worked by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from registry.significance import Settings
from registry.studies.new_best import _History

ITEMS = [f"i{n:02}" for n in range(40)]


@pytest.fixture
def history(task, registry, once):
    """Submissions one after the other: a with 20 of 40 items right, then with 36, b with 37, each with all before."""
    def right(n):
        return {item: "yes" if k < n else "no" for k, item in enumerate(ITEMS)}

    def made():
        registry("run", task.write())
        for system, version, n in (("a", "2", 36), ("b", "1", 37)):
            file = task.folder / f"later-{system}.tsv"
            file.write_text("".join(f"{item}\t{label}\n" for item, label in right(n).items()))
            registry("submit", "small", file, "--system", system, "--team", system, "--version", version)
            registry("score", "small")

    task.gold, task.documents, task.systems = dict.fromkeys(ITEMS, "yes"), {}, {"a": right(20)}
    once(made)
    return registry


def rows(registry, *options):
    return registry("study", "new-best", "small", "--format", "json", *options).json


def test_each_is_tested_against_all_before(history):
    """16 and 17 items were won and none lost: p is 2^-16 and, of b against the second version of a, 1/2."""
    first, second, third = rows(history)
    assert [row["submission"].rpartition("/")[2] for row in (first, second, third)] == ["a@1", "a@2", "b@1"]
    assert first["p_value"] is None
    assert second["p_value"] == pytest.approx(2**-16)
    assert third["p_value"] == pytest.approx(1 / 2)
    assert third["against"] == second["submission"]
    assert [row["new_best"] for row in (first, second, third)] == [False, True, False]
    part = math.log10(0.05 / 199)
    assert second["log10_level"] == pytest.approx(part)
    assert third["log10_level"] == pytest.approx(part + math.log10(2)), "handed on by the new best"
    (winner,) = rows(history, "--show", "winner")
    assert winner["submission"] == third["submission"]
    assert winner["score"] == 37 / 40
    assert winner["error"] == pytest.approx(math.sqrt(37 * 3 / 40**3))
    assert winner["corrected"] == pytest.approx(37 / 40), "what all others have right it has, too: they were no rivals"


def test_a_ladder_shows_few_values_and_leaves_less_of_alpha(history):
    """In steps of 0.1, 20 to 37 of 40 rise twice, to 0.5 and 0.9; 12 values, of 199 tests after one was shown."""
    found = rows(history, "--release", "ladder", "--step", "0.1")
    assert [row["shown"] for row in found] == pytest.approx([0.5, 0.9, 0.9])
    levels = [0.05 / (n * (n + 1)) / math.comb(199, n) / math.comb(12, n) for n in (1, 2)]
    assert [row["log10_level"] for row in found[1:]] == pytest.approx([math.log10(of) for of in levels])
    assert [row["new_best"] for row in found] == [False, levels[0] >= 2**-16, False]
    shown = [(row["place"], row["shown"]) for row in rows(
        history, "--release", "ladder", "--step", "0.1", "--show", "ladder")]
    assert shown == [(1, pytest.approx(0.5)), (2, pytest.approx(0.9))]
    by_errors = rows(history, "--release", "ladder", "--step", "0")
    assert math.sqrt(39 / 40**3) < 1 / 40, "so the last one is shown"
    assert [row["shown"] for row in by_errors] == pytest.approx([20 / 40, 36 / 40, 37 / 40])
    asked = history("study", "new-best", "small", "--release", "ladder", "--highest", "0.8", exit_code=3)
    assert "--lowest and --highest" in asked.stderr


def test_what_is_purged_has_spent_its_part(history, task):
    """The third, which never was on a board, keeps its place."""
    history("purge", "small", "b", "--reason", "they asked")
    file = task.folder / "later-c.tsv"
    file.write_text("".join(f"{item}\tyes\n" for item in ITEMS))
    history("submit", "small", file, "--system", "c", "--team", "c")
    history("score", "small")
    found = rows(history)
    assert [row["place"] for row in found] == [1, 2, 4]
    assert found[-1]["log10_level"] == pytest.approx(math.log10(0.05 / 199)), "handed on to the one that is gone"


def test_what_is_withdrawn_has_spent_its_part(history):
    history("withdraw", "small/test/a/a@2", "--reason", "a mistake")
    first, third = rows(history)
    assert (first["place"], third["place"]) == (1, 3)
    assert third["p_value"] == pytest.approx(2**-17)
    assert third["new_best"]
    assert third["log10_level"] == pytest.approx(math.log10(0.05 / 199))
    assert "1 submission is left out" in history("study", "new-best", "small", "--alpha", "0.01").stderr


@pytest.mark.parametrize("lower", [False, True])
def test_what_scores_less_than_the_best_before_is_no_new_best_by_any_test(lower):
    """The sign test can favour it; the fourth equals the best, the fifth was withdrawn."""
    scores = np.array([0.5, 0.6, 0.55, 0.6, np.nan, 0.7])
    places = [0, 1, 2, 3, 5]
    tested = []

    def run(matrix, pairs, settings):
        assert settings.alternative == "greater"
        tested.extend((places[n], places[before]) for n, before in pairs)
        return [SimpleNamespace(log10_p=-10.0 - before, method="exact", resamples=None) for _, before in pairs]

    board = SimpleNamespace(matrix=SimpleNamespace(lower_is_better=lower, by_unit=None),
                            members=[SimpleNamespace(name=str(place)) for place in places],
                            scores=(-scores if lower else scores)[places])
    history = _History.test_versions(SimpleNamespace(board=board, test=SimpleNamespace(run=run), settings=Settings()),
                          SimpleNamespace(order=["0", "1", "2", "3", "", "5"], step=0.01))
    assert tested == [(1, 0), (2, 1), (3, 1), *((5, before) for before in (0, 1, 2, 3))]
    np.testing.assert_allclose(history.log_p / np.log(10), [np.nan, -10, -11, -11, np.nan, -10])
    np.testing.assert_allclose(history.claims / np.log(10), [np.nan, -10, 0, 0, 0, -10])
