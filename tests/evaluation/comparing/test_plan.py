"""What a comparison will do is said before it, once, and only where there is something to do."""

import random
import re

import pytest

from registry.parallel import execution
from tests.conftest import ROOT


@pytest.fixture
def formula(task):
    """A task whose score is no quotient of sums: four systems of 90 items that differ in more than 16."""
    def write(**significance):
        rng = random.Random(1)
        task.gold, task.documents = {f"i{n:02}": rng.choice("abc") for n in range(90)}, {}
        task.systems = {f"s{wrong}": {item: rng.choice("abc") if rng.random() < (wrong + 3) / 8 else label
                                      for item, label in task.gold.items()} for wrong in range(4)}
        task.significance = {"seed": 1} | significance
        manifest = task.write()
        manifest.write_text(manifest.read_text().replace('"Accuracy"', '"LabelF"'))
        return manifest

    return write


@pytest.fixture
def compare(formula, registry, scored):
    """Compare the systems of that task, which are scored; gives what is told."""
    scored(formula(), command="apply", then=("score",))
    return lambda *options: registry("compare", *options).stderr


def test_exact_pairs_are_planned_before_they_are_tested(task, scored):
    told = scored(task).stderr.splitlines()
    (plan,) = [line for line in told if line.startswith("plan: ")]
    assert plan.startswith("plan: 1 board of 3 systems, 3 pairs: all exact; about 0.3 GiB")
    assert told.index(plan) < next(n for n, line in enumerate(told) if line.startswith("comparisons: "))


def test_nothing_to_do_is_not_planned(task, registry, scored):
    scored(task)
    assert "plan" not in registry("run", task.manifest).stderr
    assert "plan" not in registry("compare").stderr


def test_one_more_system_plans_its_own_pairs(task, registry, scored):
    more = task.systems.pop("c")
    scored(task)
    task.systems["c"] = more
    assert "1 board of 3 systems, 2 pairs: " in registry("run", task.write()).stderr


def test_quiet_silences_the_plan_and_no_warning(formula, registry):
    told = registry("run", formula(resamples=100), "--quiet").stderr
    assert "plan: " not in told
    assert "warning: small/test, acc: no difference can be significant, because the smallest possible p-value" in told


def test_fallbacks_to_draws_are_announced_with_their_reason(compare):
    told = compare("--resamples", 300)
    assert "all simulated with 300 resamples because p-values of this metric have no exact form" in told


def test_a_dry_run_plans_too(formula, registry):
    assert "plan: 1 board of 4 systems, 6 pairs" in registry("run", formula(resamples=200), "--dry-run").stderr


@pytest.mark.parametrize(("correction", "draws", "hopeless"), [
    ("holm", 118, True), ("holm", 119, False), ("shaffer", 118, True), ("hochberg", 100, False), ("none", 100, False)])
def test_too_few_draws_are_told_before_and_on_the_board(compare, registry, correction, draws, hopeless):
    """6 pairs at 0.05 need 6 / 0.05 - 1 = 119 draws."""
    told = compare("--resamples", draws, "--correction", correction, "--alpha", 0.05)
    sentence = (f"o difference can be significant, because the smallest possible p-value with {draws} resamples is too "
                "large; set resamples to 119 or more")
    assert (sentence in told) == hopeless
    board = " ".join(registry("board", "--format", "table").stdout.split())
    assert (" ".join(sentence.split()) in board) == hopeless
    assert ("Hochberg's correction controls the family-wise error where p-values are independent or positively "
            "dependent (MTP2)" in board) == (correction == "hochberg")


def test_resolve_counts_as_draws(compare):
    assert "can be significant" not in compare("--resamples", 100, "--resolve", 200)


def test_joint_draws_are_too_few_for_a_small_level(compare):
    told = compare("--resamples", 100, "--correction", "max-t", "--alpha", 0.005)
    assert "the smallest possible p-value with 100 resamples is too large" in told
    assert "set resamples to 199 or more" in told


def test_a_count_of_0_draws_is_no_p_value_of_0(compare):
    told = compare("--resamples", 100, "--test", "bootstrap(variant=berg-kirkpatrick-2012)")
    assert "set resamples to 119 or more" in told


def test_a_bound_on_memory_that_cannot_be_kept_is_told_before(compare):
    told = compare("--resamples", 200, "--memory", "16M")
    assert "GiB of memory are needed, more than the 0.0 GiB that --memory allows" in told


