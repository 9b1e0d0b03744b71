"""The study of metrics judged by people: numbers from the arrays, tests of the kernel, and refusals."""

import csv
import itertools
import json

import numpy as np
import pytest

from registry.significance import Settings
from registry.significance.metric_agreement import MEASURES, HumanScores, compare_metrics

N_ITEMS, N_SYSTEMS = 60, 6
RNG = np.random.default_rng(3)
HUMAN = np.round(RNG.normal(size=(N_ITEMS, 1)) + np.linspace(0, 1, N_SYSTEMS)
                 + RNG.normal(size=(N_ITEMS, N_SYSTEMS)), 2)
NOISE = {"near": 0.5, "far": 4.0, "error": 1.0}
METRICS = {name: np.round((-1 if name == "error" else 1) * (HUMAN + noise * RNG.normal(size=HUMAN.shape)), 3)
           for name, noise in NOISE.items()}
ITEMS = [f"i{n:02}" for n in range(N_ITEMS)]
SYSTEMS = [f"s{n}" for n in range(N_SYSTEMS)]
UNITS = np.arange(N_ITEMS) // 4


@pytest.fixture
def scored_task(scored, tmp_path):
    """Bring a task into a registry whose test sets have columns of scores; nan is an empty cell."""
    def bring(test_sets, cluster=False):
        lines = ["manifest = 1", 'task.id = "t"', 'submission.missing = "own"', "significance.seed = 1"]
        rows = [(item, f"d{n // 4:02}") for n, item in enumerate(ITEMS)]
        (tmp_path / "items.csv").write_text("\n".join(map(",".join, [("item", "document"), *rows])))
        for test_set, columns in test_sets.items():
            folder = tmp_path / test_set
            folder.mkdir()
            for n, system in enumerate(SYSTEMS):
                with (folder / f"{system}.csv").open("w") as file:
                    csv.writer(file).writerow(["item", *columns])
                    csv.writer(file).writerows(
                        [item, *("" if np.isnan(scores[i, n]) else scores[i, n] for scores in columns.values())]
                        for i, item in enumerate(ITEMS))
            lines += ["[[test_set]]", f'name = "{test_set}"', 'gold = "items.csv"', 'format = "scores"',
                      'options = { item = "item", separator = "comma", attributes = ["document"] }',
                      f"metrics = {json.dumps(list(columns))}", *(['cluster = "document"'] if cluster else []),
                      "[[submit]]", f'test_set = "{test_set}"', f'file = "{test_set}/{{system}}.csv"']
        for name in dict.fromkeys(itertools.chain(*test_sets.values())):
            better = "lower" if name == "error" else "higher"
            lines += ["[[metric]]", f'id = "{name}"', 'name = "Mean"',
                      f'options = {{ column = "{name}", better = "{better}" }}']
        (tmp_path / "task.toml").write_text("\n".join(lines))
        scored(tmp_path / "task.toml", "--root", tmp_path, command="apply", then=("score", "--workers", "1"))

    return bring


def study(registry, *options, human="human", resamples=100):
    return registry("study", "metrics", "t", "--human", human, "--resamples", resamples, *options,
                    "--format", "json").json


def orient(metrics):
    return np.stack([-scores if name == "error" else scores for name, scores in metrics.items()])


def holm(p_values):
    """Holm's step-down procedure, from its definition."""
    order = np.argsort(p_values)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(np.array(p_values)[order] * np.arange(len(order), 0, -1)))
    return adjusted


def test_numbers_are_those_of_the_scores(scored_task, registry):
    scored_task({"test": {"human": HUMAN, **METRICS}})
    rows = study(registry)
    assert {row["metric"] for row in rows} == set(METRICS)
    means, pairs = HUMAN.mean(axis=0), list(itertools.combinations(range(N_SYSTEMS), 2))
    for row, scores in ((row, orient(METRICS)[list(METRICS).index(row["metric"])]) for row in rows):
        assert row["pearson"] == pytest.approx(np.corrcoef(scores.ravel(), HUMAN.ravel())[0, 1])
        assert row["pearson_of_means"] == pytest.approx(np.corrcoef(scores.mean(axis=0), means)[0, 1])
        ordered = [(means[a] - means[b]) * (scores[:, a] - scores[:, b]).sum() > 0 for a, b in pairs]
        assert row["accuracy"] == pytest.approx(np.mean(ordered))
        assert row["agreement"] == row["spa"] == MEASURES["spa"].compute(HumanScores(HUMAN), scores)
        assert row["behind_best"] == rows[0]["agreement"] - row["agreement"]
    assert [row["agreement"] for row in rows] == sorted((row["agreement"] for row in rows), reverse=True)


