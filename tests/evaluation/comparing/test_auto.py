"""`resamples = "auto"`: as many draws as the correction needs and decisions hang on, and the p-values of just those."""

import random

import pytest

from registry.evaluation.comparing.settings import Request
from registry.manifest import Significance
from registry.store.database import Database
from tests.evaluation.comparing.compared import Undone, pairs

RESULT = ("submission_a", "submission_b", "p_value", "p_adjusted", "p_low", "p_high", "resamples", "resolved")


@pytest.fixture
def written(task, monkeypatch):
    """Write the task of eight systems whose 28 pairs are all drawn; auto begins with 100 draws here."""
    monkeypatch.setattr("registry.evaluation.comparing.settings.DRAWS", 100)
    rng = random.Random(1)
    task.gold, task.documents = {f"i{n:02}": rng.choice("abc") for n in range(90)}, {}
    task.systems = {f"s{wrong}": {item: rng.choice("abc") if rng.random() < (wrong + 3) / 12 else label
                                  for item, label in task.gold.items()} for wrong in range(8)}

    def write(**significance):
        task.significance = {"seed": 1} | significance
        manifest = task.write()
        manifest.write_text(manifest.read_text().replace('"Accuracy"', '"LabelF"'))
        return manifest

    return write


def results(rows):
    return [tuple(row[key] for key in RESULT) for row in rows]


@pytest.fixture
def drawn(written, scored):
    """Compare the systems, each time as if it were the first, and give the results."""
    scored(written(), command="apply", then=("score",))

    def compare(**significance):
        with Database("registry.duckdb").writing(dry_run=True) as connection:
            registry = Undone(connection)
            registry.compare(**significance)
            return results(registry.pairs)

    return compare


def test_draws_are_the_power_of_ten_that_the_correction_needs(drawn):
    """28 pairs at 0.02 need 28 / 0.02 - 1 = 1399 draws under Holm's correction, and single ones 49."""
    asked = {"alpha": 0.02, "resolve": 10_000}
    family, single = drawn(resamples="auto", **asked), drawn(resamples="auto", correction="none", **asked | {
        "resolve": 100})
    assert {row[-2] for row in family} == {10_000}
    assert {row[-2] for row in single} == {100}
    assert drawn(resamples=10_000, **asked) == family


def test_open_decisions_get_ten_times_the_draws(drawn):
    few, more = (drawn(resamples=draws, alpha=0.05, correction="none") for draws in (100, 1000))
    grown = drawn(resamples="auto", resolve=1000, alpha=0.05, correction="none")
    assert 0 < sum(row[-1] for row in few) < len(few)
    assert grown == [one if one[-1] else ten for one, ten in zip(few, more, strict=True)]


def test_precise_p_values_are_drawn_no_more(drawn):
    """With an error of 1/5, 25 extreme draws are enough: 1000 for p = 0.03, of 2000 that 1.2 times 25 / 0.03 take."""
    asked = {"alpha": 0.05, "correction": "none", "resolve": 100_000}
    decided, precise = drawn(resamples=100, **asked), drawn(resamples=100, precision=0.2, **asked)
    few = drawn(resamples=100, alpha=0.05, correction="none")
    still_open = [pair for pair in precise if not pair[-1]]
    assert still_open
    assert all(pair[2] * pair[-2] >= 25 for pair in still_open)
    assert {pair[-2] for pair in precise} <= {100, 200, 500, 1000, 2000}
    assert max(pair[-2] for pair in decided) == 100_000
    by_draws = {n: drawn(resamples=n, alpha=0.05, correction="none") for n in {pair[-2] for pair in precise}}
    for at, (pair, first) in enumerate(zip(precise, few, strict=True)):
        assert pair[:-1] == by_draws[pair[-2]][at][:-1]
        assert (pair[-2] == 100) == (first[-1] or first[2] * 100 >= 25)


@pytest.mark.parametrize(("declared", "numbers"), [
    ({}, (100_000, 10_000_000, 0.1)), ({"precision": 0.01}, (100_000, 10_000_000, 0.01)),
    ({"resolve": 10**6}, (100_000, 10**6, None)), ({"correction": "max-t"}, (100_000, None, None))])
def test_who_does_not_say_how_many_has_precise_p_values(declared, numbers):
    request = Request(Significance(resamples="auto", seed=1, **declared), {}).resolve_resamples(28)
    found = request.significance
    assert (found.resamples, found.resolve, found.precision) == numbers


def test_the_same_manifest_and_its_numbers_change_nothing(written, registry, task):
    registry("run", written(resamples="auto", resolve=1000))
    found = results(pairs())
    assert "nothing" in registry("run", task.manifest).stderr
    registry("run", written(resamples=1000, resolve=1000))
    assert results(pairs()) == found
    told = registry("compare", "--resamples", "auto").stderr
    assert "plan" not in told
    assert "has no effect" not in told


def test_a_number_of_draws_is_a_number_or_auto(drawn, registry):
    told = registry("compare", "--resamples", "many", exit_code=3).stderr
    assert "resamples: is 'many'; expected a whole number from 100 to 2^30, or 'auto'" in told


def test_results_that_more_draws_replaced_are_not_kept_as_nothing_could_verify_them(written, registry):
    registry("run", written(resamples=100, resolve=10_000))
    assert {row["resamples"] for row in pairs()} == {100, 1000, 10_000}
    unused = registry("query", "SELECT count(*) AS n FROM pair_result ANTI JOIN comparison_pair USING (pair_result_id)",
                      "--format", "json").json
    assert unused == [{"n": 0}]
    assert "no faults" in registry("verify").stderr
    registry("compare", "--alpha", "0.2")
    assert "no faults" in registry("verify").stderr
