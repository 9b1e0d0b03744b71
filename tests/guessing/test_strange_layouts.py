"""Layouts of public tasks, harnesses and leaderboards: read as they are meant, or refused with what to do."""

import json

import pytest

from registry.errors import InputError
from registry.guessing.guess import Asked, QuestionError
from registry.guessing.made import made
from registry.readers import Document, Labels, Scores
from tests.guessing.test_guessing import GOLD, IDS, A, B, readers, rows

N = range(24)
RIGHT_SHARES = [n / 32 for n in N]
SHARES = [[(n * k % 24) / 32 for n in N] for k in (5, 7)]
FLAGS = [[str(n // k % 2) for n in N] for k in (1, 2, 4)]


def lines(entries):
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def found_in(paths, asked=Asked()):  # noqa: B008
    """The gold of items in their order, and the first system's answers."""
    gold, *systems = readers(made(paths, asked))
    document = Document.load(paths[0])
    keys = [item.key for item in gold.read_gold({"gold": document})]
    own = {answer.key: answer.value for answer in systems[0].read_answers(Document.load(paths[1]))}
    return [item.gold for item in gold.read_gold({"gold": document})], [own[key] for key in keys]


TAKEN = {  # the gold and a system, whose labels are GOLD and A
    "semicolons, one within a cell": (  # of a spreadsheet in most of Europe
        "id;text;label\n" + "".join(f'{i};"a; {g}";{g}\n' for i, g in zip(IDS, GOLD, strict=True)),
        "id;label\n" + "".join(f'"{i}";{a}\n' for i, a in zip(IDS, A, strict=True))),
    "labels and how sure they are": ("\n".join(GOLD) + "\n", lines(  # transformers' pipelines
        {"label": a, "score": n / 32} for n, a in enumerate(A))),
    "numbered answers": (lines({"label": g, "sentence": f"{g} it is {n}"} for n, g in enumerate(GOLD)),  # CLUE
                         lines({"id": n, "label": a} for n, a in enumerate(A))),
    "labels beside numbers": (  # MSP-Podcast
        rows(IDS, GOLD, RIGHT_SHARES, SHARES[0], header=("File", "Class", "Act", "Val")),
        rows(IDS, A, *[[n / k for n in N] for k in (29, 31)], header=("file", "Prediction", "p0", "p1"))),
    "labels within objects": (  # ExplainaBoard
        json.dumps([{"context": f"it is {n}", "answers": {"text": "x", "choice": g}} for n, g in enumerate(GOLD)]),
        json.dumps([{"predicted": {"text": "y", "choice": a}} for a in A])),
}


@pytest.mark.parametrize("name", TAKEN)
def test_labels_are_those_that_are_meant(name, layout):
    assert found_in(layout(TAKEN[name])) == (list(GOLD), list(A))


def test_decimals_stand_beside_the_golds(layout):
    """NISQA: all systems repeat the gold and what describes items, which may be meant as well."""
    paths = layout([rows(IDS, RIGHT_SHARES, [n / 64 for n in N], own, header=("id", "mos", "noise", "mos_pred"))
                    for own in SHARES])
    assert found_in([paths[0], *paths], Asked(options={"gold": "mos"})) == (RIGHT_SHARES, SHARES[0])
    with pytest.raises(QuestionError) as caught:
        made([paths[0], *paths], Asked())
    assert [line.split()[1] for line in caught.value.excerpt.splitlines()] == ["gold=mos", "gold=noise"]


def test_which_decimals_are_meant_is_asked(layout):
    """Whether a system's are the gold's by chance, as its confidences may be, tells nothing."""
    paths = layout([rows(IDS, RIGHT_SHARES, header=("id", "gold")),
                    rows(IDS, SHARES[0], [*RIGHT_SHARES[5:], *RIGHT_SHARES[:5]], header=("id", "a", "sure"))])
    with pytest.raises(QuestionError) as caught:
        made(paths, Asked())
    assert [line.split()[1] for line in caught.value.excerpt.splitlines()] == ["score=a", "score=sure"]


TEXTS = [f"it {verb} that {noun} {'so ' * n}{n}" for verb in ("seems", "says", "runs") for noun in ("house", "bird")
         for n in range(4)]
REFUSED = {  # files, and what is said
    **{f"labels in text, {where}": (["".join(form.format(text, label) for text, label in zip(TEXTS, of, strict=True))
                                     for of in (GOLD, A, B)], f"the gold's but for how they {where}")  # fastText's
       for where, form in (("begin", "__label__{1} {0}\n"), ("end", "{0}@{1}\n"))},
    "labels before text, and alone": (["".join(f"__label__{g} {text}\n" for g, text in zip(GOLD, TEXTS, strict=True)),
                                       *("".join(f"__label__{a}\n" for a in of) for of in (A, B))],
                                      "leave the label alone on each line, as `awk '{print $1}' FILE` does"),
    "boxes in images": ([json.dumps([{"image_id": n // 2, "category_id": n % 3, "bbox": [1, 2, 3, n], "score": n / 32}
                                     for n in of]) for of in (N, N[::-1], N)], "boxes in images (COCO) are not read"),
    "samples of tasks": ([lines({"task_id": f"t{n // 2}", "completion": f"{k}\n{n}", "passed": n % k == 0} for n in N)
                          for k in (2, 3, 5)], "'task_id' names several rows by each item"),
    "two colons": (["".join(f"{n}::{n % 5}::{n % 4 / k}\n" for n in N) for k in (1, 3)],
                   "`sed 's/::/\\t/g' FILE` does"),
    "groups and numbers, of which some are none": (  # mt-metrics-eval
        ["".join(f"mt{n % 3}\t{'None' if n == k else n / k}\n" for n in N) for k in (7, 3, 5)], "seems to be a table"),
    "decimal commas": ([f"id;{of}\n" + "".join(f"{i};0,{n}\n" for i, n in zip(IDS, range(10, 34), strict=True))
                        for of in ("gold", "a")], "has numbers as '0,10' in column 'gold'"),
    "signs of per cent": ([rows(IDS, [f"{n}.5%" for n in N]), rows(IDS, [f"{n}%" for n in N])], "without a sign of"),
    "blanks beside labels": ([rows(range(100, 124), FLAGS[0], header=("id", "label")),  # the labels, not the ids
                              "".join(f" {flag} \n" for flag in FLAGS[1])], "no label is one of the gold's"),
    "a repeated gold of which items lack": (
        [rows(IDS[k:], GOLD[k:], own[k:], header=("id", "label", "prediction")) for k, own in ((0, A), (2, B))],
        "item 'q00': there is no answer to it"),
    "rows that sum up": (  # BraTS
        ["Label,Dice\n" + "".join(f"case{n},0.{n}1\n" for n in N) + "Mean,0.5\nStdDev,0.1\n25quantile,0.2\n"] * 2,
        "the last row is called '25quantile'"),
    "reports of errors": (["%WER 12.00 [ 20 / 180, 2 ins ]\n" + "".join(f"utt{n}, %WER 3 [ 1 / 6 ]\n" for n in N)] * 2,
                          "reports of word errors are not read"),
    "alignments": (["".join(f"u{n} ref a b\nu{n} hyp a b\nu{n} op C C\nu{n} #csid 2 0 0 0\n" for n in N)] * 2,
                   "alignments of words to references (Kaldi) are not read"),
    "names and rows apart": ([json.dumps({"columns": ["id", "label"], "data": [*map(list, zip(IDS, own, strict=True))]})
                              for own in (GOLD, A)], "to_json(orient='records')"),
    "items beside what is said of them": ([json.dumps({"id": "run", "results": [
        {"task": i, "solved": True} for i in IDS]})] * 2, "its items stand within 'results'"),
    "a blank beside one label of many": ([rows(IDS, N), rows(IDS, [f" {n} " if n == 3 else n // 2 for n in N])],
                                         "label ' 3 ' differs from the gold's '3' in the blanks"),
    "a gap beside how sure a system is": (  # which is not taken for the answers
        [rows(IDS, RIGHT_SHARES, header=("id", "mos")),
         rows(IDS, ["", *SHARES[0][1:]], SHARES[1], header=("id", "mos", "sure"))], "item 'q00'"),
    "a mistake beside times": (
        [rows(IDS, GOLD, RIGHT_SHARES, header=("id", "label", "onset_s")),
         rows(IDS, [a.upper() for a in A], SHARES[0], header=("id", "label", "onset_s"))], "no label is one of the"),
    "R's names of rows": (['"id" "label"\n' + "".join(f'"{n}" "{i}" "{g}"\n' for n, (i, g) in enumerate(zip(
        IDS, own, strict=True), 1)) for own in (GOLD, A)], "its first line names a column less than there are"),
    "XML": (['<?xml version="1.0"?>\n<all>\n' + "".join(f'<item id="{i}" is="{g}"/>\n' for i, g in zip(
        IDS, GOLD, strict=True)) + "</all>\n", rows(IDS, A)], "is XML that no reader knows"),
    "systems below each other": (
        [rows(IDS, GOLD, header=("id", "label")), rows(
            ["aspen"] * 24 + ["birch"] * 24, [*IDS, *IDS], [*A, *B], header=("model", "id", "label"))],
        "one of each system by column 'model': write a file for each"),
    "sentences in marks": (["".join(f"<t> {word}{n} a b . </t>\n" for n in N) for word in "ab"], "lines have <t> in"),
    "references beside sources": (
        ["".join(f"wort{n} noch{n} ein{n}\tword{n} more{n} of{n} it\n" for n in N), "".join(
            f"word{n} of{n} less it\n" for n in N)], "like its column 2 of 2, which alone is to be the reference"),
    "numbers of tokens": (["".join(f"-{n}.5 " * (n % 5 + 3) + "\n" for n in N)] * 2, "Log-probabilities of tokens are"),
    "scores of classes": ([rows(GOLD), "".join(f"0.{n + 10} -1.5 {n}.25\n" for n in N)], "3 numbers on each line, as"),
    "fairseq's output": (["".join(f"S-{n}\ta b\nT-{n}\tc d\nH-{n}\t-0.5\tc e\n" for n in N)] * 2,
                         "| cut -f 3`"),
    "systems in one object": ([json.dumps({name: dict(zip(IDS, of, strict=True)) for name, of in (
        ("a", A), ("b", GOLD))})] * 2, "for each of a, b, which seem to be systems"),
    "several columns of the gold's labels": (  # of which one has no other
        [rows(GOLD), rows([*A[:-1], "other"], GOLD[::-1], header=("alpha", "bravo"))], "no format is known"),
    "decimal commas beside how sure a system is": (
        [rows(IDS, [n % 5 for n in N], header=("id", "score")), rows(
            IDS, [f"{n % 5},5" for n in N], RIGHT_SHARES, header=("id", "score", "sure"))], "has numbers as '0,5'"),
    "other letter case of words": ([rows(IDS, [f"wort{n}" for n in N]), rows(IDS, [f"WORT{n}" for n in N])],
                                   "--option fold_case=true says it here"),
    "other letter case": ([rows(IDS, GOLD), rows(IDS, [a.upper() for a in A])], "--option fold_case=true says it here"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_what_to_do(name, layout):
    files, says = REFUSED[name]
    paths = layout(files, "aspen" if name == "rows that sum up" else "gold")
    repeats = name.startswith("a repeated gold")
    with pytest.raises(InputError) as caught:
        made([paths[0], *paths] if repeats else paths, Asked())
    assert says in str(caught.value)


ASKED = {  # files without a gold that is called so, or that leave open what it is; and what answers
    "right or wrong below no header": ([rows(IDS, own) for own in FLAGS], [
        "--gold FIRST --option label=label", "--option score=score --option better=higher"]),
    "what one system got": ([rows(IDS, own, header=("id", f"{name}_correct"), separator=",") for name, own in zip(
        ("aspen", "birch", "cedar"), FLAGS, strict=True)], ["--gold FIRST"]),
    "numbers beside decimals, of a gold": (  # of which decimals are no more likely to be meant
        [rows(IDS, [n % 7 for n in N], RIGHT_SHARES, header=("id", "level", "x")),
         rows(IDS, [n % 5 for n in N], SHARES[0], header=("id", "level", "x"))],
        ["--as labels", "--as scores"]),
    "lists between tabs": ([  # of hypernyms
        "".join(f"tree_{n}\toak_{n % 5}" + "\tgreen leaf" * (n % 3) + "\n" for n in N),
        "".join(f"oak_{n % 5}\ttree_{n}" + "\tgreen plant" * (n % 4) + "\n" for n in N)], ["--gold FIRST --as lines"]),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_is_meant_is_asked(name, layout):
    files, answers = ASKED[name]
    with pytest.raises(QuestionError) as caught:
        made(paths := layout(files, "gold" if name.endswith("gold") else "aspen"), Asked())
    said = caught.value.excerpt.replace(str(paths[0]), "FIRST")
    assert {line.strip().split("  ")[0] for line in said.splitlines()} >= set(answers)


@pytest.mark.parametrize("values", [(0.25, 31.5), (0, 1), (True, False)], ids=str)
def test_numbers_on_lines_are_not_taken_for_a_gold(tmp_path, values):
    """A metric's score of each segment: the first file is no gold then, whose name says nothing."""
    paths = [tmp_path / f"{name}.chrf" for name in ("alpha", "beta", "gamma")]
    for k, path in enumerate(paths, 2):
        path.write_text("".join(f"{values[n % k == 0]}\n" for n in N))
    with pytest.raises(QuestionError, match="the first file would be the gold") as caught:
        made(paths, Asked())
    assert f"--gold {paths[0]}" in caught.value.excerpt


def test_words_and_their_forms_are_named_by_both(layout):
    """SIGMORPHON's lemmas, of which few stand twice, with other features."""
    lemmas = [(n, f"w{min(n, 22)}") for n in N]
    paths = layout(["".join(f"{word}\tN{n % 2}\t{word}{'sx'[n % every == 1]}\n" for n, word in lemmas)
                    for every in (99, 5, 3)])
    assert readers(made(paths, Asked()))[0].within == ("column1",)


def test_answers_alone_in_objects_stand_in_the_golds_order(layout):
    """FEVER's, of which each has a label, and evidence that is no column."""
    paths = layout([lines({"id": n, "label": g} for n, g in enumerate(GOLD)), *(
        lines({"predicted_label": a, "predicted_evidence": [["Page", n]]} for n, a in enumerate(of)) for of in (A, B))])
    assert found_in(paths) == (GOLD, A)


def test_brackets_hold_cells_together(layout):
    paths = layout(["".join(f"{i},Cause({g},e2)\n" for i, g in zip(IDS, of, strict=True)) for of in (GOLD, A, B)])
    with pytest.raises(InputError):
        made(paths, Asked())


def test_one_table_has_the_labels_of_all_systems(layout):
    """Beside a gold, which has other columns and another order."""
    paths = layout([rows(IDS, GOLD, header=("id", "label")), rows(
        IDS[::-1], B[::-1], [*B[3:], *B[:3]], A[::-1], header=("id", "aspen", "birch-7b", "cedar"), separator=",")])
    assert found_in(paths) == (list(GOLD), list(A))  # the last one's
    assert [submit["system"] for submit in made(paths, Asked()).folder.tables["submit"]] == [
        "aspen", "birch-7b", "cedar"]


def test_which_of_several_is_asked(layout, tmp_path):
    """MAMI, which has several labels of each item, as coreferences have numbers; DAVIS, which has two scores."""
    with pytest.raises(QuestionError, match="is which"):
        made(layout([rows(IDS, *FLAGS), rows(IDS, [*FLAGS[1][3:], *FLAGS[0][:3]])]), Asked())
    paths = [tmp_path / "results" / name / "deep" / "er" / "val.csv" for name in ("aspen", "birch", "cedar")]
    for path, own in zip(paths, [*SHARES, RIGHT_SHARES], strict=True):
        path.parent.mkdir(parents=True)
        path.write_text(rows(IDS, own, RIGHT_SHARES, header=("sequence", "J-Mean", "F-Mean"), separator=","))
    with pytest.raises(QuestionError) as caught:
        made(paths, Asked())
    assert {"--option score=J-Mean --option better=higher", "--option score=F-Mean --option better=higher"} <= {
        line.strip().split("  ")[0] for line in caught.value.excerpt.splitlines()}
    found = made(paths, Asked(options={"score": "J-Mean", "better": "higher"}))
    assert [submit["system"] for submit in found.folder.tables["submit"]] == [
        "aspen", "birch", "cedar"]


def test_semicolons_separate_as_commas_do():
    """At once and row by row, with quotes or without."""
    for text, options in (("a;1,5", {}), ('"a";"x;y"\n', {})):
        answer, = Labels(separator="semicolon", **options).read_answers(Document("a", text.encode()))
        assert (answer.key, answer.value) == ("a", text.strip().split(";", 1)[1].strip('"'))
    table = "id;score\n" + "".join(f"item{n};{n / 8}\n" for n in range(4000))  # enough for the fast way
    for text in (table, table.replace("item7;", '"item7";', 1), table + "\n"):
        answers = Scores(separator="semicolon", item=("id",)).read_answers(Document("a", text.encode()))
        assert [(answers[n].key, answers[n].value) for n in (7, 3999)] == [("item7", 7 / 8), ("item3999", 3999 / 8)]


PARTS = [f"{word[:2]} @@{word[2:]}{n}" for n, word in enumerate(f"abcdefgh{n * 7 % 24}" for n in N)]
SAID_IN_PARTS = [part if n % 3 else part.replace("@@", "") for n, part in enumerate(PARTS)]


@pytest.mark.parametrize("third", [[], [[f"{n % 2}10" for n in N]], [["xyz"[n % 3] for n in N]], [[*range(len(N))]],
                                   [[n % 4 for n in N], ["xyz"[n % 3] for n in N]]])
@pytest.mark.parametrize("has_keys", [True, False])
def test_other_columns_of_the_gold_suppress_no_question(third, has_keys, layout):
    """Words in parts, all different: labels to the letter or texts, whatever else stands in the gold (SIGMORPHON)."""
    gold = rows(*([IDS] if has_keys else []), PARTS, *third)
    systems = [rows(*([IDS] if has_keys else []), own) for own in (SAID_IN_PARTS, PARTS[:3] + SAID_IN_PARTS[3:])]
    paths = layout([gold, *systems])
    with pytest.raises(QuestionError) as caught:
        made(paths, Asked())
    assert "--as labels" in caught.value.excerpt


@pytest.mark.parametrize(("n_lines", "n_others"), [(100, None), (98, None), (100, 99), (100, 98), (98, 97)])
def test_messages_about_lines_count_them(n_lines, n_others, layout):
    """A file without a header has no line less in the message, though its number of lines would fit with one."""
    labels = ["abc"[n * n % 7 % 3] for n in range(n_lines)]
    others = [] if n_others is None else ["".join(f"{label}\n" for label in (labels * 2)[:n_others])]
    paths = layout(["".join(f"{'abc'[n * n % 7 % 3]}\n" for n in range(99)), "".join(f"{label}\n" for label in labels),
                    *others])
    with pytest.raises(InputError, match=f"system1:{n_lines}: {n_lines} rows where the gold has 99 items"):
        made(paths, Asked())
