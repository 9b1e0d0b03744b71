"""`registry import inspect`: `.eval` logs as Inspect's EvalRecorder writes them (0.3.285)."""

import importlib.util
import io
import json
import struct
import sys
import zipfile
import zlib
from itertools import pairwise
from types import SimpleNamespace

import pytest
import zstandard

from registry.errors import InputError
from registry.importers import IMPORTERS, inspect
from tests.importers import scores


def sample(item, epoch, scores, **more):
    given = {scorer: {"value": value, "answer": "x", "history": []} for scorer, value in scores.items()}
    return {"id": item, "epoch": epoch, "input": "?", "target": f"t{item}", "completed": True, "scores": given, **more}


def header(task="gsm8k", model="acme/aspen", *, created="2027-03-01T12:00:00+00:00", status="success", **more):
    return {"version": 2, "status": status, "plan": {}, "eval": {
        "task": task, "model": model, "created": created, "dataset": {}, "config": {}}, "invalidated": False, **more}


def members(head, samples):
    """A log's members; samples are written in full too, where all that a summary says is said again."""
    full = {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples}
    return {"_journal/start.json": {"version": 2}, **full, "summaries.json": samples, "header.json": head}


def deflated(contents, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as folder:
        for name, content in contents.items():
            folder.writestr(name, content if isinstance(content, bytes | str) else json.dumps(content))
    return file.getvalue()


def zstandard_zip(contents, *, frames=2, change=lambda content: content):
    """A zip file with compression method 93, as Inspect writes it; a large member is several frames."""
    body, directory = b"", b""
    for name, content in contents.items():
        plain = json.dumps(content).encode()
        cuts = [len(plain) * n // frames for n in range(frames + 1)]
        folded = b"".join(zstandard.compress(plain[a:b]) for a, b in pairwise(cuts))
        common = struct.pack("<5H3I2H", 63, 0, 93, 0, 33, zlib.crc32(plain), len(folded), len(plain), len(name), 0)
        directory += b"PK\1\2" + struct.pack("<H", 63) + common + struct.pack("<3H2I", 0, 0, 0, 0, len(body)) + (
            name.encode())
        body += b"PK\3\4" + common + name.encode() + change(folded)
    n = len(contents)
    return body + directory + b"PK\5\6" + struct.pack("<4H2IH", 0, 0, n, n, len(directory), len(body), 0)


@pytest.fixture
def log(tmp_path):
    def write(name, head, samples, pack=deflated):
        path = tmp_path / "logs" / f"{name}.eval"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(pack(members(head, samples)))
        return path

    return write


@pytest.mark.parametrize("pack", [deflated, zstandard_zip])
def test_a_log_of_every_model_becomes_its_submission(registry, log, pack):
    log("1", header(), [sample(n, 1, {"match": v}) for n, v in enumerate("CIPN")], pack)
    log("2", header(model="acme/birch"), [sample(n, 1, {"match": v}) for n, v in enumerate([True, "yes", 0.5, "1"])],
        pack)
    registry("import", "inspect", "logs")
    assert scores(registry) == [("gsm8k.match", "acme", "aspen", 1.5 / 4), ("gsm8k.match", "acme", "birch", 3.5 / 4)]
    board = registry("run", "logs/task.toml", "--format", "json").json
    assert [(row["rank"], row["system"]) for row in board] == [(1, "birch"), (2, "aspen")]
    assert "nothing changed" in registry("import", "inspect", "logs").stderr


def test_epochs_are_runs(registry, log):
    log("1", header(), [sample("a", 1, {"match": "C"}), sample("a", 2, {"match": "I"}), sample("b", 1, {"match": "C"}),
                        sample("b", 2, {"match": "C"})])
    registry("import", "inspect", "logs")
    assert registry("query", "SELECT avg(score) AS score FROM item_score", "--format", "json").json == [{"score": 0.75}]
    assert scores(registry) == [("gsm8k.match", "acme", "aspen", 0.75)]
    assert registry("query", "SELECT count(DISTINCT replicate) AS n FROM replicate_score", "--format", "json").json == [
        {"n": 2}]


def test_scorers_and_the_values_of_one_are_test_sets(registry, log):
    log("1", header(task="suite/qa"), [sample(1, 1, {"match": 1, "judge": {"style": 3, "truth": 0.5}, "text": "good"})])
    assert "scorer 'text' has the value \"good\", which is not a number; choose other scorers" in registry(
        "import", "inspect", "logs", exit_code=3).stderr
    registry("import", "inspect", "logs", "--option", 'scorers=["match", "judge"]')
    assert [row[::3] for row in scores(registry)] == [("suite_qa.judge.style", 3), ("suite_qa.judge.truth", 0.5),
                                                      ("suite_qa.match", 1)]
    assert "no scorer 'matc'; did you mean 'match'" in registry("import", "inspect", "logs", "--option", "scorers=matc",
                                                               exit_code=3).stderr


@pytest.mark.parametrize("change", [{"error": "out of memory"}, {"completed": False}, {"scores": {}},
                                    {"scores": {"match": {"value": float("nan")}}}],
                         ids=["error", "not completed", "no score", "unscored"])
def test_only_finished_samples_count(registry, log, change):
    others = [sample(2, 1, {"match": "C"}), sample(3, 1, {"match": "I"})]
    path = log("1", header(), [sample(1, 1, {"match": "C"}) | change, *others])
    log("2", header(model="birch"), [sample(1, 1, {"match": "C"}), *others])
    assert f"{path.name}/summaries.json: 'acme/aspen' has no score of 1 item of 3 in 'gsm8k.match', such as '1'" in (
        registry("import", "inspect", "logs", exit_code=3).stderr)
    registry("import", "inspect", "logs", "--option", "missing=drop")
    assert [row["score"] for row in registry("run", "logs/task.toml", "--format", "json").json] == [0.5, 0.5]


def test_samples_that_were_declared_invalid_do_not_count(registry, log):
    bad = sample(1, 1, {"match": "C"}, invalidation={"author": "us", "reason": "leaked"})
    log("1", header(invalidated=True), [bad, sample(2, 1, {"match": "I"})])
    assert "1.eval/samples/1_epoch_1.json: 'acme/aspen' has no score of 1 item" in registry(
        "import", "inspect", "logs", exit_code=3).stderr
    registry("import", "inspect", "logs", "--option", "missing=drop")
    assert scores(registry) == [("gsm8k.match", "acme", "aspen", 0)]


def test_evaluations_that_did_not_succeed(registry, log):
    log("1", header(status="cancelled"), [sample(1, 1, {"match": "C"})])
    assert "the evaluation has the status 'cancelled'; --option missing=drop imports its finished" in registry(
        "import", "inspect", "logs", exit_code=3).stderr
    registry("import", "inspect", "logs", "--option", "missing=drop")
    assert scores(registry)[0][3] == 1


def test_logs_of_the_same_model_and_task(registry, log):
    log("b", header(created="2027-03-01T00:00:00Z"), [sample(1, 1, {"match": "C"})])
    log("a", header(created="2027-03-02T00:00:00Z"), [sample(1, 1, {"match": "I"})])
    assert "b.eval: this is a second log of 'acme/aspen' on 'gsm8k', after logs/a.eval" in registry(
        "import", "inspect", "logs", exit_code=3).stderr
    registry("import", "inspect", "logs", "--option", "repeated=latest")
    assert scores(registry)[0][3] == 0
    registry("import", "inspect", "logs", "--option", "repeated=runs", "--task", "runs")
    assert scores(registry, "WHERE task = 'runs'")[0][3] == 0.5


def test_an_id_that_means_another_sample_is_found(registry, log):
    log("1", header(), [sample(1, 1, {"match": "C"})])
    log("2", header(model="birch"), [sample(1, 1, {"match": "C"}, target="else")])
    assert "item '1': the target differs from the target in logs/1.eval/summaries.json, so this is not" in registry(
        "import", "inspect", "logs", exit_code=3).stderr


@pytest.mark.parametrize(("content", "says"), [
    (b"no zip", "1.eval: not a zip file"),
    (deflated({"a": "1"}), "no file 'header.json' in the archive, so this is not an Inspect log, or the evaluation "
                           "has not ended"),
    (deflated({"../header.json": "{}"}), "the path '../header.json' in the archive points outside"),
    (deflated({"/header.json": "{}"}), "the path '/header.json' in the archive points outside"),
    (deflated({"header.json": "[" * 100_000}), "header.json: not JSON: nested too deeply"),
    (deflated({"header.json": "{}"}), "header.json: no key 'status'"),
    (deflated({"header.json": header(task=7)}), "header.json: 'eval.task' is 7; expected text"),
    (deflated({"header.json": b"\xff\xfe\xfa"}), "header.json: not JSON"),
    (deflated({"header.json": header(), "summaries.json": "{}"}), "summaries.json: this is not a list of samples"),
    (deflated({"header.json": header(), "summaries.json": "[1]"}), "summaries.json: a sample is not a JSON object"),
    (deflated({"header.json": header(), "summaries.json": [{"id": 1}]}), "summaries.json: no key 'epoch'"),
    (deflated({"header.json": header(), "summaries.json": []}), "no sample has a score"),
    (deflated({"header.json": header(), "summaries.json": [sample(1, 1, {"m": "C"})] * 2}),
     "item '1 (epoch 1)': occurs twice"),
    (deflated(members(header(), [sample(1, 1, {"m": [1, 2]})])),
     "scorer 'm' has the value [1, 2], which is not a number"),
    (deflated(members(header(), [sample(1, 1, {"m": 10**400})])), "which is not a number"),
    (deflated(members(header(), [sample("\x1b[2J", 1, {"m": 1})])),
     "is empty, or has a control or invisible character"),
    (deflated({"header.json": header()})[:-30], "1.eval: not a zip file"),
    (zstandard_zip({"header.json": header()}, change=lambda b: b[:9] + b"\0\0\0" + b[12:]), "cannot be unpacked"),
    (deflated({"header.json": header()}, zipfile.ZIP_LZMA), "the compression method 14 is not supported; use deflate"),
])
def test_what_is_wrong_is_named_with_its_member(registry, tmp_path, content, says):
    (tmp_path / "1.eval").write_bytes(content)
    assert says in registry("import", "inspect", "1.eval", exit_code=3).stderr


def test_what_inspect_is_given_was_looked_at_before(tmp_path, monkeypatch):
    """Deeply nested JSON makes Inspect's own reader end the process; what `make interchange` reads by it is real."""
    given = []

    def read_eval_log(file, header_only):
        given.append(file)
        raise KeyError("status")

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setitem(sys.modules, "inspect_ai", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "inspect_ai.log", SimpleNamespace(read_eval_log=read_eval_log))
    for name, content, says in (
            ("a.eval", deflated({"header.json": "{}", "samples/1.json": "[" * 100_000}), "1.json: not JSON: nested"),
            ("2027-03-01T00-00-00_t_x.json", '{"eval": ' + "[" * 100_000, "not JSON: nested too deeply"),
            ("2027-03-01T00-00-00_t_y.json", "{}", "no key 'eval'")):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(InputError, match=says):
            IMPORTERS["inspect"]().read(tmp_path / name)
    assert given == []
    (tmp_path / "b.eval").write_bytes(deflated(members(header(), [sample(1, 1, {"m": 1})])))
    with pytest.raises(InputError, match="Inspect cannot read this log: 'status'"):
        IMPORTERS["inspect"]().read(tmp_path / "b.eval")


@pytest.mark.parametrize("pack", [deflated, zstandard_zip])
def test_bombs_are_refused(registry, tmp_path, monkeypatch, pack):
    monkeypatch.setattr(inspect, "MAX_MEMBER", 2**20)
    (tmp_path / "1.eval").write_bytes(content := pack({"header.json": "0" * 2**24}))
    assert len(content) < 2**16
    assert "1.eval/header.json: the file unpacks to more than 1 MiB" in registry("import", "inspect", "1.eval",
                                                                        exit_code=3).stderr


def test_what_installs_zstandard_is_said(registry, log, monkeypatch):
    log("1", header(), [sample(1, 1, {"match": "C"})], zstandard_zip)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert "this log is compressed with zstandard; run pip install 'evalregistry[inspect]'" in registry(
        "import", "inspect", "logs", exit_code=3).stderr


def test_results_that_are_none_are_passed_over(tmp_path):
    """A scorer that is a list; scores whose sum is no number any more, though their mean is."""
    large = [sample(n, epoch, {"m": 1e308}) for n in range(2) for epoch in (1, 2)]
    by = {"scorer": "m", "name": "m", "reducer": "max; rm -r x"}
    (tmp_path / "2027-03-01T00-00-00_t_x.json").write_text(json.dumps(header() | {"samples": large, "results": {
        "scores": [{"name": "m", "scorer": ["m"]}, by,
                   {"name": "m", "scorer": "m", "metrics": {"mean": {"value": 0.5}}}]}}))
    assert IMPORTERS["inspect"]().read(tmp_path).notes == (
        "the epochs of 'gsm8k.m' are imported as runs, but the log also combines them by 'max; rm -r x'; add --option "
        "'reducer=max; rm -r x' to import the combined scores",
        "'gsm8k.m' is 1e+308 over the samples of 'acme/aspen', but 0.5 in its log")
