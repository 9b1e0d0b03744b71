"""The commands: a preview above the board, options that can be copied, and a manifest that gives the same board."""

from pathlib import Path

import pytest

from registry.errors import InputError
from registry.quick.make import make
from registry.quick.plan import Request
from tests.conftest import ROOT
from tests.quick.layouts import GOLD, IDS, QRELS, RIGHT, SENTENCES, A, B, rows
from tests.scenarios.guesses import LAYOUTS, compared

LOGS = ROOT / "sample_data" / "benchmark" / "logs"


@pytest.mark.parametrize("name", ["stance", "collocations"])
def test_the_board_is_that_of_the_manifest(name):
    """All samples and real tasks: `python -m tests.scenarios.guesses`."""
    assert compared(LAYOUTS[name])["is right"]


def test_a_preview_and_options_above_the_board(layout, registry, tmp_path):
    """Nothing is left behind; the manifest that is written runs as it is, to the same board."""
    gold, *systems = layout(RIGHT["two columns"][0])
    before = {*tmp_path.rglob("*")}
    done = registry("quick", "--gold", gold, *systems, "--format", "json")
    assert {*tmp_path.rglob("*")} == before
    assert {row["system"]: row["score"] for row in done.json} == {
        name: sum(map(str.__eq__, GOLD, labels)) / 24 for name, labels in (("system1", A), ("system2", B))}
    lines = done.stderr.splitlines()
    assert [line.split() for line in lines[:4]] == [
        ["item", "gold", "system1", "system2"], *([i, g, a, b] for i, g, a, b in zip(IDS[:3], GOLD, A, B,
                                                                                    strict=False))]
    assert lines[4] == ("read as: --item 1 --label 2 --option separator=tab --option header=false --metric Accuracy")
    again = registry("quick", "--gold", gold, *systems, *lines[4].split()[2:], "--format", "json")
    assert [row["score"] for row in again.json] == [row["score"] for row in done.json]
    registry("quick", "--gold", gold, *systems, "--keep", "kept", "--db", "kept.duckdb")
    kept = registry("board", "kept", "--db", "kept.duckdb", "--format", "json").json
    assert [row["score"] for row in kept] == [row["score"] for row in done.json]
    registry("new", "mine", "--gold", gold, *systems)
    assert "# Read as: --item 1 --label 2" in Path("mine/task.toml").read_text()
    mine = registry("run", "mine/task.toml", "--db", "mine.duckdb", "--format", "json").json
    assert [(row["rank"], row["score"]) for row in mine] == [(row["rank"], row["score"]) for row in done.json]


def test_a_question_is_an_error_with_the_options_below(layout, registry):
    refused = registry("quick", *layout([rows(IDS, GOLD), rows(IDS, A)], "answers.tsv"), exit_code=3).stderr
    assert "which file is the gold?" in refused
    assert "\n  --gold " in refused
    assert "Columns of " in refused


def test_a_preview_fits_a_terminal(layout):
    """Whatever is in the cells, and however many systems there are."""
    text = rows(["a\u200db", *SENTENCES[1:]], SENTENCES, header=("id", "reference"))
    gold, *systems = layout([text, *[rows(SENTENCES, SENTENCES, header=("id", "output"))] * 12])
    systems = [path.rename(path.with_name(f"{path.name}-{'x' * 90}")) for path in systems]
    shown = make(systems, Request(gold=str(gold), in_order=True)).preview
    assert all(len(line) <= 80 and line.isprintable() for line in shown)
    assert shown[0].endswith("and 9 more")


def test_logs_of_a_program(registry):
    """One importer reads them; its scores are previewed, and options can be copied."""
    made = make([LOGS], Request())
    assert made.read_as == "--as lm-eval"
    assert made.preview[0].split()[:2] == ["item", "aspen-70b"]
    assert make([LOGS], Request("lm-eval")).folder.files == made.folder.files
    assert "--gold does not apply to --as" in registry(
        "quick", LOGS, "--as", "lm-eval", "--gold", "x", exit_code=3).stderr
    with pytest.raises(InputError, match="not to results of lm-eval"):
        make([LOGS], Request(metrics=("F1",)))


def test_warnings_name_no_temporary_file(registry, tmp_path):
    table = tmp_path / "all.csv"
    table.write_text("model,item,f1\n" + "".join(f"{model},{i},0.{n}\n" for model in ("x", "y")
                                               for n, i in enumerate(IDS) if (model, n) != ("y", 3)))
    told = registry("quick", table, "--missing", "drop").stderr
    assert "1 of 24 items has no 'f1'" in told
    assert "/tmp" not in told.replace(str(tmp_path), "")
    assert "registry-" not in told


@pytest.mark.parametrize(("score", "says"), [
    (lambda rank: 1, "have the same score, but different ranks"),
    (lambda rank: rank, "its scores rise from one rank to the next in 48 of 48 places"), (lambda rank: -rank, None)])
