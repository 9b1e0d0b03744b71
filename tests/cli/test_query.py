"""`registry query`: SQL from anywhere, answers in every form, and limits that hold."""

import csv
import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import get_args

import duckdb
import pytest
from hypothesis import settings

from registry.cli import app
from registry.cli.explore import QueryFormat
from tests.running import interruptible, is_running, stat, wait_for

# No interrupt stops it: it is one vector of rows, whose one list takes hours.
RUNAWAY = "SELECT max(len(list_transform(range(5000000), lambda x: list_sum(range(100000)))))"
# An interrupt would, and memory does not: 8 MB of one side are kept, and there are 10^13 pairs.
CROSS_JOIN = "SELECT count(*) FROM range(10000000) AS a, range(1000000) AS b"


@pytest.fixture
def db(task, scored, tmp_path):
    """The database of the small task, which has to come out of every test as it went in."""
    path = tmp_path / "registry.duckdb"
    scored(task, db=path)
    before = path.read_bytes()
    yield path
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.glob("[!.]*.duckdb*")] == [path.name]


def start(*arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "registry", "query", *map(str, arguments)], text=True,
                            preexec_fn=interruptible, **options)


def cpu_seconds(pid):
    return (int(stat(pid)[11]) + int(stat(pid)[12])) / os.sysconf("SC_CLK_TCK")


def children_of(pid):
    """The processes that a process has started."""
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def has_open(pid, path):
    return os.path.realpath(path) in map(os.path.realpath, Path(f"/proc/{pid}/fd").iterdir())


