"""Layouts of shared tasks and harnesses as their repositories have them: read as what they are, or refused by name."""

import json
from shlex import split

import pytest

from registry.errors import InputError
from registry.guessing.guess import Asked, QuestionError
from registry.guessing.made import made
from registry.readers import READERS, Document
from registry.values import build

N = range(24)
WORDS = [chr(97 + n) * (2 + n % 3) for n in N]
GOLD = ["ABCD"[n * 7 % 4] for n in N]
OURS = {"alpha": [GOLD[n] if n % 5 else "D" for n in N], "bravo": [GOLD[n] if n % 2 else "A" for n in N]}
BEIR = "query-id\tcorpus-id\tscore\n" + "".join(f"q{n}\td{n}\t{1 + n % 2}\nq{n}\te{n}\t0\n" for n in N)
RUN = "".join(f"q{n} Q0 {name}{n} {rank} {score} x\n" for n in N for rank, (name, score) in enumerate(
    [("e", 0.75), ("d", 0.5)], 1))
SENTENCES = [f"the {word} is near the {WORDS[n * 5 % 24]}" for n, word in enumerate(WORDS)]
NUMBERS = "".join(f"LA_{n} {n / 7:.3f}\n" for n in N)
EVENTS = "filename\tonset\toffset\tevent_label\n" + "".join(f"{n // 2}.wav\t{n}.25\t{n}.75\tdog\n" for n in N)
REFUSED = {  # files, the gold's first; what is said
    "sets in lists": (["".join(json.dumps({"id": f"x{n}", "found": [{"text": word, "type": "W"}]}) + "\n"
                               for n, word in enumerate(WORDS))] * 2,
                      'write such lines, for the systems too: {"item": "x0", "answers": [{"key": "aa"'),
    "trials and scores": (
        ["".join(f"spk{n % 5} LA_{n} alaw {'spoof' if n % 3 else 'bonafide'} eval\n" for n in N), NUMBERS],
        "column 4 of 5 has two labels, bonafide and spoof, and the systems have numbers"),
    "truth and probabilities": (
        ["".join(json.dumps({"id": f"x{n}", "same": n % 3 == 0}) + "\n" for n in N),
         "".join(json.dumps({"id": f"x{n}", "value": n / 32}) + "\n" for n in N)],
        "column 'same' has two labels, false and true"),
    "RTTM": (["".join(f"SPEAKER abj 1 {n}.50 1.25 <NA> <NA> spk{n % 2} <NA> <NA>\n" for n in N)] * 2,
             "speakers' turns (RTTM) are not read; score the items"),
    "CTM": (["".join(f"abj 1 {n}.50 0.25 {word} 0.9\n" for n, word in enumerate(WORDS))] * 2, "words in time (CTM)"),
    "M2": (["".join(f"S {text}\nA 0 1|||R:NOUN|||x|||REQUIRED|||-NONE-|||0\n\n" for text in SENTENCES)] * 2,
           "corrections of sentences (M2) are not read"),
    "coreferences": (["#begin document (a); part 000\n" + "".join(
        f"bc/a\t0\t{n}\t{word}\tNN\t(0)\n" for n, word in enumerate(WORDS)) + "#end document\n"] * 2,
                     "coreferences (CoNLL 2012) are not read"),
    "boxes": (["".join(f"{n // 3},{n % 3},{n * 7}.50,{n}.25,40,90,1\n" for n in N)] * 2, "no format is known"),
    "numbers of some": (["".join(f"{n}.5\n" if n % 6 else "\n" for n in N), "".join(f"{n / 8}\n" for n in N)],
                        "gold:1: is blank, as 4 of 24 lines with a number each are"),
    "events": ([EVENTS, EVENTS], "events in time, from onset to offset, are not read"),
    "SQuAD": ([json.dumps({"data": [{"paragraphs": [{"qas": [{"id": "q", "answers": []}]}]}], "version": "1.1"}),
               json.dumps({"q": "near"})], "its items stand within 'data', and JSON is read that has an object"),
    "ranks": (["".join(f"q{n}\t0\td{n}\t1\n" for n in N),
               "".join(f"q{n}\td{m}\t{m + 1}\n" for n in N for m in range(3))],
              "system1: its last column counts from 1 in each query, as ranks do"),
    "places in a text": (["".join(f"{100 + n // 2}\t{n % 2 * 9}\t{n % 2 * 9 + 5}\n" for n in N)] * 2,
                         "no format is known"),
    "a leaderboard": (["Team,Lang,Run,ACC@1,MAP@3\n" + "".join(f"{team},en,{run},0.{n}1,0.{n}2\n" for n, (
        team, run) in enumerate([("A", 1), ("A", 2), ("B", 1), ("C", 1)]))], "rows seem to be systems, by column 'Tea"),
    "subtasks in one object": (  # RumourEval
        [json.dumps({"a": {f"x{n}": label for n, label in enumerate(labels)}, "b": {f"y{n}": ["true", 1] for n in N}})
         for labels in (GOLD, OURS["alpha"])],
        "its items stand within 'a' or 'b', and JSON is read that has an object for each item: on lines, in a list, or "
        "in one object by their names. Write it so, as `jq '.\"a\"' FILE` does"),
    "results of samples": (  # EvalPlus
        [json.dumps({"date": "now", "eval": {f"HumanEval/{n}": [{"plus_status": "pass"}] for n in N}, "pass_at_k": {}})
         ] * 2, "its items stand within 'eval', and JSON is read that has an object for each item: on lines, in a "
                "list, or in one object by their names. Write it so, or score"),
    "probabilities of classes": (  # ISIC, whose gold has 1 for the class
        ["image,MEL,NV\n" + "".join(f"x{n},{float(n % 2)},{float(1 - n % 2)}\n" for n in N),
         "image,MEL,NV\n" + "".join(f"x{n},{n / 64},{1 - n / 64}\n" for n in N)],
        "its 2 columns make 1 in each row, as probabilities of classes do"),
    "several labels in a cell": (  # iNaturalist
        ["id,category\n" + "".join(f"{n},{n % 7}\n" for n in N),
         "id,predicted\n" + "".join(f"{n},{n % 7} {n % 5} {n % 6}\n" for n in N)],
        "column 'predicted' has several labels in a cell, as '0 0 0'"),
    "trec_eval's measures": (
        ["".join(f"{name}\t{n}\t0.{n}\n" for n in N for name in ("num_ret", "num_rel", "map"))] * 2,
        "has trec_eval's measures of each query"),
    "texts in JSON": (  # Open ASR Leaderboard
        ["".join(json.dumps({"file": f"{of}{n}", "text": SENTENCES[n % 9]}) + "\n" for n in N) for of in "ab"],
        "texts stand under 'text', and nothing beside them names the same items in all files"),
    "names that end otherwise": (  # VoiceMOS
        ["".join(f"LA_{n}.wav {n / 8}\n" for n in N), NUMBERS], "its first is 'LA_0', the gold's 'LA_0.wav'"),
    "the gold twice": (["".join(f"{n},{label}\n" for n, label in enumerate(labels)) for labels in (
        GOLD, OURS["alpha"])], None),
}


