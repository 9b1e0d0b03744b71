"""Several scores per item: correctness, cost and latency of the same files are separate metrics of one task."""

import json
from itertools import product

import numpy as np
import pytest

SETS = {"arc": 8, "gsm": 9, "mmlu": 10}
SYSTEMS = ("aspen", "birch", "cedar")
COLUMNS = {"correct": "higher", "cost_usd": "lower", "seconds": "lower"}
METRIC = '[[metric]]\nname = "Mean"\noptions = {{ column = "{column}", better = "{better}" }}\n'


def draw(seed=0):
    """Results by system and test set: one list of rows each."""
    rng = np.random.default_rng(seed)
    return {(system, name): [
        {"id": f"q{n}", "correct": int(rng.random() < 0.5 + 0.15 * place), "cost_usd": int(rng.integers(1, 40)) / 1000,
         "seconds": int(rng.integers(5, 30)) / 10} for n in range(size)]
        for place, system in enumerate(SYSTEMS) for name, size in SETS.items()}


class Results:
    """A folder `results/SYSTEM/TEST_SET.jsonl` with its manifest."""

    def __init__(self, folder):
        self.folder, self.rows, self.sets = folder, draw(), tuple(SETS)
        self.metrics = "".join(METRIC.format(column=column, better=better) for column, better in COLUMNS.items())
        self.more, self.of_sets = "", {}

    def write(self):
        for (system, name), rows in self.rows.items():
            path = self.folder / "results" / system / f"{name}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        sets = "".join(f'[[test_set]]\nname = "{name}"\ngold = "results/aspen/{name}.jsonl"\nformat = "scores"\n'
                       f'options = {{ syntax = "jsonl", item = "id" }}\n{self.of_sets.get(name, "")}\n'
                       for name in self.sets)
        manifest = self.folder / "task.toml"
        manifest.write_text(f'manifest = 1\n[task]\nid = "models"\n{sets}{self.more}{self.metrics}'
                            '[[submit]]\nfile = "results/{system}/{test_set}.jsonl"\n')
        return manifest

    def values(self, system, name, column):
        return np.array([np.nan if row.get(column) is None else row[column] for row in self.rows[system, name]])


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path)


def run(registry, results, **options):
    return registry("run", results.write(), "--format", "json", **options)


def p_value(a, b):
    """The two-sided p-value of the paired permutation test, over all 2^n swaps."""
    differences = np.rint(1000 * (a - b))  # whole numbers, so that ties are exact
    signs = np.array([*product((-1, 1), repeat=len(differences))])
    return float((np.abs(signs @ differences) >= abs(differences.sum())).mean())


def test_every_metric_has_its_board_direction_and_test(registry, results):
    rows = run(registry, results).json
    assert {(row["test_set"], row["metric"]) for row in rows} == {*product(SETS, COLUMNS)}
    for row in rows:
        assert row["score"] == pytest.approx(results.values(row["system"], row["test_set"], row["metric"]).mean())
    for name, (column, better) in product(SETS, COLUMNS.items()):
        board = [row for row in rows if (row["test_set"], row["metric"]) == (name, column)]
        scores = [row["score"] for row in board]
        assert scores == sorted(scores, reverse=better == "higher")
        assert board[0]["rank"] == 1
    pairs = registry("pairs", "--format", "json").json
    assert len(pairs) == 27
    for pair in pairs:
        a, b = (results.values(pair[key], pair["test_set"], pair["metric"]) for key in ("system_a", "system_b"))
        assert pair["p_value"] == pytest.approx(p_value(a, b))
        sign = -1 if COLUMNS[pair["metric"]] == "lower" else 1
        assert pair["difference"] == pytest.approx(sign * (a.mean() - b.mean()))


@pytest.mark.parametrize("missing", ["drop", "own"])
def test_a_missing_value_concerns_only_its_metric(missing, registry, results):
    results.rows["birch", "arc"][2]["cost_usd"] = None
    del results.rows["birch", "arc"][5]["cost_usd"]
    results.more = f'[submission]\nmissing = "{missing}"\n' + (
        '[significance]\ntest = "two-sample-t"\n' if missing == "own" else "")
    printed = run(registry, results)
    scores = {(row["system"], row["metric"]): row["score"] for row in printed.json if row["test_set"] == "arc"}
    absent = np.isnan(results.values("birch", "arc", "cost_usd"))
    for system, column in product(SYSTEMS, COLUMNS):
        values = results.values(system, "arc", column)
        is_left_out = absent if column == "cost_usd" and (missing == "drop" or system == "birch") else False & absent
        assert scores[system, column] == pytest.approx(values[~is_left_out].mean())
    assert "2 of 8 items have no 'cost_usd' and " in printed.stderr
    registry("verify")


