"""Competition bundles for Codabench: what the platform takes, and what its scoring program does with submissions."""

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from registry.competitions import scoring_program
from registry.competitions.bundle import format_yaml as written
from registry.competitions.bundle import write_zip
from registry.store import sources
from registry.store.database import Database
from tests.competitions.checker import problems_of
from tests.conftest import ROOT
from tests.label_tasks import second_test_set

BLOCKED = ("duckdb", "sqlalchemy", "alembic", "scipy", "sacrebleu", "jinja2", "typer", "rich", "packaging")
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
WHEELS = {  # made up, each with what it needs; their modules raise, so that what is imported is that of Python
    "numpy-2.1-cp{0}-cp{0}-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl": (),
    "pydantic-2.11-py3-none-any.whl": ("pydantic-core==2.33.2", "email-validator>=2; extra == 'email'",
                                       "tomli>=2; python_version < '3.11'"),
    "pydantic_core-2.33.2-cp{0}-cp{0}-manylinux2014_x86_64.whl": (),
    "pydantic_core-2.40-cp{0}-cp{0}-manylinux2014_x86_64.whl": (),
    "threadpoolctl-3.9-py3-none-any.whl": (), "threadpoolctl-3.1-py3-none-any.whl": (),
}


def write_wheels(folder, wheels=WHEELS, modules=BLOCKED):
    folder.mkdir(exist_ok=True)
    for name, needs in wheels.items():
        path = folder / name.format(PYTHON.replace(".", ""))
        distribution, version = path.name.split("-")[:2]
        lines = ["Metadata-Version: 2.1", f"Name: {distribution}", f"Version: {version}",
                 *(f"Requires-Dist: {of}" for of in needs)]
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{distribution}-{version}.dist-info/METADATA", "\n".join(lines) + "\n\nAbout it.\n")
            for module in modules if distribution == "threadpoolctl" else ():
                archive.writestr(f"{module}/__init__.py", f"raise ImportError('{module} is not to be imported')\n")
    return folder


@pytest.fixture
def bundle(registry, tmp_path):
    """Export a task of `registry.duckdb`; gives the bundle's path and the command's outcome."""
    wheels = write_wheels(tmp_path / "wheels")  # once: a zip file tells when it was written

    def export(task, *options, name="competition.zip", exit_code=0):
        done = registry("export", task, "codabench-bundle", "-o", tmp_path / name, "--python", PYTHON, "--wheels",
                        wheels, *options, exit_code=exit_code)
        return tmp_path / name, done

    return export


def unpacked(path, folder):
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder


