"""`registry import lm-eval`: samples of the LM Evaluation Harness.

`lm_eval_logs` was written by the harness itself (0.4.13; `make.py` there); where something is wrong with logs, they
are made here as it writes them.
"""

import gzip
import hashlib
import json
import shutil
from pathlib import Path

import pytest

from tests.importers import scores

LOGS = Path(__file__).parent / "lm_eval_logs"
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


def of_harness(*metrics, part="results"):
    """The harness's own scores, as `scores` gives them; the registry counts to nine decimal places."""
    found = []
    for results in map(json.loads, (file.read_text() for file in LOGS.glob("*/results_*.json"))):
        team, system = results["model_name"].split("/")
        for task, of in results[part].items():
            for name, score in of.items():
                metric, _, filter_ = name.partition(",")
                if metric in metrics and task in results["configs"]:
                    test_set = ".".join([task, *(filter_,) * (filter_ != "none"), metric])
                    found.append((test_set, team, system, pytest.approx(score, rel=1e-9)))
    return sorted(found, key=lambda row: row[:3])


def test_every_task_filter_and_metric_is_a_test_set_with_the_scores_of_the_harness(registry):
    told = registry("import", "lm-eval", LOGS, "--task", "mine").stderr
    own = of_harness("acc", "acc_norm", "exact_match")
    assert len(own) == 10
    assert scores(registry) == own
    assert "warning: 'choice.brier_score' is ignored: it has no number for each sample" in told
    assert "'last.perplexity' is ignored: it is not a mean (add --option metrics=perplexity to import it)" in told
    board = registry("run", "mine/task.toml", "--format", "json").json
    assert {(row["test_set"], row["rank"], row["system"]) for row in board} >= {
        ("last.acc", 1, "aspen-7b"), ("last.acc", 2, "birch-1b")}
    assert "nothing changed" in registry("import", "lm-eval", LOGS, "--task", "mine").stderr


@pytest.mark.parametrize("metrics", [["word_perplexity", "byte_perplexity"], ["bits_per_byte"], ["perplexity"]])
def test_perplexities_are_made_of_the_samples_log_probabilities_and_lower_ones_are_better(registry, metrics):
    registry("import", "lm-eval", LOGS, "--task", "lm", "--option", f"metrics={json.dumps(metrics)}")
    own = of_harness(*metrics)
    assert len(own) == 2 * len(metrics)
    assert scores(registry) == own
    registry("compare", "lm", "--resamples", "100")
    board = registry("board", "lm", "--format", "json").json
    assert [row["score"] for row in board] == sorted(row["score"] for row in board if row["test_set"] == board[0][
        "test_set"]) + sorted(row["score"] for row in board if row["test_set"] != board[0]["test_set"])


def test_what_is_no_mean_is_imported_apart_and_what_is_no_number_not_at_all(registry):
    assert "'acc' and 'perplexity' are computed from their samples in different ways; import" in registry(
        "import", "lm-eval", LOGS, "--option", 'metrics=["acc", "perplexity"]', exit_code=3).stderr
    assert "metric 'brier_score' of 'choice' has no number for each sample" in registry(
        "import", "lm-eval", LOGS, "--option", "metrics=brier_score", exit_code=3).stderr
    told = registry("import", "lm-eval", LOGS, "--option", "tasks=texts", exit_code=3).stderr
    assert ("no score can be imported, because none is the mean over its samples; 'texts.bits_per_byte' is not a mean "
            "(add --option") in told


def test_the_score_of_a_group_is_the_mean_over_the_items_of_its_tasks(registry):
    registry("import", "lm-eval", LOGS, "--task", "mine")
    own = {results["model_name"].split("/")[1]: results["groups"]["toy"]["acc,none"] for results in (
        json.loads(file.read_text()) for file in LOGS.glob("*/results_*.json"))}
    found = registry("query", "SELECT system, avg(score) AS acc FROM item_score WHERE test_set IN ('choice.acc', "
                     "'last.acc') GROUP BY system", "--format", "json").json
    assert {row["system"]: row["acc"] for row in found} == {name: pytest.approx(acc) for name, acc in own.items()}