def test_a_system_without_any_value_is_not_on_the_boards_of_this_metric(registry, results):
    for name in SETS:
        for row in results.rows["birch", name]:
            row["cost_usd"] = None
    results.more = '[submission]\nmissing = "drop"\n'
    printed = run(registry, results)
    assert "no item has 'cost_usd', so the system is not on the boards of this score" in printed.stderr
    systems = {(row["system"], row["metric"]) for row in printed.json}
    assert systems == {*product(SYSTEMS, COLUMNS)} - {("birch", "cost_usd")}
    for row in printed.json:
        assert row["score"] == pytest.approx(results.values(row["system"], row["test_set"], row["metric"]).mean())
    assert registry("run", results.folder / "task.toml").stderr.count("comparisons") == 0
    registry("verify")


def test_a_missing_value_is_refused_by_default(registry, results):
    results.rows["birch", "arc"][2]["cost_usd"] = None
    refused = run(registry, results, exit_code=3).stderr
    assert "birch/arc.jsonl: item 'q2': it has no 'cost_usd'" in refused


def test_a_column_that_no_row_has_is_refused(registry, results):
    results.metrics = METRIC.format(column="cost_usb", better="lower")
    results.more = '[submission]\nmissing = "drop"\n'
    assert "the key 'cost_usb' is missing; did you mean 'cost_usd'?" in run(registry, results, exit_code=3).stderr


def test_a_worst_value_belongs_to_its_metric(registry, results):
    results.rows["birch", "arc"][2]["cost_usd"] = None
    results.metrics = results.metrics.replace('"cost_usd", ', '"cost_usd", worst = 0.5, ')
    results.more = '[submission]\nmissing = "worst"\n'
    (score,) = (row["score"] for row in run(registry, results).json
                if (row["test_set"], row["metric"], row["system"]) == ("arc", "cost_usd", "birch"))
    assert score == pytest.approx(np.nan_to_num(results.values("birch", "arc", "cost_usd"), nan=0.5).mean())


def test_a_metric_can_be_added_later(registry, results):
    results.metrics = METRIC.format(column="correct", better="higher")
    run(registry, results)
    results.metrics += METRIC.format(column="seconds", better="lower")
    rows = run(registry, results).json
    assert {row["metric"] for row in rows} == {"correct", "seconds"}
    for row in rows:
        assert row["score"] == pytest.approx(results.values(row["system"], row["test_set"], row["metric"]).mean())
    registry("verify")


def test_a_metric_without_a_column_uses_that_of_the_reader(registry, results):
    results.metrics = '[[metric]]\nname = "Mean"\n' + METRIC.format(column="seconds", better="lower")
    results.more = '[submission]\noptions = { score = "correct" }\n'
    for row in run(registry, results).json:
        column = {"Mean": "correct", "seconds": "seconds"}[row["metric"]]
        assert row["score"] == pytest.approx(results.values(row["system"], row["test_set"], column).mean())


def test_test_sets_choose_their_metrics(registry, results):
    results.of_sets = {"mmlu": 'metrics = ["seconds"]'}
    run(registry, results)
    boards = {(row["test_set"], row["metric"]) for row in registry("board", "--format", "json").json}
    assert boards == {*product(("arc", "gsm"), COLUMNS), ("mmlu", "seconds")}
    registry("verify")
    results.of_sets = {"gsm": 'metrics = ["correct"]'}
    run(registry, results)
    boards = {(row["test_set"], row["metric"]) for row in registry("board", "--format", "json").json}
    assert boards == {*product(("arc", "mmlu"), COLUMNS), ("gsm", "correct")}
    registry("verify")


@pytest.mark.parametrize(("change", "message"), [
    (lambda task: task.of_sets.update(arc='metrics = ["cost"]'),
     "test_set[0].metrics: contains 'cost', but no [[metric]] has this id; did you mean 'cost_usd'?"),
    (lambda task: task.of_sets.update(dict.fromkeys(SETS, 'metrics = ["correct"]')),
     "metric: no test set has 'cost_usd' in its metrics; add it to one, or remove this [[metric]]"),
    (lambda task: setattr(task, "metrics", '[[metric]]\nname = "Mean"\noptions = { column = "cost_usd" }\n'),
     "metric[0].options: column 'cost_usd' needs a direction; add better = \"lower\" or better = \"higher\""),
    (lambda task: setattr(task, "more", '[submission]\noptions = { score = "correct" }\n'),
     "option 'score' is 'correct', but every metric of test set 'arc' names its own column; remove the option"),
])
def test_contradictions_are_refused(change, message, registry, results):
    change(results)
    assert message in run(registry, results, exit_code=3).stderr


