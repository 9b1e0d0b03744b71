"""What leads people through the command line: groups, short forms, hints, completion, the manual, --verbose."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
import typer
from typer.completion import get_completion_inspect_parameters
from typer.testing import CliRunner

from registry.cli import app
from registry.cli.commands import STORE, TEST, WORK, group_parameters
from registry.cli.completion import SCRIPTS
from registry.references import load_references
from tests.generated_docs import MANUAL
from tests.manual_page import manual_page
from tests.needs import need

HOSTILE = """$(touch x)`touch y`\\$(touch z);'a' "b"\\ &|<>*?[c]{d}~#!=:@ é"""
SHELLS = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"],
          "fish": ["fish", "--no-config", "-i"]}


@cache
def program():
    return typer.main.get_command(app)


def commands():
    """Every command, with those of studies."""
    for name, lazy in program().commands.items():
        command = lazy.load(name)
        yield name, command
        yield from ((below, of.load(below)) for below, of in getattr(command, "commands", {}).items())


def values(*words):
    """Return the candidates for the last word."""
    get_completion_inspect_parameters()
    environment = {"_REGISTRY_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(["registry", *words]),
                   "COMP_CWORD": str(len(words))}
    return CliRunner().invoke(app, env=environment, prog_name="registry").stdout.split()


def test_a_short_form_means_the_same_everywhere():
    meant, named = defaultdict(set), defaultdict(set)
    for command, of in commands():
        for parameter in of.params:
            shorts = [flag for flag in parameter.opts if len(flag) == 2]
            (long, *_) = [flag for flag in parameter.opts if flag.startswith("--")] or [""]
            for flag in shorts:
                meant[flag].add(long)
            if long in ("--db", "--format", "--metric", "--test", "--output", "--dry-run", "--quiet", "--workers"):
                named[long].add((command, *shorts))
    assert all(len(longs) == 1 for longs in meant.values()), meant
    named["--format"].remove(("resample-train",))  # which is a reader there
    assert all(len({short for _, *short in of for short in short}) == 1 and all(len(one) == 2 for one in of)
               for of in named.values()), named


def test_options_of_a_long_command_are_in_groups():
    command = program().commands["compare"].load("compare")
    groups = dict(group_parameters(command, typer.Context(command)))
    assert {TEST, WORK, STORE} < groups.keys()
    assert sum("--correction" in flags for flags, _ in groups[TEST]) == 1
    short = program().commands["init"].load("init")
    assert list(dict(group_parameters(short, typer.Context(short)))) == ["Options"]


@pytest.mark.parametrize(("typed", "said"), [
    (("bord",), "did you mean `registry board`?"), (("power",), "did you mean `registry study power`?"),
    (("study", "board"), "did you mean `registry board`?"), (("study", "powr"), "`registry study power`"),
    (("xyzzy",), "`registry --help` lists all commands"), (("board", "--metrc", "x"), "options: --methods, --metric)"),
    (("board", "--zzz"), "'registry board -h'"),
    (("new", "t", "a.tsv", "--db", "x"), "`registry run TASK/task.toml --db FILE` stores the task"),
    (("-d", "x", "board"), "`registry COMMAND -d ...`"),
    (("run",), "`registry new TASK --gold"), (("page", "-o", "x"), "`registry list tasks` lists all names")])
def test_a_wrong_command_line_is_told_what_was_meant(registry, typed, said):
    assert said in registry(*typed, exit_code=2).stderr.replace("root ", "registry ")


def test_where_there_is_nothing_yet_the_next_step_is_told(registry, task):
    told = registry(exit_code=2).stderr.splitlines()
    assert len(told) == 3
    assert "`registry quick" in told[1]
    assert "`registry quick FILE... --keep TASK` creates one" in registry("board", exit_code=3).stderr
    task.write()
    assert "`registry run task/task.toml`" in registry(exit_code=2).stderr
    assert "`registry run task/task.toml`" in registry("board", exit_code=3).stderr
    assert "This folder has task/task.toml." in registry("run", exit_code=2).stderr


def test_commands_options_and_choices_are_completed():
    assert values("bo") == values("--version", "bo") == ["board"]
    assert values("study", "synth") == ["synthesize"]
    assert values("board", "--ra") == ["--ranks"]
    assert values("board", "--ranks", "c") == values("board", "--ranks=c") == ["cluster"]
    assert values("--color", "a") == values("board", "--color", "a") == ["auto", "always"]
    assert values("list", "m") == ["metrics"]
    assert values("export", "x", "code") == []
    assert values("export", "x", "bib") == ["bibtex"]
    assert values("compare", "--correction", "h") == ["holm", "hochberg"]
    assert values("quick", "--metric", "Bal") == ["BalancedAccuracy"]
    assert values("quick", "--as", "mt") == ["mtme", "mteb", "mt-metrics-eval"]
    assert values("import", "c") == ["codabench"]
    assert "--alpha" in values("study", "power", "--al")  # of the study's class
    assert values("board", "small", "") == values("backup", "x", "") == []


