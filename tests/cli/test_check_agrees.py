"""What `run` refuses, `check` refuses first: on every task of the suite, and on mutated ones.

`pytest tests/cli/test_check_agrees.py --hypothesis-profile thorough` tries 200 mutated tasks.
"""

import re
import shutil
import tempfile
import tomllib
from functools import cache
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from registry.cli import app
from registry.manifest import format_toml
from registry.metrics import METRICS
from registry.readers import READERS
from registry.significance import CORRECTIONS, TESTS
from tests.conftest import ROOT
from tests.thorough import keep_each

FOLDERS = [ROOT / "sample_data" / name for name in ("stance", "relations")] + sorted(
    folder for folder in (ROOT / "tests" / "fuzz" / "seeds").iterdir() if (folder / "task.toml").exists())
EXAMPLES = settings.default.max_examples if settings.default.max_examples > 100 else 10
MISSING = ["reject", "worst", "drop", "own"]
LIKELY = {  # what may well stand at a key
    "significance": {
        "test": list(TESTS), "unit": ["item", "cluster", "response"], "correction": list(CORRECTIONS),
        "strata": ["document", "domain"], "runs": ["random"], "overall": ["cochran", "friedman"],
        "alternative": ["greater"], "candidate": ["x", "cedar-1"], "interval": ["percentile", "bca"],
        "resolve": [1000]},
    "submission": {"missing": MISSING, "tokens": ["warn"], "track": ["open"], "options": [{}]},
    "metric": {"name": list(METRICS), "options": [{}, {"type": "x"}, {"worst": 0.0}, {"best": 3}], "primary": [True]},
    "test_set": {"cluster": ["document", "domain"], "facets": [["document"], ["domain"]], "references": [[]],
                 "attributes": ["absent"], "options": [{}], "format": list(READERS), "gold": ["../x", "absent"]},
    "task": {"version": ["0", "2"], "id": ["other"]},
    "submit": {
        "file": ["{system}.{run}", "{team}.{system}", "{system}", "*"], "system": ["x", "{system}-{team}", "a/b"],
        "team": ["x", "{system}"], "version": ["2", "{run}"], "test_set": ["test", "dev", "{team}"],
        "kind": ["baseline"], "withdrawn": [True], "missing": MISSING, "exclude": [["*"], ["x*"], ["absent"]],
        "track": ["open", "{team}"], "options": [{}]},
}
UNLIKELY = ["", "x", 0, -1, 0.5, True, [], {}, ["x"], {"x": 1}]


def command(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)


def told(result, severity):
    return [line.removeprefix(f"{severity}: ") for line in result.stderr.splitlines()
            if line.startswith(f"{severity}: ")]


def agree(manifest, root, db):
    """Hold what `check` says of a task against what `run` then says of it; gives the exit status of both, and errors.

    A registry that is there stays as it is in a check, and as a refused run has found it.
    """
    before = db.read_bytes() if db.exists() else None
    options = ("--root", root, *(("--db", db) if before else ()))
    checked = command("check", manifest, *options, "--max-errors", "0")
    assert (db.read_bytes() if db.exists() else None) == before
    ran = command("run", manifest, "--root", root, "--db", db)
    assert (checked.exit_code == 0) == (ran.exit_code == 0), f"check: {checked.stderr}\nrun: {ran.stderr}"
    if ran.exit_code:
        assert set(told(ran, "error")) <= set(told(checked, "error")), f"check: {checked.stderr}\nrun: {ran.stderr}"
        assert (db.read_bytes() if db.exists() else None) == before
    boards = [line for line in told(ran, "warning") if re.match(r"[\w.-]+/\w+, ", line)]
    assert set(boards) <= set(told(checked, "warning")), f"check: {checked.stderr}\nrun: {ran.stderr}"
    return ran.exit_code, told(checked, "error")


@pytest.mark.parametrize("manifest", keep_each(4, sorted((ROOT / "sample_data").glob("*/task.toml")) + sorted(
    (ROOT / "tests" / "fuzz" / "seeds").glob("*/task.toml"))), ids=lambda path: path.parent.name)
