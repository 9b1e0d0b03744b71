"""One table of all systems: none of them falls away, and what is no such table is not taken for one."""

import pytest

from registry.errors import InputError
from registry.guessing.guess import Asked, QuestionError
from registry.guessing.made import made
from registry.readers import Document, Scores
from tests.guessing.test_guessing import GOLD, IDS, RATED, RATED_A, A, B, rows

HALVES = [n % 2 for n in RATED]
ODD = [(n + n % 3) % 2 for n in range(24)]


def table(header, *columns):
    return rows(*columns, header=header, separator=",")


MODELS, TWICE = ["aspen"] * 24 + ["birch"] * 24, [*IDS, *IDS]
NOT_IF_SAID = ("doubts of two labels",)  # that scores are meant
WRONG = {  # the table; what the error says
    "a system in other letter case": (table(("id", "gold", "a", "b"), IDS, GOLD, A, [label.upper() for label in B]),
                                      "column 'b': no label is one of the gold's"),
    "an empty cell": (table(("id", "a", "b"), IDS, HALVES, ["", *ODD[1:]]), "column 'b': there is no score of it"),
    "a word among numbers": (table(("id", "a", "b"), IDS, HALVES, ["error", *ODD[1:]]), "'b' is 'error'; expected a"),
    "an empty cell beside right numbers": (table(("id", "gold", "a", "b"), IDS, RATED, RATED_A, ["", *RATED_A[1:]]),
                                           "column 'b': "),
    "yes and no": (table(("id", "a", "b"), IDS, ["yes", "no"] * 12, ["no", "no", "yes"] * 8), "write 1 and 0; if one"),
    "deviations": (table(("id", "a", "b"), IDS, ["1.5 ± 0.2"] * 24, ["2.5(0.1)"] * 24), "leave the numbers alone in"),
    "doubts of two labels": (table(("id", "label", "a", "b"), IDS, ["ai", "human"] * 12, *(
        [n / 50 + k / 9 for n in range(24)] for k in (1, 2))), "as of how sure systems are"),
    "check marks": (table(("id", "a", "b", "c"), IDS, ["✓", "✗"] * 12, ["✗", "✓"] * 12, ["✗", "✗", "✓"] * 8),
                    "a, b, c have '✓' and '✗': if these say what systems got right, write 1 and 0"),
    "measures": (table(("id", "R1", "R2", "RL", "Faithful"), IDS, RATED, RATED_A, RATED, RATED_A),
                 "columns seem to be measures, as R1, R2, RL"),
    "a place and no answers": (table(("id", "question_index", "label"), IDS, range(24), ["a", "b"] * 12),
                               "no format is known by this file alone"),
    "a system a row, mostly": (table(("model", "size", "top1"), [*IDS[:23], IDS[0]], range(24), RATED),
                               "rows seem to be systems, by column 'model'"),
    "no name of a gold": (table(("id", "Sentiment", "a", "b"), IDS, GOLD, A, B), "as --option label=Sentiment"),
    "rows of systems": (table(("Model", "gsm8k", "arc"), IDS, RATED, RATED_A), "rows seem to be systems, by column"),
    "rows of pairs": (table(("id", "model_a", "model_b", "turn"), IDS, A, B, RATED), "each row compares two systems"),
    "long form without scores": (table(("model", "item", "said"), MODELS, TWICE, [*A, *B]), "--option score=COLUMN"),
    "a mean of the others": (table(("idx", "a", "b"), [*range(24), "mean"], [*RATED, 3], [*RATED_A, 3]),
                             "the last row is called 'mean'"),
}


def path_of(tmp_path, text):
    path = tmp_path / "all.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(("name", "options"), [(name, options) for name, (text, _) in WRONG.items() for options in (
    {}, {"better": "higher"}) if not (options and (",gold," in text or name in NOT_IF_SAID))])
def test_refused_with_the_column(name, options, tmp_path):
    text, message = WRONG[name]
    with pytest.raises(InputError) as caught:
        made([path_of(tmp_path, text)], Asked(options=options))
    assert message in str(caught.value)


@pytest.mark.parametrize("kind", [None, "wide"])
def test_items_without_a_score_are_left_out(kind, tmp_path):
    path = path_of(tmp_path, table(("id", "a", "b"), IDS, HALVES, ["", *ODD[1:]]))
    options = {"better": "higher"} if kind is None else {"item": "id"}
    tables = made([path], Asked(kind, options, missing="drop")).folder.tables
    assert tables["submission"]["missing"] == "drop"
    assert [submit["system"] for submit in tables["submit"]] == ["a", "b"]


def test_columns_are_called_as_people_do(tmp_path):
    """Numbers of posts in the first column are no scores, and the gold's column is called by two words."""
    texts = [f"a post, the {n}th of all" for n in range(len(IDS))]
    text = table(("Post ID", "Text", "Annotated label", "a", "b"), range(130, 130 + 7 * len(IDS), 7), [
        f'"{of}"' for of in texts], GOLD, A, B)
    found = made([path_of(tmp_path, text)], Asked()).folder.tables
    assert found["test_set"][0]["options"]["label"] == "Annotated label"
    assert found["test_set"][0]["options"]["item"] == "Post ID"
    assert [submit["system"] for submit in found["submit"]] == ["a", "b"]