def readers(found):
    """The gold's reader, and the systems' by their names."""
    tables = found.folder.tables
    of = tables["test_set"][0]
    gold = build("reader", READERS, of["format"], of.get("options", {}))
    shared = of.get("options", {}) | tables["submission"].get("options", {})
    return gold, {submit["system"]: build("reader", READERS, of["format"], shared | submit.get("options", {}))
                  for submit in tables["submit"]}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name(name, layout):
    files, says = REFUSED[name]
    paths = layout(files)
    with pytest.raises(InputError) as caught:
        made(paths if says else [paths[0], *paths], Asked())
    assert (says or "is the gold, and given as a system too; name it once") in str(caught.value)


def test_tags_below_names_of_columns(layout):
    """HIPE: the first line names the columns; a system has no blank lines, and other prefixes."""
    gold = "TOKEN\tNE\tMISC\n" + "".join(f"a{n}\tB-x\t_\nb{n}\tI-x\t_\nc{n}\tO\t_\n\n" for n in N)
    other = "TOKEN\tNE\tMISC\n" + "".join(f"a{n}\tB-x\t_\nb{n}\tE-x\t_\nc{n}\tO\t_\n" for n in N)
    found = made(layout([gold, other]), Asked())
    assert f"24 spans (x) in {len(N)} sentences" in found.told[1]
    assert found.folder.tables["submission"]["options"] == {"scheme": "bioes", "boundaries": "gold"}


