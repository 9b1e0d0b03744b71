"""Labels through the registry: numbered once, in digests by name, and boards that do not depend on who came first."""

import pytest
from sklearn import metrics as sklearn

from registry.metrics import METRICS, Accuracy
from registry.readers import Labels

ACCEPTING = {"options": {"columns": ["item", "label"], "unknown": "accept"}}  # systems without a label of the gold
F1 = '[[metric]]\nid = "f1"\nname = "LabelF"\n'


def scores(registry, task, *arguments):
    task.write()
    rows = registry("run", task.manifest, "--format", "json", *arguments).json
    return {row["system"]: row["score"] for row in rows if row["metric"] == "f1"}


def peer(task, labels):
    keys = list(task.gold)
    return sklearn.f1_score([task.gold[k] for k in keys], [labels[k] for k in keys], average="macro", zero_division=0)


def test_boards_have_scikit_learns_macro_f1(registry, task):
    task.extra = F1
    task.systems["d"] = {item: "maybe" if item == "i3" else label for item, label in task.systems["a"].items()}
    expected = {name: pytest.approx(peer(task, labels)) for name, labels in task.systems.items()}
    assert scores(registry, task) == expected
    labels = registry("query", "SELECT name FROM label ORDER BY name", "--format", "json").json
    assert [row["name"] for row in labels] == ["maybe", "no", "yes"]


def test_another_label_of_one_more_system_tests_its_own_pairs_only(registry, task):
    task.extra, task.submission = F1, ACCEPTING
    before = scores(registry, task)
    task.systems["d"] = dict.fromkeys(task.gold, "maybe")
    task.write()
    done = registry("run", task.manifest, "--format", "json")
    assert {r["system"]: r["score"] for r in done.json if r["metric"] == "f1" and r["system"] != "d"} == before
    # of each board's 6 pairs: the 3 of before are known, and what b has with d, its copy c has too
    assert "4 tested, 8 already stored" in done.stderr


def test_the_order_in_which_labels_turn_up_does_not_matter(registry, task, tmp_path):
    task.extra, task.submission = F1, ACCEPTING
    task.systems["d"] = dict.fromkeys(task.gold, "aye")
    found = []
    for order in ("abcd", "dcba"):
        db = tmp_path / f"{order}.duckdb"
        task.systems = {name: task.systems[name] for name in order}
        task.write()
        registry("run", task.manifest, "--db", db)
        found.append(registry("pairs", "--metric", "f1", "--db", db, "--format", "json").json)
    assert found[0] == found[1]


def test_runs_are_averaged_by_their_counts(registry, task):
    """One run is a's answers and one b's: the counts of each class are their means."""
    task.extra = F1
    a, b = task.systems["a"], task.systems["b"]
    task.runs = {"e": {"1": a, "2": b}}
    gold, said = [*task.gold.values()] * 2, [*(a[k] for k in task.gold), *(b[k] for k in task.gold)]
    assert scores(registry, task)["e"] == pytest.approx(sklearn.f1_score(gold, said, average="macro"))


def test_missing_answers_that_count_as_wrong_have_no_label(registry, task):
    task.extra, task.submission = F1, {"missing": "worst"}
    del task.systems["a"]["i0"]
    found = scores(registry, task)
    gold, said = list(task.gold.values()), [task.systems["a"].get(k, "none") for k in task.gold]
    assert found["a"] == pytest.approx(sklearn.f1_score(gold, said, average="macro", labels=["yes", "no"]))
    rows = registry("query", "SELECT score FROM item_score WHERE metric = 'f1' AND system = 'a' ORDER BY item",
                    "--format", "json").json
    assert [row["score"] for row in rows] == [0, 1, 1, 1, 1, 0]


def test_a_label_that_no_gold_has_is_refused_where_the_gold_is_read(registry, task):
    task.extra = F1 + 'options = { labels = ["yess"] }\n'
    for command in ("check", "apply"):
        told = registry(command, task.write(), exit_code=3).stderr
        assert "task.toml: metric[1]: the gold has no label 'yess'; did you mean 'yes'?" in told


def test_so_is_one_that_a_metric_of_single_labels_names(registry, task, monkeypatch):
    class Hits(Accuracy):
        """Accuracy, by the items of one label."""

        label: str = ""

        def list_option_labels(self):
            return (self.label,)

    monkeypatch.setitem(METRICS, "Hits", Hits)
    task.extra = '[[metric]]\nid = "hits"\nname = "Hits"\noptions = { label = "yess" }\n'
    assert "task.toml: metric[1]: the gold has no label 'yess'; did you mean 'yes'?" in registry(
        "apply", task.write(), exit_code=3).stderr


def test_a_label_that_one_gold_lacks_is_warned_of(registry, task):
    task.extra = F1 + 'options = { labels = ["none"] }\n' + """
        [[test_set]]
        name = "other"
        gold = "other.tsv"
        format = "labels"
        """
    task.write()
    manifest = task.manifest.read_text().replace('file = "systems/{system}.tsv"', 'file = "systems/{system}.tsv"\n'
                                                 'test_set = "test"')
    task.manifest.write_text(manifest)
    (task.folder / "other.tsv").write_text("x\tnone\n")
    for command in ("check", "apply"):
        assert "warning: f1: the gold of test set 'test' has no label 'none'; " in registry(
            command, task.manifest).stderr


def test_a_reader_whose_answers_do_not_name_its_labels_is_told_of(registry, task, monkeypatch):
    task.extra = F1
    monkeypatch.setattr(Labels, "answer_set", lambda self, value: ())
    told = registry("run", task.write(), exit_code=3).stderr
    assert "2 labels have no name among the stored answers" in told
    assert "`answer_set` of the gold's reader, labels(" in told