def put(folder, reference, files):
    """The folders of one run of a scoring program, as the platform has them: input/ref, input/res and output."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(reference, folder / "input" / "ref")
    (folder / "output").mkdir()
    (folder / "input" / "res").mkdir()
    for name, content in {"metadata": b"exitCode: 0\n", **files}.items():
        path = folder / "input" / "res" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    return str(folder / "input"), str(folder / "output")


def results(folder):
    scores, page = folder / "output" / "scores.json", (folder / "output" / "detailed_results.html").read_text()
    return json.loads(scores.read_text()) if scores.exists() else None, page


def test_the_checker_takes_the_platforms_own_bundle_and_refuses_broken_ones(real_data, tmp_path):
    path = real_data("interchange") / "codabench" / "competition_v2_multi_task.zip"
    assert problems_of(path) == []
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    told = yaml.safe_load(files["competition.yaml"])
    broken = {
        "competition has no terms": {**told, "terms": None} | {"terms": None},
        "tasks[0].scoring_program names nowhere/": {**told, "tasks": [{**told["tasks"][0],
                                                                       "scoring_program": "nowhere/"}]},
        "phases[0] names task 7": {**told, "phases": [{**told["phases"][0], "tasks": [7]}]},
        "phases[1] begins before": {**told, "phases": [*told["phases"], {**told["phases"][0], "index": 1}]},
        "two columns with the same key": {**told, "leaderboards": [{**told["leaderboards"][0], "columns": [
            {**of, "key": "same"} for of in told["leaderboards"][0]["columns"]]}]},
        "unknown key tittle": {**told, "tittle": "x"},
        "version is not 2": {**told, "version": 1},
    }
    for problem, changed in broken.items():
        write_zip(tmp_path / "broken.zip", files | {"competition.yaml": yaml.safe_dump(changed).encode()})
        assert any(problem.split(" is ")[0].partition(" has no ")[0] in found for found in problems_of(
            tmp_path / "broken.zip")), problem


def test_yaml_reads_what_was_written():
    hostile = {"texts": ["- x", "", "é\u2028\x85\x7f\ufeff", "😀", "'\"#&*!|>%@`", "yes", "2026-01-01", "null"],
               "n": [1, 0.5, True, None, []], "deep": {"list": [{"a": {"b": ["c"]}}, ["d", {"e": 1}]]}}
    assert yaml.safe_load(written(hostile)) == hostile


def test_a_bundle_is_one_that_the_platform_takes(scored, task, bundle, tmp_path):
    task.extra = second_test_set("dev.tsv", "file = 'systems/a.tsv'\nsystem = 'a'").replace(
        'name = "dev"\n', 'name = "dev"\ndeadline = 2027-02-01T12:00:00+01:00\n') + (
        "[[metric]]\nid = 'f1'\nname = 'LabelF'\nprimary = true\n")
    task.submission = {**task.submission, "limit_per_day": 3}
    manifest = task.write()
    (task.folder / "dev.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in task.gold.items()))
    manifest.write_text(manifest.read_text().replace(
        'file = "systems/{system}.tsv"', 'file = "systems/{system}.tsv"\ntest_set = "test"'))
    scored(manifest)
    path, done = bundle("small", "--start", "2027-01-01")
    assert "keep it private" in done.stderr
    assert problems_of(path) == []
    again, _ = bundle("small", "--start", "2027-01-01", name="again.zip")
    assert path.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        told = yaml.safe_load(archive.read("competition.yaml"))
        gold = b"".join(f"{k}\t{v}".encode() for k, v in [*task.gold.items()][:1])
        holding = {name.split("/")[0] for name in names if gold in archive.read(name)}
    assert holding == {"reference_data"}
    assert [name for name in names if name.endswith(".whl")] == [f"scoring_program/wheels/{of}" for of in sorted(
        name.format(PYTHON.replace(".", "")) for name in WHEELS if "2.40" not in name and "3.1-" not in name)]
    dev, test = told["phases"]
    assert (dev["start"], dev["end"], dev["tasks"]) == ("2027-01-01 00:00:00", "2027-02-01 11:00:00", [1])
    assert (test["start"], "end" in test, test["tasks"]) == ("2027-02-01 11:00:01", False, [0])
    assert (dev["max_submissions"], dev["max_submissions_per_day"]) == (0, 3)
    assert [(of["key"], of["sorting"], of["index"]) for of in told["leaderboards"][0]["columns"]] == [
        ("f1", "desc", 0), ("acc", "desc", 1)]
    assert told["docker_image"] == f"python:{PYTHON}-slim"
    for kit, of_phase in enumerate(("dev", "test")):  # the items of a later phase are not told in an earlier one
        assert [name for name in names if name.startswith(f"starting_kit/{kit}/") and name.endswith(".jsonl")] == [
            f"starting_kit/{kit}/{of_phase}.items.jsonl"]
    _, late = bundle("small", "--start", "2027-03-01", name="late.zip", exit_code=3)
    assert "give an earlier --start" in late.stderr
    assert not (tmp_path / "late.zip").exists()


@pytest.mark.parametrize("name", ["relations", "entities"])
def test_scores_are_those_of_the_board(scored, bundle, tmp_path, name):
    scored(ROOT / "sample_data" / name / "task.toml")
    path, _ = bundle(name)
    at = unpacked(path, tmp_path / "bundle")
    with Database(Path("registry.duckdb")).reading() as connection:
        board = connection.exec_driver_sql("SELECT submission, metric, score FROM submission_score").all()
        files = [(row.name, sources.fetch(connection, row.source_digest)) for row in connection.exec_driver_sql(
            "SELECT r.name, s.source_digest FROM ranked_submission r JOIN submission_source s USING (submission_id)")]
    assert len(files) > 1
    for submission, content in files[:2]:
        arguments = put(tmp_path / "run", at / "reference_data" / "test", {"sub/out.txt": content})
        assert scoring_program.main(arguments) == 0
        scores, page = results(tmp_path / "run")
        assert scores == {row.metric: row.score for row in board if row.submission == submission}
        assert all(repr(score) in page for score in scores.values())


def test_the_program_runs_without_database_and_network(scored, task, bundle, tmp_path):
    """By the metric whose labels are numbered in a registry, and where the temporary folder's modules come first."""
    task.extra = "[[metric]]\nid = 'f1'\nname = 'LabelF'\n[[metric]]\nid = 'mcc'\nname = 'MCC'\n"
    scored(task)
    path, _ = bundle("small")
    at = unpacked(path, tmp_path / "bundle")
    answers = "".join(f"{k}\t{v}\n" for k, v in task.systems["a"].items())
    arguments = put(tmp_path / "run", at / "reference_data" / "test", {"out.txt": answers.encode()})
    command = (at / "scoring_program" / "metadata.yaml").read_text().split()
    assert command[:2] == ["command:", "python3"]
    done = subprocess.run([sys.executable, *command[2:4], at / "scoring_program" / "score.py", *arguments],
                          capture_output=True, text=True, check=False, cwd=at / "scoring_program")
    assert (done.returncode, done.stderr) == (0, "")
    scores, page = results(tmp_path / "run")
    with Database(Path("registry.duckdb")).reading() as connection:
        assert scores == dict(connection.exec_driver_sql(
            "SELECT metric, score FROM submission_score WHERE submission = 'small/test/a/a@1'").all())
    assert scores["acc"] == 5 / 6
    assert "Accepted" in page
    (at / "scoring_program" / "python.txt").write_text("3.8\n")
    other = subprocess.run([sys.executable, "-I", "-B", at / "scoring_program" / "score.py", *arguments],
                           capture_output=True, text=True, check=False)
    assert (other.returncode, "python:3.8-slim" in other.stderr) == (2, True)


