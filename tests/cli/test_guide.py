"""What leads people through the command line: groups, short forms, hints, completion, the manual, --verbose."""

import shutil
import subprocess
from collections import defaultdict
from functools import cache

import pytest
import typer

from registry.cli import app
from registry.cli.guide import shells
from registry.cli.guide.completion import Candidate, candidates
from registry.cli.guide.layout import STORE, TEST, WORK, parameter_groups
from registry.studies import Known
from tests.generated_docs import MANUAL
from tests.manual_page import manual_page
from tests.needs import need

HOSTILE = """-$(touch x)`touch y`;'a' "b"\\ &|<>*?[c]{d}~#!=:@ é"""


@cache
def program():
    return typer.main.get_command(app)


def commands():
    """Every command but those of studies, whose own options come with what computes them."""
    for name, command in program().commands.items():
        yield name, command
        yield from getattr(command, "commands", {}).items()


def values(*words):
    return [of.value for of in candidates(program(), list(words))]


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
    command = program().commands["compare"]
    groups = dict(parameter_groups(command, typer.Context(command)))
    assert {TEST, WORK, STORE} < groups.keys()
    assert sum("--correction" in flags for flags, _ in groups[TEST]) == 1
    short = program().commands["init"]
    assert list(dict(parameter_groups(short, typer.Context(short)))) == ["Options"]


@pytest.mark.parametrize(("typed", "said"), [
    (("bord",), "did you mean `registry board`?"), (("power",), "did you mean `registry study power`?"),
    (("study", "board"), "did you mean `registry board`?"), (("study", "powr"), "`registry study power`"),
    (("xyzzy",), "`registry --help` lists all commands"), (("board", "--metrc", "x"), "did you mean `--metric`?"),
    (("board", "--test", "t"), "it is an option of `registry quick`"), (("board", "--zzz"), "`registry board --help`"),
    (("board", "--organiser"), "`registry --organiser board ...`"), (("--orgniser",), "did you mean `--organiser`?"),
    (("-d", "x", "board"), "`registry COMMAND -d ...`"),
    (("run",), "`registry new TASK --from"), (("page", "-o", "x"), "`registry list tasks` says what there is")])
def test_a_wrong_command_line_is_told_what_was_meant(registry, typed, said):
    assert said in registry(*typed, exit_code=2).stderr.replace("root ", "registry ")


def test_where_there_is_nothing_yet_the_next_step_is_told(registry, task):
    told = registry(exit_code=2).stderr.splitlines()
    assert len(told) == 3
    assert "`registry quick" in told[1]
    assert registry("board", exit_code=3).stderr.endswith("; `registry quick GOLD SYSTEM...` needs none\n")
    task.write()
    assert "`registry run task/task.toml`" in registry(exit_code=2).stderr
    assert "`registry run task/task.toml`" in registry("board", exit_code=3).stderr
    assert "Here is task/task.toml." in registry("run", exit_code=2).stderr


def test_commands_options_and_choices_are_completed(monkeypatch):
    assert values("bo") == ["board"]
    assert values("study", "synth") == ["synthesize"]
    assert values("--", "bo") == ["board"]
    assert values("board", "--ra") == ["--ranks"]
    assert values("board", "--ranks", "c") == ["cluster"]
    assert values("board", "--ranks=c") == ["--ranks=cluster"]
    assert values("--color", "a") == ["auto", "always"]
    assert values("list", "m") == ["metrics"]
    assert values("export", "x", "code") == []
    assert values("export", "x", "bib") == ["bibtex"]
    assert values("compare", "--correction", "h") == ["holm", "hochberg"]
    assert "--alpha" in values("study", "power", "--al")  # of the study's class
    with monkeypatch.context() as patch:  # what studies share is known without importing one
        patch.setattr(Known, "load", lambda _: pytest.fail("a study was imported"))
        assert values("study", "threshold", "small", "-j", "2", "--test", "mc") == ["mcnemar"]
    assert values("nothing", "") == values("board", "small", "") == values("backup", "x", "") == []


@pytest.mark.slow
def test_names_come_from_the_registry_and_hidden_ones_do_not(registry, task, scored):
    assert values("board", "") == []
    scored(task)
    assert values("board", "") == values("board", "-d", "registry.duckdb", "sm") == ["small"]
    assert values("board", "--db=none.duckdb", "") == values("board", "other", "-m", "") == []
    assert values("board", "small", "-m", "") == values("board", "-m", "a") == ["acc"]
    assert values("export", "small", "badge", "--submission", "b") == ["b/b"]
    assert values("items", "small", "show", "i1") == ["i1"]
    (signature,) = values("show", "")
    assert registry("board", "--format", "json").json[0]["signature"].endswith(f"id:{signature}")
    for names in (("pairs", "small", "-s", ""), ("purge", "small", "")):
        assert values(*names) == ["a", "b", "c"]
    registry("hide", "small")
    for names in (("pairs", "small", "-s", ""), ("purge", "small", ""), ("pairs", "-s", ""), ("withdraw", ""),
                  ("show", "")):
        assert values(*names) == []
    assert values("board", "small", "-m", "") == ["acc"]


def test_bash_reads_back_what_it_inserts_and_runs_nothing(monkeypatch, tmp_path):
    """Whatever a system is called, and however the word was begun."""
    name = HOSTILE.lstrip("-")
    for begun in ("", "'", '"'):
        of = name.replace("!", "") if begun == '"' else name
        monkeypatch.setattr(shells, "candidates", lambda *_, of=of: [Candidate(of)])
        (word,) = shells.for_bash(None, f"registry pairs -s {begun}", "\"'><=;|&(: @")
        done = subprocess.run(["bash", "-c", f"printf %s {begun}{word}{begun}"], capture_output=True, text=True,
                              check=True)
        assert done.stdout == of
    monkeypatch.setattr(shells, "candidates", lambda *_: [Candidate("a/b@1")])
    assert shells.for_bash(None, "registry show a/b@", "@:=") == ["1"]  # as bash breaks words at @
    assert list(tmp_path.iterdir()) == []


def test_a_shell_gets_no_error(capsys):
    shells.complete(program(), "bash", [])
    shells.complete(None, "zsh", ["board", ""])
    assert capsys.readouterr() == ("", "")
    shells.complete(program(), "fish", ["boa"])
    assert capsys.readouterr().out == "board\tPrint the leaderboards\n"


@pytest.mark.parametrize("name", shells.SCRIPTS)
def test_shells_take_their_scripts(registry, name):
    script = registry("completion", name).stdout
    need(name, there=shutil.which(name) is not None)
    subprocess.run([name, "-n", "-c", script], check=True)


def test_the_manual_is_that_of_the_commands():
    assert MANUAL.read_text() == manual_page(), "run `make docs`"
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z", MANUAL], stderr=subprocess.PIPE, check=True)
        assert done.stderr == b""


def test_citation_and_version(registry):
    entries = registry("--citation").stdout
    assert entries.count("{") == entries.count("}")
    assert [entries.count(name) for name in ("@", "Yeh", "Evert", "Berg-Kirkpatrick,", "Dror,")] == [5, 1, 1, 1, 1]
    assert registry("-V").stdout == registry("--version").stdout


@pytest.mark.slow
def test_verbose_tells_decisions_times_and_where_an_error_is_from(registry, task):
    told = registry("-v", "apply", task.write()).stderr
    for part in ("verbose: evalregistry 0", "neither --db nor REGISTRY_DB", "stage: submissions to read: ",
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

    console.coloring.set("auto")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert console.terminal()[1]
    for name, value in (("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert not console.terminal()[1]
