"""Correlations through the registry: scored by items, without a worst answer, and never averaged over runs."""

import pytest

from registry.metrics import Pearson


@pytest.fixture
def task(registry, tmp_path):
    """Run a task of four items whose only system lacks the last one, or has two runs."""
    def run(missing="reject", runs=1, exit_code=0):
        (tmp_path / "gold.tsv").write_text("item\tgold\na\t1\nb\t2\nc\t4\nd\t5\n")
        for n in range(runs):
            last = "" if runs == 1 else "d\t1\n"
            (tmp_path / f"s.{n}.tsv").write_text(f"item\tscore\na\t{n}\nb\t3\nc\t2\n{last}")
        (tmp_path / "task.toml").write_text(
            'manifest = 1\n[task]\nid = "t"\n[[test_set]]\nname = "test"\ngold = "gold.tsv"\nformat = "scores"\n'
            f'options = {{ gold = "gold" }}\n[submission]\nmissing = "{missing}"\n'
            '[[metric]]\nid = "r"\nname = "Pearson"\n'
            '[[submit]]\nfile = "{system}.{run}.tsv"\n')
        return registry("run", tmp_path / "task.toml", "--format", "json", exit_code=exit_code)

    return run


@pytest.mark.slow
def test_an_item_without_a_score_has_no_worst_one(task):
    """Without the last item, deviations from the mean are -5, 4, 1 and -4, -1, 5 thirds: r is 21 / 42."""
    (row,) = task("drop").json
    assert row["score"] == pytest.approx(0.5)
    assert "item 'd': it has no answer, and Pearson has no worst value" in task("worst", exit_code=3).stderr


def test_correlations_are_no_averages_over_runs(task):
    told = task(runs=2, exit_code=3).stderr
    assert "Pearson cannot be averaged over runs, but s/s@1 has 2 runs; submit each run as a separate system" in told


def test_sums_have_no_correlation():
    assert not hasattr(Pearson(), "score")