def zipped(files):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return held.getvalue()


def test_what_is_wrong_or_hostile_is_refused_in_words(scored, task, bundle, tmp_path, capsys):
    scored(task)
    path, _ = bundle("small")
    at = unpacked(path, tmp_path / "bundle")
    good = "".join(f"{k}\t{v}\n" for k, v in task.systems["a"].items())
    script = "<script>alert(1)</script>"

    def refused(files, told, then=lambda res: None):
        arguments = put(tmp_path / "run", at / "reference_data" / "test", files)
        then(tmp_path / "run" / "input" / "res")
        assert scoring_program.main(arguments) == 3
        scores, page = results(tmp_path / "run")
        said = capsys.readouterr().err
        assert scores is None
        assert told in said
        assert "Refused" in page
        assert "<script" not in page
        return said

    refused({}, "has no file")
    refused({"a.tsv": good.encode(), "b.tsv": good.encode()}, "2 files")
    refused({"a.tsv": good[6:].encode()}, "it has no answer")
    refused({"a.tsv": good.replace("i", "j").encode()}, "not in the gold")
    refused({f"{script}.tsv".replace("/", "_"): good.replace("i0", script).encode()}, "not in the gold")
    refused({"a.tsv": b"\xff" * 100}, "not UTF-8")
    refused({"a.zip": zipped({"a.tsv": good})}, "zip archive")
    refused({}, "a link", lambda res: (res / "a.tsv").symlink_to(tmp_path / "run/input/ref/gold/test/gold"))
    refused({}, "a link", lambda res: (res / "sub").symlink_to(tmp_path / "run/input/ref/gold"))
    refused({}, "a.tsv: this is not a regular file", lambda res: os.mkfifo(res / "a.tsv"))
    refused({}, "more than 10 levels of folders", lambda res: (res / "/".join("d" * 12)).mkdir(parents=True))
    others = "".join(f"{k}\tmaybe\n" for k in task.gold).encode()
    assert scoring_program.main(put(tmp_path / "run", at / "reference_data" / "test", {
        "__MACOSX/._a.tsv": b"x", ".DS_Store": b"x", "a.tsv": others})) == 0
    scores, page = results(tmp_path / "run")
    assert scores == {"acc": 0.0}
    assert "yes" not in page + capsys.readouterr().err, "what the gold's labels are is not told"


def test_a_wheel_that_is_missing_is_asked_for(scored, task, bundle, registry, tmp_path):
    scored(task)
    bundle("small")
    wheels = tmp_path / "wheels"
    for path in wheels.glob("pydantic_core*"):
        path.unlink()
    write_wheels(wheels, {"pydantic_core-2.33.2-cp39-cp39-win_amd64.whl": ()})
    fails = ["export", "small", "codabench-bundle", "-o", tmp_path / "other.zip", "--python", PYTHON]
    said = registry(*fails, "--wheels", wheels, exit_code=3).stderr
    assert "no wheel of pydantic-core==2.33.2 for CPython" in said
    assert "pip download --only-binary=:all:" in said
    assert "the folder does not exist" in registry(*fails, "--wheels", tmp_path / "none", exit_code=3).stderr
    assert not (tmp_path / "other.zip").exists()


def test_in_a_blind_phase_participants_see_no_scores(scored, task, registry, tmp_path):
    task.extra = "[board]\nhidden = true\n"
    scored(task)
    wheels, path = write_wheels(tmp_path / "wheels"), tmp_path / "blind.zip"
    asked = ["export", "small", "codabench-bundle", "-o", path, "--python", PYTHON, "--wheels", wheels]
    registry(*asked)
    assert problems_of(path) == []
    at = unpacked(path, tmp_path / "bundle")
    told = yaml.safe_load((at / "competition.yaml").read_text())
    assert told["leaderboards"][0]["hidden"]
    assert told["phases"][0]["hide_score_output"]
    answers = "".join(f"{k}\t{v}\n" for k, v in task.systems["a"].items())
    assert scoring_program.main(put(tmp_path / "run", at / "reference_data" / "test", {"a": answers.encode()})) == 0
    scores, page = results(tmp_path / "run")
    assert scores == {"acc": 5 / 6}
    assert "0.8" not in page