@pytest.mark.slow
def test_names_come_from_the_registry(task, scored):
    assert values("board", "") == []
    task.systems["-x"] = task.systems["b"]
    scored(task)
    assert values("board", "") == values("board", "-d", "registry.duckdb", "sm") == ["small"]
    assert values("board", "--db=none.duckdb", "") == []
    assert values("board", "small", "-m", "") == values("board", "-m", "a") == ["acc"]
    assert values("export", "small", "badge", "--submission", "b") == ["b/b"]
    assert values("items", "small", "show", "i1") == ["i1"]
    assert len(values("show", "")) == 1
    for names in (("pairs", "small", "-s", ""), ("purge", "small", "")):
        assert values(*names) == ["a", "b", "c"]


@pytest.mark.slow
@pytest.mark.parametrize(("begun", "name"), [
    ("", HOSTILE), ("'", "Team A"), ('"Team ', "Team A"), ("a:", "a:b c"), ("a:b", "a:b c"), ("x=1", "x=1/é"),
    ("x/y@", "x/y@1"), ("\\$\\(t", HOSTILE)])
@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_inserts_a_name_as_text(shell, begun, name, tmp_path):
    """Whatever a system is called: the command gets the name, and nothing in it is run."""
    need(shell, there=shutil.which(shell) is not None)
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "name").write_text(name + "\n")
    (folder / "registry").write_text("""#!/bin/sh
        cd "${0%/*}"
        if [ -n "$_REGISTRY_COMPLETE" ]
        then cat name; touch asked
        else printf '%s\\0' "$@" > all; mv all given
        fi""")
    (folder / "registry").chmod(0o755)
    (folder / "script").write_text(SCRIPTS[shell])
    start = "autoload -U compinit; compinit -u; " if shell == "zsh" else ""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(tmp_path)
        os.execvpe(SHELLS[shell][0], SHELLS[shell], {**os.environ, "HOME": str(tmp_path), "TERM": "dumb",
                                                     "LC_ALL": "C.UTF-8", "PATH": f"{folder}:{os.environ['PATH']}"})
    try:
        _type(terminal, f"{start}. {folder / 'script'}; touch {folder / 'ready'}\n", folder / "ready")
        _type(terminal, f"registry pairs -s {begun}\t", folder / "asked")
        _type(terminal, "\n", folder / "given")
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(terminal)
    assert (folder / "given").read_text().split("\0")[:-1] == ["pairs", "-s", name]
    assert not {"x", "y", "z"} & {path.name for path in tmp_path.iterdir()}


def _type(terminal, text, made):
    """Type into a terminal until a file is made."""
    os.write(terminal, text.encode())
    end = time.monotonic() + 20
    while not made.exists():
        assert time.monotonic() < end
        if select.select([terminal], [], [], 0.1)[0]:
            os.read(terminal, 65536)


@pytest.mark.parametrize("name", SCRIPTS)
def test_shells_take_their_scripts(registry, name):
    script = registry("completion", name).stdout
    need(name, there=shutil.which(name) is not None)
    subprocess.run([name, "-n", "-c", script], check=True)


@pytest.mark.slow
def test_bash_gets_candidates_from_the_program(registry):
    script = registry("completion", "bash").stdout + """
        COMP_LINE='registry board --ranks=clu' COMP_POINT=26 _registry_complete registry clu =
        echo "${COMPREPLY[@]}"
        COMP_LINE='registry ' COMP_POINT=9 _registry_complete registry '' registry
        echo "${COMPREPLY[@]}" """
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True,
                          env={**os.environ, "PATH": path})
    first, second = done.stdout.splitlines()
    assert first == "cluster"
    assert second.split() == list(program().commands)


def test_the_manual_is_that_of_the_commands():
    assert MANUAL.read_text() == manual_page(), "run `make docs`"
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z", MANUAL], stderr=subprocess.PIPE, check=True)
        assert done.stderr == b""


def test_citation_and_version(registry):
    entries = registry("--citation").stdout
    assert entries.count("{") == entries.count("}")
    assert entries.count("\n@") == len(load_references())
    assert all(entries.count(work.bibtex) == 1 for work in load_references())
    assert "% Tests: permutation; studies: metrics\n@article{deutsch" in entries
    assert "% Corrections: bh, by\n@article{benjamini-yekutieli" in entries
    assert registry("-V").stdout == registry("--version").stdout


@pytest.mark.slow
def test_verbose_tells_decisions_times_and_where_an_error_is_from(registry, task):
    told = registry("-v", "apply", task.write()).stderr
    for part in ("verbose: evalregistry 0", "database registry.duckdb: the default", "stage: submissions to read: ",
                 "verbose: took "):
        assert told.count(part) == 1
    assert "verbose: format tsv: stdout is no terminal" in registry("list", "tasks", "-v").stderr
    assert "catalog.py" in registry("-v", "board", "other", exit_code=3).stderr
    assert "verbose" not in registry("list", "tasks").stderr


@pytest.mark.slow
def test_colours_are_for_terminals_alone_unless_they_are_wanted(registry, task, scored, monkeypatch):
    scored(task)
    assert "\x1b" not in registry("pairs", "--format", "table").stdout
    assert "\x1b[2m" in registry("pairs", "--format", "table", "--color", "always").stdout
    assert "\x1b" not in registry("--color", "always", "pairs", "--format", "tsv").stdout
    from registry.cli import console

    console.color_mode.set("auto")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert console.inspect_terminal()[1]
    for name, value in (("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert not console.inspect_terminal()[1]
