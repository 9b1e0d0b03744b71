"""Rows that repeat an item, as runs and variants of it: they are no items of their own."""

import json
import shlex
import shutil
from pathlib import Path

import pytest

from registry.errors import InputError
from registry.guessing.guess import Asked, QuestionError
from registry.guessing.made import made

LM_EVAL = Path(__file__).parent.parent / "importers" / "lm_eval_logs"
SYSTEMS = {"aspen": 1, "birch": 0}
BETTER = {"better": "higher"}


def write(folder, rows, suffix="jsonl", value=None, systems=SYSTEMS):
    """Write a file for each system: the rows, and whether it is right; return the paths."""
    paths = []
    for name, right in systems.items():
        found = [{**row, **({"correct": right} if value is None else value(name, n))} for n, row in enumerate(rows)]
        paths.append(folder / f"{name}.{suffix}")
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in found) if suffix == "jsonl" else "".join(
            ",".join(map(str, row)) + "\n" for row in (found[0], *(row.values() for row in found))))
    return paths


def crossed(item, run, runs, n_items=5):
    return [{item: f"q{n}", run: one} for one in runs for n in range(n_items)]


def refusal(paths, **asked):
    with pytest.raises(QuestionError) as refused:
        made(paths, Asked(**asked))
    return refused.value


REPEATED = {  # rows, the suffix of the files, and how the question begins
    "epochs": (crossed("id", "epoch", (1, 2, 3, 4)), "jsonl", "each of 5 'id' appears 4 times, distinguished by column "
                                                              "'epoch'"),
    "seeds": (crossed("qid", "random_seed", (7, 8)), "csv", "each of 5 'qid' appears 2 times, distinguished by column "
                                                            "'random_seed'"),
    "filters": (crossed("doc_id", "filter", ("strict-match", "flexible-extract")), "jsonl",
                "each of 5 'doc_id' appears 2 times, distinguished by column 'filter'"),
    "nested": ([{"id": row["id"], "meta": {"numFewshot": row["n"]}} for row in crossed("id", "n", (0, 5))], "jsonl",
               "each of 5 'id' appears 2 times, distinguished by column 'meta.numFewshot'"),
    "samples of prompts": ([{"prompt": row["p"], "sample_id": row["k"]} for row in crossed("p", "k", (0, 1, 2))], "csv",
                           "each of 5 'prompt' appears 3 times, distinguished by column 'sample_id'"),
    "samples with epochs": (crossed("sample", "epoch", (1, 2, 3)), "csv",
                            "each of 5 'sample' appears 3 times, distinguished by column 'epoch'"),
    "some missing": (crossed("id", "trial", (1, 2, 3))[:-2], "csv", "5 'id' appear in 13 rows, distinguished by column "
                                                                    "'trial'"),
    "sentences of documents": ([{"document": f"d{n % 3}", "sentence": n % 4, "run": run} for run in (1, 2)
                                for n in range(12)], "csv",
                               "each of 12 'document' and 'sentence' appears 2 times, distinguished by column 'run'"),
    "numbered rows": ([{"": n, **row} for n, row in enumerate(crossed("id", "epoch", (1, 2)))], "csv",
                      "each of 5 'id' appears 2 times, distinguished by column 'epoch'"),
    "names of answers": ([{"uuid": f"a{n}", **row} for n, row in enumerate(crossed("question", "seed", (1, 2)))],
                         "jsonl", "each of 5 'question' appears 2 times, distinguished by column 'seed'"),
}


@pytest.mark.parametrize("name", REPEATED)
def test_repeated_runs_are_no_items(name, tmp_path):
    rows, suffix, says = REPEATED[name]
    question = refusal(write(tmp_path, rows, suffix), options=BETTER)
    assert question.message.startswith(says)
    assert f"(aspen.run1.{suffix}, aspen.run2.{suffix}, ...), and --runs fixed" in question.message


