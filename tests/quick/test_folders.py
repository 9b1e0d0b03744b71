"""Folders of results as other programs and shared tasks leave them."""

import json

import numpy as np
import pytest

from registry.errors import InputError
from registry.quick.make import make
from registry.quick.plan import QuestionError, Request
from tests.quick.layouts import IDS, A, lines, rows

RANDOM = np.random.default_rng(11)
MODELS, SETS = ("tulip-7b", "crane+lora"), ("arc", "gsm")
VALUES = {(model, name): RANDOM.random(len(IDS)).round(3).tolist() for model in MODELS for name in SETS}
MEANS = {(name, model): pytest.approx(np.mean(values)) for (model, name), values in VALUES.items()}


def ask(paths, **options):
    with pytest.raises(QuestionError) as question:
        make(paths, Request(**options))
    return question.value


def get_scores(registry, *arguments):
    return {(row["test_set"], row["system"]): row["score"]
            for row in registry(*arguments, "--format", "json").json}


@pytest.mark.parametrize("path", [
    "out/{model}/20260724/{name}/org__{model}/samples_{name}.jsonl", "out/run/{model}/{name}/zero_shot/rows.jsonl",
    "out/{model}/answer/x/{name}.jsonl"])
def test_deep_folders_show_their_pattern(path, folder, registry, monkeypatch):
    """The first pattern that is shown gives the boards."""
    base = folder({path.format(model=model, name=name): lines(id=IDS, f1=values)
                   for (model, name), values in VALUES.items()})
    monkeypatch.chdir(base)
    error = registry("quick", "out", exit_code=3).stderr
    assert "the files are in deeper folders" in error
    pattern, _, names = error.splitlines()[1].strip().partition("  ")
    assert get_scores(registry, "quick", pattern.strip("'")) == MEANS
    assert "benchmarks " in names
    assert "arc, " in names


def test_each_varying_part_may_be_the_benchmark(folder):
    base = folder({f"in/{team}/answer/{task}/{language}.txt": rows(IDS, A) for team in ("X", "Y")
                   for task in ("task1", "task2") for language in ("en", "de")})
    question = ask([base / "in"])
    assert [option.strip("'").removeprefix(f"{base}/in/") for option in question.options] == [
        "{system}/answer/{benchmark}/de.txt", "{system}/answer/{benchmark}/en.txt",
        "{system}/answer/task1/{benchmark}.txt", "{system}/answer/task2/{benchmark}.txt"]
    assert "benchmarks de, en" in question.excerpt


def test_files_in_deeper_folders_are_named_in_questions(folder):
    """AlpacaEval has outputs of each model, and judgments in a subfolder."""
    base = folder({f"res/{model}/model_outputs.json": lines(instruction=IDS, output=A) for model in MODELS} | {
        f"res/{model}/judge/annotations.json": lines(instruction=IDS, preference=VALUES[model, "arc"])
        for model in MODELS})
    note = ask([base / "res"]).excerpt.splitlines()[-1]
    assert note.startswith("not read: 2 files in deeper folders, such as ")
    pattern = note.rpartition(": ")[2].strip("'")
    made = make([base / pattern], Request(score=("preference",), item=("instruction",), options={"better": "higher"}))
    assert [entry["system"] for entry in made.folder.tables["submit"]] == sorted(MODELS)


def test_the_same_results_with_two_endings(folder, registry, monkeypatch):
    base = folder({f"dev/{model}.{ending}": text for model in MODELS for ending, text in (
        ("jsonl", lines(id=IDS, f1=VALUES[model, "arc"])),
        ("csv", rows(IDS, VALUES[model, "arc"], header=("id", "f1"), separator=",")))})
    monkeypatch.chdir(base)
    error = registry("quick", "dev", exit_code=3).stderr
    assert "differ only in their endings" in error
    for pattern in error.splitlines()[1:]:
        assert get_scores(registry, "quick", pattern.strip().strip("'")) == {
            ("test", model): MEANS["arc", model] for model in MODELS}


def test_scores_in_lists_of_one_number(folder, registry, monkeypatch):
    """Their place in the list is part of the column's name."""
    base = folder({f"in/submit_{model}.jsonl": "".join(json.dumps({
        "task_id": key, "metrics": {"RL_F": [value], "judges": [value, 1]}}) + "\n" for key, value in zip(
            IDS, VALUES[model, "arc"], strict=True)) for model in MODELS})
    monkeypatch.chdir(base)
    question = registry("quick", "in", "--item", "task_id", exit_code=3).stderr
    assert "  --score metrics.RL_F.0 " in question
    assert "judges" not in question
    assert get_scores(registry, "quick", "in", "--item", "task_id", "--score", "metrics.RL_F.0", "--option",
                      "better=higher") == {("test", model): MEANS["arc", model] for model in MODELS}


def test_scores_that_are_no_rows(folder):
    """One object for the whole run has no items."""
    base = folder({f"runs/{model}/score.json": json.dumps({"run": model, "m1": 1}) * 2 for model in MODELS})
    assert "write its scores as rows of item and score" in str(ask([base / "runs"]))