def test_ranks_in_another_order_than_scores_are_reported(score, says, layout, registry):
    gold, run = layout([QRELS, "".join(f"{i} Q0 d{n} {n} {score(n)} x\n" for i in IDS for n in range(3))])
    told = registry("quick", "--gold", gold, run).stderr
    assert (says in told) if says else not any(
        words in told for words in ("different ranks", "from one rank to the next"))


JUDGED = "".join(f"q{n} 0 d{k} {k % 2}\n" for n in range(3) for k in range(4))


@pytest.mark.parametrize("metrics", [(), ("nDCG",)])
@pytest.mark.parametrize(("more", "line", "first"), [("q0 0 d3 1\n", 13, 4), ("q1 0 d0 0\nq2 0 d1 1\n", 13, 5)])
def test_judgments_of_a_document_twice(more, line, first, metrics, layout):
    """They are refused for that, and not as an unsupported format."""
    run = "".join(f"q{n} Q0 d{k} {k + 1} {9 - k} a\n" for n in range(3) for k in range(4))
    gold, *systems = layout([JUDGED + more, run])
    with pytest.raises(InputError, match=f"occurs twice, first in line {first}; keep one") as refused:
        make(systems, Request(gold=str(gold), metrics=metrics))
    assert (refused.value.path, refused.value.line) == (str(gold), line)


def test_text_in_another_normal_form_than_the_gold(layout, registry):
    """Case 21: nothing is reported if names of items are in that form in the gold too."""
    odd = [f"cafe\u0301 {i}" for i in IDS]
    gold, system = layout([rows(odd, GOLD), rows(odd, A)])
    assert "normal form" not in registry("quick", "--gold", gold, system, "--metric", "Accuracy").stderr
    (plain, other) = layout([rows(IDS, GOLD), rows(IDS, ["cafe\u0301", *A[1:]])])
    assert "normal form" in registry("quick", "--gold", plain, other).stderr


def test_labels_in_capitals_and_with_other_marks(layout):
    """Case 35: the remedy names all labels: those that differ in case by one option, and the others one by one."""
    names = ["bg", "bs", "cz", "es-AR", "es-ES", "pt-PT", "pt-BR", "hr", "id", "my", "sk", "sr"]
    labels = [names[n % 12] for n in range(120)]
    keys = [f"made up sentence {n}" for n in range(120)]
    paths = layout([rows(keys, labels), rows(keys, [label.upper().replace("-", "_") for label in labels])])
    with pytest.raises(InputError) as refused:
        make(paths[1:], Request(gold=str(paths[0])))
    assert "--option fold_case=true and --option 'rename={ ES_AR = \"es-AR\"" in str(refused.value)
    renamed = {"ES_AR": "es-AR", "ES_ES": "es-ES", "PT_PT": "pt-PT", "PT_BR": "pt-BR"}
    assert make(paths[1:], Request(gold=str(paths[0]), options={"fold_case": True, "rename": renamed}))


@pytest.mark.parametrize("text", ["the { harbour's / harbour } gate was closed", "left before (%hesitation) the rain"])
def test_marks_of_sclite_are_refused(text, layout):
    """Case 31: they would count as words, also if a metric is named."""
    paths = layout(["\n".join([text, *SENTENCES]), "\n".join([SENTENCES[0], *SENTENCES])])
    for metrics in ((), ("WER",)):
        with pytest.raises(InputError, match="the notation of sclite") as refused:
            make(paths[1:], Request(gold=str(paths[0]), metrics=metrics))
        assert refused.value.line == 1


def test_items_of_two_columns(layout):
    """Case 33: lemma and tags name the items, and forms are the labels; unknown items are named."""
    lemmas, tags = [f"lemma{n // 3}" for n in range(24)], [("N;SG", "N;PL", "V;PST")[n % 3] for n in range(24)]
    forms = [f"form{n}" for n in range(24)]
    paths = layout([rows(lemmas, forms, tags), rows(lemmas, [*forms[:9], *["x"] * 15], tags),
                    rows(["<unk>", *lemmas[1:]], forms, tags)])
    asked = Request(gold=str(paths[0]), item=("1", "3"), label=("2",))
    assert make(paths[1:2], asked).preview[1].split()[:3] == ["lemma0", "N;SG", "form0"]
    with pytest.raises(InputError, match="item '<unk> N;SG': not in the gold"):
        make(paths[1:], asked)


@pytest.mark.parametrize("metric", ["SetF", "SpanF", "AP", "LAS"])
def test_a_metric_that_no_table_has_values_for_is_refused(metric, layout, registry):
    gold, system = layout(["id,label\n" + "".join(f"{i},a b\n" for i in IDS)] * 2)
    told = registry("quick", "--gold", gold, system, "--metric", metric, exit_code=None).stderr
    assert f"--metric {metric} needs other values than labels, numbers or texts" in told
    assert "--as" in told
