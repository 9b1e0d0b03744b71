"""Patterns of files mean the same in `quick`, `new` and manifests."""

import numpy as np
import pytest

from registry.errors import InputError
from registry.quick.make import make
from registry.quick.plan import Request
from tests.quick.layouts import GOLD, IDS, A, B, lines, rows

LABELS = rows(IDS, GOLD)
ANSWERS = {"a": A, "b": B}
RIGHT = {name: np.mean(np.array(GOLD) == np.array(labels)) for name, labels in ANSWERS.items()}


def board(registry, task):
    return {(row["team"], row["system"]): row["score"] for row in registry("board", task, "--format", "json").json}


@pytest.fixture
def run_both(registry, folder, monkeypatch):
    """Return the boards of `new` and of a manifest with the same pattern."""
    def run(files, pattern, *options):
        path = folder({"gold.tsv": LABELS, **files})
        monkeypatch.chdir(path)
        registry("new", "made", "--gold", "gold.tsv", pattern, *options)
        registry("run", "made/task.toml")
        (path / "own.toml").write_text(f"""
manifest = 1
task = {{ id = "own" }}
test_set = [{{ name = "test", gold = "gold.tsv", format = "labels" }}]
metric = [{{ name = "Accuracy" }}]
submit = [{{ file = "{pattern}" }}]
""")
        registry("run", "own.toml")
        return board(registry, "made"), board(registry, "own")

    return run


@pytest.mark.parametrize(("pattern", "paths", "expected"), [
    ("in/{team}/{system}.tsv", {"in/X/one.tsv": "a", "in/Y/two.tsv": "b"}, {("X", "one"): "a", ("Y", "two"): "b"}),
    ("in/{team}/{run}.tsv", {"in/X/1.tsv": "a", "in/X/2.tsv": "b", "in/Y/bm25.tsv": "b"},
     {("X", "run1"): "a", ("X", "run2"): "b", ("Y", "bm25"): "b"}),
    ("in/{team}/answers.tsv", {"in/X/answers.tsv": "a", "in/Y/answers.tsv": "b"}, {("X", "X"): "a", ("Y", "Y"): "b"}),
    ("in/{model}/{run}.tsv", {"in/x/1.tsv": "a", "in/x/2.tsv": "b", "in/y/1.tsv": "b", "in/y/2.tsv": "b"},
     {("x", "x"): "ab", ("y", "y"): "b"}),
    ("in/{model}_{version}.tsv", {"in/x_v9.tsv": "a", "in/x_v10.tsv": "b", "in/y_v1.tsv": "a"},
     {("x", "x"): "b", ("y", "y"): "a"}),
    ("in/*/{system}_*.tsv", {"in/2024/x_0101.tsv": "a", "in/2025/y_0202.tsv": "b"},
     {("x", "x"): "a", ("y", "y"): "b"}),
    ("in/{system}.{seed}.{prompt}.tsv", {f"in/{system}.{seed}.{prompt}.tsv": "ab"[seed - 1] for system in "xy"
                                         for seed in (1, 2) for prompt in ("long", "short")},
     {("x", "x"): "ab", ("y", "y"): "ab"}),
])
def test_scores_of_a_pattern(pattern, paths, expected, run_both):
    """Runs of a system are averaged; the latest version counts."""
    made, own = run_both({path: rows(IDS, ANSWERS[name]) for path, name in paths.items()}, pattern)
    assert made == own == {key: pytest.approx(np.mean([RIGHT[name] for name in names]), abs=1e-12)
                           for key, names in expected.items()}


def test_notes_of_runs_and_versions(folder):
    path = folder({"gold.tsv": LABELS, **{f"{system}/{version}/{run}.tsv": rows(IDS, A) for system in "xy"
                                          for version in ("v9", "v10") for run in "12"}})
    made = make([path / "{system}/{version}/{run}.tsv"], Request(gold=str(path / "gold.tsv")))
    assert made.notes == (
        *(f"{submission}: 2 runs, whose statistics are averaged before scoring"
          for submission in ("x@v10", "x@v9", "y@v10", "y@v9")),
        "x: version v10 takes part, not v9", "y: version v10 takes part, not v9")


