"""The command line: what commands print where, which database they mean, and what they cost."""

import csv
import io
import math
import os
import subprocess
import sys

import pytest
import typer

from registry.cli import app
from registry.cli.commands import LazyCommand
from registry.cli.study import group as studies
from registry.metrics import METRICS
from registry.readers import READERS
from registry.reports.columns import BOARD_KEYS, PAIR_KEYS
from registry.significance import CORRECTIONS, OVERALL_TESTS, TESTS


def test_results_go_to_stdout_and_the_rest_to_stderr(task, registry):
    done = registry("run", task.write())
    assert done.stdout.splitlines()[0].split("\t") == list(BOARD_KEYS)
    assert "3 added" in done.stderr
    assert registry("pairs").stdout.splitlines()[0].split("\t") == list(PAIR_KEYS)


def test_the_contract_of_board_and_pairs(task, registry, scored):
    """By item, so that the intervals are those of six independent items."""
    task.significance["unit"] = "item"
    scored(task)
    board = registry("board", "small", "--format", "json").json
    assert [(r["rank"], r["rank_low"], r["rank_high"], r["cluster"], r["system"], r["submission"]) for r in board] == [
        (1, 1, 3, 1, "a", "a/a@1"), (2, 1, 3, 1, "b", "b/b@1"), (2, 1, 3, 1, "c", "c/c@1")]
    assert {r["metric"]: r["metric_name"] for r in board} == {"acc": "Accuracy"}
    assert all(r["track"] is None and r["facet"] is None for r in board)
    # Wilson's lower end of 5 of 6, and Poisson's of 1 failure, and of 3: half of chi-squared's 5 % of 2 and 6 degrees
    assert [(r["ci_low"], r["ci_high"]) for r in board[:2]] == [
        pytest.approx((0.436497, 1 + math.log(0.95) / 6), abs=1e-5),
        pytest.approx((1.635383 / 12, 1 - 1.635383 / 12), abs=1e-5)]
    (row, *_) = registry("pairs", "--metric", "acc", "--format", "json").json
    assert (row["test"], row["method"], row["unit"], row["family_size"], row["resamples"], row["seed"]) == (
        "permutation", "exact", "item", 3, None, None)


@pytest.mark.parametrize("command", ["board", "pairs"])
def test_every_format_shows_every_row(task, registry, scored, command):
    scored(task)
    rows = registry(command, "--format", "json").json
    assert len(list(csv.DictReader(io.StringIO(registry(command, "--format", "csv").stdout)))) == len(rows) == 3
    assert len(registry(command, "--format", "tsv").stdout.splitlines()) == 4
    for format_ in ("table", "md"):
        shown = registry(command, "--format", format_).stdout
        assert all(name in shown for name in "abc")
        assert rows[0]["signature"].replace("|", "\\|" if format_ == "md" else "|").split("\\")[0] in shown


def test_one_command_per_arrow_gives_what_run_gives(task, registry, scored, tmp_path):
    scored(task, db="whole.duckdb")
    registry("init", "--db", "steps.duckdb")
    registry("apply", task.manifest, "--db", "steps.duckdb")
    assert "no comparison" in registry("board", "--db", "steps.duckdb", exit_code=4).stderr
    assert "is not scored by acc yet" in registry("compare", "--db", "steps.duckdb", exit_code=4).stderr
    registry("score", "--db", "steps.duckdb")
    registry("compare", "small", "--db", "steps.duckdb")
    assert registry("board", "--db", "steps.duckdb").stdout == registry("board", "--db", "whole.duckdb").stdout


def test_which_database_is_meant(task, registry, tmp_path, monkeypatch):
    """The flag beats the environment, that beats the nearest registry.toml, that beats ./registry.duckdb."""
    (tmp_path / "inner" / "deep").mkdir(parents=True)
    (tmp_path / "inner" / "registry.toml").write_text('database = "configured.duckdb"')
    monkeypatch.chdir(tmp_path / "inner" / "deep")
    registry("init")
    assert (tmp_path / "inner" / "configured.duckdb").exists()
    monkeypatch.setenv("REGISTRY_DB", str(tmp_path / "env.duckdb"))
    registry("init")
    assert (tmp_path / "env.duckdb").exists()
    registry("init", "--db", tmp_path / "flag.duckdb")
    assert (tmp_path / "flag.duckdb").exists()
    monkeypatch.delenv("REGISTRY_DB")
    monkeypatch.chdir(tmp_path)
    registry("init")
    assert (tmp_path / "registry.duckdb").exists()
    (tmp_path / "registry.toml").write_text('databse = "x"')
    assert "did you mean 'database'" in registry("init", exit_code=3).stderr


def test_init_creates_once(registry):
    assert "created" in registry("init").stderr
    assert "nothing changed" in registry("init").stderr