def test_systems_that_repeat_the_gold(tmp_path):
    """OpenCompass's predictions: one of them is the gold's file, and a system's too."""
    paths = []
    for name, answers in OURS.items():
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps({str(n): {"origin_prompt": [], "prediction": answer, "gold": GOLD[n]}
                                         for n, answer in enumerate(answers)}))
    found = made([paths[0], *paths], Asked())
    gold, systems = readers(found)
    read = {name: [answer.value for answer in reader.read_answers(Document.load(tmp_path / f"{name}.json"))]
            for name, reader in systems.items()}
    assert [item.gold for item in gold.read_gold({"gold": Document.load(paths[0])})] == GOLD
    assert read == OURS
    assert found.told[-2] == "the systems repeat it, and have their own in column 'prediction'"


def test_columns_that_have_no_names_are_asked_for(layout):
    """ExplainaBoard's: text, the gold, the prediction and its probability; every answer that is shown is one."""
    paths = layout(["".join(f"{text}\t{label}\n" for text, label in zip(SENTENCES, GOLD, strict=True)), *(
        "".join(f"{text}\t{label}\t{answer}\t0.{n + 10}\n" for n, (text, label, answer) in enumerate(
            zip(SENTENCES, GOLD, answers, strict=True))) for answers in OURS.values())])
    with pytest.raises(QuestionError, match="which column is which") as caught:
        made(paths, Asked())
    answers = [line.split("'")[1].removeprefix("columns=") for line in caught.value.excerpt.splitlines()]
    of = {json.loads(one).index("label"): made(paths, Asked(options={"columns": json.loads(one)})) for one in answers}
    assert sorted(of) == [1, 2]
    assert all(reader.label == "label" for reader in readers(of[2])[1].values())


def test_judgments_and_runs_of_other_columns(tmp_path):
    """BEIR's three columns below a header, beside runs as TREC's and as JSON: the same as TREC's own of both."""
    (tmp_path / "test.tsv").write_text(BEIR)
    (tmp_path / "alpha.trec").write_text(RUN)
    (tmp_path / "bravo.json").write_text(json.dumps({f"q{n}": {f"e{n}": 0.75, f"d{n}": 0.5} for n in N}))
    paths = [tmp_path / name for name in ("test.tsv", "alpha.trec", "bravo.json")]
    gold, systems = readers(made(paths, Asked()))
    assert [item.gold for item in gold.read_gold({"gold": Document.load(paths[0])})] == [
        {f"d{n}": 1 + n % 2, f"e{n}": 0} for n in N]
    read = [[(answer.key, answer.value) for answer in reader.read_answers(Document.load(path))]
            for reader, path in zip(systems.values(), paths[1:], strict=True)]
    assert read[0] == read[1] == [(f"q{n}", {f"e{n}": 0.75, f"d{n}": 0.5}) for n in N]


SPANS = [[(n, n + 2, "PER"), (n + 3, n + 5, "LOC")][: n % 3] for n in N]
LISTS = {  # tools: the lines of an item
    "doccano": lambda n, of: {"id": 100 + n, "text": SENTENCES[n], "label": [[*span] for span in of], "Comments": []},
    "pipeline": lambda n, of: {"id": 100 + n, "entities": [
        {"entity_group": type_, "score": 0.5, "word": "w", "start": a, "end": b} for a, b, type_ in of]},
    "Prodigy": lambda n, of: {
        "text": SENTENCES[n], "_input_hash": n * n, "tokens": [{"text": "w", "start": 0, "end": 3, "id": 0}],
        "spans": [{"start": a, "end": b, "token_start": 0, "token_end": 0, "label": type_} for a, b, type_ in of]},
    "Label Studio": lambda n, of: {"id": 100 + n, "data": {"text": SENTENCES[n]}, "annotations": [{"id": n, "result": [
        {"value": {"start": a, "end": b, "text": "w", "labels": [type_]}, "type": "labels"} for a, b, type_ in of]}]}}


@pytest.mark.parametrize(("gold", "system"), [("doccano", "pipeline"), ("Label Studio", "pipeline"),
                                              ("Prodigy", "doccano"), ("pipeline", "Label Studio")])