def test_a_path_that_can_be_divided_in_several_ways(folder):
    path = folder({"gold.tsv": LABELS, "in/NLP_Graz_one.tsv": rows(IDS, A), "in/X_two.tsv": rows(IDS, B)})
    made = make([path / "in/{team}_{system}.tsv"], Request(gold=str(path / "gold.tsv")))
    assert made.folder.tables["submit"] == [{"file": "systems/{team}/{system}.tsv"}]
    assert sorted(made.folder.files)[1:] == ["systems/NLP_Graz/one.tsv", "systems/X/two.tsv"]
    (note,) = made.notes
    assert note.startswith("1 path can be divided into names in several ways: ")
    assert note.endswith("in/NLP_Graz_one.tsv has team 'NLP_Graz', system 'one'")


def test_words_that_all_file_names_share(folder):
    """Words such as predictions are left out of names; others, such as bert, are kept."""
    files = {f"in/predictions_bert-{size}.tsv": rows(IDS, A) for size in ("base", "large")}
    path = folder({"gold.tsv": LABELS, **files})
    made = make([path / "in"], Request(gold=str(path / "gold.tsv")))
    assert [entry["system"] for entry in made.folder.tables["submit"]] == ["bert-base", "bert-large"]
    path = folder({f"{name}_{n}.tsv": rows(IDS, A) for name in ("runs/run", "out/output") for n in "12"})
    for name, expected in (("runs", ["run_1", "run_2"]), ("out", ["output_1", "output_2"])):
        made = make([path / name], Request(gold=str(path / "gold.tsv")))
        assert [entry["system"] for entry in made.folder.tables["submit"]] == expected


def test_a_gold_that_is_a_system_too(registry, folder, monkeypatch):
    """Files repeat the gold in a column, so every model is a system."""
    path = folder({f"results/{model}/{name}.jsonl": lines(id=IDS, target=GOLD, prediction=labels)
                   for model, labels in ANSWERS.items() for name in ("qa", "nli")})
    monkeypatch.chdir(path)
    rows_ = registry("quick", "--gold", "results/a/{benchmark}.jsonl", "results/{model}/{benchmark}.jsonl",
                     "--format", "json").json
    assert {(row["test_set"], row["system"]): row["score"] for row in rows_} == {
        (name, model): pytest.approx(RIGHT[model]) for name in ("qa", "nli") for model in "ab"}
    whole = make([path / "results/{model}/qa.jsonl"], Request(gold=str(path / "results/a/qa.jsonl")))
    assert [entry["system"] for entry in whole.folder.tables["submit"]] == ["a", "b"]


def test_a_gold_without_answers_is_no_system(folder):
    path = folder({"in/a.tsv": rows(IDS, A), "in/b.tsv": rows(IDS, B), "in/key.tsv": LABELS, "in/right.tsv": LABELS})
    for gold, notes in (("key", 0), ("right", 1)):
        made = make([path / "in/{system}.tsv"], Request(gold=str(path / f"in/{gold}.tsv")))
        assert gold not in [entry["system"] for entry in made.folder.tables["submit"]]
        assert sum("is the gold and has no answers of" in note for note in made.notes) == notes


def test_test_sets_that_only_one_side_has(folder):
    files = {f"gold/{name}.tsv": LABELS for name in ("one", "two")}
    files |= {f"out/{model}/{name}.tsv": rows(IDS, A) for model in "xy" for name in ("one", "three")}
    path = folder(files)
    made = make([path / "out/{model}/{benchmark}.tsv"], Request(gold=str(path / "gold/{benchmark}.tsv")))
    assert [entry["name"] for entry in made.folder.tables["test_set"]] == ["one"]
    assert made.notes == ("no gold for 'three': 2 files are not read", "no system has a file of 'two'")
    with pytest.raises(InputError, match="the gold has the test sets 'wo', but the systems' files have 'hree'"):
        make([path / "out/{model}/t{benchmark}.tsv"], Request(gold=str(path / "gold/t{benchmark}.tsv")))
    with pytest.raises(InputError, match=r"without \{benchmark\}"):
        make([path / "out/{model}/one.tsv"], Request(gold=str(path / "gold/{model}.tsv")))


