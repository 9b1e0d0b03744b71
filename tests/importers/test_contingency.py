"""McNemar's tables and discordant items of imported logs by SQL, against numpy's counts over the files of the task."""

import csv
import io
import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from registry.api.registry import Registry
from registry.errors import MismatchError
from registry.importers import IMPORTERS

HERE = Path(__file__).parent
KINDS = {
    "lm-eval": HERE / "lm_eval_logs", "inspect": HERE / "inspect_logs", "helm": HERE / "helm_logs",
    "every-eval-ever": HERE / "every_eval_ever_logs" / "data", "swe-bench": HERE / "swe_bench_reports",
    "wide": Path("wide.csv"), "long": Path("long.csv"), "eval-arena": Path("arena.jsonl"), "mteb": Path("mteb"),
    "plain": Path("plain"),
}
OPTIONS = {"inspect": {"missing": "drop"}, "helm": {"metrics": ("exact_match",)}, "swe-bench": {"run": "r1"},
           "every-eval-ever": {"metrics": ("accuracy", "exact-match")},
           "wide": {"item": ("item",), "missing": "drop"}, "long": {"run": "run", "better": "lower"}}


def write_small_logs():
    """Write the logs of importers without a sample: 0/1 scores, but for `mteb`, `plain` and one test set of `arena`."""
    rng = np.random.default_rng(53)
    scores = rng.integers(0, 2, (40, 3))
    Path("wide.csv").write_text("item,a,b,c\n" + "".join(
        f"i{n},{a},{b},{c if n else ''}\n" for n, (a, b, c) in enumerate(scores)))
    Path("long.csv").write_text("item,system,run,score\n" + "".join(
        f"i{n},s{system},{run},{rng.integers(0, 2)}\n" for n in range(30) for system in range(2)
        for run in range(1 + system)))
    Path("arena.jsonl").write_text("".join(json.dumps({
        "benchmark_id": name, "model": of, "example_id": f"{name}/{n}", "pass1": n * step % size / (size - 1)}) + "\n"
        for name, size in (("shares", 3), ("greedy", 2)) for of, step in (("x", 1), ("y", 2)) for n in range(9)))
    for model, score in (("acme__aspen", 0.5), ("birch", 0.7)):
        folder = Path("mteb", model, "0" * 40)
        folder.mkdir(parents=True)
        (folder / "STS22.json").write_text(json.dumps({"task_name": "STS22", "scores": {"test": [
            {"hf_subset": "default", "languages": ["eng-Latn"], "main_score": score}]}}))
    Path("plain").mkdir()
    for name in ("ref", "a", "b"):
        Path("plain", f"{name}.txt").write_text(f"a line by {name}\nand another line\n")


def correct_items(task):
    """Read which items each run gets right from the files of a task: [runs, items] by test set and system.

    None for a test set with other scores than 0 and 1, or without scores.
    """
    lower = task.tables["metric"][0].get("options", {}).get("better") == "lower"
    found = {}
    for submit in task.tables["submit"]:
        test_set = submit.get("test_set", task.tables["test_set"][0]["name"])
        gold = next(one for one in task.tables["test_set"] if one["name"] == test_set)
        before, run, after = submit["file"].partition("{run}")
        files = sorted((name for name in task.files if name.startswith(before) and name.endswith(after)
                        and (name == submit["file"] or run)), key=lambda name: (len(name), name))
        runs = [rows_of(task.files[name], gold, submit) for name in files]
        of_gold = rows_of(task.files[gold["gold"]], gold, {})
        keys = list(of_gold)
        if gold["format"] == "labels":
            right = [[of_run.get(key) == of_gold[key] for key in keys] for of_run in runs]
        elif gold["format"] == "scores":
            scores = [[of_run.get(key) for key in keys] for of_run in runs]
            assert any(score is not None for of_run in scores for score in of_run)
            right = None if {*np.ravel(scores)} - {0, 1, None} else [
                [score == (0 if lower else 1) for score in of_run] for of_run in scores]
        else:
            right = None
        team = submit.get("team", submit["system"])
        found.setdefault(test_set, {})[f"{team}/{submit['system']}"] = keys, right
    return {test_set: None if any(right is None for _, right in systems.values()) else
            (next(iter(systems.values()))[0], {name: np.array(right) for name, (_, right) in systems.items()})
            for test_set, systems in found.items()}


