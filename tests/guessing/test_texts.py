"""Texts in tables: which columns have the references and the systems' own, or what is asked."""

import json

import pytest

from registry.errors import InputError
from registry.guessing.guess import Asked, QuestionError
from registry.guessing.made import made
from registry.guessing.tables import answering
from tests.guessing.test_layouts import GOLD, SENTENCES, WORDS, N, readers

PROMPTS = [text[::-1] for text in SENTENCES]
WRITTEN = {name: [text if n % every else f"{word} {text} now" for n, (text, word) in enumerate(zip(
    SENTENCES, WORDS, strict=True))] for name, every in (("alpha", 1), ("bravo", 2))}


def lines(**columns):
    """Rows in JSON Lines, of columns by their names."""
    return "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n"
                   for row in zip(*columns.values(), strict=True))


def table(**columns):
    """Rows in CSV, of columns by their names."""
    return "".join(",".join(map(str, row)) + "\n" for row in (columns, *zip(*columns.values(), strict=True)))


TEXTS = {  # files, the gold's first, the columns of the gold and of each system
    "by a key": ([lines(id=N, reference=SENTENCES), *(table(id=N[::-1], output=of[::-1]) for of in WRITTEN.values())],
                 "reference", ["output", "output"]),
    "with prompts": ([lines(id=N, prompt=PROMPTS, answer=SENTENCES), *(
        lines(id=N, prompt=PROMPTS, response=of) for of in WRITTEN.values())], "answer", ["response", "response"]),
    "all files repeat the gold": ([lines(id=N, target=SENTENCES, prediction=of) for of in WRITTEN.values()],
                                  "target", ["prediction", "prediction"]),
    "one table of all": ([table(id=N, source=PROMPTS, ref=SENTENCES, **WRITTEN, length=N)], "ref", ["alpha", "bravo"]),
    "in order": ([lines(reference=SENTENCES), *(lines(hyp=of) for of in WRITTEN.values())], "reference",
                 ["hyp", "hyp"]),
    "no names, and the first is a system's": ([lines(hyp=of, ref=SENTENCES) for of in WRITTEN.values()], "ref", [
        "hyp", "hyp"]),  # one of them names no items of the other
    "shuffled, by what they were given": ([lines(prompt=PROMPTS, label=SENTENCES, predict=WRITTEN["alpha"]), lines(
        prompt=PROMPTS[::-1], label=SENTENCES[::-1], predict=WRITTEN["bravo"][::-1])], "label", ["predict", "predict"]),
    "times beside": ([lines(audio_filepath=N, time=[n / 7 + k for n in range(len(N))], text=SENTENCES, pred_text=of)
                      for k, of in enumerate(WRITTEN.values())], "text", ["pred_text", "pred_text"]),
    "another column that is no system's": ([table(id=N, title=PROMPTS, reference_summary=SENTENCES, **WRITTEN)],
                                           "reference_summary", ["alpha", "bravo"]),
    "no header": (["".join(f"x{n}\t{text}\n" for n, text in enumerate(of)) for of in (SENTENCES, *WRITTEN.values())],
                  "text", ["text", "text"]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_in_tables(name, layout):
    files, column, own = TEXTS[name]
    has_gold = 1 < len(files) == len(own) + 1
    gold, systems = readers(made(layout(files, "gold" if has_gold else "alpha"), Asked()))
    assert (gold.name, gold.text) == ("texts", column)
    assert [one.text for one in systems.values()] == own


@pytest.mark.parametrize(("metric", "names"), [
    (None, ("gold", "second")), ("chrF", ("gold", "second")), ("chrF(references=second)", ("second",)),
    ("WER(references=gold)", ("gold",))])
def test_metrics_use_all_references_that_are_named(metric, names, layout):
    gold = lines(id=N, reference=SENTENCES, second=PROMPTS)
    paths = layout([gold, *(lines(id=N, hyp=of) for of in WRITTEN.values())])
    options = {"text": "reference", "references": ["second"]}
    folder = made(paths, Asked(kind="texts", metric=metric, options=options)).folder
    assert tuple(folder.tables["metric"][0].get("options", {}).get("references", ("gold",))) == names
    with pytest.raises(InputError, match=r"one reference, as in WER\(references=gold\)"):
        made(paths, Asked(kind="texts", metric="WER", options=options))


@pytest.mark.parametrize(("files", "says"), [
    ([{"reference": SENTENCES}, {"raw": WRITTEN["alpha"], "clean": PROMPTS}], ["--option text=raw", "text=clean"]),
    ([{"summary1": SENTENCES, "summary2": WRITTEN["bravo"]}, {"output": WRITTEN["alpha"]}], ["summary1", "summary2"]),
    ([{"reference": SENTENCES, "label": GOLD}, {"output": WRITTEN["alpha"], "label": GOLD[1:] + GOLD[:1]}], [
        "--as texts", "--as labels"]),
    ([{"prediction": WRITTEN["alpha"]}, {"prediction": WRITTEN["bravo"]}], ["--gold"])])
def test_what_is_asked_is_answered_by_its_options(files, says, layout):
    paths = layout([lines(id=N, **columns) for columns in files], "alpha")
    with pytest.raises(QuestionError) as caught:
        made(paths, Asked())
    assert all(one in caught.value.excerpt for one in says)
    if "text=raw" in says[0]:
        _, systems = readers(made(paths, Asked(options={"text": "clean"}, gold=str(paths[0]))))
        assert [one.text for one in systems.values()] == ["clean"]


def test_references_that_differ_between_files_are_refused(layout):
    with pytest.raises(InputError, match=r"item '.*': 'ref' differs from that of .*alpha"):
        made(layout([lines(id=N, ref=of, hyp=PROMPTS[k:] + PROMPTS[:k]) for k, of in enumerate(WRITTEN.values())],
                    "alpha"), Asked())


def test_one_table_without_references_by_name_says_how_to_name_them(layout):
    paths = layout([table(id=N, english=SENTENCES, **WRITTEN)])
    with pytest.raises(InputError, match="'english', 'alpha', 'bravo', none of which is called as references are; say"):
        made(paths, Asked())
    gold, systems = readers(made(paths, Asked(options={"text": "english"})))
    assert (gold.text, list(systems)) == ("english", ["alpha", "bravo"])


@pytest.mark.parametrize(("words", "tokens"), [("我们今天去学校读书", "zh"), ("きょうはとてもいい天気", "char")])
def test_texts_without_blanks_are_texts_and_scored_by_their_characters(words, tokens, layout):
    right = [f"{words[n % 7:]}{words[:n % 5]}{n}。" for n in range(len(N))]
    gold, given = right, [text[:-2] for text in right]
    found = made(layout([lines(id=N, reference=gold), lines(id=N, output=given)]), Asked())
    assert found.folder.tables["metric"][0]["options"]["tokenize"] == tokens


@pytest.mark.parametrize(("gold", "says"), [
    (json.dumps(SENTENCES), "jq -c '.[] | {text: .}' FILE"),
    (json.dumps({"predictions": PROMPTS, "references": SENTENCES}), '[."predictions", ."references"] | transpose[]'),
    (lines(image_id=[*N, *N], caption=[*SENTENCES, *PROMPTS]), 'group_by(."image_id")'),
    ('id,ref\n1,"a text, and\nmore of it"\n2,"other, and\nmore of it"\n', "write it in JSON Lines")])
def test_lists_and_several_references_are_refused_with_what_to_write(gold, says, layout):
    with pytest.raises(InputError) as caught:
        made(layout([gold, lines(image_id=N, caption=WRITTEN["alpha"])], "gold.csv"), Asked())
    assert says in str(caught.value)


@pytest.mark.parametrize(("gold", "given"), [
    ({"text": SENTENCES, "label": GOLD}, {"reason": PROMPTS, "class": [label.lower() for label in GOLD]}),
    ({"one": SENTENCES, "other": PROMPTS}, {"output": WRITTEN["alpha"]}),
    ({"reference": SENTENCES}, {"one": WRITTEN["alpha"], "other": WRITTEN["bravo"]})])
def test_texts_of_which_others_may_be_meant_are_never_taken_in_silence(gold, given, layout):
    """Reasons beside labels that are written otherwise, two references, and two texts of one system."""
    with pytest.raises(InputError):
        made(layout([lines(id=N, **gold), lines(id=N, **given)]), Asked())


def test_files_of_systems_alone_are_asked_about(layout):
    """Captions by image: none of the files is called the gold, and no column as one of references."""
    files = [lines(image_id=N, caption=of) for of in (SENTENCES, *WRITTEN.values())]
    assert readers(made(layout(files), Asked()))[0].text == "caption"
    paths = layout(files, "birch")
    for asked in (Asked(), Asked("texts")):
        with pytest.raises(QuestionError, match="the first file would be the gold") as caught:
            made(paths, asked)
        assert f"--gold {paths[0]}" in caught.value.excerpt
    assert readers(made(paths, Asked(gold=str(paths[0]))))[0].text == "caption"


def test_what_was_heard_has_a_rate_of_errors(layout):
    files = [lines(path=[f"{n}.mp3" for n in N], sentence=SENTENCES), *(
        table(path=[f"{n}.mp3" for n in N], hypothesis=of) for of in WRITTEN.values())]
    assert made(layout(files), Asked()).folder.tables["metric"][0]["name"] == "WER"


def test_twice_as_many_texts_are_looked_at_twice_as_often(layout, monkeypatch):
    plain, seen = answering._plain, []
    monkeypatch.setattr(answering, "_plain", lambda cell: seen.append(cell) or plain(cell))

    def n_seen(n):
        seen.clear()
        rows = [(f"s{k}", f"what was {k} given", f"the answer to {k}") for k in range(n)]
        theirs = [[(name, given, text if k % every else f"not {text}") for k, (name, given, text) in enumerate(rows)]
                  for every in (3, 4)]
        with pytest.raises(QuestionError):
            made(layout(["".join("\t".join(row) + "\n" for row in of) for of in (rows, *theirs)]), Asked())
        return len(seen)

    assert 0 < n_seen(200) <= 2.2 * n_seen(100)