def test_different_measures_are_not_compared(folder):
    base = folder({"in/a.csv": rows(IDS, VALUES["tulip-7b", "arc"], header=("id", "f1"), separator=","),
                   "in/b.csv": rows(IDS, VALUES["tulip-7b", "gsm"], header=("id", "accuracy"), separator=",")})
    with pytest.raises(InputError, match=r"the scores are in column 'f1', but those of .* are in column 'accuracy'"):
        make([base / "in"], Request())


def make_hipe(spans):
    """Write sentences of four tokens, two in a document, without blank lines, with comments before each document."""
    text = "TOKEN\tNE-COARSE-LIT\tMISC\n"
    for n, span in enumerate(spans):
        if n % 2 == 0:
            text += f"# hipe2022:document_id = d{n // 2}\n# hipe2022:date = 1900\n"
        for place in range(4):
            start, end, kind = span or (9, 9, "")
            tag = f"{'B' if place == start else 'I'}-{kind}" if start <= place < end else "O"
            text += f"t{n}{place}\t{tag}\t{'EndOfSentence' if place == 3 else '_'}\n"
    return text


def test_comments_between_tokens_and_marks_of_sentence_ends(folder, registry, monkeypatch):
    """F1 of spans is counted here by hand."""
    def draw():
        starts, sizes = RANDOM.integers(3, size=60).tolist(), RANDOM.integers(1, 3, size=60).tolist()
        return [(start, start + size, "pers" if size == 1 else "loc") if start else None
                for start, size in zip(starts, sizes, strict=True)]

    gold = draw()
    systems = {name: [span if RANDOM.random() < share else other for span, other in zip(gold, draw(), strict=True)]
               for name, share in (("a", 0.8), ("b", 0.6))}
    monkeypatch.chdir(folder({"gold.tsv": make_hipe(gold), **{f"in/{name}.tsv": make_hipe(spans)
                                                              for name, spans in systems.items()}}))
    expected = {}
    for name, spans in systems.items():
        right = sum(a is not None and a == b for a, b in zip(gold, spans, strict=True))
        expected["test", name] = pytest.approx(2 * right / (
            sum(span is not None for span in gold) + sum(span is not None for span in spans)))
    result = registry("quick", "--gold", "gold.tsv", "in", "--format", "json")
    assert {(row["test_set"], row["system"]): row["score"] for row in result.json} == expected
    assert "30 documents" in result.stderr


def test_an_item_whose_score_is_the_mean_by_chance(folder):
    """Two files have no summary if only one of them has such a row; a mean in both is refused."""
    values = [n / 50 for n in range(len(IDS))]
    average = round(float(np.mean(values)), 3)
    base = folder({"in/a.csv": rows([*IDS, "z"], [*values, average], header=("id", "f1"), separator=","),
                   "in/b.csv": rows([*IDS, "z"], [*values, 0.001], header=("id", "f1"), separator=","),
                   "all/a.csv": rows([*IDS, "z"], [*values, average], header=("id", "f1"), separator=","),
                   "all/b.csv": rows([*IDS, "z"], [*values, average], header=("id", "f1"), separator=",")})
    assert len(make([base / "in"], Request()).folder.tables["submit"]) == 2
    with pytest.raises(InputError, match="the last row seems to be a summary"):
        make([base / "all"], Request())


def test_rows_inside_an_object(folder, registry, monkeypatch):
    """A question names each part that may be rows; members of an object are items, too."""
    def write(model):
        values = dict(zip(IDS, VALUES[model, "arc"], strict=True))
        return json.dumps({"run": model, "m1": 1, "detail": {"per_sample": values, "n": {"a": 1}}, "rows": [
            {"id": key, "f1": value} for key, value in values.items()]})

    monkeypatch.chdir(folder({f"runs/{model}/score.json": write(model) for model in MODELS}))
    error = registry("quick", "runs", exit_code=3).stderr
    options = [line.split()[:2] for line in error.splitlines()[1:]]
    assert options == [["--option", "rows=rows"], ["--option", "rows=detail.per_sample"]]
    for added in options:
        command = ("runs", *added, "--option", "better=higher")
        assert get_scores(registry, "quick", *command) == {("test", model): MEANS["arc", model] for model in MODELS}
    registry("new", "t", *command)
    registry("run", "t/task.toml")
    assert get_scores(registry, "board", "t") == {("test", model): MEANS["arc", model] for model in MODELS}
    error = registry("quick", "runs", "--option", "rows=details", exit_code=3).stderr
    assert "the file has no rows at 'details'; known: detail.per_sample, rows" in error


def test_a_gold_and_answers_inside_an_object(folder):
    base = folder({name: json.dumps({"version": 1, "data": [{"id": key, "label": label} for key, label in zip(
        IDS, labels, strict=True)]}) for name, labels in (("gold.json", A), ("in/a.json", A), ("in/b.json", A))})
    made = make([base / "in"], Request(gold=str(base / "gold.json"), options={"rows": "data"}))
    assert made.read_as == "--item id --label label --option rows=data --metric Accuracy"


def test_every_importer_leaves_a_folder_of_tables_to_the_others(folder, registry, monkeypatch):
    monkeypatch.chdir(folder({f"results/{model}.csv": "item,correct\n" + "".join(
        f"{key},{value}\n" for key, value in zip(IDS, VALUES[model, "arc"], strict=True)) for model in MODELS}))
    assert get_scores(registry, "quick", "results", "--score", "correct:higher") == {
        ("test", model): MEANS["arc", model] for model in MODELS}