def test_lists_of_spans_are_read_as_tools_write_them(gold, system, layout):
    theirs = [of[:1] if n % 2 else of for n, of in enumerate(SPANS)]
    paths = layout(["".join(json.dumps(LISTS[tool](n, of)) + "\n" for n, of in enumerate(lists))
                    for tool, lists in ((gold, SPANS), (system, theirs))])
    found = made(paths, Asked())
    assert not any("another text" in line for line in found.told)
    reader, systems = readers(found)
    assert [sorted((span.start, span.end, span.type) for span in item.gold.spans)
            for item in reader.read_gold({"gold": Document.load(paths[0])})] == list(map(sorted, SPANS))
    assert [len(answer.value.spans) for answer in systems["system1"].read_answers(Document.load(paths[1]))] == list(
        map(len, theirs))


def test_positions_of_another_text_are_told(layout):
    lines = [LISTS["doccano"](n, of) for n, of in enumerate(SPANS)]
    paths = layout(["".join(json.dumps(line) + "\n" for line in of) for of in (
        lines, [line | {"text": f" {line['text']}"} if n < 3 else line for n, line in enumerate(lines)])])
    assert "texts of system1 are not the gold's in 3 items, so that positions may be of another text" in made(
        paths, Asked()).told


def test_lists_of_spans_of_all_systems_in_one_file(tmp_path):
    path = tmp_path / "all.json"
    path.write_text(json.dumps([{"doc": f"d{n}", "text": SENTENCES[n], "gold": of, "alpha": of[:1], "bravo": of[1:]}
                                for n, of in enumerate(SPANS)]))
    gold, systems = readers(made([path], Asked()))
    assert (gold.spans, [reader.spans for reader in systems.values()]) == ("gold", ["alpha", "bravo"])


def test_texts_by_key_are_asked_for(layout):
    """References of free text, where no label is another item's: right to the letter is seldom what is meant."""
    paths = layout(["".join(f"{n},{text if n % every else text + ' now'}\n" for n, text in enumerate(SENTENCES))
                    for every in (99, 2, 1)])
    with pytest.raises(QuestionError, match="boards differ by it") as caught:
        made(paths, Asked())
    assert [line.split()[1] for line in caught.value.excerpt.splitlines()] == ["texts", "labels"]
    assert "right where every letter is the gold's" in caught.value.excerpt
    for kind in ("labels", "texts"):
        assert readers(made(paths, Asked(kind)))[0].name == kind


def test_what_is_said_already_is_not_asked_again(layout):
    """Words that may be labels, below what may be a header: the answer to one question leads to the other."""
    paths = layout(["".join(f"{word}\t{word[::-1]}{n}\n" for n, word in enumerate(WORDS)),
                    "".join(f"{word}\t{word[::-1]}{n - n % 2}\n" for n, word in enumerate(WORDS))])
    with pytest.raises(QuestionError, match="does the first line name the columns") as caught:
        made(paths, Asked("labels"))
    assert [line.split()[1] for line in caught.value.excerpt.splitlines()] == ["header=true", "header=false"]


def test_long_form_of_two_columns_of_items(tmp_path):
    """SIGMORPHON's scores: no column names the items, two do; what is nearly another number in each row does not."""
    path = tmp_path / "scores.json"
    path.write_text(json.dumps([
        {"distance": m + 10 * n + 0.5, "f_measure": 90 + m / 8 + n / 99, "language": language, "system": system,
         "category": category} for n, system in enumerate("AB") for m, (language, category) in enumerate(
             (language, category) for language in ("ces", "eng", "fra") for category in ("all", "010"))]))
    with pytest.raises(QuestionError) as caught:
        made([path], Asked())
    lines = [split(line) for line in caught.value.excerpt.splitlines()]
    assert [line[-3] for line in lines] == ["score=distance", "score=f_measure"]
    assert [line[-1] for line in lines] == ["better=lower", "better=higher"]
    options = dict(word.split("=", 1) for word in lines[1] if "=" in word)
    found = made([path], Asked("long", {**options, "item": json.loads(options["item"])}))
    assert len(found.folder.tables["submit"]) == 2