def test_check_plans_as_run_does(formula, registry):
    told = registry("check", formula(resamples=100)).stderr
    assert "plan: 1 board of 4 systems, 6 pairs: all simulated with 100 resamples" in told
    assert "the smallest possible p-value with 100 resamples is too large" in told
    assert "can be significant" not in registry("check", formula(resamples=119)).stderr
    assert "plan" not in registry("check", formula(resamples=119), "--quiet").stderr


def test_check_does_not_warn_of_draws_where_pairs_are_exact(task, registry):
    task.significance = {"seed": 1, "resamples": 100, "alpha": 0.0001}
    told = registry("check", task.write()).stderr
    assert "plan: 1 board of 3 systems, 3 pairs: all exact" in told
    assert "resamples" not in told


def test_too_few_units_are_told_before_and_on_the_board(task, registry):
    """6 items allow 1 / 32 two-sided; Holm's first bar of 3 pairs at 0.05 is 1 / 60, which takes 7."""
    task.significance["unit"] = "item"
    told = registry("run", task.write())
    sentence = "the smallest possible p-value with 6 items is 0.03125; at least 7 items are needed"
    lines = told.stderr.splitlines()
    before = next(n for n, line in enumerate(lines) if sentence in line)
    assert before < next(n for n, line in enumerate(lines) if line.startswith("comparisons: "))
    assert sentence in " ".join(registry("board", "--format", "table").stdout.split())
    for enough in (("--correction", "hochberg"), ("--alpha", "0.1"), ("--test", "bootstrap(variant=studentized)")):
        assert "can be significant" not in registry("compare", *enough).stderr, enough


@pytest.mark.parametrize(("alpha", "draws"), [(0.05, "100,000"), (6e-5, "100,000"), (5e-5, "1,000,000")])
def test_auto_begins_with_what_the_correction_needs(formula, registry, alpha, draws):
    """6 pairs need 6 / 6e-5 - 1 = 99,999 draws, or 6 / 5e-5 - 1 = 119,999: of powers of ten, a million."""
    told = registry("check", formula(resamples="auto", alpha=alpha)).stderr
    assert f"all simulated with {draws} resamples (undecided pairs up to 10,000,000) because p-values" in told
    assert "can be significant" not in told


def test_auto_is_hopeless_only_beyond_its_bound(formula, registry):
    within, beyond = (registry("check", formula(resamples="auto", alpha=2**-20, **more)).stderr
                      for more in ({}, {"resolve": 1_000_000}))
    assert "can be significant" not in within
    assert "the smallest possible p-value with 1,000,000 resamples is too large" in beyond
    assert f"set resamples to {6 * 2**20 - 1:,} or more" in beyond


def test_joint_draws_of_auto_do_not_grow(formula, registry):
    """They need 1 / (R + 1) <= alpha."""
    told = registry("check", formula(resamples="auto", correction="max-t", alpha=5e-6, resolve=1000)).stderr
    assert "all simulated with 1,000,000 resamples because p-values" in told


def test_a_cluster_that_does_not_answer_is_told_before_the_work(formula, registry, scored, monkeypatch):
    monkeypatch.setattr(execution, "_ANSWER_SECONDS", 0.2)
    scored(formula(), command="apply", then=("score",))
    told = registry("compare", "--resamples", 10**9, "--dask", "tcp://127.0.0.1:9", exit_code=3).stderr
    assert "no dask scheduler answers at 'tcp://127.0.0.1:9'" in told
    assert "plan: " not in told


def test_pairs_that_swaps_misjudge_are_told_before_and_on_the_board(registry, scored):
    """Some of the entities' systems find more and others err less; studentized swaps do not mind."""
    lines = scored(ROOT / "sample_data" / "entities" / "task.toml").stderr.splitlines()
    before = next(n for n, line in enumerate(lines) if "in 6 of 28 pairs, the p-value may be too small" in line)
    assert before < next(n for n, line in enumerate(lines) if line.startswith("comparisons: "))
    board = " ".join(registry("board", "--format", "table").stdout.split())
    assert re.search(r"In 6 of 28 pairs \(.*?; 3 more\), the p-value may be too small", board)
    codes = [message["code"] for row in registry("pairs", "--format", "json").json for message in row["messages"]]
    assert codes.count("not-exchangeable") == 6
    studentized = registry("compare", "--test", "permutation(studentized=true)", "--resamples", "600")
    assert "may be too small" not in studentized.stderr