def test_sql_comes_from_an_argument_a_file_or_stdin(db, registry, tmp_path):
    (tmp_path / "q.sql").write_text("-- the systems\nSELECT system FROM leaderboard ORDER BY position\n")
    asked = "SELECT system FROM leaderboard ORDER BY position"
    expected = "system\na\nb\nc\n"
    assert registry("query", asked).stdout == expected
    assert registry("query", "--file", tmp_path / "q.sql").stdout == expected
    process = start("-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.communicate(asked)[0] == expected
    for wrong in ([], [asked, "--file", "q.sql"]):
        assert "give the SQL as an argument" in registry("query", *wrong, exit_code=2).stderr
    assert "no.sql: cannot read" in registry("query", "--file", "no.sql", exit_code=3).stderr


def test_errors_name_the_file_and_show_the_line(db, registry, tmp_path):
    (tmp_path / "q.sql").write_text("SELECT system\nFROM leaderbord\n")
    told = registry("query", "--file", tmp_path / "q.sql", exit_code=3).stderr
    assert told.startswith(f"error: {tmp_path / 'q.sql'}:2: Catalog Error: Table with name leaderbord does not exist!")
    source, pointer = told.splitlines()[1:]
    assert source == "  FROM leaderbord"
    assert pointer.rstrip("^") == " " * 7  # DuckDB 1 points at the first character, DuckDB 2 at the whole word


def test_parameters_are_typed_as_they_are_written(db, registry):
    given = ["n=3", "x=0.5", "yes=true", "s=small/test/a/a@1", 'quoted="3"', "l=[1, 2]"]
    found = registry("query", "SELECT $n + 1 AS n, $x AS x, $yes AS yes, $s AS s, $quoted AS quoted, $l AS l",
                     "--format", "json", *(f"--param={pair}" for pair in given)).json
    assert found == [{"n": 4, "x": 0.5, "yes": True, "s": "small/test/a/a@1", "quoted": "3", "l": [1, 2]}]
    rows = registry("query", "SELECT system FROM leaderboard WHERE system = $s AND rank = $r", "-p", "s=a", "-p", "r=1")
    assert rows.stdout == "system\na\n"
    assert "--param 'n' is not of the form NAME=VALUE" in registry("query", "SELECT $n", "-p", "n", exit_code=3).stderr


VALUES = """
    SELECT * FROM (VALUES (1, 'a|b', 0.5::DOUBLE, true), (2, '=1+1', 'nan', NULL)) AS t(n, s, x, yes) ORDER BY n"""


def test_every_form_holds_every_value(db, registry, tmp_path):
    def found(form):
        return registry("query", VALUES, "--format", form).stdout

    expected = [{"n": 1, "s": "a|b", "x": 0.5, "yes": True}, {"n": 2, "s": "=1+1", "x": None, "yes": None}]
    assert json.loads(found("json")) == expected
    assert [json.loads(line) for line in found("jsonl").splitlines()] == expected
    assert found("tsv") == "n\ts\tx\tyes\n1\ta|b\t0.5\ttrue\n2\t'=1+1\t\t\n"
    assert list(csv.reader(io.StringIO(found("csv"))))[1:] == [["1", "a|b", "0.5", "true"], ["2", "'=1+1", "", ""]]
    assert found("md").splitlines() == [
        "| n | s | x | yes |", "| --- | --- | --- | --- |", "| 1 | a\\|b | 0.5 | true |", "| 2 | =1+1 | - | - |"]
    assert [line.split() for line in found("table").split("\n")[3:5]] == [
        ["1", "a|b", "0.5", "true"], ["2", "=1+1", "-", "-"]]
    registry("query", VALUES, "--format", "parquet", "--output", tmp_path / "rows.parquet")
    with duckdb.connect() as connection:
        kept = connection.execute(f"SELECT n, s, yes FROM '{tmp_path / 'rows.parquet'}'").fetchall()
    assert kept == [(1, "a|b", True), (2, "=1+1", None)]
    assert len(get_args(QueryFormat)) == 7


def test_numbers_times_and_bytes_in_json(db, registry):
    sql = "SELECT 0.5 AS d, DATE '2027-01-02' AS day, '\\xAB'::BLOB AS b, {'k': [1.5]} AS s, 12345678901234567890 AS n"
    assert registry("query", sql, "--format", "json").json == [
        {"d": 0.5, "day": "2027-01-02", "b": "ab", "s": {"k": [1.5]}, "n": 12345678901234567890}]


def test_an_output_file_is_new_and_whole(db, registry, tmp_path):
    out = tmp_path / "out.csv"
    registry("query", "SELECT 1 AS a", "--format", "csv", "-o", out)
    assert out.read_text() == "a\n1\n"
    for form in ("csv", "parquet"):
        assert "out.csv: this file already exists" in registry(
            "query", "SELECT 2 AS a", "--format", form, "-o", out, exit_code=3).stderr
        registry("query", "SELECT nothing", "--format", form, "-o", tmp_path / "no", exit_code=3)
        registry("query", "FROM range(10)", "--format", form, "--max-rows", "9", "-o", tmp_path / "no", exit_code=1)
    assert out.read_text() == "a\n1\n"
    assert sorted(p.name for p in tmp_path.glob("[!.]*")) == ["out.csv", "registry.duckdb", "task"]
    assert "name a new file" in registry("query", "SELECT 1", "--format", "parquet", exit_code=3).stderr
    assert "this folder does not exist" in registry("query", "SELECT 1", "-o", "no/such/file", exit_code=3).stderr


EVIL = "SELECT chr(27) || '[31m' || chr(155) || chr(13) AS a, 1 AS \"h\x1b[2J\""


@pytest.mark.parametrize("form", [f for f in get_args(QueryFormat) if f != "parquet"])
def test_a_terminal_cannot_be_steered(db, monkeypatch, form):
    """Colours of our own may come, what comes from the data not: neither from cells nor from headings."""
    ours, theirs = pty.openpty()
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    with open(theirs, "w") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        app(["query", EVIL, "--format", form], standalone_mode=False)
    shown = b""
    with suppress(OSError):  # how the other end of a terminal tells that it is closed
        while chunk := os.read(ours, 4096):
            shown += chunk
    os.close(ours)
    text = shown.decode().replace("\r\n", "\n")
    assert "31m" in text
    assert [c for c in text if not c.isprintable() and c not in "\n\t"] == []


@pytest.mark.query_process
@pytest.mark.parametrize("sql", [RUNAWAY, CROSS_JOIN], ids=["runaway", "cross join"])
def test_the_time_limit_holds(db, registry, sql):
    since = time.monotonic()
    told = registry("query", sql, "--timeout", "1", exit_code=1).stderr
    assert told == "error: the query was stopped after 1 s; increase --timeout\n"
    assert time.monotonic() - since < 5


# A list, a text, what is sorted, and what is gathered; and with `--hypothesis-profile thorough` some more of these.
LARGE = ["SELECT range(20000000)", "SELECT repeat('x', 4000000000)",
         "SELECT * FROM range(1000000000) ORDER BY hash(range)", "SELECT list(range) FROM range(1000000000)"]
LARGER = ["SELECT list_transform(range(30000000), lambda x: x::VARCHAR)",
          "SELECT string_agg(range::VARCHAR) FROM range(1000000000)"]


@pytest.mark.query_process
@pytest.mark.parametrize("sql", LARGE + (LARGER if settings.default.max_examples > 100 else []))
def test_the_memory_limit_holds(db, registry, sql):
    assert "its limit; increase --max-memory" in registry("query", sql, "--max-memory", "200M", exit_code=1).stderr


@pytest.mark.parametrize(("options", "told"), [
    (("--max-memory", "63M"), "--max-memory '63M' is not a size of 64M or more"),
    (("-p", "a=1", "-p", "a = 2"), "--param gives a twice"), (("-p", "=1"), "is not of the form NAME=VALUE")])
def test_options_that_nothing_could_be_made_of_are_refused(db, registry, options, told):
    assert told in registry("query", "SELECT 1", *options, exit_code=3).stderr


@pytest.mark.query_process
@pytest.mark.parametrize("limits", [("--timeout", "inf", "--max-memory", "64M"), ("--timeout", "1e300")])
def test_the_farthest_limits(db, registry, limits):
    assert registry("query", "SELECT 1 AS a", *limits).stdout == "a\n1\n"


def test_a_process_without_stdin_says_so(db):
    process = subprocess.run([sys.executable, "-m", "registry", "query", "-"], capture_output=True, text=True,
                             check=False, preexec_fn=lambda: os.close(0))
    assert (process.returncode, process.stderr) == (3, "error: stdin: cannot read SQL: stdin is closed\n")


def test_a_thousand_columns_of_one_name(db, registry):
    """Names are numbered in one pass."""
    header = registry("query", f"SELECT {', '.join(2000 * ['1 AS n'])}").stdout.splitlines()[0].split("\t")
    assert header == ["n", *(f"n_{k}" for k in range(2, 2001))]


def test_the_limit_of_rows_holds_and_what_came_before_it_is_kept(db, registry):
    found = registry("query", "SELECT range AS n FROM range(5)", "--max-rows", "2", exit_code=1)
    assert found.stdout == "n\n0\n1\n"
    assert found.stderr == (
        "error: the result has more than 2 rows; allow more by --max-rows, or add LIMIT to the query\n")
    assert registry("query", "SELECT range AS n FROM range(2)", "--max-rows", "2").stdout == "n\n0\n1\n"
    table = registry("query", "FROM range(100000000000)", "--format", "table", exit_code=1)
    assert "more than 10000 rows" in table.stderr
    assert table.stdout.split()[-1] == "9999"


def test_large_results_stream(db):
    """A reader that goes away ends the query; until then it gets rows of a result that nobody could keep."""
    process = start("SELECT range AS n FROM range(1000000000000)", "--max-memory", "200M", stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)
    for expected in ["n", *range(200_000)]:
        assert process.stdout.readline() == f"{expected}\n"
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(10) == 1
    process.stderr.close()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc")
@pytest.mark.parametrize("asked", [["schema"], ["query", "-f", "table", "SELECT repeat('x', 60) FROM range(10000)"]],
                         ids=["schema", "query"])
def test_what_is_written_is_whole_where_the_command_is_stopped_meanwhile(db, registry, asked):
    """It is more than pipes take at once, so every process of the command waits in the middle of it."""
    whole = registry(*asked).stdout
    with subprocess.Popen([sys.executable, "-m", "registry", *asked], stdout=subprocess.PIPE, bufsize=0,
                          env={**os.environ, "PYTHONUNBUFFERED": "1"}) as process:
        written = process.stdout.read(1)
        for pid in (*children_of(process.pid), process.pid):
            wait_for(lambda pid=pid: stat(pid)[0] == "S")
            os.kill(pid, signal.SIGSTOP)
            wait_for(lambda pid=pid: stat(pid)[0] == "T")
            os.kill(pid, signal.SIGCONT)
        while piece := process.stdout.read(8192):
            written += piece
    assert written.decode() == whole


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_goes_on_when_the_command_ends(db, sent):
    """Whether it is interrupted, told to end or killed: the process that computes ends with it."""
    process = start(RUNAWAY, "--timeout", "60", stderr=subprocess.PIPE)
    (computing,) = wait_for(lambda: children_of(process.pid))
    wait_for(lambda: has_open(computing, db))
    opened = cpu_seconds(computing)
    wait_for(lambda: cpu_seconds(computing) > opened + 0.3)  # it has begun
    process.send_signal(sent)
    _, told = process.communicate(timeout=10)
    assert process.returncode == (130 if sent == signal.SIGINT else -sent)
    assert ("interrupted" in told) == (sent == signal.SIGINT)
    wait_for(lambda: not is_running(computing))


@pytest.mark.parametrize("sql", [
    "COPY task TO 'f.csv'", "ATTACH 'x.duckdb'", "INSTALL httpfs", "LOAD httpfs", "SET threads = 1", "PRAGMA version",
    "CALL pragma_version()", "FROM read_csv('/etc/passwd')", "FROM read_parquet('x')", "FROM read_text('/etc/passwd')",
    "FROM glob('/*')", "SELECT 1; SELECT 2", "SELECT getenv('HOME')", "FROM duckdb_secrets()", "DROP TABLE task",
    "UPDATE task SET slug = 'x'",
])
def test_what_is_no_question_is_refused(db, registry, tmp_path, sql):
    before = sorted(tmp_path.iterdir())
    found = registry("query", sql, exit_code=3)
    assert found.stdout == ""
    assert found.stderr.startswith("error: SQL")
    assert sorted(tmp_path.iterdir()) == before
