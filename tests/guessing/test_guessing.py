"""What is guessed of files as they are: right, or the one question that decides, or an error that names the place."""

import json

import pytest

from registry.errors import InputError
from registry.guessing.guess import Asked, QuestionError
from registry.guessing.made import made
from registry.readers import READERS
from registry.values import build

IDS = [f"q{n:02}" for n in range(24)]
WORDS = ["amber", "birch", "cedar", "dahlia", "elm", "fern", "gorse", "hazel", "iris", "juniper", "kelp", "lilac",
         "maple", "nettle", "oak", "poplar", "quince", "rose", "sorrel", "tulip", "ulex", "violet", "willow", "yew"]
GOLD = [("yes", "no", "maybe")[n % 3] for n in range(24)]
A, B = ([("yes", "no", "maybe")[(n + (n % every == 0)) % 3] for n in range(24)] for every in (5, 3))
RATED, RATED_A = [1 + n % 5 for n in range(24)], [1 + (n + n % 2) % 5 for n in range(24)]


def rows(*columns, header=(), separator="\t"):
    return "".join(separator.join(map(str, row)) + "\n" for row in ([header] if header else []) + list(
        zip(*columns, strict=True)))


def tagged(tags, separator="\t"):
    return "".join(f"w{n}{separator}{tag}\n" + "\n" * (n % 4 == 3) for n, tag in enumerate(tags))


def objects(values, key):
    return "".join(json.dumps({"id": i, key: value}) + "\n" for i, value in zip(IDS, values, strict=True))


