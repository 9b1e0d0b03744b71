"""`registry import lm-eval`: samples of the LM Evaluation Harness, as its EvaluationTracker writes them (0.4.13)."""

import hashlib
import json

import pytest

from tests.importers import scores

DATE = "2027-03-01T12-00-00.000000"


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def sample(n, metrics, *, filter_="none", question=None, target=None):
    doc = {"question": question or f"What is {n}?"}
    target = str(n if target is None else target)
    return {"doc_id": n, "doc": doc, "target": target, "arguments": {"gen_args_0": {"arg_0": "Q:", "arg_1": {}}},
            "resps": [["x"]], "filtered_resps": ["x"], "filter": filter_, "metrics": list(metrics),
            "doc_hash": sha256(json.dumps(doc, indent=2, ensure_ascii=False)), "prompt_hash": sha256("Q:"),
            "target_hash": sha256(target), **metrics}


@pytest.fixture
def log(tmp_path):
    """Write the samples of a model on a task, and the results if they are given."""
    def write(model, task, samples, *, date=DATE, results=None):
        folder = tmp_path / "out" / model
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"samples_{task}_{date}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in samples))
        if results is not None:
            (folder / f"results_{date}.json").write_text(json.dumps(results))
        return path

    return write


def test_every_task_filter_and_metric_becomes_a_test_set(registry, log):
    for model, right in (("aspen", [1, 0, 1]), ("birch", [1, 1, 1])):
        log(model, "arc_easy", [sample(n, {"acc": float(right[n]), "acc_norm": 0.0}) for n in range(3)])
        log(model, "gsm8k", [sample(n, {"exact_match": right[n]}, filter_=filter_)
                             for filter_ in ("strict-match", "flexible-extract") for n in range(3)])
    told = registry("import", "lm-eval", "out", "--task", "mine").stderr
    assert "scores: 8 computed" in told
    assert scores(registry) == [
        (test_set, model, model, score)
        for test_set, of in (("arc_easy.acc", (2 / 3, 1)), ("arc_easy.acc_norm", (0, 0)),
                             ("gsm8k.flexible-extract.exact_match", (2 / 3, 1)),
                             ("gsm8k.strict-match.exact_match", (2 / 3, 1)))
        for model, score in zip(("aspen", "birch"), of, strict=True)]
    board = registry("run", "mine/task.toml", "--format", "json").json
    assert {(row["test_set"], row["rank"], row["system"]) for row in board} >= {
        ("arc_easy.acc", 1, "birch"), ("arc_easy.acc", 2, "aspen")}
    assert "nothing changed" in registry("import", "lm-eval", "out", "--task", "mine").stderr


def test_samples_are_paired_by_document_and_target_whatever_their_doc_id(registry, log):
    log("aspen", "arc", [sample(n, {"acc": n == 2}) for n in range(3)])
    others = [sample(n, {"acc": n == 2}) for n in (2, 0, 1)]
    for place, one in enumerate(others):
        one["doc_id"] = place
    log("birch", "arc", others)
    registry("import", "lm-eval", "out")
    assert registry("query", "SELECT count(*) AS n FROM item", "--format", "json").json == [{"n": 3}]
    assert registry("query", "SELECT count(DISTINCT score) AS n FROM item_score GROUP BY item", "--format",
                    "json").json == [{"n": 1}] * 3


def test_the_same_document_with_another_target_is_another_item(registry, log):
    log("aspen", "arc", [sample(0, {"acc": 1}), sample(1, {"acc": 0})])
    log("birch", "arc", [sample(0, {"acc": 1}, target="other"), sample(1, {"acc": 0})])
    told = registry("import", "lm-eval", "out", exit_code=3).stderr
    assert "'aspen' has no score of 1 item of 3 in 'arc.acc'" in told
    assert "--option missing=drop leaves such items out for all systems" in told
    registry("import", "lm-eval", "out", "--option", "missing=drop")
    board = registry("run", "out/task.toml", "--format", "json").json
    assert [row["score"] for row in board] == [0, 0]


def test_the_results_name_the_model_and_the_direction_and_which_scores_are_means(registry, log):
    samples = [sample(0, {"acc": 1.0, "ppl": -1.0, "bleu": ["a", "b"]}), sample(1, {"acc": 0.0, "ppl": -3.0,
                                                                                   "bleu": ["a", "c"]})]
    results = {"model_name": "acme/aspen-7b", "higher_is_better": {"lambada": {"acc": True, "ppl": False}},
               "results": {"lambada": {"alias": "lambada", "acc,none": 0.5, "ppl,none": 7.389}}}
    log("acme__aspen-7b", "lambada", samples, results=results)
    registry("import", "lm-eval", "out")
    assert scores(registry) == [("lambada.acc", "acme", "aspen-7b", 0.5)]
    assert "metric 'ppl' of 'lambada' has the mean -2 over the samples, while the results say 7.389" in registry(
        "import", "lm-eval", "out", "--option", "metrics=ppl", exit_code=3).stderr
    assert "metric 'bleu' of 'lambada' is no number of a single sample" in registry(
        "import", "lm-eval", "out", "--option", "metrics=bleu", exit_code=3).stderr