@pytest.mark.parametrize("compressed", [False, True])
def test_runs_of_several_models_may_share_a_folder(registry, tmp_path, compressed):
    """As `--output_path logs/aspen.json` writes them: results_DATE.json is aspen_DATE.json."""
    (tmp_path / "logs").mkdir()
    for file in LOGS.glob("*/*.json*"):
        name = file.name.replace("results", file.parent.name.partition("-")[0])
        if compressed:
            (tmp_path / "logs" / f"{name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        else:
            shutil.copy(file, tmp_path / "logs" / name)
    registry("import", "lm-eval", "logs")
    assert scores(registry) == of_harness("acc", "acc_norm", "exact_match")


def test_a_folder_of_several_models_that_nothing_names_is_refused(registry, tmp_path):
    (tmp_path / "logs").mkdir()
    for file in LOGS.glob("*/samples_*.jsonl"):
        shutil.copy(file, tmp_path / "logs")
    told = registry("import", "lm-eval", "logs", exit_code=3).stderr
    assert "this is a second log of 'logs' on 'choice'" in told
    assert "if the logs belong to different models, put results_DATE.json, which has the model's name" in told


def without_filters(path, *tasks, results=True):
    """Logs as the harness wrote them up to 0.4.5."""
    for file in LOGS.glob("acme__aspen-7b/*"):
        if file.name.startswith(tuple(f"samples_{task}" for task in tasks)):
            samples = [json.loads(line) for line in file.read_text().splitlines()]
            (path / file.name).write_text("".join(json.dumps({
                key: value for key, value in sample.items() if key not in ("filter", "metrics")}) + "\n"
                for sample in samples))
        elif file.name.startswith("results") and results:
            shutil.copy(file, path)


def test_samples_of_harnesses_that_named_no_filter_are_read_where_there_is_but_one(registry, tmp_path):
    without_filters(tmp_path, "choice", "last")
    registry("import", "lm-eval", ".", "--task", "old")
    assert scores(registry) == [row for row in of_harness("acc", "acc_norm") if row[2] == "aspen-7b"]


@pytest.mark.parametrize(("results", "says"), [
    (True, ":1: the results have the filters strict-match, flexible-extract, but the samples have no key 'filter'"),
    (False, ":4: item '29fe7763c49e48c5-ef2d127de37b942b': occurs twice, first in line 1; if the samples are")])
def test_samples_of_several_filters_that_are_not_named_are_never_taken_together(registry, tmp_path, results, says):
    without_filters(tmp_path, "sums", results=results)
    told = registry("import", "lm-eval", ".", "--task", "old", "--option", "duplicates=number", exit_code=3).stderr
    assert says in told
    assert "0.4.7" in told
    assert not results or says in registry("quick", ".", exit_code=3).stderr


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
    assert "add --option missing=drop to drop such items for all systems" in told
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
    assert "metric 'ppl' of 'lambada' is -2 over the samples, but 7.389 in the results" in registry(
        "import", "lm-eval", "out", "--option", "metrics=ppl", exit_code=3).stderr
    assert "metric 'bleu' of 'lambada' has no number for each sample" in registry(
        "import", "lm-eval", "out", "--option", "metrics=bleu", exit_code=3).stderr


def test_metrics_of_both_directions_are_imported_apart(registry, log):
    results = {"higher_is_better": {"t": {"acc": True, "loss": False}}, "results": {}}
    log("aspen", "t", [sample(0, {"acc": 1, "loss": 2})], results=results)
    log("birch", "t", [sample(0, {"acc": 0, "loss": 1})], results=results)
    assert "import the two separately with --option metrics=NAME" in registry(
        "import", "lm-eval", "out", exit_code=3).stderr
    registry("import", "lm-eval", "out", "--option", "metrics=loss")
    board = registry("run", "out/task.toml", "--format", "json").json
    assert [(row["rank"], row["system"]) for row in board] == [(1, "birch"), (2, "aspen")]


def test_logs_of_the_same_model_and_task_are_refused_or_latest_or_runs(registry, log):
    log("aspen", "t", [sample(0, {"acc": 1}), sample(1, {"acc": 1})])
    log("aspen", "t", [sample(0, {"acc": 0}), sample(1, {"acc": 1})], date="2027-03-02T12-00-00.000000")
    told = registry("import", "lm-eval", "out", exit_code=3).stderr
    assert "2027-03-02T12-00-00.000000.jsonl: this is a second log of 'aspen' on 't', after " in told
    registry("import", "lm-eval", "out", "--task", "latest", "--option", "repeated=latest")
    registry("import", "lm-eval", "out", "--task", "runs", "--option", "repeated=runs")
    assert scores(registry, "WHERE task = 'latest'") == [("t.acc", "aspen", "aspen", 0.5)]
    assert registry("query", "SELECT avg(score) AS s, count(*) AS n FROM item_score WHERE task = 'runs'", "--format",
                    "json").json[0]["s"] == 0.75


def test_a_document_that_stands_twice_is_named_or_numbered(registry, log):
    log("aspen", "t", [sample(0, {"acc": 1}), sample(1, {"acc": 0}), sample(0, {"acc": 0})])
    assert f"samples_t_{DATE}.jsonl:3: item '" in (told := registry("import", "lm-eval", "out", exit_code=3).stderr)
    assert "occurs twice, first in line 1; add --option duplicates=number to import both" in told
    registry("import", "lm-eval", "out", "--option", "duplicates=number")
    assert scores(registry) == [("t.acc", "aspen", "aspen", 1 / 3)]


@pytest.mark.parametrize("task", ["t", "suite"])
def test_documents_that_stand_several_times_are_tested_by_document(registry, log, task):
    """aspen is right of 18 and birch of 12 of 30 documents, four times each: p = 2/2^6, and by sample it was 2/2^24."""
    for model, right in (("aspen", 18), ("birch", 12)):
        log(model, task, [sample(n, {"acc": float(n < right)}) for n in range(30) for _ in range(4)])
    registry("import", "lm-eval", "out", "--task", "several", "--option", "duplicates=number")
    registry("run", "several/task.toml")
    (pair,) = registry("pairs", "--format", "json").json
    assert (pair["p_value"], pair["n_units"]) == (2 / 2**6, 30)
    assert {row["score"] for row in registry("board", "--format", "json").json} == {18 / 30, 12 / 30}


def test_tasks_metrics_and_filters_are_chosen(registry, log):
    log("aspen", "a", [sample(0, {"acc": 1, "f": 1}, filter_=f) for f in ("x", "y")])
    log("aspen", "b", [sample(0, {"acc": 1})])
    registry("import", "lm-eval", "out", "--option", "tasks=a", "--option", "metrics=acc", "--option", "filters=y")
    assert [row[0] for row in scores(registry)] == ["a.y.acc"]
    for option, says in (("tasks=c", "no samples of task 'c'; known: a, b"), ("metrics=ac", "did you mean 'acc'"),
                         ("filters=z", "no sample has 'z' of option 'filters'; known: none, x, y")):
        assert says in registry("import", "lm-eval", "out", "--option", option, exit_code=3).stderr


@pytest.mark.parametrize(("change", "says"), [
    (lambda s: s.pop("doc_hash"), ":2: the samples have no key 'doc_hash', so samples of different systems cannot be "
                                  "matched"),
    (lambda s: s.pop("target_hash"), ":2: no key 'target_hash'"),
    (lambda s: s.update(doc_hash="../../etc"), ":2: '../../etc' is not a digest"),
    (lambda s: s.update(acc=float("nan")), ":2: 'aspen' has no score of 1 item of 2 in 't.acc'"),
    (lambda s: s.update(acc=float("inf")), ":2: 'acc' is inf; expected a finite number"),
    (lambda s: s.update(acc=10**400), ":2: 'acc' is inf; expected a finite number"),
    (lambda s: s.update(metrics=["f1"]), ":2: 'metrics' lists names that are not keys of the sample"),
    (lambda s: s.update(filter=7), ":2: 'filter' is 7; expected text"),
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
    assert f"{link.name}: this link points to a file outside the folder" in registry("import", "lm-eval", "out",
                                                                           exit_code=3).stderr
    link.unlink()
    path.write_text("{" * 10**6)
    assert f"{path.name}:1: not JSON" in registry("import", "lm-eval", "out", exit_code=3).stderr
    path.write_text(json.dumps(sample(0, {"acc": 1})).replace('"none"', '"\\ud800"') + "\n")
    assert registry("import", "lm-eval", "out").exit_code == 0
    path.unlink()
    assert "out: no samples_TASK_DATE.jsonl, which lm_eval --log_samples writes, in this folder" in registry(
        "import", "lm-eval", "out", exit_code=3).stderr


@pytest.mark.parametrize(("options", "message"), [
    (("metrics=acc,filters=last",), "no sample has 'acc,filters=last' of option 'metrics'; did you mean 'acc'? Known: "
     "acc, loss"),
    (("filters=lst",), "no sample has 'lst' of option 'filters'; did you mean 'last'? Known: first, last, none"),
    (("tasks=sum",), "no samples of task 'sum'; did you mean 'sums'? Known: loss, sums"),
    (("metrics=acc", "filters=none"), "no sample has both acc of option 'metrics' and none of option 'filters'; "
     "filters of each metric: acc has 'first', 'last'; loss has 'none'"),
])
@pytest.mark.parametrize("command", [("import", "lm-eval", "out"), ("quick", "out")])
def test_names_in_options_are_compared_with_the_samples(command, options, message, registry, log):
    for model in ("aspen", "birch"):
        log(model, "sums", [sample(n, {"acc": 1}) | {"filter": name} for name in ("first", "last") for n in (0, 1)])
        log(model, "loss", [sample(n, {"loss": 1}) | {"filter": "none"} for n in (0, 1)])
    arguments = [text for option in options for text in ("--option", option)]
    assert message in registry(*command, *arguments, exit_code=3).stderr