def rows_of(content, gold, submit):
    """Read the label or score of each item from JSON Lines, TSV without a header, or CSV."""
    text = content.decode() if isinstance(content, bytes) else content
    if gold["format"] == "lines":
        return {}
    if gold["gold"].endswith("jsonl"):
        rows = [json.loads(line) for line in text.splitlines()]
        return {row["item"]: row.get("score") for row in rows}
    if gold["format"] == "labels":
        return dict(line.split("\t")[:2] for line in text.splitlines())
    column = submit.get("options", {}).get("score", "a")
    return {row["item"]: float(row[column]) if row[column] else None for row in csv.DictReader(io.StringIO(text))}


@pytest.mark.parametrize("kind", sorted(IMPORTERS.keys() - {"votes", "ratings", "mt-metrics-eval"}))  # no 0/1 scores
def test_tables_and_items_are_numpy_s_counts(registry, kind):
    write_small_logs()
    options = OPTIONS.get(kind, {})
    registry("import", kind, KINDS[kind], "--task", "t", *(part for name, value in options.items() for part in (
        "--option", f"{name}={json.dumps(value) if isinstance(value, tuple) else value}")))
    reg, n_pairs = Registry("registry.duckdb"), 0
    for test_set, correct in correct_items(IMPORTERS[kind](**options).read(KINDS[kind])).items():
        table = f"FROM pair_contingency WHERE task = 't' AND test_set = '{test_set}'"
        if correct is None:
            (name, *_), = list(reg.query(f"SELECT name FROM ranked_submission WHERE test_set = '{test_set}' LIMIT 1"))
            told = registry("query", f"FROM contingency('{name}', '{name}')", exit_code=3).stderr
            assert f"t/{test_set}: its items are neither correct nor incorrect" in told
            assert list(reg.query(table)) == []
            with pytest.raises(MismatchError, match="neither correct nor incorrect"):
                reg.contingencies("t", test_set)
            continue
        keys, systems = correct
        together = reg.contingencies("t", test_set)
        by_view = {(f"{row[2]}/{row[3]}", f"{row[4]}/{row[5]}", *row[6:8]): row[8:12] for row in reg.query(table)}
        for (a, runs_a), (b, runs_b) in permutations(systems.items(), 2):
            names = f"'t/{test_set}/{a}', 't/{test_set}/{b}'"
            tables, items = [], []
            for i, of_a in enumerate(runs_a):
                for j, of_b in enumerate(runs_b):
                    counts = tuple(map(int, ((of_a & of_b).sum(), (of_a & ~of_b).sum(), (~of_a & of_b).sum(),
                                             (~of_a & ~of_b).sum())))
                    tables.append((*counts, i, j))
                    items += [(keys[n], "a" if of_a[n] else "b", i, j) for n in np.flatnonzero(of_a != of_b)]
                    assert by_view[a, b, i, j] == counts
                    at = [together.runs.index((f"t/{test_set}/{name}@1", run)) for name, run in ((a, i), (b, j))]
                    assert (together.tables.both_correct[*at], together.tables.only_a_correct[*at]) == counts[:2]
                    n_pairs += 1
            assert list(reg.query(f"FROM contingency({names})")) == tables
            assert sorted(reg.query("SELECT item, right_one, replicate_a, replicate_b "
                                    f"FROM discordant_items({names})")) == sorted(items)
    assert n_pairs >= (0 if kind in ("mteb", "plain") else 2)
