"""Rows of measure, topic and value, as trec_eval -q and ir_measures -q print them."""

import contextlib
import io
import runpy
import sys

import numpy as np
import pytest

from registry.errors import InputError
from registry.quick.make import make
from registry.quick.plan import QuestionError, Request

pytrec_eval = pytest.importorskip("pytrec_eval")
TOPICS = [str(n) for n in range(301, 331)]
SYSTEMS = ("bm25", "dpr")
DOCUMENTS = [f"d{n}" for n in range(20)]


def make_judgments():
    random = np.random.default_rng(7)
    judged = {topic: dict(zip(DOCUMENTS, random.integers(0, 2, 20).tolist(), strict=True)) for topic in TOPICS}
    runs = {system: {topic: dict(zip(DOCUMENTS, random.random(20).tolist(), strict=True)) for topic in TOPICS}
            for system in SYSTEMS}
    return judged, runs


def evaluate(judged, run):
    measures = {"map", "recip_rank", "ndcg_cut", "P", "num_ret"}
    return pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(run)


def format_trec_eval(system, values):
    """Format values as trec_eval does, with averages at the end."""
    lines = [f"{measure:<22}\t{topic}\t{value:.4f}" for topic, row in values.items() for measure, value in row.items()]
    lines += [f"{'runid':<22}\tall\t{system}", f"{'num_q':<22}\tall\t{len(values)}", f"{'map':<22}\tall\t0.9999"]
    return "\n".join(lines) + "\n"


def get_scores(registry, *arguments):
    return {row["system"]: row["score"] for row in registry(*arguments, "--format", "json").json}


@pytest.fixture
def evaluated(folder, monkeypatch):
    judged, runs = make_judgments()
    values = {system: evaluate(judged, run) for system, run in runs.items()}
    monkeypatch.chdir(folder({f"{system}.eval": format_trec_eval(system, rows) for system, rows in values.items()}))
    return values


@pytest.mark.parametrize("measure", ["map", "recip_rank", "ndcg_cut_10", "P_5"])
def test_boards_of_trec_eval(measure, evaluated, registry):
    """`quick` asks for the measure; the manifest reads the same files."""
    files = [f"{system}.eval" for system in SYSTEMS]
    question = registry("quick", *files, exit_code=3).stderr
    assert f"  --score {measure}\n" in question
    expected = {system: pytest.approx(np.mean([round(row[measure], 4) for row in rows.values()]), abs=1e-12)
                for system, rows in evaluated.items()}
    assert get_scores(registry, "quick", *files, "--score", measure) == expected
    with open("task.toml", "w") as manifest:
        manifest.write(f"""manifest = 1
task = {{ id = "own" }}
test_set = [{{ name = "test", gold = "bm25.eval", format = "scores", options = {{ syntax = "trec_eval" }} }}]
submission = {{ options = {{ score = "{measure}" }} }}
metric = [{{ name = "Mean", options = {{ better = "higher" }} }}]
submit = [{{ file = "{{system}}.eval" }}]
""")
    registry("run", "task.toml")
    assert get_scores(registry, "board", "own") == expected


def test_boards_of_ir_measures(folder, registry, monkeypatch):
    """Its own means are the scores."""
    pytest.importorskip("ir_measures")
    judged, runs = make_judgments()
    path = folder({"qrels": "".join(f"{topic} 0 {name} {grade}\n" for topic, row in judged.items()
                                    for name, grade in row.items())} | {
        f"{system}.run": "".join(f"{topic} Q0 {name} 1 {score} {system}\n" for topic, row in run.items()
                                 for name, score in row.items()) for system, run in runs.items()})
    monkeypatch.chdir(path)
    expected = {}
    for system in SYSTEMS:
        monkeypatch.setattr(sys, "argv", ["ir_measures", "qrels", f"{system}.run", "nDCG@10", "RR", "-q", "-p", "15"])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            runpy.run_module("ir_measures", run_name="__main__")
        (path / f"{system}.txt").write_text(printed.getvalue())
        rows = [line.split() for line in printed.getvalue().splitlines()]
        (mean,) = [value for topic, measure, value in rows if (topic, measure) == ("all", "nDCG@10")]
        expected[system] = pytest.approx(float(mean), abs=1e-9)
    files = [f"{system}.txt" for system in SYSTEMS]
    assert get_scores(registry, "quick", *files, "--score", "nDCG@10") == expected
    registry("new", "t", *files, "--score", "nDCG@10")
    registry("run", "t/task.toml")
    assert get_scores(registry, "board", "t") == expected


def test_a_single_measure_needs_no_option(folder):
    path = folder({f"{system}.txt": "".join(f"map\t{topic}\t0.5\n" for topic in TOPICS) for system in SYSTEMS})
    made = make([path / f"{system}.txt" for system in SYSTEMS], Request())
    assert made.read_as == "--item item --score map:higher"


@pytest.mark.parametrize(("text", "error"), [
    ("map\tall\t0.3\nP_5\tall\t0.2\n", "only averages over all queries"),
    ("map 301 0.5\nmap 301 0.4\nmap 302 0.1\n", "has two values of 'map'; keep one"),
    ("map 301 0.5\nmap 302 high\n", "'map' is 'high'; expected a finite number"),
    ("P_5 301 0.5\nP_5 302 0.5\n", "are in column 'P_5'")])
def test_faults(text, error, folder):
    good = "map 301 0.5\nmap 302 0.4\n"
    path = folder({"a.txt": good, "b.txt": text})
    with pytest.raises(InputError, match=error):
        make([path / "a.txt", path / "b.txt"], Request(score=() if "P_5" in error else ("map",)))


def test_a_measure_that_no_file_has_is_suggested(evaluated, folder, registry):
    path = folder({"task.toml": """manifest = 1
task = { id = "own" }
test_set = [{ name = "test", gold = "bm25.eval", format = "scores", options = { syntax = "trec_eval" } }]
submission = { options = { score = "mapp" } }
metric = [{ name = "Mean", options = { better = "higher" } }]
submit = [{ file = "{system}.eval" }]
"""})
    error = registry("run", path / "task.toml", exit_code=3).stderr
    assert "the measure 'mapp' is missing; did you mean 'map'?" in error
    (path / "task.toml").write_text((path / "task.toml").read_text().replace(
        '"trec_eval"', '"trec_eval", columns = ["item", "value"]'))
    assert "with syntax = \"trec_eval\" the columns are measure, value" in registry(
        "run", path / "task.toml", exit_code=3).stderr


def test_several_measures_are_asked_about(evaluated, tmp_path):
    with pytest.raises(QuestionError) as question:
        make([tmp_path / f"{system}.eval" for system in SYSTEMS], Request())
    assert "--score map" in question.value.options
    assert "--score num_ret" in question.value.options[-1:]