def test_a_folder_of_teams_with_different_files(folder):
    """The question shows the pattern of teams and systems."""
    path = folder({"gold.tsv": LABELS, "in/X/one.tsv": rows(IDS, A), "in/X/two.tsv": rows(IDS, B),
                   "in/Y/three.tsv": rows(IDS, B)})
    with pytest.raises(InputError, match="has 2 files") as question:
        make([path / "in"], Request(gold=str(path / "gold.tsv")))
    pattern = question.value.options[0].strip("'")
    made = make([path / pattern], Request(gold=str(path / "gold.tsv")))
    assert made.folder.tables["submit"] == [{"file": "systems/{team}/{system}.tsv"}]
    assert sorted(made.folder.files)[1:] == ["systems/X/one.tsv", "systems/X/two.tsv", "systems/Y/three.tsv"]


def write_scores(folder, values):
    """Write 0/1 scores of two benchmarks for each system; return the folder."""
    return folder({f"{system}/{benchmark}.jsonl": "".join(
        f'{{"id": "{benchmark}{n}", "correct": {value}}}\n' for n, value in enumerate(values[system]))
        for system in values for benchmark in ("code", "math")})


BOOLEANS = {"v1": ["true"] * 8, "v2": ["true"] * 6 + ["false"] * 2, "v3": ["false"] * 3 + ["true"] * 5}
SHARES = {("v1", "v1"): 1, ("v2", "v2"): 6 / 8, ("v3", "v3"): 5 / 8}


@pytest.mark.parametrize("arguments", [
    ["v2", "v3"], ["v2/{benchmark}.jsonl", "v3/{benchmark}.jsonl"]])
def test_systems_are_selected_by_folders_or_patterns(arguments, folder, registry, monkeypatch):
    monkeypatch.chdir(write_scores(folder, BOOLEANS))
    rows = registry("quick", *arguments, "--score", "correct:higher", "--format", "json").json
    assert {(row["test_set"], row["team"], row["system"]): row["score"] for row in rows} == {
        (benchmark, *name): score for benchmark in ("code", "math") for name, score in SHARES.items()
        if name[0] != "v1"}


@pytest.mark.parametrize("systems", [["v1", "v2", "v3"], ["v2", "v3"]])
def test_a_system_without_a_file_of_a_test_set(systems, folder, registry, monkeypatch):
    path = write_scores(folder, {system: BOOLEANS[system] for system in systems})
    (path / "v3/code.jsonl").unlink()
    monkeypatch.chdir(path)
    result = registry("quick", "{model}/{benchmark}.jsonl", "--score", "correct:higher", "--keep", "t",
                      "--format", "json")
    assert "warning: v3 has no file of 'code'; add the file" in result.stderr
    assert {(row["test_set"], row["system"]) for row in result.json} == {
        *(("math", system) for system in systems), *(("code", system) for system in systems if system != "v3")}
    error = registry("gate", "v2", "v3", "--margin", "0.1", exit_code=3).stderr
    assert "v3 has no score on t/code" in error


def test_missing_scores_of_0_and_1_count_as_0(folder, registry, monkeypatch):
    values = {**BOOLEANS, "v3": [*BOOLEANS["v3"][:-1], "null"]}
    monkeypatch.chdir(write_scores(folder, values))
    options = ("{model}/{benchmark}.jsonl", "--score", "correct:higher", "--format", "json")
    error = registry("quick", *options, exit_code=3).stderr
    assert ("add --missing worst (with --metric 'Mean(column=correct, worst=NUMBER)' if scores are not only 0 and 1)"
            in error)
    for more in ([], ["--metric", "Mean(worst=0)"]):
        rows = registry("quick", *options, "--missing", "worst", *more).json
        assert {row["score"] for row in rows if row["system"] == "v3"} == {4 / 8}
    assert "write --metric 'Mean(worst=0)'" in registry(
        "quick", *options, "--missing", "worst", "--option", "worst=0", exit_code=3).stderr


