"""A class that only one system gives lowers that system's macro average alone, which is told before the work."""

import pytest

from tests.label_tasks import LabelTask

GOLD = {f"i{n}": "abc"[n % 3] for n in range(30)}
TOLD = "macro-F1 of x also averages over 1 class that the gold does not have ('other'), which lowers the score"


@pytest.fixture
def stray(tmp_path):
    """x is right of all but one item, to which it gives a label of its own; y gives one of the gold's labels there."""
    return LabelTask(tmp_path / "task", GOLD, {"x": GOLD | {"i0": "other"}, "y": GOLD | {"i0": "b"}})


def run(registry, task, metric):
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace('"Accuracy"', metric))
    return registry("run", manifest, "--format", "json")


def test_a_stray_class_is_told_for_macro_averages(registry, stray):
    """By hand: F1 of a is 18/19, of b and c 1, of the stray class 0; y has 18/19 and 20/21 and 1."""
    told = run(registry, stray, '"LabelF"')
    assert {row["system"]: row["score"] for row in told.json} == {
        "x": pytest.approx((18 / 19 + 2) / 4), "y": pytest.approx((18 / 19 + 20 / 21 + 1) / 3)}
    assert [line for line in told.stderr.splitlines() if TOLD in line] == [
        f"warning: small/test, acc: {TOLD}; rename the labels, or list the classes in the metric's option labels"]


@pytest.mark.parametrize("metric", [
    '"LabelF"\noptions = { average = "micro" }', '"LabelF"\noptions = { labels = ["a", "b", "c"] }',
    '"BalancedAccuracy"', '"Accuracy"'])
def test_other_metrics_do_not_count_it(registry, stray, metric):
    assert "the gold does not have" not in run(registry, stray, metric).stderr


def test_systems_with_the_gold_s_classes_are_not_told_of(registry, stray):
    del stray.systems["x"]
    stray.systems["z"] = dict.fromkeys(GOLD, "a")
    assert "the gold does not have" not in run(registry, stray, '"LabelF"').stderr


def test_a_rare_class_is_named(registry, tmp_path):
    """The gold has 19 items of c; y has more errors in each class, and most of these in a."""
    sizes = {"a": 100, "b": 90, "c": 19}
    gold = {f"{label}{place}": label for label, size in sizes.items() for place in range(size)}
    wrong = {name: {f"{label}{place}" for label in sizes for place in range(n)} for n, name in ((3, "x"), (4, "y"))}
    wrong["y"] |= {f"a{place}" for place in range(10, 40, 5)}
    following = {"a": "b", "b": "c", "c": "a"}
    systems = {name: {item: following[label] if item in items else label for item, label in gold.items()}
               for name, items in wrong.items()}
    printed = run(registry, LabelTask(tmp_path / "task", gold, systems), '"BalancedAccuracy"').stderr
    assert "the score depends on a class with fewer than 20 items ('c'); add items of this class" in printed


def test_it_is_a_remark_in_python():
    import registry as package

    gold = list(GOLD.values())
    board = package.evaluate(gold, {"x": ["other", *gold[1:]], "y": ["b", *gold[1:]]}, metric="LabelF")
    assert any(TOLD in remark for remark in board.messages), board.messages
