"""Layouts that once gave a wrong board without a word: each is asked about, and an option gives the right board."""

import re
import shutil
from pathlib import Path
from shlex import split

import pytest

from registry.errors import InputError
from registry.evaluation.ingest.declared import expand_submissions
from registry.evaluation.ingest.fit import join
from registry.evaluation.resolve import resolve
from registry.evaluation.scoring.measure import score_single_run
from registry.manifest import load_manifest
from registry.quick.make import make
from registry.quick.plan import QuestionError, Request
from tests.quick.layouts import GOLD, HALVES, IDS, OTHERS, RATED, SENTENCES, A, B, lines, rows
from tests.quick.test_answers import asked_by

N = len(IDS)
CORRECT = [int(n % 3 > 0) for n in range(N)]
FEWER = [int(n % 4 > 1) for n in range(N)]
SETS = [["anger", "joy"], ["joy"], ["fear", "anger"], ["fear"], ["joy", "fear"], []]
REVERSED = [labels[::-1] for labels in SETS]
TASKS = ["mnli", "sst"]


def csv(*columns, header):
    return rows(*columns, header=header, separator=",")


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return {name: folder / name for name in files}


@pytest.fixture
def scores(tmp_path):
    """Read the files as `registry quick` does; return the scores by test set and system, the mean of its runs."""
    def score(paths, options="", gold=None):
        asked = asked_by(options, None if gold is None else str(gold))
        found = {}
        with make(paths, asked).folder.write(tmp_path / "task", "t") as manifest:
            task = resolve(load_manifest(manifest)[0], manifest)
            for one in expand_submissions(task):
                reader = task.readers[one.test_set.name]
                items = reader.read_gold(task.gold_documents(one.test_set))
                for document in one.documents:
                    joined = join(items, one.read_answers(document), one.reader, one.policies, document)
                    (value,) = score_single_run(items, joined, one.policies.missing, task.metrics).values()
                    found.setdefault((one.test_set.name.split("/")[0], one.system), []).append(value)
        shutil.rmtree(tmp_path / "task")
        return {key: pytest.approx(sum(values) / len(values)) for key, values in found.items()}

    return score


def ask(paths, asked):
    with pytest.raises(QuestionError) as question:
        make(paths, asked)
    return question.value


def accuracy(gold, labels):
    return sum(map(str.__eq__, gold, labels)) / len(gold)


@pytest.mark.parametrize("mark", ["|", ";", ",", " "])
@pytest.mark.parametrize("brackets", ["", "[]"])
def test_labels_that_are_sets_are_scored_in_any_order(mark, brackets, folder, scores):
    def text(sets):
        written = [mark.join(labels) for labels in sets] * 4
        return rows(IDS, [f"[{cell}]" if brackets else cell for cell in written], header=("id", "labels"))

    sets = SETS if brackets else SETS[:5]
    paths = write(folder({}), {"gold.tsv": text(sets), "a.tsv": text(REVERSED[:len(sets)])}) if brackets else write(
        folder({}), {name: rows(IDS[:20], [mark.join(labels) for labels in of] * 4, header=("id", "labels"))
                     for name, of in (("gold.tsv", sets), ("a.tsv", REVERSED[:5]))})
    question = ask([paths["a.tsv"]], Request(gold=str(paths["gold.tsv"])))
    as_sets, as_text = question.options
    assert "--sets" in as_sets
    assert "--as labels" in as_text
    assert ask([paths["a.tsv"]], Request(gold=str(paths["gold.tsv"]), label=("labels",))).options == question.options
    board = scores([paths["a.tsv"]], as_sets, paths["gold.tsv"])
    assert board == {("test", "a"): 1.0}
    board = scores([paths["a.tsv"]], as_text, paths["gold.tsv"])
    single = sum(len(labels) < 2 for labels in sets) / len(sets)
    assert board == {("test", "a"): single}


def test_empty_sets_count(folder, scores):
    """F1 over all labels: 2 * correct / (gold + answers)."""
    gold = [["x", "y"], [], ["y"], ["x"]] * 6
    answers = [["y"], ["x"], [], ["x"]] * 6
    paths = write(folder({}), {name: rows(IDS, ["|".join(labels) for labels in sets], header=("id", "labels"))
                               for name, sets in (("gold.tsv", gold), ("a.tsv", answers))})
    board = scores([paths["a.tsv"]], "--label labels --sets '|'", paths["gold.tsv"])
    assert board == {("test", "a"): 2 * 2 / (4 + 3)}