@pytest.mark.parametrize("unit", ["item", "cluster"])
@pytest.mark.parametrize("measure", ["spa", "acc-eq-by-item"])
def test_tests_are_those_of_the_kernel(scored_task, registry, unit, measure):
    """Whole documents are swapped if the test set has them; Holm's correction is over all pairs of metrics."""
    scored_task({"test": {"human": HUMAN, **METRICS}}, cluster=unit == "cluster")
    comparison = compare_metrics(HumanScores(HUMAN), orient(METRICS), MEASURES[measure],
                                 Settings(resamples=999, seed=1), UNITS if unit == "cluster" else None)
    names = list(METRICS)
    expected = {frozenset((names[a], names[b])): (p, adjusted) for (a, b), p, adjusted in zip(
        comparison.pairs, comparison.p_values, holm(comparison.p_values), strict=True)}
    pairs = study(registry, "--measure", measure, "--show", "pairs", resamples=999)
    assert {frozenset((row["metric_a"], row["metric_b"])): (row["p_value"], pytest.approx(row["p_adjusted"]))
            for row in pairs} == expected
    assert all(row["difference"] >= 0 for row in pairs)
    best, *others = study(registry, "--measure", measure, resamples=999)
    assert best["p_best"] is None
    for row in others:
        assert row["p_best"] == pytest.approx(expected[frozenset((best["metric"], row["metric"]))][1])
    text = " ".join(registry("study", "metrics", "t", "--human", "human", "--measure", measure, "--resamples", "999",
                             "--format", "table").stdout.split())
    assert f"scores of two metrics in random {unit}s, with Holm's correction over 3 pairs" in text
    registry("verify")


def test_the_first_line_is_the_answer(scored_task, registry):
    scored_task({"test": {"human": HUMAN, **METRICS}})
    first, second, third = study(registry, "--measure", "pearson", resamples=200)
    assert (first["metric"], second["metric"], third["metric"]) == ("near", "error", "far")
    assert max(second["p_best"], third["p_best"]) <= 0.05
    text = " ".join(registry("study", "metrics", "t", "--human", "human", "--measure", "pearson",
                             "--resamples", "200", "--format", "table").stdout.split())
    assert text.startswith("t/test: near agrees best with human (Pearson's r of all outputs "
                           f"{first['agreement']:.4f}), significantly better than all others.")


def test_only_outputs_that_people_scored_count(scored_task, registry):
    human = np.where(RNG.random(HUMAN.shape) < 0.3, np.nan, HUMAN)
    human[5] = np.nan
    scored_task({"test": {"human": human, **METRICS}})
    for row in study(registry):
        scores = orient(METRICS)[list(METRICS).index(row["metric"])]
        judged = ~np.isnan(human)
        assert row["pearson"] == pytest.approx(np.corrcoef(scores[judged], human[judged])[0, 1])
    text = registry("study", "metrics", "t", "--human", "human", "--format", "table").stdout
    n = np.count_nonzero(~np.isnan(human))
    assert f"{n} of 354 outputs have a score by people: 59 items, 6 systems. Only these outputs count." in text


def test_people_s_scores_may_be_in_another_test_set(scored_task, registry):
    """Items and systems are joined by name; metrics of both test sets are compared."""
    scored_task({"texts": {"near": METRICS["near"], "same": HUMAN},
                 "people": {"human": HUMAN, "far": METRICS["far"], "same": METRICS["far"]}})
    rows = {row["metric"]: row for row in study(registry, human="people/human")}
    expected = {"near": METRICS["near"], "far": METRICS["far"], "texts/same": HUMAN, "people/same": METRICS["far"]}
    assert rows.keys() == expected.keys()
    for name, scores in expected.items():
        assert rows[name]["subject"] == "t/people and texts"
        assert rows[name]["pearson"] == pytest.approx(np.corrcoef(scores.ravel(), HUMAN.ravel())[0, 1])


MTME = """manifest = 1
task.id = "t"
significance.seed = 1
metric = [{ name = "Pearson" }, { name = "Kendall" }]
submit = [{ file = "metric-scores/en-de/{system}-refA.seg.score" }]
[[test_set]]
name = "en-de"
gold = "human-scores/en-de.mqm.seg.score"
attributes = "documents/en-de.docs"
format = "mtme"
cluster = "CLUSTER"
"""