def test_check_touches_no_database(task, registry, tmp_path):
    assert "3 submissions checked" in registry("check", task.write()).stderr
    one = ("check", task.folder / "systems" / "a.tsv", "--task", task.manifest)
    assert "1 submission checked" in registry(*one).stderr
    (task.folder / "systems" / "b.tsv").write_text("i0\tyes\n")
    (task.folder / "systems" / "c.tsv").write_text("i0 yes\n")
    told = registry("check", task.manifest, exit_code=3).stderr
    assert "b.tsv: item 'i1': it has no answer (5 of 6 items have this problem)" in told
    assert "c.tsv:1: the line has 1 column; expected 2" in told
    assert "b.tsv" in registry("check", task.folder / "systems" / "b.tsv", "--task", task.manifest, exit_code=3).stderr
    assert not list(tmp_path.glob("[!.]*.duckdb*"))


def test_lists(task, registry, scored):
    for thing, known in (("metrics", METRICS), ("readers", READERS), ("tests", [*TESTS, *OVERALL_TESTS]),
                         ("corrections", CORRECTIONS)):
        listed = registry("list", thing, "--format", "json").json
        assert [row["id"] for row in listed] == list(known)
    scored(task)
    assert [r["id"] for r in registry("list", "tasks", "--format", "json").json] == ["small"]
    assert [r["id"] for r in registry("list", "submissions", "--format", "json").json] == [
        f"small/test/{s}/{s}@1" for s in "abc"]
    assert [(r["id"], r["command"]) for r in registry("list", "runs", "--format", "json").json] == [(1, "run")]


def test_queries(task, registry, scored):
    scored(task)
    found = registry("query", "SELECT system, rank FROM leaderboard ORDER BY position", "--format", "csv")
    assert found.stdout == "system,rank\na,1\nb,2\nc,2\n"
    assert registry("query", "SELECT 1 AS a, 2 AS a", "--format", "tsv").stdout == "a\ta_2\n1\t2\n"
    assert registry("query", "SELECT 1 AS a, 2 AS a, 3 AS a_2, [1, 'nan'::DOUBLE] AS n", "--format", "json").json == [
        {"a": 1, "a_3": 2, "a_2": 3, "n": [1, None]}]
    assert "exactly one SELECT" in registry("query", "DROP TABLE task", exit_code=3).stderr


def run_process(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "registry", *arguments], capture_output=True, text=True, check=False,
                          **options)


@pytest.mark.parametrize(("group", "commands"), [((), typer.main.get_command(app).commands),
                                                 (("study",), studies.commands)], ids=["registry", "study"])
def test_help_cuts_no_line_of_the_list_of_commands(group, commands):
    told = run_process(*group, "--help", env={**os.environ, "COLUMNS": "80"}).stdout
    listed = [line for line in told.partition("Options:\n")[0].splitlines()[4:] if line.startswith("  ")]
    assert len(listed) == len(commands)
    assert all(line.endswith(".") and not line.endswith("...") for line in listed)


@pytest.mark.parametrize("group", [typer.main.get_command(app), studies], ids=["registry", "study"])
def test_a_summary_is_the_first_sentence_of_the_help_of_its_command(group):
    """It is written twice, so that `--help` imports no command."""
    for name, command in group.commands.items():
        assert isinstance(command, LazyCommand)
        assert command.load(name).help.partition("\n\n")[0] == command.help


def test_a_command_imports_no_other_command():
    code = "import sys; from registry.cli import app; app(sys.argv[1:], standalone_mode=False); print(*sys.modules)"
    for arguments, expected in (
            (["--help"], set()), (["study", "--help"], {"study"}), (["init", "--help"], {"evaluate"})):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
        imported = {module.split(".")[2] for module in done.stdout.split() if module.startswith("registry.cli.")}
        commands = {command.target.split(":")[0] for command in typer.main.get_command(app).commands.values()}
        commands -= {"completion"}  # options get the candidates for their names from there
        assert imported & commands == expected


def test_usage_errors_exit_with_2(registry):
    assert run_process("bord").returncode == 2
    registry("list", "things", exit_code=2)
    registry("submit", "small", exit_code=2)


def test_a_reader_that_goes_away_is_no_error(task, scored, tmp_path):
    scored(task)
    done = subprocess.run(f"{sys.executable} -m registry pairs | true", shell=True, capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert "Traceback" not in done.stderr


def test_every_command_that_writes_waits_for_its_turn():
    """Who writes can be named in the log, and how long to wait can be said."""
    commands = typer.main.get_command(app).commands
    flags = {name: {flag for option in command.load(name).params for flag in option.opts}
             for name, command in commands.items()}
    writing = {name for name, of in flags.items() if "--actor" in of}
    assert writing >= {"run", "apply", "submit", "import", "score", "compare", "site"}
    assert [name for name in writing if "--wait" not in flags[name]] == []