PAIRS = [f"d{n // 4}" for n in range(24)], [n % 4 for n in range(24)]
GRID = [n % 5 for n in range(24)], [n // 5 for n in range(24)]
SETS = [",".join("xyz"[k] for k in range(3) if n >> k & 1) or "none" for n in range(24)]
FLAGS = [[int(n % k == 0) for n in range(24)] for k in (2, 3, 4)]
SPANS = ["B-PER", "I-PER", "O", "B-LOC"] * 6
ENDED = ["B-PER", "E-PER", "O", "S-LOC"] * 6
LINKS = "".join(f"1-{1 + n % 3} {2 + n % 2}-2\n" for n in range(24))
RUN = "".join(f"{i} Q0 d{n} {n} {9 - n} x\n" for i in IDS for n in range(3))
SENTENCES = [f"the {WORDS[n]} near the {WORDS[(5 * n + 3) % 24]} grows {WORDS[(7 * n + 1) % 24]}{' now' * (n % 3)}"
             for n in range(24)]
EVEN = [text.replace(" now", "") for text in SENTENCES]
RIGHT = {  # files, gold first; the format, and options of the gold's and of the last system's reader
    "two columns": ([rows(IDS, GOLD), rows(IDS, A), rows(IDS, B)], "labels", {}, {}),
    "a header": ([rows(IDS, GOLD, header=("id", "label")), rows(IDS, A, header=("id", "label"))], "labels",
                 {"header": True, "item": "id"}, {"header": True}),
    "a header of the gold alone": ([rows(IDS, GOLD, header=("ident", "klasse")), rows(IDS, A)], "labels",
                                   {"item": "ident", "label": "klasse"}, {"header": False}),
    "other order of columns": ([rows(GOLD, IDS, separator=","), rows(IDS, A)], "labels",
                               {"columns": ("label", "item"), "separator": "comma"}, {"columns": ("item", "label")}),
    "BOM and CRLF": (["\ufeff" + rows(IDS, GOLD).replace("\n", "\r\n"), rows(IDS, A, separator=" ")], "labels",
                     {"repair": ("bom",)}, {"separator": "whitespace", "repair": ()}),
    "confidences": ([rows(IDS, GOLD), rows(IDS, SENTENCES, A, RATED)], "labels", {}, {"label": "label"}),
    "text of which some is unseen": (
        [rows(IDS, GOLD, [f"{text}\u200d" for text in SENTENCES], header=("id", "label", "text")), rows(IDS, A)],
        "labels", {"attributes": (), "label": "label"}, {"header": False}),
    "line breaks in JSON": (
        ["".join(json.dumps({"id": i, "label": label, "text": "a\nb"}) + "\n" for i, label in zip(
            IDS, labels, strict=True)) for labels in (GOLD, A)], "labels", {"attributes": ()}, {"attributes": ()}),
    "comments": (["# made\n#\n" + rows(IDS, GOLD), "#id\tlabel\n" + rows(IDS, A)], "labels", {"comment": "#"}, {}),
    "JSON Lines": ([objects(GOLD, "label"), objects(A, "prediction")], "labels", {"syntax": "jsonl", "item": "id"},
                   {"label": "prediction"}),
    "decimals": ([rows(IDS, [n + 0.5 for n in RATED]), rows(IDS, RATED_A)], "scores", {"gold": "gold"}, {}),
    "tags": ([tagged(SPANS), tagged(SPANS, " ")], "bio", {"scheme": "iob2"}, {"separator": "whitespace"}),
    "tags with ends": ([tagged(ENDED), tagged(ENDED)], "bio", {"scheme": "bioes"}, {}),
    "lenient tags": ([tagged(SPANS), tagged(["I-PER", *SPANS[1:]])], "bio", {"invalid_tags": "reject"},
                     {"invalid_tags": "begin"}),
    "links": ([LINKS, LINKS.replace("2", "0")], "pharaoh", {"offset": 1}, {"offset": 0}),
    "rankings": (["".join(f"{i} 0 d1 1\n" for i in IDS), RUN], "trec", {}, {}),
    "a label on each line": (["\n".join(GOLD), "\n".join(A)], "labels", {"item": ""}, {"item": ""}),
    "a label on each line, of items with keys": ([rows(IDS, GOLD, header=("id", "label")), "\n".join(A)], "labels",
                                                 {"item": "", "label": "label"}, {"item": "", "header": False}),
    "a header over the gold alone": (["label\n" + "\n".join(GOLD), "\n".join(A)], "labels", {"header": True},
                                     {"header": False}),
    "text": (["\n".join(SENTENCES), "\n".join(text.replace("grows", "has") for text in SENTENCES)], "lines", {}, {}),
    "a list in JSON": ([json.dumps([{"id": i, "label": label} for i, label in zip(IDS, labels, strict=True)])
                          for labels in (GOLD, A)], "labels", {"syntax": "json", "item": "id"}, {"label": "label"}),
    "an object of items in JSON": ([json.dumps(dict(zip(IDS, GOLD, strict=True)), indent=1), objects(A, "label")],
                                   "labels", {"syntax": "json", "item": "item"}, {"syntax": "jsonl", "item": "id"}),
    "decimals for labels that are whole": (
        [rows(IDS, [n % 2 for n in RATED]), rows(IDS, [f"{n % 2}.0" for n in RATED_A])], "labels", {"rename": ()},
        {"rename": (("0.0", "0"), ("1.0", "1"))}),
    "names of two columns": (  # BigCloneBench
        [rows(PAIRS[0], PAIRS[1], GOLD), rows(PAIRS[0], PAIRS[1], A)], "labels",
        {"within": ("column1",), "columns": ("column1", "item", "label")}, {"within": ("column1",)}),
    "sentences of documents": (  # in other columns, and without a header
        [rows(PAIRS[1], GOLD, PAIRS[0], header=("n", "label", "doc_id"), separator=","), rows(*PAIRS, [0.5] * 24, A)],
        "labels", {"item": "doc_id", "within": ("n",)}, {"within": ("column2",), "item": "item"}),
    "numbered lines": (  # WMT's quality estimation: the language pair, the system, the segment, the score
        ["".join(f"{n / 7}\n" for n in range(24)),
         "".join(f"en-de\tours\t{n}\t{n % 5 / 3}\n" for n in range(24))], "scores",
        {"item": (), "columns": ("gold",)}, {"item": (), "columns": ("column1", "column2", "column3", "score")}),
    "lists of documents": (["".join(f"{i} 0 d1 1\n" for i in IDS), json.dumps({i: ["d2", "d1"] for i in IDS})],
                           "trec", {"syntax": "delimited"}, {"syntax": "json"}),
    "several labels of an item": (
        [rows(IDS, RATED, *FLAGS, header=("id", "n", *"xyz"), separator=","),
         rows(*FLAGS[::-1], IDS[::-1], header=(*"zyx", "id"))], "multilabel",
        {"item": ("id",), "labels": ("x", "y", "z")}, {"labels": ("x", "y", "z"), "separator": "tab"}),
    "several labels of a row": ([rows(*FLAGS), rows(*FLAGS[1:], FLAGS[0])], "multilabel",
                                {"item": (), "labels": ("label1", "label2", "label3")}, {}),
    "numbers of documents and sentences": (
        [rows(PAIRS[0], PAIRS[1], [n + 0.5 for n in RATED]), rows(PAIRS[0], PAIRS[1], RATED_A)], "scores",
        {"item": ("column1", "column2")}, {}),
    "one table of sentences": ([rows(GOLD, PAIRS[1], A, PAIRS[0], header=("gold", "sent", "a", "doc"), separator=",")],
                               "labels", {"item": "doc", "within": ("sent",)}, {"label": "a"}),
    "one table of numbered parts": (
        [rows([n // 4 for n in range(24)], PAIRS[1], [n + 0.5 for n in RATED], RATED_A,
              header=("p", "q", "gold", "a"), separator=",")],
        "scores", {"item": ("p", "q")}, {"score": "a"}),
    "one table": ([rows(IDS, GOLD, A, B, header=("id", "gold", "a", "b"), separator=",")], "labels",
                  {"label": "gold"}, {"label": "b"}),
    "one table of a metric": ([rows(IDS, RATED, RATED_A, header=("id", "a", "b"), separator=",")], "scores", {}, {}),
}
OPEN = {  # files; the options that are asked for
    "a first line that may be a header": (
        [rows(WORDS, GOLD, header=("ident", "klasse")), rows(WORDS, A, header=("ident", "klasse"))],
        ["--option header=true", "--option header=false"]),
    "a first line that is one in the gold only": (
        [rows(["name", *IDS], ["rare", *GOLD]), rows(["name", *IDS], ["yes", *A])],
        ["--option header=true", "--option header=false"]),
    "labels or numbers": ([rows(IDS, RATED), rows(IDS, RATED_A)], ["--as labels", "--as scores"]),
    "sentences of equally many words": (["\n".join(EVEN), "\n".join(text.replace("grows", "has") for text in EVEN)],
                                        ["--as lines"]),
    "two columns of labels": ([rows(IDS, GOLD, B, header=("id", "stance", "mood")), rows(IDS, A)],
                              ["--option label=stance", "--option label=mood"]),
    "labels or numbers, as decimals": ([rows(IDS, RATED), rows(IDS, [f"{n}.0" for n in RATED_A])],
                                       ["--as labels", "--as scores"]),
    "a column that repeats the gold": ([objects(GOLD, "answer"), "".join(json.dumps(
        {"id": i, "answer": right, "prediction": label}) + "\n" for i, right, label in zip(IDS, GOLD, A, strict=True))],
        ["--option label=answer", "--option label=prediction"]),
    "a constant column beside a gold of which half is blank": (
        [rows(IDS, [g * (n % 2) for n, g in enumerate(GOLD)], B, header=("id", "stance", "mood"), separator=","),
         *(rows(IDS, labels, ["no"] * 24, header=("id", "answer", "mode"), separator=",") for labels in (A, B))],
        ["--option label=mood"]),
    "rows of two columns that count alike": (
        [rows(*GRID, GOLD, header=("p", "q", "label")), rows(*GRID, A, header=("r", "s", "label"))],
        ["--option item=s", "--option item=r"]),
    "combinations of labels": ([rows(IDS, SETS), rows(IDS, SETS[1:] + SETS[:1])], ["--as labels"]),
    "two columns of labels, one called alike in all": (
        [rows(IDS, GOLD, B, header=("id", "label", "extra")),
         rows(IDS, A, B[1:] + B[:1], header=("id", "klasse", "extra"))],
        ["--option label=label", "--option label=extra"]),
    "labels or numbers, on each line": (["\n".join(map(str, RATED)), "\n".join(map(str, RATED_A))], [
        "--as labels", "--as scores"]),
    "long form": ([rows(IDS * 2, ["a"] * 24 + ["b"] * 24, RATED + RATED_A, header=("item", "system", "score"),
                        separator=",")], ["--as long --option better=higher", "--as long --option better=lower"]),
    "probabilities": ([rows(IDS, [n % 2 for n in RATED]), rows(IDS, [n / 7 for n in RATED])], ["--as scores"]),
    "probabilities on each line": (["\n".join(str(n % 2) for n in RATED), "\n".join(str(n / 7) for n in RATED)],
                                   ["--as scores"]),
    "higher or lower": ([rows(IDS, RATED, RATED_A, header=("id", "a", "b"), separator=",")],
                        ["--option better=higher", "--option better=lower"]),
    "candidates of which less seems better": (
        [rows(IDS, ["True", "False"] * 12, [n % 2 + n / 99 for n in range(24)], header=("id", "x", "p.value"),
              separator=",")], ["--as candidates"]),
    "which flag is the gold": ([rows(IDS, ["True", "False"] * 12, ["False", "True"] * 12, RATED, header=(
        "id", "x", "y", "score"), separator=",")], ["--option gold=x", "--option gold=y"]),
}
WRONG = {  # files; what the error says
    "an item less": ([rows(IDS, GOLD), rows(IDS[:23], A[:23])], "system1: item 'q23': there is no answer to it"),
    "a line less": (["\n".join(GOLD), "\n".join(A[1:])], "23 rows where the gold has 24 items"),
    "letter case": ([rows(IDS, GOLD), rows(IDS, [label.upper() for label in A])], "fold_case = true"),
    "a line too many": (["\n".join(SENTENCES), "\n".join([*SENTENCES, SENTENCES[0]])], "where the gold has 24"),
    "other tokens": ([tagged(SPANS), tagged(SPANS).replace("w", "v")], "token 1 is 'v0', the gold's 'w0'"),
    "bars": ([rows(IDS, GOLD, separator="|"), rows(IDS, A, separator="|")], "seem to have '|' between them"),
    "an item twice": ([rows([*IDS, "q00"], [*GOLD, "no"]), rows(IDS, A)], "item 'q00': stands twice, first in line 1"),
    "no gold of some items": ([rows(IDS, [g * (n % 3 > 0) for n, g in enumerate(GOLD)]), rows(IDS, A, ["1"] * 24)],
                              "gold: column 2 of 2 has nothing in 8 of 24 rows: if these items have no label"),
    "objects of documents": (
        ["".join(f"{i} 0 d1 1\n" for i in IDS), "".join(json.dumps(
            {"qid": i, "hits": [{"doc": "d1", "score": 0.5}]}) + "\n" for i in IDS)],
        """jq -s 'map({(.["qid"]|tostring): (.["hits"] | map({(.["doc"]|tostring): .["score"]}) | add // {})})"""),
    "probabilities of labels": (
        [rows(IDS, *FLAGS, header=("id", *"xyz")), rows(IDS, *([n / 32 for n in range(24)] for _ in "xyz"), header=(
            "id", *"xyz"))], "of how probable they are, as in column 'x': write 1 for the labels"),
    "an item of two columns twice": (
        [rows([*PAIRS[0], "d0"], [*PAIRS[1], 0], [*GOLD, "no"]), rows(*PAIRS, A)], "item 'd0 0': stands twice, first"),
    "several people's labels": (
        [rows(*PAIRS, GOLD), rows(sorted({*PAIRS[0]}), A[:6])], "do together, and not all systems' files have such"),
    "other items": ([rows(IDS, GOLD), rows(WORDS, A)], "system1: no column of it has most of the items of"),
    "a header of all, and labels of others": (
        [rows(range(24), GOLD, header=("id", "label")), rows(range(24), "cab" * 8, header=("id", "label"))],
        "no label is one of the gold's"),
    "bars of a system": ([rows(IDS, GOLD, separator=","), rows(IDS, A, separator="|")], "system1: its columns"),
    "names before text": (["".join(f"{i} {text}\n" for i, text in zip(IDS, texts, strict=True)) for texts in (
        SENTENCES, EVEN)], "gold: each line begins with a name that stands in all files"),
    "names after text": (["".join(f"{text} ({i})\n" for i, text in zip(IDS, texts, strict=True)) for texts in (
        SENTENCES, EVEN)], "gold: each line ends with a name that stands in all files"),
    "a score that is no number": (["".join(f"{i} 0 d1 1\n" for i in IDS), RUN.replace("d1 1 8", "d1 1 nan", 1)],
                                  "system1:2: 'q00 Q0 d1 1 nan x' is no line of TREC's"),
    "a quote that is open": ([rows(IDS, GOLD, separator=","), rows(IDS, ['"yes'] * 24, separator=",")],
                             "system1:1: not CSV: a cell that begins with a double quote must end with one"),
    "nothing": (["", rows(IDS, A)], "the file is empty"),
    "an archive": (["PK\x03\x04\0\0", rows(IDS, A)], "a zip archive"),
    "deep JSON": (['{"a": ' * 9999, objects(A, "label")], "no format is known"),
    "NaN": (['{"id": "q00", "label": NaN}\n', objects(A, "label")], "no format is known"),
}


def readers(found):
    """The gold's reader and the last system's, as the manifest that was made declares them."""
    test_set, submit = found.folder.tables["test_set"][0], found.folder.tables["submit"][-1]
    gold = build("reader", READERS, test_set["format"], test_set.get("options", {}))
    options = test_set.get("options", {}).copy()
    for table in (found.folder.tables["submission"], submit):
        options |= table.get("options", {})
    return gold, build("reader", READERS, test_set["format"], options)


@pytest.mark.parametrize("name", RIGHT)
def test_guessed_right(name, layout):
    files, format_, of_gold, of_system = RIGHT[name]
    found = made(layout(files, "accuracy.csv" if "metric" in name else "gold"), Asked())
    gold, system = readers(found)
    assert gold.name == format_
    assert {option: getattr(gold, option) for option in of_gold} == of_gold
    assert {option: getattr(system, option) for option in of_system} == of_system


@pytest.mark.parametrize("name", OPEN)
def test_asked_where_boards_would_differ(name, layout):
    """Every answer that is shown is one, and leads to a task of its own."""
    files, options = OPEN[name]
    paths = layout(files, "all.csv" if len(files) == 1 else "gold")
    with pytest.raises(QuestionError) as caught:
        made(paths, Asked())
    assert [line.strip().split("  ")[0] for line in caught.value.excerpt.splitlines()] == options
    told = []
    for option in options:
        words = option.split(" ")
        said = dict(zip(words[::2], words[1::2], strict=True))
        options_ = [said["--option"].split("=")] if "--option" in said else []
        asked = Asked(said.get("--as"), {k: {"true": True, "false": False}.get(v, v) for k, v in options_},
                      "SetP(best=3)" if "gold" in option or "candidates" in option else None)
        tables = made(paths, asked).folder.tables
        told.append(json.dumps([tables[name] for name in ("test_set", "metric", "submission", "submit")],
                               sort_keys=True))
    assert len(set(told)) == len(options)


@pytest.mark.parametrize("name", WRONG)
def test_refused_with_the_place(name, layout):
    files, message = WRONG[name]
    with pytest.raises(InputError) as caught:
        made(layout(files), Asked())
    assert message in str(caught.value)


def test_files_that_may_be_runs_of_one_system_are_told_and_taken_for_such_where_that_is_said(tmp_path):
    for name, labels in (("gold", GOLD), ("x.seed1", A), ("x.seed2", B), ("y.seed1", A)):
        (tmp_path / f"{name}.tsv").write_text(rows(IDS, labels))
    paths = [tmp_path / f"{name}.tsv" for name in ("gold", "x.seed1", "x.seed2", "y.seed1")]
    told = made(paths, Asked()).told
    assert [sentence.partition(";")[0] for sentence in told if "seed" in sentence] == [
        "x.seed1, x.seed2 are taken for systems of their own"]
    folder = made(paths, Asked(runs="random")).folder
    assert [(one["system"], one["file"]) for one in folder.tables["submit"]] == [
        ("x", "systems/x/{run}.tsv"), ("y.seed1", "systems/y.seed1.tsv")]
    assert folder.tables["significance"]["test"] == "crossed"
    assert folder.files["systems/x/2.tsv"] == rows(IDS, B).encode()
    with pytest.raises(InputError, match="no two systems' files differ"):
        made(paths[:2], Asked(runs="fixed"))


@pytest.mark.parametrize(("score", "says"), [
    (lambda rank: 1, "have the same score, though their ranks differ"),
    (lambda rank: rank, "its scores rise from rank to rank, in 48 of 48 places"), (lambda rank: -rank, None)])
def test_ranks_that_say_another_order_than_scores_are_told(score, says, layout, registry):
    paths = layout(["".join(f"{i} 0 d1 1\n" for i in IDS),
                    "".join(f"{i} Q0 d{n} {n} {score(n)} x\n" for i in IDS for n in range(3))])
    told = registry("quick", *paths).stderr
    assert (says in told) if says else not any(words in told for words in ("their ranks differ", "from rank to rank"))


QRELS = "".join(f"q{n} 0 d{k} {k % 2}\n" for n in range(3) for k in range(4))
RUN = "".join(f"q{n} Q0 d{k} {k + 1} {9 - k} a\n" for n in range(3) for k in range(4))


@pytest.mark.parametrize("metric", [None, "nDCG"])
@pytest.mark.parametrize(("gold", "line", "first"), [
    (QRELS + "q0 0 d3 1\n", 13, 4), (QRELS + "q1 0 d0 0\nq2 0 d1 1\n", 13, 5),
    ("query-id\tcorpus-id\tscore\n" + "".join(f"q{n}\td{k}\t1\n" for n in range(3) for k in (0, 1, 1)), 4, 3)])
def test_judgments_of_a_document_twice(gold, line, first, metric, layout):
    """They are refused for that, and not as a format that nothing knows."""
    paths = layout([gold, RUN, RUN.replace(" 9 ", " 1 ")])
    with pytest.raises(InputError, match=f"stands twice, first in line {first}; keep one") as refused:
        made(paths, Asked(metric=metric))
    assert (refused.value.path, refused.value.line) == (str(paths[0]), line)


@pytest.mark.parametrize(("scores", "names", "says"), [
    ((5, 5, 5, 1), "abcd", "the next rank has the same score in 4 of 6 places, and its document counts first in 4 of "),
    ((5, 4, 4, 1), "xcya", "the next rank has the same score in 2 of 6 places, and its document counts first in 2 of "),
    ((5, 5, 5, 1), "acba", "the next rank has the same score in 4 of 6 places, and its document counts first in 2 of "),
    ((5, 5, 5, 1), "dcba", None), ((5, 4, 3, 2), "abcd", None)])
def test_ties_that_names_order_otherwise_than_ranks_are_told(scores, names, says, layout, registry):
    """As trec_eval has it, of equal scores the document whose name is last counts first."""
    names = [name + str(n) for n, name in enumerate(names)]
    paths = layout(["".join(f"q{n} 0 {names[0]} 1\n" for n in range(2)), "".join(
        f"q{n} Q0 {name} {rank} {score} x\n" for n in range(2)
        for rank, (name, score) in enumerate(zip(names, scores, strict=True), 1))])
    told = registry("quick", *paths, "--metric", "P@1", "--format", "json")
    first = max(range(4), key=lambda n: (scores[n], names[n]))
    assert [row["score"] for row in told.json] == [first == 0]
    assert (says in told.stderr) if says else "the same score" not in told.stderr


def test_a_few_ties_are_not_told(layout, registry):
    """Of 120 documents two have the same score by chance; as many in 20 are told."""
    for n, says in ((120, False), (20, True)):
        paths = layout(["q 0 d000 1\n", "".join(f"q Q0 d{k:03} {k + 1} {n - max(k, 1)} x\n" for k in range(n))])
        assert ("the next rank has the same score in 1 of" in registry("quick", *paths).stderr) == says


def test_blank_labels_are_no_answers_where_items_may_lack_them(layout, registry):
    paths = layout([rows(IDS, GOLD), rows(IDS, ["", *A[1:]])])
    assert readers(made(paths, Asked(missing="worst")))[1].blank == "missing"
    with pytest.raises(InputError, match="system1:1: item 'q00': the label is empty"):
        made(paths, Asked())
    wrong = registry("quick", *paths, "--missing", "worst", "--test", "sgin", exit_code=3)
    assert "error: significance: unknown test 'sgin'; did you mean 'sign'" in wrong.stderr  # no file that was made
    assert readers(made(layout(RIGHT["two columns"][0]), Asked(missing="worst")))[1].blank == "reject"


def test_a_table_of_names_is_an_option_like_others(layout):
    found = made(layout([rows(IDS, GOLD), rows(IDS, [label.upper() for label in A])]), Asked(
        options={"rename": {label.upper(): label for label in set(GOLD)}}))
    assert dict(readers(found)[1].rename) == {label.upper(): label for label in set(GOLD)}


def test_keys_are_no_text(layout):
    """Translations with keys, which BLEU must not count."""
    found = made(layout([rows(IDS, SENTENCES), rows(IDS, EVEN)]), Asked(metric="BLEU"))
    assert [one.columns for one in readers(found)] == [("item", "text")] * 2


def test_runs_may_be_the_endings_of_files(tmp_path):
    """With another ending each, one pattern has to find them all."""
    for name, labels in (("gold", GOLD), ("x.run0", A), ("x.run1", B), ("y.run0", B), ("y.run1", A)):
        (tmp_path / name).write_text(rows(IDS, labels))
    paths = [tmp_path / name for name in ("gold", "x.run0", "x.run1", "y.run0", "y.run1")]
    folder = made(paths, Asked(runs="fixed")).folder
    assert [(entry["system"], entry["file"]) for entry in folder.tables["submit"]] == [
        ("x", "systems/x/{run}"), ("y", "systems/y/{run}")]
    assert {"systems/x/0", "systems/x/1", "systems/y/0", "systems/y/1"} <= folder.files.keys()