@pytest.mark.parametrize("cluster", ["segment", "document"])
def test_folders_of_mt_metrics_eval_are_read(scored, registry, tmp_path, cluster):
    """The participants are metrics, and the gold is people's scores."""
    human = np.where(np.random.default_rng(9).random(HUMAN.shape) < 0.2, np.nan, HUMAN)
    names = [name for name in METRICS if name != "error"]
    files = {"human-scores/en-de.mqm": human,
             **{f"metric-scores/en-de/{name}-refA": METRICS[name] for name in names}}
    for file, scores in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{file}.seg.score").write_text("".join(
            f"{system}\t{'None' if np.isnan(score) else score}\n"
            for system, column in zip(SYSTEMS, scores.T, strict=True) for score in column))
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents/en-de.docs").write_text("".join(f"news\td{unit:02}\n" for unit in UNITS))
    (tmp_path / "task.toml").write_text(MTME.replace("CLUSTER", cluster))
    scored(tmp_path / "task.toml", "--root", tmp_path, command="apply", then=("score", "--workers", "1"))
    rows = registry("study", "metrics", "t", "--resamples", "500", "--measure", "acc-eq-by-item",
                    "--format", "json").json
    judged = ~np.isnan(human)
    assert {row["metric"]: row["pearson"] for row in rows} == {
        name: pytest.approx(np.corrcoef(METRICS[name][judged], human[judged])[0, 1]) for name in names}
    if cluster == "document":
        comparison = compare_metrics(HumanScores(human), np.stack([METRICS[name] for name in names]),
                                     MEASURES["acc-eq-by-item"], Settings(resamples=500, seed=1), UNITS)
        assert [rows[1]["p_best"]] == comparison.p_values
    refused = registry("study", "metrics", "t", "--human", "Pearson", exit_code=3).stderr
    assert "a correlation has no score of a single item" in refused


def test_single_scores_are_swapped_on_request(scored_task, registry):
    scored_task({"test": {"human": HUMAN, **METRICS}})
    comparison = compare_metrics(HumanScores(HUMAN), orient(METRICS), MEASURES["pearson"],
                                 Settings(resamples=100, seed=1), swap_single_scores=True)
    pairs = study(registry, "--measure", "pearson", "--single-scores", "--show", "pairs")
    assert sorted(row["p_value"] for row in pairs) == sorted(comparison.p_values)


def test_few_systems_and_few_resamples_are_warned_of(scored_task, registry, monkeypatch):
    monkeypatch.setattr("tests.studies.test_metrics.SYSTEMS", SYSTEMS[:3])
    scored_task({"test": {"human": HUMAN, **METRICS, "last": METRICS["far"] + HUMAN}})
    stderr = registry("study", "metrics", "t", "--human", "human", "--resamples", "100").stderr
    assert "only 3 systems (at least 5 are recommended)" in stderr
    assert "set resamples to 119 or more" in stderr  # 6 pairs / 0.05 - 1


REFUSALS = {
    (): "name the metric that has people's scores, such as --human human; the metrics of t are human, near",
    ("--human", "humans"): "unknown metric of t 'humans'; did you mean 'human'?",
    ("--human", "dev/human"): "unknown test set of t 'dev'",
    ("--human", "human", "--metric", "nearer"): "unknown metric of t 'nearer'; did you mean 'near'?",
    ("--human", "human", "--measure", "pearsons"): "unknown measure 'pearsons'; did you mean 'pearson'?",
    ("--human", "human", "--metric", "human"):
        "test has no metric to compare with human; if another test set has metrics of the same outputs, write --human "
        "test/human"}


def test_refusals_name_the_option(scored_task, registry):
    scored_task({"test": {"human": HUMAN, "near": METRICS["near"]}})
    for options, message in REFUSALS.items():
        assert message in registry("study", "metrics", "t", *options, exit_code=3).stderr


def test_one_metric_has_no_test(scored_task, registry):
    scored_task({"test": {"human": HUMAN, "near": METRICS["near"]}})
    (row,) = study(registry)
    assert row["p_best"] is None
    assert study(registry, "--show", "pairs") == []


def test_pooled_tie_calibration_of_many_outputs_is_refused(scored_task, registry, monkeypatch):
    monkeypatch.setattr("registry.studies.metrics._MOST_PAIRS", 10_620)
    scored_task({"test": {"human": HUMAN, "near": METRICS["near"]}})
    refused = registry("study", "metrics", "t", "--human", "human", "--measure", "acc-eq", exit_code=3)
    assert "64,620 pairs of outputs" in refused.stderr  # 360 outputs
    assert study(registry, "--measure", "acc-eq-by-system")  # 6 times 60 outputs: 10,620 pairs
