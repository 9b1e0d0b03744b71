"""A gold and systems: columns by options and usual names, one question if a role is open, or a refusal."""

import json
from shlex import split

import pytest

from registry.errors import InputError
from registry.quick.make import make
from registry.quick.plan import QuestionError, Request
from registry.readers import READERS, Document
from registry.values import build
from tests.quick.layouts import (
    ALONE,
    GOLD,
    IDS,
    LISTS,
    OPEN,
    OTHERS,
    REFUSED,
    RIGHT,
    SENTENCES,
    WORDS,
    A,
    B,
    lines,
    rows,
    span_lines,
    tagged,
)

ROLES = {f"--{name}": name for name in ("item", "label", "score", "text", "system", "pool")} | {"--metric": "metrics"}
OTHERS_OF = {"--as": "kind", **{f"--{name}": name for name in ("gold", "missing", "by", "sets", "runs")}}


def readers(made):
    """The gold's reader and the last system's, as the manifest declares them."""
    test_set, submit = made.folder.tables["test_set"][0], made.folder.tables["submit"][-1]
    gold = build("reader", READERS, test_set["format"], test_set.get("options", {}))
    options = test_set.get("options", {}).copy()
    for table in (made.folder.tables["submission"], submit):
        options |= table.get("options", {})
    return gold, build("reader", READERS, test_set["format"], options)


def read(paths, **asked):
    """Read files of which the first is the gold."""
    return make(paths[1:], Request(gold=str(paths[0]), **asked))


def asked_by(options, gold=None):
    """What options of the command line say, which a question shows or `read as` lists."""
    words = split(options)
    said = {"gold": gold, "options": {}}
    while words:
        name = words.pop(0)
        if name == "--in-order":
            said["in_order"] = True
            continue
        value = words.pop(0)
        if name in ROLES:
            said[ROLES[name]] = (*said.get(ROLES[name], ()), value)
        elif name == "--option":
            key, _, text = value.partition("=")
            try:
                said["options"][key] = json.loads(text)
            except ValueError:
                said["options"][key] = text
        else:
            said[OTHERS_OF[name]] = value
    return Request(**said)


def declared(made):
    """What the manifest says, apart from comments."""
    return json.dumps([made.folder.tables[name] for name in ("test_set", "metric", "submission", "submit",
                                                             "significance")], sort_keys=True)


@pytest.mark.parametrize("name", RIGHT)
def test_read_at_once_and_again_by_the_options_that_are_shown(name, layout):
    files, format_, of_gold, of_system = RIGHT[name]
    paths = layout(files)
    made = read(paths)
    gold, system = readers(made)
    assert gold.name == format_
    assert {option: getattr(gold, option) for option in of_gold} == of_gold
    assert {option: getattr(system, option) for option in of_system} == of_system
    assert declared(make(paths[1:], asked_by(made.read_as, str(paths[0])))) == declared(made)


@pytest.mark.parametrize("name", ALONE)
def test_one_table_of_all_systems(name, layout):
    text, format_, of_gold, systems = ALONE[name]
    paths = layout([text], "all.csv")
    made = make(paths, Request())
    gold, _ = readers(made)
    assert gold.name == format_
    assert {option: getattr(gold, option) for option in of_gold} == of_gold
    assert [submit["system"] for submit in made.folder.tables["submit"]] == systems
    assert declared(make(paths, asked_by(made.read_as))) == declared(made)


@pytest.mark.parametrize("name", OPEN)
def test_one_question_shows_options_that_answer_it(name, layout):
    """Each option leads on: to a task, or to what is wrong with the files if they are read so."""
    files, options = OPEN[name]
    paths = layout(files)
    with pytest.raises(QuestionError) as asked:
        read(paths)
    assert {*options} <= {*asked.value.options}
    assert "Add" in str(asked.value) or "add" in str(asked.value)
    options = [*asked.value.options]
    if "one option for each question" in str(asked.value):
        options = [f"{one} {other}" for n, one in enumerate(options) for other in options[n + 1:]]
    told = set()
    for option in options:
        try:
            told.add(declared(make(paths[1:], asked_by(option, str(paths[0])))))
        except InputError as error:
            told.add(str(error))
    assert len(told) == len(options) or (len(told) > 1 and "one option for each question" in str(asked.value))
    assert str(asked.value) not in told


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_place(name, layout):
    files, message = REFUSED[name]
    with pytest.raises(InputError) as refused:
        read(layout(files))
    assert message in str(refused.value)
    assert refused.value.path is not None