def test_metrics_of_both_directions_are_imported_apart(registry, log):
    results = {"higher_is_better": {"t": {"acc": True, "loss": False}}, "results": {}}
    log("aspen", "t", [sample(0, {"acc": 1, "loss": 2})], results=results)
    log("birch", "t", [sample(0, {"acc": 0, "loss": 1})], results=results)
    assert "import them apart, choosing with the option 'metrics'" in registry(
        "import", "lm-eval", "out", exit_code=3).stderr
    registry("import", "lm-eval", "out", "--option", "metrics=loss")
    board = registry("run", "out/task.toml", "--format", "json").json
    assert [(row["rank"], row["system"]) for row in board] == [(1, "birch"), (2, "aspen")]


def test_logs_of_the_same_model_and_task_are_refused_or_latest_or_runs(registry, log):
    log("aspen", "t", [sample(0, {"acc": 1}), sample(1, {"acc": 1})])
    log("aspen", "t", [sample(0, {"acc": 0}), sample(1, {"acc": 1})], date="2027-03-02T12-00-00.000000")
    told = registry("import", "lm-eval", "out", exit_code=3).stderr
    assert "2027-03-02T12-00-00.000000.jsonl: a log of 'aspen' on 't', as " in told
    registry("import", "lm-eval", "out", "--task", "latest", "--option", "repeated=latest")
    registry("import", "lm-eval", "out", "--task", "runs", "--option", "repeated=runs")
    assert scores(registry, "WHERE task = 'latest'") == [("t.acc", "aspen", "aspen", 0.5)]
    assert registry("query", "SELECT avg(score) AS s, count(*) AS n FROM item_score WHERE task = 'runs'", "--format",
                    "json").json[0]["s"] == 0.75


def test_a_document_that_stands_twice_is_named_or_numbered(registry, log):
    log("aspen", "t", [sample(0, {"acc": 1}), sample(1, {"acc": 0}), sample(0, {"acc": 0})])
    assert f"samples_t_{DATE}.jsonl:3: item '" in (told := registry("import", "lm-eval", "out", exit_code=3).stderr)
    assert "stands twice, first in line 1; --option duplicates=number takes both" in told
    registry("import", "lm-eval", "out", "--option", "duplicates=number")
    assert scores(registry) == [("t.acc", "aspen", "aspen", 1 / 3)]


def test_tasks_metrics_and_filters_are_chosen(registry, log):
    log("aspen", "a", [sample(0, {"acc": 1, "f": 1}, filter_=f) for f in ("x", "y")])
    log("aspen", "b", [sample(0, {"acc": 1})])
    registry("import", "lm-eval", "out", "--option", "tasks=a", "--option", "metrics=acc", "--option", "filters=y")
    assert [row[0] for row in scores(registry)] == ["a.y.acc"]
    for option, says in (("tasks=c", "no samples of task 'c'; known: a, b"), ("metrics=ac", "did you mean 'acc'"),
                         ("filters=z", "no sample has 'z' of option 'filters'; known: none, x, y")):
        assert says in registry("import", "lm-eval", "out", "--option", option, exit_code=3).stderr


@pytest.mark.parametrize(("change", "says"), [
    (lambda s: s.pop("doc_hash"), ":2: no key 'doc_hash': samples can only be paired where the harness wrote digests"),
    (lambda s: s.pop("target_hash"), ":2: no key 'target_hash'"),
    (lambda s: s.update(doc_hash="../../etc"), ":2: '../../etc' is no digest"),
    (lambda s: s.update(acc=float("nan")), ":2: 'acc' is nan; expected a finite number"),
    (lambda s: s.update(acc=10**400), ":2: 'acc' is inf; expected a finite number"),
    (lambda s: s.update(metrics=["f1"]), ":2: 'metrics' does not list keys of the sample"),
    (lambda s: s.update(filter=7), ":2: 'filter' is 7, which does not belong there"),
])
def test_what_is_wrong_is_named_with_its_line(registry, log, change, says):
    wrong = sample(1, {"acc": 1})
    change(wrong)
    path = log("aspen", "t", [sample(0, {"acc": 1}), wrong])
    assert f"{path.name}{says}" in registry("import", "lm-eval", "out", exit_code=3).stderr


def test_nan_in_a_document_is_none_of_our_business(registry, log):
    one = sample(0, {"acc": 1})
    one["doc"]["age"] = float("nan")
    log("aspen", "t", [one])
    registry("import", "lm-eval", "out")
    assert scores(registry)[0][3] == 1


def test_hostile_folders_are_refused(registry, log, tmp_path):
    path = log("aspen", "t", [sample(0, {"acc": 1})])
    (tmp_path / "secret").write_text("secret\n")
    link = path.with_name(f"samples_u_{DATE}.jsonl")
    link.symlink_to(tmp_path / "secret")
    assert f"{link.name}: a link that leads out of the folder" in registry("import", "lm-eval", "out",
                                                                           exit_code=3).stderr
    link.unlink()
    path.write_text("{" * 10**6)
    assert f"{path.name}:1: not JSON" in registry("import", "lm-eval", "out", exit_code=3).stderr
    path.write_text(json.dumps(sample(0, {"acc": 1})).replace('"none"', '"\\ud800"') + "\n")
    assert registry("import", "lm-eval", "out").exit_code == 0
    path.unlink()
    assert "out: no samples_TASK_DATE.jsonl in this folder" in registry("import", "lm-eval", "out", exit_code=3).stderr