ITEMS = {  # rows and the columns that name them
    "sentences": ([{"document": f"d{n % 4}", "sentence": n // 4} for n in range(20)], ("document", "sentence")),
    "lines": ([{"file": f"f{n % 4}.py", "line": n // 4 + 1} for n in range(20)], ("file", "line")),
    "annotators": ([{"id": f"i{n % 5}", "annotator": "xyzw"[n // 5]} for n in range(20)], ("id", "annotator")),
    "samples of documents": ([{"document": f"d{d}", "sample_id": n} for d in range(6) for n in range(2 * d + 1)],
                             ("document", "sample_id")),
    "folds": ([{"uid": f"i{n}", "fold": n % 5} for n in range(20)], ("uid",)),
    "settings": ([{"id": f"i{n}", "seed": n % 2, "category": "ab"[n // 10]} for n in range(20)], ("id",)),
    "one seed": ([{"document": f"d{n % 4}", "sentence": n // 4, "seed": 1} for n in range(20)],
                 ("document", "sentence")),
}


@pytest.mark.parametrize("name", ITEMS)
def test_items_that_several_columns_name(name, tmp_path):
    rows, names = ITEMS[name]
    paths = write(tmp_path, rows, "csv", lambda system, n: {"correct": int(n * 7 % 5 > SYSTEMS[system])})
    read = made(paths, Asked(options=BETTER))
    assert f"items by {' and '.join(f'column {one!r}' for one in names)}: {len(rows)} items" in read.told


def label(system, n):
    return {"label": "yes" if n % (3 + len(system)) else "no"}


def test_labels_of_several_seeds(tmp_path, registry):
    """The option of the question takes all rows as items; the gold needs one row for each item otherwise."""
    rows = crossed("id", "seed", (1, 2, 3, 4))
    systems = write(tmp_path, rows, "csv", label, {"aspen": 0, "sorrel": 0})
    gold, = write(tmp_path, rows, "csv", lambda _, n: {"label": "yes" if n % 5 % 2 else "no"}, {"gold": 0})
    question = refusal([gold, *systems])
    assert "each of 5 'id' appears 4 times, distinguished by column 'seed'" in question.message
    assert "(aspen.run1.csv, aspen.run2.csv, ...)" in question.message
    assert "the gold has one row for each item then" in question.message
    told = registry("quick", gold, *systems, *shlex.split(question.excerpt)).stderr
    assert "items by column 'id' and column 'seed': 20 items" in told


def test_a_table_of_all_systems_with_epochs(tmp_path, registry):
    rows = [{**row, "aspen": 1, "birch": 0} for row in crossed("id", "epoch", (1, 2, 3, 4))]
    path, = write(tmp_path, rows, "csv", lambda *_: {}, {"scores": 0})
    question = refusal([path], options=BETTER)
    assert question.message.startswith("each of 5 'id' appears 4 times, distinguished by column 'epoch'")
    assert "write one row for each item, with the average of its rows or with one 'epoch' alone" in question.message
    told = registry("quick", path, "--option", "better=higher", *shlex.split(question.excerpt)).stderr
    assert "items by column 'id' and column 'epoch': 20 items" in told


def test_the_remedies_give_the_boards_that_they_promise(tmp_path, registry):
    """Of 5 items that one system alone has right, the exact p-value is 2 / 2^5; of 20 items it is 2 / 2^20."""
    rows = crossed("id", "epoch", (1, 2, 3, 4))
    paths = write(tmp_path, rows)
    question = refusal(paths, options=BETTER)
    keep = "--db", "kept.duckdb"
    for name, given, option, n in (
            ("runs", [path for epoch in (1, 2, 3, 4) for path in write(
                tmp_path, [row for row in rows if row["epoch"] == epoch],
                systems={f"{name}.run{epoch}": right for name, right in SYSTEMS.items()})], ["--runs", "fixed"], 5),
            ("items", paths, shlex.split(question.excerpt), 20)):
        board = registry("quick", *given, "--option", "better=higher", *option, "--keep", name, *keep, "--format",
                         "json").json
        assert [(row["system"], row["score"]) for row in board] == [("aspen", 1), ("birch", 0)]
        p, = registry("query", f"SELECT p_value FROM pairwise WHERE task = '{name}'", *keep, "--format",
                      "json").json
        assert p["p_value"] == pytest.approx(2 / 2 ** n)


def test_samples_of_lm_eval_that_are_named_as_files(tmp_path, registry):
    """They are imported as their folder is: a board for each filter. Under other names their filters are refused."""
    files = sorted(LM_EVAL.glob("*/samples_sums_*.jsonl"))
    of_folder = registry("quick", LM_EVAL, "--option", "tasks=sums", "--format", "json").json
    of_files = registry("quick", *files, "--format", "json").json
    assert [(row["test_set"], row["system"], row["score"]) for row in of_files] == [
        (row["test_set"], row["system"], row["score"]) for row in of_folder]
    assert {row["test_set"] for row in of_files} == {
        "sums.strict-match.exact_match", "sums.flexible-extract.exact_match"}
    strict = registry("quick", *files, "--as", "lm-eval", "--option", "filters=strict-match", "--format", "json").json
    assert strict == [row for row in of_files if row["test_set"] == "sums.strict-match.exact_match"]
    renamed = [shutil.copy(file, tmp_path / f"{name}.jsonl") for file, name in zip(files, SYSTEMS, strict=True)]
    assert refusal(list(map(Path, renamed))).message.startswith(
        "each of 3 'doc_id' appears 2 times, distinguished by column 'filter'")


def test_files_of_several_logs_are_not_mixed_with_others(tmp_path):
    """A file that is no log leaves all to be guessed, and importers of one path say so."""
    file, = LM_EVAL.glob("*aspen*/samples_sums_*.jsonl")
    other = tmp_path / "birch.jsonl"
    other.write_text(file.read_text())
    assert "'filter'" in refusal([file, other]).message
    with pytest.raises(InputError, match="lm-eval takes one file or folder, and 2 are given"):
        made([file, other], Asked(kind="lm-eval"))


def test_rows_that_no_column_distinguishes(tmp_path):
    """Samples of two filters, which old versions of lm-eval do not name: texts beside are not the matter."""
    rows = [{"doc_id": n, "doc": {"question": f"What is {n} plus {n}?"}, "target": str(2 * n)} for _ in (1, 2)
            for n in range(6)]
    with pytest.raises(InputError, match="column 'doc_id' names several rows by each item") as refused:
        made(write(tmp_path, rows, value=lambda system, n: {"exact_match": float(n % 3 > SYSTEMS[system])}), Asked())
    assert "jq" not in refused.value.message