@pytest.mark.parametrize("name", [name for name in RIGHT if name not in ("links",)])
def test_no_file_is_the_gold_unless_it_is_named(name, layout):
    """In whatever order: the question names the option, or which scores are better."""
    paths = layout(RIGHT[name][0], "answers")
    for order in (paths, paths[::-1]):
        with pytest.raises(InputError) as refused:
            make(order, Request())
        assert "--gold" in str(refused.value) + refused.value.excerpt


@pytest.mark.parametrize("name", ["gold.tsv", "Gold-labels.txt", "ground_truth.csv"])
def test_a_file_named_gold_is_the_gold(name, layout):
    gold, *systems = layout([rows(IDS, GOLD), rows(IDS, A), rows(IDS, B)], name)
    for order in ([gold, *systems], [*systems, gold]):
        made = make(order, Request())
        assert made.folder == make(systems, Request(gold=str(gold))).folder
        assert f"{gold} is the gold, because of its name" in made.notes[0]


def test_two_files_named_gold_are_ambiguous(layout):
    gold, other = layout([rows(IDS, GOLD), rows(IDS, A)], "gold.tsv")
    other = other.rename(other.with_name("gold_labels.tsv"))
    with pytest.raises(InputError, match="which file is the gold"):
        make([gold, other], Request())


def test_columns_are_named_by_options(layout):
    """By names or numbers, in each file as far as it has them; two are the gold's and the systems'."""
    paths = layout([rows(IDS, B, GOLD, header=("ident", "mood", "stance")), rows(A, IDS)])
    made = read(paths, item=("ident",), label=("stance", "1"))
    assert (readers(made)[0].label, readers(made)[0].item) == ("stance", "ident")
    paths = layout([rows(GOLD, IDS), rows(A, IDS)])
    gold, system = readers(read(paths, item=("2",), label=("1",)))
    assert gold.columns == system.columns == ("label", "item")
    with pytest.raises(InputError, match=r"no column 'x'; columns: 1='yes', 2='q00'"):
        read(paths, item=("x",))
    with pytest.raises(InputError, match="cannot be combined"):
        read(paths, label=("1",), score=("1",))
    with pytest.raises(InputError, match="cannot be combined"):
        read(paths, item=("1",), in_order=True)


def test_rows_of_tables_may_be_in_order(layout):
    """In other files such as ExplainaBoard's a text would name the items, and has errors."""
    paths = layout([lines(text=SENTENCES, label=GOLD), lines(text=[*OTHERS[:9], *SENTENCES[9:]], label=A)])
    assert readers(read(paths, in_order=True))[1].item == ""
    assert "--in-order --label label" in read(paths, in_order=True).read_as


def test_files_without_names_are_read_in_order_if_that_is_said(layout):
    """A system whose texts differ: the error names the option, and then rows are numbered."""
    paths = layout([rows(SENTENCES, GOLD), rows([f"{SENTENCES[0]} .", *SENTENCES[1:]], A)])
    with pytest.raises(InputError, match="add --in-order"):
        read(paths)
    made = read(paths, in_order=True, label=("2",))
    assert [reader.item for reader in readers(made)] == ["", ""]
    assert made.read_as.startswith("--in-order --label 2")


def test_the_gold_is_a_system_too_only_if_it_has_answers(layout):
    paths = layout([lines(id=IDS, gold=GOLD, prediction=A), lines(id=IDS, gold=GOLD, prediction=B)])
    made = make(paths, Request(gold=str(paths[0])))
    assert [one["system"] for one in made.folder.tables["submit"]] == ["gold", "system1"]
    assert (readers(made)[0].label, readers(made)[1].label) == ("gold", "prediction")
    alone = layout([lines(id=IDS, gold=GOLD), lines(id=IDS, prediction=B)])
    with pytest.raises(InputError, match="is named both as the gold and as a system, but has no column"):
        make(alone, Request(gold=str(alone[0])))