def test_what_is_no_system_is_told(tmp_path):
    found = made([path_of(tmp_path, table(("id", "topic", "gold", "a"), IDS, ["law", "art"] * 12, GOLD, A))], Asked())
    assert "passed over: topic" in found.told


def test_documents_that_are_passed_over_are_warned_of(tmp_path):
    """Items of one document are not independent; with a gold file of its own documents are the units."""
    documents = [f"d{n // 2}" for n in range(len(IDS))]
    found = made([path_of(tmp_path, table(("id", "Document", "gold", "a"), IDS, documents, GOLD, A))], Asked())
    (told,) = (told for told in found.told if told.startswith("passed over: Document; "))
    assert "items of the same Document are tested as if they were independent" in told
    (tmp_path / "gold.csv").write_text(table(("id", "gold", "document"), IDS, GOLD, documents))
    (tmp_path / "a.csv").write_text(table(("id", "label"), IDS, A))
    found = made([tmp_path / "gold.csv", tmp_path / "a.csv"], Asked())
    assert found.folder.tables["test_set"][0]["cluster"] == "document"


def test_long_form_is_asked_for_its_columns(tmp_path):
    """Each answer that is shown is one."""
    path = path_of(tmp_path, table(("prompt_id", "model", "seconds", "rating", "tokens"), TWICE, MODELS, [
        *RATED, *RATED_A], [*RATED_A, *RATED], range(48)))
    with pytest.raises(QuestionError, match="a row for each item and system, by column 'model'") as caught:
        made([path], Asked(options={"better": "higher"}))
    answers = [line.split() for line in caught.value.excerpt.splitlines()]
    assert [words[-3] for words in answers] == ["score=seconds", "score=rating"]
    for words in answers:
        assert words[:2] == ["--as", "long"]
        tables = made([path], Asked("long", dict(word.split("=") for word in words[3::2]))).folder.tables
        assert [submit["system"] for submit in tables["submit"]] == ["aspen", "birch"]


def test_the_question_shows_items_and_systems(tmp_path):
    """Counts of tokens are no scores, and 0 and 1 may be results as well as flags."""
    for name, systems in (("n_tokens", 2), ("other", 3)):
        path = path_of(tmp_path, table(("id", "a", "b", name), IDS, HALVES, ODD, RATED))
        with pytest.raises(QuestionError, match="items by column 'id': 24 items") as caught:
            made([path], Asked())
        assert f"a column for each of {systems} systems: a, b" in str(caught.value) + caught.value.excerpt
        tables = made([path], Asked(options={"better": "lower"})).folder.tables
        assert len(tables["submit"]) == systems


@pytest.mark.parametrize(("row", "option"), [("{n},{g},{k},{m}", "label=human"), ("{n},0.{n},0.5,0.{m}", "gold=human")])
def test_people_may_be_judges_or_compared(row, option, tmp_path):
    """What a column `human` is of is asked; `question_id` is no system, though its numbers have gaps."""
    path = tmp_path / "all.csv"
    path.write_text("question_id,human,gpt,llama\n" + "".join(row.format(
        n=n, m=n % 2, g=n // 2 % 2, k=int(n % 3 > 0)) + "\n" for n in [*range(10, 34), 40]))
    with pytest.raises(QuestionError) as caught:
        made([path], Asked())
    assert [line.split()[1] for line in caught.value.excerpt.splitlines()] == [option, "better=higher", "better=lower"]
    name, value = option.split("=")
    assert len(made([path], Asked(options={name: value})).folder.tables["submit"]) == 2


def test_true_and_false_are_asked_about(tmp_path):
    """Each answer makes a board: of what systems got right, or of the others' answers to the first one's."""
    path = path_of(tmp_path, table(("id", "a", "b"), IDS, [*map(bool, HALVES)], [*map(bool, ODD)]))
    with pytest.raises(QuestionError, match="a, b have true and false; what are they") as caught:
        made([path], Asked())
    assert [line.split()[1] for line in caught.value.excerpt.splitlines()] == ["better=higher", "label=a"]
    assert [len(made([path], Asked(options=dict([answer]))).folder.tables["submit"]) for answer in (
        ("better", "higher"), ("label", "a"))] == [2, 1]
    assert [answer.value for answer in Scores(separator="comma", item=("id",), score="a").read_answers(
        Document("all.csv", path.read_bytes()))] == [float(n) for n in HALVES]


def test_counts_are_no_systems_and_a_first_column_may_be_the_gold(tmp_path):
    path = path_of(tmp_path, table(("id", "best", "a", "b", "#"), IDS, RATED, RATED_A, RATED[::-1], range(24)))
    with pytest.raises(QuestionError) as caught:
        made([path], Asked())
    said = [dict([line.split()[1].split("=")]) for line in caught.value.excerpt.splitlines()]
    assert [[of["system"] for of in made([path], Asked(options=one)).folder.tables["submit"]] for one in said] == [
        ["a", "b"], ["best", "a", "b"], ["best", "a", "b"]]


def test_iterations_are_runs(tmp_path):
    path = path_of(tmp_path, table(("classifier", "dataset", "iteration", "accuracy"), ["x", "y"] * 12, [
        n // 4 for n in range(24)], [n // 2 % 2 for n in range(24)], RATED))
    with pytest.raises(QuestionError) as caught:
        made([path], Asked())
    assert "--option system=classifier --option item=dataset --option run=iteration" in caught.value.excerpt