def test_one_command_without_a_manifest(registry, results):
    results.write()
    pattern = results.folder / "results" / "{model}" / "{benchmark}.jsonl"
    printed = registry("quick", pattern, "--score", "correct", "--score", "cost_usd:lower", "--score", "seconds:lower",
                       "--format", "json")
    for name, (column, better) in product(SETS, COLUMNS.items()):
        scores = [row["score"] for row in printed.json if (row["test_set"], row["metric"]) == (name, column)]
        assert scores == pytest.approx(sorted((results.values(system, name, column).mean() for system in SYSTEMS),
                                              reverse=better == "higher"))


def test_averages_over_test_sets(registry, results):
    """An item counts by 1 / size of its test set, so that swaps of items give the differences of macro-averages."""
    results.rows = {key: rows[:4] if key[1] == "arc" else rows[:5] for key, rows in results.rows.items()}
    results.write()
    pattern = results.folder / "results" / "{model}" / "{benchmark}.jsonl"
    printed = registry("quick", pattern, "--score", "correct", "--score", "cost_usd:lower", "--average",
                       "--keep", "models", "--format", "json")
    rows = [row for row in printed.json if row["test_set"] == "average"]
    means = {(system, column): np.mean([results.values(system, name, column).mean() for name in SETS])
             for system, column in product(SYSTEMS, ("correct", "cost_usd"))}
    assert {(row["system"], row["metric"]): row["score"] for row in rows} == pytest.approx(means)
    pairs = registry("pairs", "--wide", "--format", "json").json
    assert len(pairs) == 6
    for pair in pairs:
        a, b = (np.concatenate([results.values(pair[key].partition("/")[0], name, pair["metric"]) / len(
            results.rows["aspen", name]) for name in SETS]) for key in ("system_a", "system_b"))
        exact = p_value(20 * a, 20 * b)
        error = (exact * (1 - exact) / pair["resamples"]) ** 0.5 + 1e-5 if pair["resamples"] else 0
        assert pair["p_value"] == pytest.approx(exact, abs=5 * error + 1e-9)
    board = [row for row in rows if row["metric"] == "cost_usd"]
    assert len({row["signature"] for row in board}) == 1
    for row in board:
        assert row["losses"] == sum(pair["significant"] for pair in pairs if pair["metric"] == "cost_usd"
                                    and pair["system_b"].endswith(row["system"]))
    registry("verify")


def test_an_average_needs_several_test_sets(registry, results):
    results.write()
    refused = registry("quick", results.folder / "results" / "{model}" / "arc.jsonl", "--score", "correct", "--average",
                       exit_code=3)
    assert "--average needs several test sets, but the files have one" in refused.stderr


@pytest.mark.parametrize("format_", ["table", "latex", "md"])
def test_boards_are_headed_by_columns(format_, registry, results):
    results.write()
    pattern = results.folder / "results" / "{model}" / "{benchmark}.jsonl"
    printed = registry("quick", pattern, "--score", "cost_usd:lower", "--score", "seconds:lower",
                       "--format", format_).stdout.replace("\\_", "_")
    assert "cost_usd" in printed
    assert "seconds" in printed
    assert "Mean" not in printed
    assert "mean of" not in printed


def test_test_sets_of_other_kinds_have_metrics_of_their_own(registry, tmp_path):
    (tmp_path / "gold.tsv").write_text("i1\tyes\ni2\tno\n")
    (tmp_path / "a.labels.tsv").write_text("i1\tyes\ni2\tyes\n")
    (tmp_path / "a.scores.tsv").write_text("item\tseconds\ni1\t2\ni2\t4\n")
    manifest = tmp_path / "task.toml"
    manifest.write_text("""
manifest = 1
[task]
id = "t"
[[test_set]]
name = "scores"
gold = "a.scores.tsv"
format = "scores"
metrics = ["seconds"]
[[test_set]]
name = "labels"
gold = "gold.tsv"
format = "labels"
metrics = ["accuracy"]
[[metric]]
name = "accuracy"
[[metric]]
name = "Mean"
options = { column = "seconds", better = "lower" }
[[submit]]
file = "{system}.{test_set}.tsv"
""")
    rows = registry("run", manifest, "--format", "json").json
    assert {(row["test_set"], row["metric"], row["score"]) for row in rows} == {
        ("labels", "accuracy", 0.5), ("scores", "seconds", 3.0)}