def test_a_copy_of_the_gold_that_differs_is_named(layout):
    paths = layout([lines(id=IDS, actual=SENTENCES, transcription=of) for of in (OTHERS, SENTENCES, OTHERS)])
    paths[2].write_text(paths[2].read_text().replace(SENTENCES[4], f"{SENTENCES[4]}e", 1))
    with pytest.raises(InputError) as refused:
        make(paths, Request(gold=str(paths[0])))
    assert (refused.value.path, refused.value.line, refused.value.item) == (str(paths[2]), 5, "q04")
    assert f"{SENTENCES[4]}e" in str(refused.value)
    assert "write the same gold into all files" in str(refused.value)


@pytest.mark.parametrize(("key", "says"), [
    ("", "the last row has no item name"), ("mean", "because its name is 'mean'")])
def test_a_row_of_means_is_named(key, says, layout):
    table = rows(range(24), SENTENCES, OTHERS, [0.5] * 24, header=("", "actual", "transcription", "x"), separator=",")
    paths = layout([table, f"{table}{key},,,0.5\n"])
    with pytest.raises(InputError, match=says) as refused:
        make(paths, Request(gold=str(paths[0])))
    assert (refused.value.path, refused.value.line) == (str(paths[1]), 26)


def test_a_metric_decides_between_kinds(layout):
    paths = layout([rows(IDS, [1 + n % 5 for n in range(24)])] * 2)
    assert readers(read(paths, metrics=("macro-F1",)))[0].name == "labels"
    assert readers(read(paths, metrics=("MAE",)))[0].name == "scores"
    paths = layout([rows(IDS, SENTENCES), rows(IDS, OTHERS)])
    assert readers(read(paths, metrics=("chrF",)))[0].name == "texts"
    with pytest.raises(InputError, match="unknown metric 'Sucess'; the most similar names are success@10, "):
        read(paths, metrics=("Sucess",))


@pytest.mark.parametrize(("column", "metric"), [("transcript", "WER"), ("reference", "BLEU")])
def test_transcripts_are_scored_by_their_errors(column, metric, layout):
    made = read(layout([lines(id=IDS, **{column: SENTENCES}), lines(id=IDS, output=OTHERS)]))
    assert [one["name"] for one in made.folder.tables["metric"]] == [metric]


def test_documents_are_the_units(layout):
    documents = [f"d{n // 2}" for n in range(24)]
    made = read(layout([rows(IDS, GOLD, documents, header=("item", "label", "document")), rows(IDS, A)]))
    assert made.folder.tables["test_set"][0]["cluster"] == "document"
    assert any("tests use documents as units" in note for note in made.notes)


def test_blank_labels_are_no_answers_if_items_may_lack_them(layout):
    paths = layout([rows(IDS, GOLD), rows(IDS, ["", *A[1:]])])
    assert readers(read(paths, missing="worst"))[1].blank == "missing"
    with pytest.raises(InputError, match="system1:1: item 'q00': the label is empty"):
        read(paths)


def test_options_of_a_reader(layout):
    paths = layout([rows(IDS, GOLD), rows(IDS, [label.upper() for label in A])])
    assert readers(read(paths, options={"fold_case": True}))[1].fold_case
    renamed = {label.upper(): label for label in set(GOLD)}
    assert dict(readers(read(paths, options={"rename": renamed}))[1].rename) == renamed
    flags = rows(IDS, *([int(n % k == 0) for n in range(24)] for k in (2, 3)), header=("id", "x", "y"))
    assert readers(read(layout([flags, flags]), kind="multilabel"))[0].labels == ("x", "y")
    text = layout(REFUSED["names before text"][0])
    assert readers(read(text, kind="lines"))[0].name == "lines"
    with pytest.raises(InputError, match="unknown reader or importer 'labls'"):
        read(text, kind="labls")


def test_columns_of_tags(layout):
    other = tagged([f"NN\t{tag}\t{'O' if tag == 'B-LOC' else tag}" for tag in ["B-PER", "I-PER", "O", "B-LOC"] * 6])
    paths = layout([other, other])
    made = make(paths, Request(gold=str(paths[0]), label=("3", "4")))
    gold, system = readers(made)
    assert [reader.columns.index(reader.label) for reader in (gold, system)] == [2, 3]
    with pytest.raises(QuestionError, match="one file is both the gold and a system"):
        make(paths, Request(gold=str(paths[0])))