@pytest.mark.parametrize(("header", "row", "options"), [
    ("name,qid,measure,value", "{system},{n},{measure},0.{n}\n",  # PyTerrier's
     {"system": "name", "item": "qid", "test_set": "measure", "score": "value"}),
    (",task,alg_name,value,case", "{row},{measure},{system},0.{n},{n}\n",  # challengeR's
     {"system": "alg_name", "item": '["task", "case"]', "score": "value"})])
def test_long_form_by_what_its_rows_say(header, row, options, tmp_path):
    """No column is called as systems are, or rows are numbered before all else."""
    path = tmp_path / "perquery.csv"
    rows = [(system, measure, n) for system in "AB" for measure in ("AP", "RR") for n in N]
    path.write_text(header + "\n" + "".join(row.format(row=k, system=system, measure=measure, n=n)
                                            for k, (system, measure, n) in enumerate(rows, 1)))
    with pytest.raises(QuestionError) as caught:
        made([path], Asked())
    lines = [dict(word.split("=", 1) for word in split(line) if "=" in word)
             for line in caught.value.excerpt.splitlines()]
    assert lines == [{**options, "better": better} for better in ("higher", "lower")]


def test_what_flags_were_cut_off_from_is_no_system(tmp_path):
    """ProteinGym's: measured fitness, the same as 0 and 1, and models' scores."""
    path = tmp_path / "assay.csv"
    path.write_text("mutant,DMS_score,DMS_score_bin,GEMME,ESM1v\n" + "".join(
        f"A{n}G,{n - 11.5},{int(n > 11)},{n + n % 3},{n + n % 5 * 3}\n" for n in N))
    found = made([path], Asked(metric="SetP(best=3)"))
    assert [submit["system"] for submit in found.folder.tables["submit"]] == ["GEMME", "ESM1v"]
    assert "passed over: DMS_score" in found.told


def test_a_label_of_the_gold_that_stands_for_none_is_asked_about(layout):
    """SNLI's, of whose items some have no label that most annotators give."""
    paths = layout(["".join(f"{n}\t{label if n % 6 else '-'}\n" for n, label in enumerate(labels))
                    for labels in (GOLD, OURS["alpha"])])
    paths[1].write_text("".join(f"{n}\t{label}\n" for n, label in enumerate(OURS["alpha"])))
    with pytest.raises(QuestionError, match="the gold label '-', which no system gives"):
        made(paths, Asked())
    assert made(paths, Asked(kind="labels")).told


def test_scores_of_each_system_in_a_file_of_its_own(tmp_path):
    """No file is the gold: by a column that is called as a metric, else by what is said."""
    def paths(column):
        for name in OURS:
            (tmp_path / f"{name}.csv").write_text(f"id,{column}\n" + "".join(
                f"x{n},{n / (40 + ord(name[0]))}\n" for n in N))
        return [tmp_path / f"{name}.csv" for name in OURS]

    submits, metric = (made(paths("wer"), Asked()).folder.tables[name] for name in ("submit", "metric"))
    assert [submit["system"] for submit in submits] == ["alpha", "bravo"]
    assert metric[0]["options"] == {"better": "lower"}
    logs = [tmp_path / f"{name}.jsonl" for name in OURS]
    for path, answers in zip(logs, OURS.values(), strict=True):
        path.write_text("".join(json.dumps({"id": n, "prediction": answer, "correct": answer == GOLD[n]}) + "\n"
                                for n, answer in enumerate(answers)))
    assert [submit["system"] for submit in made(logs, Asked()).folder.tables["submit"]] == ["alpha", "bravo"]
    name = "faithfulness"
    with pytest.raises(QuestionError) as caught:
        made(paths(name), Asked())
    answers = [dict(word.split("=") for word in line.split("  ")[1].split() if "=" in word)
               for line in caught.value.excerpt.splitlines()]
    assert answers == [{"score": name, "better": "higher"}, {"score": name, "better": "lower"}, {"gold": name}]
    first = str(paths(name)[0])
    assert f"--gold {first} --option gold={name}" in caught.value.excerpt
    told = [made(paths(name), Asked(options=said, gold=first if "gold" in said else None)).folder.tables["submit"]
            for said in answers]
    assert list(map(len, told)) == [2, 2, 1]
