"""`resamples = "auto"`: as many draws as the correction needs and decisions hang on, and the p-values of just those."""

import random

import pytest

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
