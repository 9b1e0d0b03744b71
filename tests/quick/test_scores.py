"""Without a gold: a file of scores for each system, or one table of all systems."""

import json
import re
from pathlib import Path

import pytest

from registry.errors import InputError
from registry.quick.make import make
from registry.quick.plan import QuestionError, Request
from tests.quick.layouts import GOLD, HALVES, IDS, OTHERS, RATED, RATED_A, SENTENCES, A, B, lines, rows
from tests.quick.test_answers import asked_by, declared

BETTER = {"better": "higher"}
FEWER = [n / 32 for n in range(23)]


def table(header, *columns):
    return rows(*columns, header=header, separator=",")


def options_of(paths, **asked):
    """The options that the question shows."""
    with pytest.raises(QuestionError) as question:
        make(paths, Request(**asked))
    return question.value.options


@pytest.mark.parametrize("missing", ["reject", "drop"])
@pytest.mark.parametrize(("header", "better"), [(("topic", "ap"), "higher"), (("item", "wer"), "lower"),
                                                (("topic", "score"), None), ((), None)])
def test_scores_of_each_system(header, better, missing, layout):
    """Case 28: all four systems are on the board, or a question; never is the first file the gold."""
    whole, part = rows(IDS, HALVES, header=header), rows(IDS[:23], FEWER, header=header)
    paths = layout([whole, whole, part if missing == "drop" else whole, whole], "aspen")
    asked = Request(missing=missing)
    if better is None:
        options = options_of(paths, missing=missing)
        assert "--gold FILE" in options
        assert ("--score 2" in options or "--option better=higher" in options)
        asked = Request(missing=missing, options=BETTER, score=() if header else ("2",))
        better = "higher"
    made = make(paths, asked)
    assert [one["system"] for one in made.folder.tables["submit"]] == ["aspen", "system1", "system2", "system3"]
    assert made.folder.tables["metric"][0].get("options", {"better": "higher"})["better"] == better
    assert "gold" not in made.folder.tables["test_set"][0].get("options", {})
    assert declared(make(paths, asked_by(made.read_as))) == declared(made)


@pytest.mark.parametrize(("settings", "gold", "output"), [
    ({"temperature": 0.0, "top_p": 1.0}, "answer", "output"), ({"truncated": 0, "cached": 1}, "target", "completion"),
    ({"seed": 3, "greedy": 1}, "expected", "model_output")])
