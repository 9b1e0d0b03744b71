"""Commands under a simulation of Windows (`tests/windows/sitecustomize.py`), and functions with rules for Windows."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

from registry import files, platforms
from registry.cli.app import app
from registry.errors import InputError, LockedError
from registry.platforms import describe_crash, is_valid_name
from registry.store.files import explain
from tests.query.test_process import ENDLESS
from tests.running import interruptible, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the simulation reads /proc")
ROOT = Path(__file__).resolve().parent.parent
SIMULATION = ROOT / "tests" / "windows"
TITLE = "Größe → 日本"
# names that only some systems have; `sys.platform` chooses between systems
POSIX = re.compile(r"\b(resource|fcntl|selectors|termios|pwd|grp|os\.(fork|setsid|chown|link|getuid|killpg|pwrite|"
                   r"copy_file_range|posix_fallocate|O_DIRECTORY)|signal\.(SIGKILL|SIGHUP|SIGALRM|pthread_sigmask)|"
                   r"sys\.platform|os\.name)\b")


@pytest.fixture
def simulated(tmp_path):
    """Return the environment of interpreters that behave as on Windows, with temporary files in a folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return {**os.environ, "SIMULATED_WINDOWS": str(tmp_path), "PYTHONPATH": f"{SIMULATION}{os.pathsep}{ROOT}",
            "PYTHONWARNDEFAULTENCODING": "1", "PYTHONIOENCODING": "cp1252", "TMPDIR": str(folder)}


def run(environment, *commands):
    """Run commands in one interpreter, and return their standard output; fail if one fails or leaves files."""
    reading, writing = os.pipe()
    done = subprocess.run(
        [sys.executable, "-m", "tests.windows.commands"], env=environment, capture_output=True, check=False,
        input="\n".join(json.dumps([str(part) for part in command]) for command in commands).encode(),
        preexec_fn=lambda: os.dup2(writing, 3), pass_fds=(3,))
    os.close(writing)
    with os.fdopen(reading) as statuses:
        ended = [json.loads(line) for line in statuses]
    failed = [arguments for status, arguments in ended if status]
    assert (failed, len(ended)) == ([], len(commands)), done.stderr.decode("cp1252")
    assert b"Traceback" not in done.stderr
    assert os.listdir(environment["TMPDIR"]) == []
    return done.stdout.decode("cp1252")