def test_lists_of_labels_in_json_are_sets(folder, scores):
    paths = write(folder({}), {"gold.jsonl": lines(id=IDS, labels=SETS * 4), "a.jsonl": lines(
        id=IDS, labels=REVERSED * 4)})
    assert scores([paths["a.jsonl"]], gold=paths["gold.jsonl"]) == {("test", "a"): 1.0}


ODD = {  # a column next to systems that is none, and its header
    "a scale": ("schwierig", [1 + n % 5 for n in range(N)]),
    "a name": ("difficulty", FEWER),
    "a numbered name": ("annotator1", FEWER),
    "a name with another word": ("aspen_confidence", FEWER),
    "a counter": ("lfd", range(7, 7 + N)),
    "a mean of systems": ("mean", [(a + b) / 2 for a, b in zip(CORRECT, FEWER, strict=True)]),
    "a weight": ("weight", [n / N for n in range(N)]),
    "large numbers": ("chars", [n + 50 for n in range(N)]),
}


@pytest.mark.parametrize("name", ODD)
def test_a_column_that_looks_unlike_systems_is_asked_about(name, folder, scores):
    header, cells = ODD[name]
    if name == "large numbers":
        header = "zeichen"
    text = csv(IDS, CORRECT, FEWER, cells, header=("id", "aspen", "birch", header))
    paths = write(folder({}), {"accuracy.csv": text})
    question = ask([*paths.values()], Request())
    assert repr(header) in str(question)
    assert question.options[0] == "--system aspen --system birch"
    assert question.options[1] == f"--system aspen --system birch --system {header}"
    expected = {("test", "aspen"): sum(CORRECT) / N, ("test", "birch"): sum(FEWER) / N}
    assert scores([*paths.values()], question.options[0]) == expected
    assert scores([*paths.values()], "--system '*r*' --system aspen").keys() >= expected.keys()


@pytest.mark.parametrize("name", ["annotator1", "human_2", "majority", "reference2"])
def test_labels_of_people_are_no_systems_without_a_question(name, folder, scores):
    paths = write(folder({}), {"all.csv": csv(IDS, GOLD, A, A, B, header=("id", "gold", name, "x", "y"))})
    question = ask([*paths.values()], Request(gold="gold"))
    assert question.options[0] == "--system x --system y"
    board = scores([*paths.values()], question.options[0], "gold")
    assert board == {("test", "x"): accuracy(GOLD, A), ("test", "y"): accuracy(GOLD, B)}


def long(*columns, header):
    """A row for each item and system: columns of two systems below each other."""
    return csv(["x"] * N + ["y"] * N, *columns, header=("model", *header))