def test_spans_of_lists_are_read(layout):
    ours = [[(0, 4, "PER"), (16, 21, "PER")], [(13, 17, "LOC")], [(2, 5, "LOC")]]
    paths = layout([span_lines(of, lambda span: {"start_offset": span[0], "end_offset": span[1], "label": span[2]},
                               "entities") for of in (LISTS, ours)])
    gold, system = readers(read(paths))
    found = [[sorted((span.start, span.end, span.type) for span in value.spans) for value in values] for values in (
        [item.gold for item in gold.read_gold({"gold": Document.load(paths[0])})],
        [answer.value for answer in system.read_answers(Document.load(paths[1]))])]
    assert found == [LISTS, ours]


def test_scripts_without_blanks_have_their_tokens(layout):
    """So they do with the metric named."""
    for text, tokenize in (("今天又下雨了我们回家", "zh"), ("また雨が降っているので帰る", "char")):
        files = [rows(WORDS, [f"{text}{n}" for n in range(24)], header=("id", name)) for name in ("reference", "hyp")]
        for metrics in ((), ("BLEU",)):
            made = read(layout(files), metrics=metrics, text=("reference", "hyp"))
            (declared_metric,) = made.folder.tables["metric"]
            assert declared_metric["options"]["tokenize"] == tokenize


def test_tags_of_uneven_lines_are_refused(layout):
    """Most lines have a tag, and too few have as many cells as the others."""
    text = tagged(["B-PER", "I-PER", "O", "B-LOC"] * 6)
    paths = layout([text.replace("w3\t", "w3\tx\t").replace("w9\t", "w9\tx\t")] * 2)
    with pytest.raises(InputError):
        read(paths)


def test_items_in_another_order_are_not_read_in_order(layout, registry):
    """Nor does the message about lost zeros advise it."""
    gold, system = layout(["id,label\n" + "".join(f"{n:05},{'ab'[n % 2]}\n" for n in range(30)),
                           "id,label\n" + "".join(f"{n % 30},{'ab'[n % 2]}\n" for n in range(7, 37))])
    assert "--in-order" not in registry("quick", "--gold", gold, system, exit_code=None).stderr
    told = registry("quick", "--gold", gold, system, "--label", "label", "--in-order", exit_code=None)
    assert told.exit_code != 0
    assert "column 'id' has the items of the gold in another order" in told.stderr


def answer_questions(paths, choice, **asked):
    """Read files; answer every question by the option that ends with one of the words in `choice`."""
    questions = []
    while True:
        try:
            return read(paths, **asked), questions
        except QuestionError as error:
            questions.append(error)
            answer = next(option for option in error.options if split(option)[-1] in choice)
            asked |= {"label": asked_by(answer).label}
            assert len(questions) < 5


def test_a_named_column_is_that_of_the_files_that_have_it(layout):
    """Each question names one file and its candidates; the answers hold for this file, and not for others."""
    more = [["9"] * 24]
    files = [rows(IDS, GOLD, header=["id", "label"]), rows(IDS, A, *more, header=["id", "verdict", "sure"]),
             rows(IDS, A, *more, header=["id", "label", "sure"]), rows(IDS, A, header=["id", "prediction"]),
             rows(IDS, A, *more)]
    paths = layout(files)
    made, questions = answer_questions(paths, ("verdict", "2"))
    assert [(error.path, error.message.partition("Columns: ")[2].partition(". Add")[0]) for error in questions] == [
        (str(paths[1]), f"verdict={A[0]!r}, sure='9'"), (str(paths[4]), f"2={A[0]!r}, 3='9'")]
    labels = [table.get("options", {}).get("label", "label") for table in made.folder.tables["submit"]]
    assert labels[:3] == ["verdict", "label", "prediction"]
    assert made.read_as.count("--label") == 3
    numbered = answer_questions(paths, ("verdict",), label=("2",))[0]  # the gold has a header, and no column 2
    assert declared(numbered) == declared(read(paths, label=asked_by(numbered.read_as).label)) == declared(made)
    with pytest.raises(InputError, match="no column 'verdit'"):
        read(paths, label=("label", "verdit"))


def test_named_tags_are_those_of_the_files_that_have_them(layout):
    tags = ["B-PER", "O"] * 12
    paths = layout([tagged(tags), tagged(tags), tagged(map("O\t{}".format, tags))])
    made, questions = answer_questions(paths, ("3",))
    assert [error.path for error in questions] == [str(paths[2])]
    assert [table.get("options", {}).get("columns") for table in made.folder.tables["submit"]][1] == [
        "token", "column2", "label"]