@pytest.mark.slow
def test_every_command_runs(simulated, task, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    manifest = task.write()
    manifest.write_text(manifest.read_text("utf-8").replace("[task]", f'[task]\ntitle = "{TITLE}"', 1), "utf-8")
    Path("d.tsv").write_bytes((task.folder / "systems" / "b.tsv").read_bytes())
    Path("labels.csv").write_text("item,ann,ben\n" + "".join(f"i{n},{'xy'[n % 2]},x\n" for n in range(60)), "utf-8")
    Path("scores.csv").write_text("id,a,b\n" + "".join(f"i{n},{n % 3},{n % 2}\n" for n in range(12)), "utf-8")
    gold, *systems = task.folder / "gold.tsv", *sorted((task.folder / "systems").glob("*.tsv"))
    quick = (*systems, "--gold", gold, "--item", "1", "--label", "2")
    commands = [
        ("--help",), ("--version",), ("completion", "bash"), ("init",), ("apply", manifest), ("score",),
        ("compare", "--workers", 2), ("run", manifest, "--workers", 2),
        ("board", "--format", "table"), ("pairs", "--verbose"), ("compare-pair", "a", "b"),
        ("gate", "--help"), ("check", "d.tsv", "--task", manifest),
        ("submit", "small", "d.tsv", "--system", "d", "--run"),
        ("amend", "small/test/d/d", "--reason", "it is known", "--attribute", "description=known"),
        ("withdraw", "small/test/d/d", "--reason", "an error"), ("restore", "small/test/d/d", "--reason", "no error"),
        ("backup", "copy.duckdb"), ("list", "metrics"), ("items", "small", "disagree"),
        ("schema", "task"), ("effects",), ("best",), ("ranking", "small", "--help"), ("study", "power", "small"),
        ("query", "SELECT title, '→' AS arrow FROM task"),
        ("query", "SELECT 1 AS one", "--format", "parquet", "--output", "one.parquet"),
        ("export", "small", "every-eval-ever", "--output", "records"), ("page", "small", "--output", "page.html"),
        ("site", "--output", "site"), ("publish", "--output", "public.duckdb"),
        ("diff", "public.duckdb", "registry.duckdb"), ("hide", "small"), ("compare",), ("board", "--public"),
        ("reveal", "small"),
        ("show", "small/test/a/a"), ("release", "small", "--output", "released"), ("verify",), ("verify", "released"),
        ("plot", "small", "scores", "--output", "board.svg"), ("task-pack", manifest, "--output", "pack"),
        ("quick", *quick), ("new", "small", *quick, "--to", "new"),
        ("agreement", "labels.csv", "--annotators", "ann,ben"),
        ("import", "wide", "scores.csv", "--to", "imported", "--option", "item=id"),
        ("purge", "small", "d", "--reason", "asked")]
    missing = {*typer.main.get_command(app).list_commands(None)} - {command[0] for command in commands}
    assert missing == {"serve"}
    printed = run(simulated, *commands)
    assert "Größe ? ??" in printed
    assert TITLE in Path("page.html").read_text("utf-8")


@pytest.mark.slow
def test_a_query_ends_at_its_limits(simulated, scored, task):
    scored(task)
    command = [sys.executable, "-m", "registry", "query", "--timeout", "2", ENDLESS]
    done = subprocess.run(command, env=simulated, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: the query was stopped after 2 s; increase --timeout\n"


@pytest.mark.slow
def test_the_site_and_queries_are_served(simulated, scored, task):
    scored(task)
    command = [sys.executable, "-m", "registry", "serve", "--port", "0"]
    with subprocess.Popen(command, env=simulated, stderr=subprocess.PIPE, text=True,
                          preexec_fn=interruptible) as process:
        try:
            url = process.stderr.readline().split(" at ")[1].partition(";")[0]
            for path in ("", "sql?q=SELECT+42+AS+n", "sql?q=SELECT+43+AS+n"):
                with urllib.request.urlopen(f"{url}{path}", timeout=60) as answer:
                    content = answer.read()
            assert json.loads(content) == [{"n": 43}]
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
            assert process.stderr.read() == "stopped\n"
        finally:
            process.kill()
    assert os.listdir(simulated["TMPDIR"]) == []


@pytest.mark.slow
def test_a_database_that_a_program_has_open_is_not_replaced(simulated, scored, task):
    scored(task)
    before = Path("registry.duckdb").read_bytes()
    with subprocess.Popen([sys.executable, "-c", "import sys; file = open('registry.duckdb'); sys.stdin.read()"],
                          env=simulated, stdin=subprocess.PIPE) as reader:
        wait_for(lambda: os.path.realpath("registry.duckdb") in map(os.path.realpath, Path(
            f"/proc/{reader.pid}/fd").iterdir()))
        done = subprocess.run([sys.executable, "-m", "registry", "hide", "small", "--wait", "0"], env=simulated,
                              capture_output=True, text=True, check=False)
        reader.stdin.close()
    assert (done.returncode, done.stderr) == (1, (
        "error: registry.duckdb: another program has the database open, and Windows cannot replace an open file; close "
        "it and run the command again\n"))
    assert Path("registry.duckdb").read_bytes() == before
    run(simulated, ("hide", "small"))
    assert sorted(path.name for path in Path().iterdir()) == [
        ".registry.duckdb.lock", "registry.duckdb", "task", "temporary"]


def test_only_one_module_knows_what_systems_have():
    for path in (ROOT / "registry").rglob("*.py"):
        if path.name != "platforms.py":
            assert POSIX.findall(path.read_text("utf-8")) == [], path


@pytest.mark.parametrize("name", [
    "CON", "con.txt", "Lpt1.tsv", "a:b", "a?", "a.", "a ", "nul .x", "a\nb", 'a"', "COM¹"])
def test_names_that_windows_refuses_are_refused(name, tmp_path, monkeypatch):
    assert is_valid_name(name)
    monkeypatch.setattr(platforms, "sys", SimpleNamespace(platform="win32"))
    for write in (files.new_file, files.new_folder):
        with pytest.raises(InputError, match="Windows has no files of this name"), write(tmp_path / name):
            pass
    with pytest.raises(InputError, match="Windows has no files of this name"):
        files.replace_file(tmp_path / name, "")
    assert not any(tmp_path.iterdir())
    with files.new_file(tmp_path / f"x{name[0]}") as unfinished:
        unfinished.write_text("")
    assert re.fullmatch(r"[\w.@+-]*[\w@+-]", files.portable_name(name))
    assert is_valid_name(files.portable_name(name))


def test_crashes_have_the_codes_of_windows(monkeypatch):
    assert [describe_crash(status) for status in (0, 3, -11)] == ["", "", "SIGSEGV"]
    monkeypatch.setattr(platforms, "sys", SimpleNamespace(platform="win32"))
    assert [describe_crash(status) for status in (0, 3, 0xC0000005)] == ["", "", "0xc0000005"]


def test_a_file_that_another_program_writes_to_names_that_program():
    """The text is that of DuckDB's `local_file_system.cpp`."""
    error = explain('IO Error: Cannot open file "c:\\r.duckdb": The process cannot access the file because it is being '
                    "used by another process.\r\n\nFile is already open in \nC:\\bin\\duckdb.exe (PID 4711)",
                    Path("r.duckdb"))
    assert isinstance(error, LockedError)
    assert error.pid == 4711