@pytest.mark.parametrize("column", ["task", "dataset", "split", "Usage", "temperature", "n_shots"])
@pytest.mark.parametrize("restart", [True, False])
def test_parts_of_a_long_table_are_not_pooled_unasked(column, restart, folder, scores):
    parts = [TASKS[n * 2 // N] for n in range(N)]
    names = [n % (N // 2) for n in range(N)] if restart else [*range(N)]
    text = long(parts * 2, names * 2, CORRECT + FEWER, header=(column, "id", "accuracy"))
    paths = write(folder({}), {"all.csv": text})
    question = ask([*paths.values()], Request())
    assert question.options == (f"--by {column}", f"--pool {column}")
    half = N // 2
    assert scores([*paths.values()], f"--by {column}") == {
        ("mnli", "x"): sum(CORRECT[:half]) / half, ("sst", "x"): sum(CORRECT[half:]) / half,
        ("mnli", "y"): sum(FEWER[:half]) / half, ("sst", "y"): sum(FEWER[half:]) / half}
    assert scores([*paths.values()], f"--pool {column}") == {
        ("test", "x"): sum(CORRECT) / N, ("test", "y"): sum(FEWER) / N}


def test_metrics_of_a_long_table_have_a_board_each(folder, scores):
    text = csv([*"xxyy" * N], ["f1", "em"] * 2 * N, [i for i in IDS for _ in range(4)],
               [value for n in range(N) for value in (HALVES[n] / 8, CORRECT[n], RATED[n] / 8, FEWER[n])],
               header=("model", "metric", "id", "score"))
    paths = write(folder({}), {"all.csv": text, "mixed.csv": text.replace(",em,", ",wer,")})
    question = ask([paths["all.csv"]], Request())
    assert "--by metric" in question.options
    assert not any("--item" in option or "--pool" in option for option in question.options)
    board = scores([paths["all.csv"]], "--by metric")
    assert board == {("f1", "x"): sum(HALVES) / 8 / N, ("em", "x"): sum(CORRECT) / N,
                     ("f1", "y"): sum(RATED) / 8 / N, ("em", "y"): sum(FEWER) / N}
    with pytest.raises(InputError, match="write a separate file for each measure"):
        make([paths["mixed.csv"]], Request(by="metric"))


def test_public_and_private_items_of_a_solution_have_a_board_each(folder, scores):
    usage = ["Public" if n % 3 else "Private" for n in range(N)]
    paths = write(folder({}), {"solution.csv": csv(IDS, GOLD, usage, header=("id", "label", "Usage")),
                               "a.csv": csv(IDS, A, header=("id", "label"))})
    question = ask([paths["a.csv"]], Request(gold=str(paths["solution.csv"])))
    assert question.options == ("--by Usage", "--pool Usage")

    def part(name):
        return accuracy(*zip(*((g, a) for g, a, u in zip(GOLD, A, usage, strict=True) if u == name), strict=True))

    assert scores([paths["a.csv"]], "--by Usage", paths["solution.csv"]) == {
        ("Public", "a"): part("Public"), ("Private", "a"): part("Private")}
    assert scores([paths["a.csv"]], "--pool Usage", paths["solution.csv"]) == {("test", "a"): accuracy(GOLD, A)}


@pytest.mark.parametrize("form", ["jsonl", "tsv"])
def test_runs_in_a_column_are_averaged_and_no_items(form, folder, scores):
    columns = {"id": IDS * 2, "seed": [1] * N + [2] * N, "label": [*A, *B]}
    text = lines(**columns) if form == "jsonl" else rows(*columns.values(), header=columns)
    paths = write(folder({}), {"gold.tsv": rows(IDS, GOLD, header=("id", "label")), f"a.{form}": text,
                               f"b.{form}": text})
    gold, *systems = paths.values()
    question = ask(systems, Request(gold=str(gold)))
    assert question.options == ("--runs fixed", "--runs random")
    mean = (accuracy(GOLD, A) + accuracy(GOLD, B)) / 2
    assert scores(systems, "--runs fixed", gold) == {("test", "a"): mean, ("test", "b"): mean}


def test_ratings_of_several_people_are_averaged_if_that_is_said(folder, scores):
    text = csv([*"xy"] * 2 * N, [i for i in IDS for _ in range(4)], ["r1", "r1", "r2", "r2"] * N,
               [value for n in range(N) for value in (CORRECT[n], FEWER[n], FEWER[n], FEWER[n])],
               header=("model", "id", "rater", "rating"))
    paths = write(folder({}), {"all.csv": text})
    question = ask([*paths.values()], Request(options={"better": "higher"}))
    assert question.options == ("--option run=rater --runs fixed", "--by rater")
    assert scores([*paths.values()], f"{question.options[0]} --option better=higher") == {
        ("test", "x"): (sum(CORRECT) + sum(FEWER)) / 2 / N, ("test", "y"): sum(FEWER) / N}


@pytest.mark.parametrize(("column", "cells", "says"), [
    ("a_wer", CORRECT, "several measures (f1, wer)"), ("c", [f"{n}%" for n in range(N)], "percent signs")])
def test_columns_of_other_measures_are_refused(column, cells, says, folder):
    paths = write(folder({}), {"all.csv": csv(IDS, CORRECT, FEWER, cells, header=("id", "a_f1", "b_f1", column))})
    with pytest.raises(InputError) as refused:
        make([*paths.values()], Request(options={"better": "higher"}))
    assert says in str(refused.value)


@pytest.mark.parametrize(("options", "says"), [
    ("--by nope", "nope"), ("--pool nope", "--pool nope: no such column"), ("--sets ;", "no label contains ';'"),
    ("--system label", "--system names columns, and works only if one table has all systems")])
def test_options_without_an_effect_are_refused(options, says, folder):
    paths = write(folder({}), {"gold.csv": csv(IDS, GOLD, header=("id", "label")),
                               "a.csv": csv(IDS, A, header=("id", "label"))})
    with pytest.raises(InputError) as refused:
        make([paths["a.csv"]], asked_by(options, str(paths["gold.csv"])))
    assert says in str(refused.value)


def test_runs_of_scores_are_averaged(folder, scores):
    text = csv(IDS * 2, [1] * N + [2] * N, CORRECT + FEWER, header=("id", "seed", "accuracy"))
    paths = write(folder({}), {"a.csv": text, "b.csv": text})
    assert ask([*paths.values()], Request()).options == ("--runs fixed", "--runs random")
    mean = (sum(CORRECT) + sum(FEWER)) / 2 / N
    assert scores([*paths.values()], "--runs fixed") == {("test", "a"): mean, ("test", "b"): mean}


@pytest.mark.parametrize("column", ["model", "who"])
@pytest.mark.parametrize("item", [True, False])
def test_answers_of_a_long_table_are_those_of_each_system(column, item, folder, scores):
    columns = {column: ["x"] * N + ["y"] * N, "item": IDS * 2, "gold": GOLD * 2, "prediction": [*A, *B]}
    if not item:
        del columns["item"]
    paths = write(folder({}), {"all.csv": csv(*columns.values(), header=columns)})
    said = "--option system=who" * (column == "who") + " --in-order" * (not item)
    if column == "who" and item:
        assert "--option system=who" in ask([*paths.values()], Request(gold="gold")).options
    board = scores([*paths.values()], said, "gold")
    assert board == {("test", "x"): accuracy(GOLD, A), ("test", "y"): accuracy(GOLD, B)}


def test_answers_of_several_systems_in_a_file_beside_the_gold(folder, scores):
    paths = write(folder({}), {"gold.csv": csv(IDS, GOLD, header=("item", "label")), "all.csv": long(
        IDS * 2, [*A, *B], header=("item", "prediction"))})
    board = scores([paths["all.csv"]], gold=paths["gold.csv"])
    assert board == {("test", "x"): accuracy(GOLD, A), ("test", "y"): accuracy(GOLD, B)}


def test_another_gold_in_a_system_s_rows_is_refused(folder):
    golds = [*GOLD, *GOLD[:3], "no", *GOLD[4:]]
    paths = write(folder({}), {"all.csv": long(IDS * 2, golds, [*A, *B], header=("item", "gold", "prediction"))})
    with pytest.raises(InputError, match="write the same gold into all files"):
        make([*paths.values()], Request())


@pytest.mark.parametrize("name", ["all", "mean", "Overall", "average", "macro avg", "Summe"])
@pytest.mark.parametrize("place", [0, 9, N])
def test_rows_that_sum_up_a_system_are_refused(name, place, folder):
    def with_summary(cells, summary):
        return [*cells[:place], summary, *cells[place:]]

    values = [n / 32 for n in range(N)], [n * n / 999 for n in range(N)]
    cells = [cell for column in values for cell in with_summary(column, f"{sum(column) / N:.4f}")]
    text = csv(["x"] * (N + 1) + ["y"] * (N + 1), with_summary(IDS, name) * 2, cells, header=("model", "item", "f1"))
    paths = write(folder({}), {"all.csv": text})
    if name == "Summe" and place == 9:
        return  # an unknown name in the middle could be an item
    with pytest.raises(InputError, match="remove") as refused:
        make([*paths.values()], Request())
    assert refused.value.line == place + 2


def test_words_that_are_items_may_be_called_mean(folder):
    words = ["mean", "all", "total", *(f"word{chr(97 + n)}" for n in range(N - 3))]
    paths = write(folder({}), {"gold.csv": csv(words, HALVES, header=("word1", "gold")),
                               "a.csv": csv(words, RATED, header=("word1", "score"))})
    assert make([paths["a.csv"]], Request(gold=str(paths["gold.csv"])))


@pytest.mark.parametrize("code", [-1, -999, 99])
@pytest.mark.parametrize("layout", ["wide", "long", "files"])
def test_a_code_for_no_score_is_no_score(code, layout, folder, scores):
    x, y = [code if n % 7 == 0 else value for n, value in enumerate(CORRECT)], FEWER
    files = {"wide": {"accuracy.csv": csv(IDS, x, y, header=("id", "x", "y"))},
             "long": {"all.csv": long(IDS * 2, x + y, header=("id", "accuracy"))},
             "files": {f"{name}.csv": csv(IDS, cells, header=("id", "accuracy"))
                       for name, cells in (("x", x), ("y", y))}}
    paths = write(folder({}), files[layout])
    question = ask([*paths.values()], Request())
    n = sum(value == code for value in x)
    assert f"{n} of {2 * N} scores are {code}" in str(question)
    without, counted = (option for option in question.options if "unscored" in option)
    judged = [n for n in range(N) if n % 7]
    assert scores([*paths.values()], without) == {
        ("test", "x"): sum(x[n] for n in judged) / len(judged), ("test", "y"): sum(y[n] for n in judged) / len(judged)}
    assert scores([*paths.values()], counted)["test", "x"] == sum(x) / N


def test_a_label_that_stands_for_none_is_asked_about(folder):
    gold = ["-1" if n % 9 == 0 else str(n % 2) for n in range(N)]
    paths = write(folder({}), {"gold.csv": csv(IDS, gold, header=("id", "label")),
                               "a.csv": csv(IDS, CORRECT, header=("id", "label"))})
    assert "3 of 24 items have the gold label '-1'" in str(ask([paths["a.csv"]], Request(gold=str(paths["gold.csv"]))))


FAULTS = {  # files, what is named, and what the message gives
    "decimal commas": ({"a.csv": rows(IDS, [f"0,{n}" for n in range(10, 10 + N)], header=("id", "f1"), separator=";")},
                       None, r"sed 's/\([0-9]\),\([0-9]\)/\1.\2/g'"),
    "percent signs": ({"a.csv": csv(IDS, [f"{n}.5%" for n in range(N)], header=("id", "f1"))}, None, "sed 's/%//g'"),
    "thousands": ({"a.csv": csv(IDS, [f'"1,{100 + n}"' for n in range(N)], header=("id", "loss"))}, None,
                  "numbers with commas"),
    "rows that are systems": ({"a.csv": csv(["x", "y"], *[[0, 1]] * 1200, header=(
        "model", *(f"q{n}" for n in range(1200))))}, None, "transpose the table: python -c"),
    "logs": ({"logs/a.log": "step 1\n"}, "logs", "'{}/{{system}}.log'"),
    "benchmarks": ({f"runs/{model}/{name}.csv": csv(IDS, CORRECT, header=("id", "accuracy")) for model in "xy"
                    for name in ("arc", "gsm")}, "runs", "'{}/{{model}}/{{benchmark}}.csv'"),
    "trailing blanks": ({"gold.tsv": rows(IDS, GOLD), "a.tsv": rows(IDS, [f"{label} " for label in A])}, "a.tsv",
                        "add --option 'rename={{ \""),
    "probabilities": ({"gold.tsv": rows(IDS, GOLD, header=("id", "label")), "a.tsv": rows(
        IDS, HALVES, HALVES, HALVES, header=("id", "yes", "no", "maybe"))}, "a.tsv", "called prediction"),
    "spans in columns": ({"gold.tsv": rows(IDS, range(N), range(3, N + 3), ["X"] * N, header=(
        "id", "start", "end", "type"))} | {"a.tsv": ""}, "a.tsv", "--as spans --item id --option separator=tab"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_message_gives_the_remedy_as_it_is_typed(name, folder):
    files, given, remedy = FAULTS[name]
    if name == "spans in columns":
        files = files | {"a.tsv": files["gold.tsv"]}
    base = folder(files)
    path = base / (given or "a.csv")
    gold = str(base / "gold.tsv") if "gold.tsv" in files else None
    with pytest.raises(InputError) as refused:
        make([path], Request(gold=gold))
    assert remedy.replace("{}", str(path)).replace("{{", "{").replace("}}", "}") in (
        f"{refused.value}\n{refused.value.excerpt}")


def test_the_pattern_of_benchmarks_gives_their_boards(folder, scores):
    files, _, _ = FAULTS["benchmarks"]
    base = folder(files)
    pattern = ask([base / "runs"], Request()).options[0].strip("'")
    assert scores([Path(pattern)]) == {(name, model): sum(CORRECT) / N for name in ("arc", "gsm") for model in "xy"}
    base = folder({**{f"gold/{name}.tsv": rows(IDS, GOLD) for name in ("arc", "gsm")},
                   **{f"out/{model}/{name}.tsv": rows(IDS, A) for model in "xy" for name in ("arc", "gsm")}})
    (said,) = ask([base / "out"], Request(gold=str(base / "gold"))).options
    _, gold, systems = split(said)
    assert scores([Path(systems)], gold=gold) == {
        (name, model): accuracy(GOLD, A) for name in ("arc", "gsm") for model in "xy"}


def test_spans_in_columns_are_read_by_the_option(folder, scores):
    """Half of the ends are right, so F1 is one half."""
    ends = [n + 3 + n % 2 for n in range(N)]
    for header in (("id", "start", "end", "type"), ("doc", "begin", "end", "label"), ()):
        keys = IDS if header else [f"d{n // 2}" for n in range(N)]
        starts = [10 * n for n in range(N)]
        paths = write(folder({}), {name: rows(keys, starts, [s + e - n for n, (s, e) in enumerate(zip(
            starts, of, strict=True))], ["X"] * N, header=header) for name, of in (
                ("gold.tsv", [n + 3 for n in range(N)]), ("a.tsv", ends))})
        (said,) = ask([paths["a.tsv"]], Request(gold=str(paths["gold.tsv"]))).options
        assert scores([paths["a.tsv"]], said, paths["gold.tsv"]) == {("test", "a"): 0.5}


def test_a_table_without_a_header_has_a_gold_by_its_number(folder, scores):
    """No option leads back to the same question."""
    paths = write(folder({}), {"all.csv": rows(IDS, GOLD, A, B, separator=",")})
    question = ask([*paths.values()], Request())
    assert "--option header=false --item 1 --gold 2" in question.options
    board = scores([*paths.values()], "--option header=false --item 1 --gold 2")
    assert board == {("test", "3"): accuracy(GOLD, A), ("test", "4"): accuracy(GOLD, B)}
    with pytest.raises(QuestionError) as more:
        make([*paths.values()], Request(gold="2"))
    assert more.value.options == ("--item 1", "--in-order")
    board = scores([*paths.values()], "--item 1 --gold 2")
    assert board == {("test", "3"): accuracy(GOLD, A), ("test", "4"): accuracy(GOLD, B)}


def test_a_wide_table_of_many_systems_is_read(folder):
    header = ("id", *(f"run{n}" for n in range(1001)))
    paths = write(folder({}), {"accuracy.csv": csv(IDS, *[CORRECT] * 1001, header=header)})
    assert len(make([*paths.values()], Request()).folder.tables["submit"]) == 1001


@pytest.mark.parametrize("options", ["--by task", "--pool task"])
def test_the_options_that_are_printed_give_the_same_files(options, folder):
    text = long([TASKS[n * 2 // N] for n in range(N)] * 2, [*range(12)] * 4, CORRECT + FEWER,
                header=("task", "id", "accuracy"))
    paths = [*write(folder({}), {"all.csv": text}).values()]
    made = make(paths, asked_by(options))
    assert re.search(options, made.read_as)
    assert make(paths, asked_by(made.read_as)).folder.files == made.folder.files


MOODS = (["joy", "fear", "anger"] * 8)[:N]
GUESSED = [MOODS[n - (n % 5 == 0)] for n in range(N)]


@pytest.mark.parametrize("text", ["sentence", "text"])
@pytest.mark.parametrize("more", [{}, {"confidence": HALVES}, {"text": SENTENCES}], ids=str)
def test_the_column_that_gold_and_systems_share_has_the_answers(text, more, folder, scores):
    own = {(text if name == "text" else name): cells for name, cells in more.items()}
    paths = write(folder({}), {
        "gold.tsv": rows(IDS, HALVES, SENTENCES, MOODS, header=("sent_id", "length", text, "emotion")),
        "a.tsv": rows(IDS, *own.values(), GUESSED, header=("sent_id", *own, "emotion"))})
    assert scores([paths["a.tsv"]], gold=paths["gold.tsv"]) == {("test", "a"): accuracy(MOODS, GUESSED)}


def test_labels_are_not_compared_with_texts_without_a_question(folder, scores):
    paths = write(folder({}), {"gold.tsv": rows(IDS, SENTENCES, MOODS, header=("id", "sentence", "emotion")),
                               "a.tsv": rows(IDS, GUESSED, header=("id", "prediction"))})
    question = ask([paths["a.tsv"]], Request(gold=str(paths["gold.tsv"])))
    assert question.options == ("--label emotion --label prediction", "--text sentence --text prediction")
    for options, value in zip(question.options, (accuracy(MOODS, GUESSED), 0), strict=True):
        assert scores([paths["a.tsv"]], options, gold=paths["gold.tsv"]) == {("test", "a"): value}


def test_a_board_on_which_all_systems_have_the_worst_score_has_a_warning(folder, registry):
    paths = write(folder({}), {f"{name}.tsv": rows(IDS, cells) for name, cells in (
        ("gold", SENTENCES), ("a", GUESSED), ("b", OTHERS))})
    for systems, code in ((["a"], ["worst-scores"]), (["a", "b"], [])):
        board = registry("quick", "--gold", paths["gold.tsv"], *(paths[f"{name}.tsv"] for name in systems),
                         "--text", "2", "--format", "json").json
        assert [warning["code"] for warning in board[0]["warnings"] if warning["code"] == "worst-scores"] == code