@pytest.mark.parametrize("in_list", [False, True])
def test_logs_that_repeat_the_gold(settings, gold, output, in_list, layout):
    """Case 29: settings and flags are never labels; the message names the gold's column and the answers'."""
    sums = [f"# {2 * n}" for n in range(24)]
    paths = layout(["".join(json.dumps({"id": IDS[n], gold: sums[n], output: [text] if in_list else text, **{
        name: (value + n // 20) % 2 for name, value in settings.items()}}) + "\n" for n, text in enumerate(
            f"The sum is {2 * n + k * (n % 3 == 0)}" for n in range(24))) for k in (0, 1, 2)], "aspen")
    with pytest.raises(QuestionError) as question:
        make(paths, Request())
    assert f"have the gold in column {gold!r} and the systems' answers in column {output!r}" in str(
        question.value)
    assert any("--score" in option for option in question.value.options)
    with pytest.raises(InputError) as refused:
        make(paths, Request(gold=str(paths[0])))
    assert isinstance(refused.value, QuestionError) or "is the gold" in str(refused.value) or in_list


def test_columns_of_scores_are_asked_about(layout):
    paths = layout([table(("id", "f1", "recall", "n_tokens"), IDS, HALVES, RATED, RATED)] * 2, "aspen")
    assert {"--score f1", "--score recall"} <= {*options_of(paths)}
    made = make(paths, Request(score=("recall",)))
    (metric,) = made.folder.tables["metric"]
    assert metric["options"] == {"better": "higher", "column": "recall"}
    assert (metric["id"], metric["title"]) == ("recall", "recall")


def test_labels_and_texts_need_a_gold(layout):
    for files in ([rows(IDS, GOLD), rows(IDS, A)], ["\n".join(SENTENCES), "\n".join(OTHERS)], [
            lines(id=IDS, label=GOLD), lines(id=IDS, label=A)]):
        assert options_of(layout(files, "reference"))[0].startswith("--gold ")
    with pytest.raises(InputError, match="name the gold file with --gold FILE"):
        make(layout([rows(IDS, GOLD)] * 2, "reference"), Request(label=("2",)))


def test_the_gold_of_answers_is_suggested_for_all_benchmarks(folder):
    """The files of all systems have the gold next to the answers."""
    folder({f"out/{model}/{name}.tsv": table(("id", "target", "output"), IDS, GOLD, answers)
            for model, answers in (("x", A), ("y", B)) for name in ("arc", "gsm")})
    pattern = Path("out/{model}/{benchmark}.tsv")
    suggested = "--gold 'out/x/{benchmark}.tsv' 'out/{model}/{benchmark}.tsv' --label target --label output"
    for labels in ((), ("target", "output")):
        with pytest.raises(QuestionError) as question:
            make([pattern], Request(label=labels))
        assert suggested in question.value.options
    made = make([pattern], Request(gold="out/x/{benchmark}.tsv", label=("target", "output")))
    assert [(entry["test_set"], entry["system"]) for entry in made.folder.tables["submit"]] == [
        ("arc", "x"), ("arc", "y"), ("gsm", "x"), ("gsm", "y")]
    with pytest.raises(QuestionError, match="all files have in column 'target'") as question:
        make([Path("out/x/arc.tsv"), Path("out/y/arc.tsv")], Request(label=("target", "output")))
    assert question.value.options == (
        "--gold out/x/arc.tsv out/x/arc.tsv out/y/arc.tsv ... --label target --label output",)


WIDE = {  # the table; options that the question shows
    "higher or lower": (table(("id", "a", "b"), IDS, RATED, RATED_A), ["--option better=higher", "--gold a"]),
    "true and false": (table(("id", "a", "b"), IDS, ["true", "false"] * 12, ["false", "true"] * 12),
                       ["--option better=higher", "--gold a"]),
    "no name of a gold": (table(("id", "Sentiment", "a", "b"), IDS, GOLD, A, B), ["--gold Sentiment"]),
    "a human": (table(("id", "human", "a", "b"), IDS, HALVES, RATED, RATED_A), ["--gold human"]),
    "candidates": (table(("id", "x", "y", "s"), IDS, ["True", "False"] * 12, ["False", "True"] * 12, HALVES),
                   ["--item id --gold x --metric 'SetP(best=100)'"]),
    "labels or numbers": (table(("id", "gold", "a"), IDS, RATED, RATED_A), ["--label gold", "--score gold"]),
    "two golds": (table(("id", "gold", "label", "a"), IDS, GOLD, B, A), ["--gold gold", "--gold label"]),
    "runs of items": (table(("id", "epoch", "a", "b"), IDS * 2, [1] * 24 + [2] * 24, HALVES * 2, RATED * 2),
                      ["--by epoch"]),
    "no header": (rows(IDS, HALVES), ["--gold FILE"]),
}


@pytest.mark.parametrize("name", WIDE)
def test_one_table_asks(name, layout):
    text, options = WIDE[name]
    assert {*options} <= {*options_of(layout([text], "all.csv"))}


def test_a_question_about_a_table_of_many_systems_names_few_of_them(layout):
    names = [f"m{n}" for n in range(30)]
    with pytest.raises(QuestionError, match=r"lower scores better in the columns m0, .*26 more\?") as question:
        make(layout([table(("id", *names), IDS, *([0, 1] * 12 for _ in names))], "all.csv"), Request())
    assert len(question.value.options) <= 10


def test_one_table_of_scores(layout):
    """The direction is that of the file's name, or said; sizes are no systems."""
    paths = layout([table(("id", "a", "n_tokens", "b"), IDS, HALVES, RATED, RATED_A)], "accuracy.csv")
    made = make(paths, Request())
    assert [one["system"] for one in made.folder.tables["submit"]] == ["a", "b"]
    assert "not read: n_tokens" in made.notes
    paths = layout([rows(HALVES, RATED_A, header=("run1", "run2"), separator=",")], "all.csv")
    assert make(paths, Request(options={"better": "lower"})).folder.tables["metric"][0]["options"]["better"] == "lower"


def test_one_table_of_candidates(layout):
    paths = layout([table(("id", "collocation", "a", "b"), IDS, ["yes", "no"] * 12, HALVES, [*FEWER, 9])], "all.csv")
    made = make(paths, asked_by("--item id --gold collocation --metric 'SetP(best=10)'"))
    options = made.folder.tables["test_set"][0]["options"]
    assert (options["true"], options["false"], options["gold"]) == (["yes"], ["no"], "collocation")


@pytest.mark.parametrize(("text", "says"), [
    (table(("Model", "gsm8k", "arc"), IDS, RATED, RATED_A), "each row seems to be a system, because column 'Model'"),
    (table(("id", "R1", "R2", "RL"), IDS, RATED, RATED_A, RATED), "columns seem to be measures"),
    (table(("id", "gold", "a"), IDS, GOLD, [f"w{n}" for n in range(24)]), "no other column has similar values"),
    (table(("id", "f1", "a"), [*range(23), "mean"], HALVES, RATED),
     "the last row seems to be a summary, because its name is 'mean'"),
    (table(("model", "item", "said"), ["x"] * 24 + ["y"] * 24, IDS * 2, [*A, *B]), "name the gold with --gold FILE"),
    (table(("id", "gold", "a"), IDS, HALVES, [*HALVES[1:], "error"]), "no other column has similar values")])
def test_one_table_is_refused(text, says, layout):
    with pytest.raises(InputError, match=says):
        make(layout([text], "all.csv"), Request())


TASKS = [f"t{n // 4}" for n in range(24)]


@pytest.mark.parametrize("item", ["example_id", "sample_id", "sampleId", "sample_idx", "sample", "instance", "idx",
                                  "question_id"])
@pytest.mark.parametrize("is_crossed", [False, True])
def test_items_of_long_form(item, is_crossed, layout):
    """Case 23: a board of each task, or one; items that restart in each task are named by both. Never are they runs."""
    names = [n % 4 for n in range(24)] if is_crossed else range(24)
    paths = layout([table(("model", "task", item, "f1"), ["x"] * 24 + ["y"] * 24, TASKS * 2, [*names, *names],
                          HALVES + RATED)], "all.csv")
    assert options_of(paths) == ("--by task", "--pool task")
    apart = make(paths, Request(by="task"))
    golds = [apart.folder.files[test_set["gold"]] for test_set in apart.folder.tables["test_set"]]
    assert [gold.count(b"\n") for gold in golds] == [1 + 4] * 6  # a header, and items
    made = make(paths, Request(pool=("task",)))
    gold = made.folder.files[made.folder.tables["test_set"][0]["gold"]]
    assert gold.count(b"\n") == 1 + 24
    assert {one["system"] for one in made.folder.tables["submit"]} == {"x", "y"}
    assert ("--item task --item" in made.read_as) == is_crossed
    assert {**make(paths, asked_by(made.read_as)).folder.files} == {**made.folder.files}


def test_scores_of_long_form_are_asked_about(layout):
    header = ("submission_id", "size", "sample_id", "category", "Correctness", "Fluency")
    paths = layout([table(header, ["x"] * 24 + ["y"] * 24, RATED * 2, IDS * 2, TASKS * 2, HALVES * 2, RATED * 2)],
                   "all.csv")
    assert options_of(paths) == ("--score Correctness", "--score Fluency", "--option better=higher",
                                 "--option better=lower")
    made = make(paths, Request(score=("Fluency",), options=BETTER))
    assert "--item sample_id --score Fluency" in made.read_as


def test_runs_of_long_form(layout):
    paths = layout([table(("system", "seed", "item", "f1"), (["x"] * 24 + ["y"] * 24) * 2, [1] * 48 + [2] * 48,
                          IDS * 4, HALVES * 4)], "all.csv")
    assert options_of(paths) == ("--runs fixed", "--runs random")
    made = make(paths, Request(runs="fixed"))
    assert {one["file"].count("{run}") for one in made.folder.tables["submit"]} == {1}


@pytest.mark.parametrize("name", ["mean", "Summe", "Ø", "x"])
@pytest.mark.parametrize("column", ["id", "problem"])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("total", [False, True])
def test_rows_of_means_or_sums_are_refused_whatever_they_are_called(name, column, first, total, layout, registry):
    cells = [[f"q{n}", int(n % 3 > 0), int(n % 4 > 0)] for n in range(12)]
    sums = [sum(row[k] for row in cells) / (1 if total else len(cells)) for k in (1, 2)]
    rows = [[name, *(f"{value:g}" if total else f"{value:.3f}" for value in sums)]]
    rows = [*rows, *cells] if first else [*cells, *rows]
    (table,) = layout([f"{column},aspen,birch\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)])
    outcome = registry("quick", table, "--option", "better=higher", exit_code=None)
    assert outcome.exit_code != 0
    assert "remove the row" in outcome.stderr


@pytest.mark.parametrize(("file", "asks"), [
    ("error_analysis.csv", True), ("loss_functions_answers.csv", True), ("wer.csv", False)])
def test_only_a_file_that_is_called_as_a_measure_has_a_direction(file, asks, tmp_path, registry):
    table = tmp_path / file
    table.write_text("id,aspen,birch\n" + "".join(f"q{n},{n % 3 / 2},{n % 5 / 4}\n" for n in range(30)))
    told = registry("quick", table, exit_code=None)
    assert "better=" in told.stderr
    assert (told.exit_code != 0) == asks


@pytest.fixture
def two_columns(layout):
    return layout([table(("id", "correct", "seconds"), IDS, RATED, RATED_A)] * 2, "a")


@pytest.mark.parametrize(("scores", "better"), [
    (("correct", "seconds:lower"), ["higher", "lower"]), (("seconds:higher", "correct:lower"), ["higher", "lower"]),
    (("seconds:lower",), ["lower"])])
def test_each_column_of_scores_has_a_direction(scores, better, two_columns):
    made = make(two_columns, Request(score=scores))
    assert [(metric["options"]["column"], metric["options"]["better"]) for metric in made.folder.tables["metric"]] == [
        (score.partition(":")[0], direction) for score, direction in zip(scores, better, strict=True)]
    assert make(two_columns, Request(score=tuple(re.findall(r"--score (\S+)", made.read_as)))) == made


def test_results_of_several_boards_begin_with_the_name_of_the_board(two_columns, registry):
    printed = registry("quick", *two_columns, "--score", "correct", "--score", "seconds:lower").stderr.splitlines()
    for title in ("correct", "seconds (lower is better)"):
        assert [line for line in printed if line.startswith(f"quick/test: {title}: ")], title


def test_an_unknown_direction_is_asked_for(two_columns):
    with pytest.raises(QuestionError, match="are higher or lower values of 'seconds' better") as question:
        make(two_columns, Request(score=("correct", "seconds")))
    assert question.value.options == ("--score seconds:higher", "--score seconds:lower")


def test_one_direction_for_two_columns_is_refused(two_columns):
    with pytest.raises(InputError, match="--option better=lower does not say which of 2 columns it means; write the "
                                         "direction after each column, as in --score correct:lower"):
        make(two_columns, Request(score=("correct", "seconds"), options={"better": "lower"}))


def test_a_direction_needs_a_file_of_each_system(two_columns):
    with pytest.raises(InputError, match="this is the only file; name the files of all systems"):
        make(two_columns[:1], Request(score=("seconds:lower",)))


def test_a_metric_of_a_gold_scores_no_columns(two_columns):
    with pytest.raises(InputError, match="--metric Pearson compares numbers with a gold, but there is none"):
        make(two_columns, Request(score=("correct", "seconds:lower"), metrics=("Pearson",)))


def test_a_long_table_has_several_scores(layout):
    rows = "".join(f"{model},q{n},{(n + add) % 2},{n / 8 + add}\n" for add, model in enumerate("xy") for n in range(8))
    made = make(layout([f"model,id,correct,price\n{rows}"]), Request(score=("correct", "price:lower")))
    assert [metric["id"] for metric in made.folder.tables["metric"]] == ["correct", "price"]