def test_tasks_of_the_suite(manifest, tmp_path):
    agree(manifest, manifest.parent, tmp_path / "registry.duckdb")


def small(folder):
    """A task's manifest with few draws."""
    tables = tomllib.loads((folder / "task.toml").read_text())
    tables.setdefault("significance", {})["resamples"] = 100
    return format_toml(tables)


@cache
def made(folder):
    """The registry that a task with few draws makes, as bytes; None where it is refused."""
    with tempfile.TemporaryDirectory() as where:
        task, db = Path(where) / "task", Path(where) / "registry.duckdb"
        shutil.copytree(folder, task)
        (task / "task.toml").write_text(small(folder))
        command("run", task / "task.toml", "--db", db)
        return db.read_bytes() if db.exists() else None


def change_tables(draw, tables):
    """Change a key of a manifest: add, drop or misspell it, or give it another value."""
    name = draw(st.sampled_from([*LIKELY, "significance", "metric", "submission"]))
    found = tables.setdefault(name, {} if name in ("significance", "submission", "task") else [])
    if isinstance(found, list) and (not found or draw(st.integers(0, 4)) == 0):
        found.append(dict(found[0]) if found else {"file": "{system}.tsv"})
    table = draw(st.sampled_from(found)) if isinstance(found, list) else found
    key = draw(st.sampled_from(sorted({*LIKELY[name], *table})))
    match draw(st.sampled_from(["drop", "misspell", "misspell table", "unlikely", *8 * ["likely"]])):
        case "drop":
            table.pop(key, None)
        case "misspell" if key in table:
            table[key[:-1]] = table.pop(key)
        case "misspell table":
            tables[draw(st.sampled_from([name[1:], f"{name}s"]))] = tables.pop(name)
        case "unlikely":
            table[key] = draw(st.sampled_from(UNLIKELY))
        case _:
            table[key] = draw(st.sampled_from(LIKELY[name].get(key, UNLIKELY)))


def change_lines(draw, path):
    """Change a line of a file: drop it or what follows, repeat it, or change one of its cells or its first number."""
    lines = path.read_bytes().split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    match draw(st.sampled_from(["drop", "repeat", "cell", "cell", "cut", "number"])):
        case "drop":
            del lines[at]
        case "repeat":
            lines.insert(at, lines[at])
        case "cut":
            del lines[at:]
        case "number":
            other = draw(st.sampled_from([b"99999999999999999999", b"0.3", b"nan", b""]))
            lines[at] = re.sub(rb"\d+", other, lines[at], count=1)
        case _:
            cells = re.split(rb"([\t, ])", lines[at])
            cells[draw(st.integers(0, len(cells) - 1))] = draw(st.sampled_from([b"", b"x", b"yes", b"1", b"O"]))
            lines[at] = b"".join(cells)
    path.write_bytes(b"\n".join(lines))


@settings(max_examples=EXAMPLES, phases=[Phase.generate], report_multiple_bugs=False)  # the first is told as it is
@given(data=st.data())
def test_what_run_refuses_of_a_mutated_task_check_refuses_first(data):
    folder = data.draw(st.sampled_from(FOLDERS))
    with tempfile.TemporaryDirectory() as where:
        task, db = Path(where) / "task", Path(where) / "registry.duckdb"
        shutil.copytree(folder, task)
        tables = tomllib.loads(small(folder))
        for _ in range(data.draw(st.sampled_from([1, 1, 1, 2, 3]))):
            if data.draw(st.booleans()):
                change_tables(data.draw, tables)
            else:
                files = sorted(path for path in task.rglob("*") if path.is_file() and path.suffix != ".toml")
                change_lines(data.draw, data.draw(st.sampled_from(files)))
        if data.draw(st.booleans()) and (registry := made(folder)):
            db.write_bytes(registry)
        (task / "task.toml").write_text(format_toml(tables))
        agree(task / "task.toml", task, db)