def test_missing_scores_of_another_range_need_a_worst_score(folder, registry, monkeypatch):
    monkeypatch.chdir(write_scores(folder, {"a": ["2", "7", "null"], "b": ["1", "2", "3"]}))
    error = registry("quick", "{model}/{benchmark}.jsonl", "--score", "correct:higher", "--missing", "worst",
                     exit_code=3).stderr
    assert "or add --metric 'Mean(column=correct, worst=NUMBER)' with the worst possible score" in error
    assert "import" not in error


@pytest.fixture
def costs(folder, monkeypatch):
    """`a` is cheaper than `b` by 1 on each item that both answer, and `b` lacks the item that costs `a` 4."""
    path = folder({f"{name}/code.csv": "id,success,cost\n" + "".join(
        f"i{n},{n % 2},{cost}\n" for n, cost in enumerate(values))
        for name, values in {"a": ["1", "2", "3", "4"], "b": ["2", "3", "4", ""]}.items()})
    monkeypatch.chdir(path)
    return ("{model}/{benchmark}.csv", "--score", "success:higher", "--score", "cost:lower", "--missing", "worst",
            "--format", "json")


def test_the_hint_for_missing_costs_keeps_the_column_and_its_direction(costs, registry):
    error = registry("quick", *costs, exit_code=3).stderr
    hint = "Mean(better=lower, column=cost, worst=NUMBER)"
    assert f"add --metric '{hint}' with the worst possible score" in error
    done = registry("quick", *costs, "--metric", hint.replace("NUMBER", "10"))
    assert {(row["metric"], row["system"]): row["score"] for row in done.json} == {
        ("success", "a"): 2 / 4, ("success", "b"): 2 / 4, ("cost", "a"): 10 / 4, ("cost", "b"): (2 + 3 + 4 + 10) / 4}


@pytest.mark.parametrize(("metrics", "message"), [
    (["Mean(worst=0)"], "worst = 0 is better than the observed score 1; add --metric "
                        "'Mean(better=lower, column=cost, worst=NUMBER)' with the worst possible score"),
    (["Mean(worst=10)"], "worst = 10 is better than the observed score 0; add --metric "
                         "'Mean(column=success, worst=NUMBER)'"),
    (["Mean(worst=10)", "Mean(worst=0)"], "--metric Mean(worst=10): another --metric is of the same columns; name a "
                                          "column in each, as in --metric 'Mean(column=success, worst=NUMBER)'"),
    (["Mean(column=price, worst=10)"], "unknown column of scores 'price'; known: cost, success"),
    (["Mean(column=success, better=lower)"], "contradicts --score success:higher"),
])
def test_a_worst_score_of_each_column_is_not_better_than_others(metrics, message, costs, registry):
    options = [text for metric in metrics for text in ("--metric", metric)]
    assert message in registry("quick", *costs, *options, exit_code=3).stderr


def test_a_named_mean_keeps_the_direction_of_the_scores(folder, registry, monkeypatch):
    """`a` costs less than `b`, although its missing item counts as 9."""
    monkeypatch.chdir(folder({"a.csv": "id,score\n1,1\n2,1\n3,\n", "b.csv": "id,score\n1,5\n2,5\n3,5\n"}))
    rows = registry("quick", "a.csv", "b.csv", "--option", "better=lower", "--missing", "worst", "--metric",
                    "Mean(worst=9)", "--format", "json").json
    assert [(row["rank"], row["system"], row["score"]) for row in rows] == [(1, "a", 11 / 3), (2, "b", 5)]


def test_columns_may_have_different_worst_scores(costs, registry):
    options = "--metric", "Mean(column=cost, worst=10)", "--metric", "Mean(column=success, worst=0)"
    rows = registry("quick", *costs, *options).json
    assert [row["score"] for row in rows if row["metric"] == "cost"] == [10 / 4, 19 / 4]
