"""Hostile submissions, requests and queries cost little, and end in a message."""

import gzip
import random
import re
import socket
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from registry.errors import InputError
from registry.items import Item, Tagged
from registry.readers import READERS, Document, Problems
from registry.readers.parsing import document as document_module
from registry.readers.parsing import json_values
from registry.readers.parsing.document import LEAST_LINES
from registry.values import parse
from tests.attacks.resources import FILES, MIB, TASKS
from tests.serving.test_server import running

_CHECKING = """
import re, resource, sys
from typer.testing import CliRunner
from registry.cli import app
resource.setrlimit(resource.RLIMIT_DATA, (2**30, 2**30))
for name in sys.argv[1:]:
    print(CliRunner().invoke(app, ["check", name, "--task", f"{name}.d/task.toml"]).stderr.splitlines()[0])
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""


def write(name, content):
    """Write a hostile file with its task, and return the manifest."""
    folder = Path(f"{name}.d")
    folder.mkdir()
    Path(name).write_bytes(content)
    return TASKS[FILES[name].task].write(folder)


def check(registry, name, content):
    """Return what `registry check` prints about a hostile file."""
    return registry("check", name, "--task", write(name, content), exit_code=3).stderr


@pytest.mark.parametrize("name", [
    "labels-x", "labels-duplicates", "labels-unknown", "labels-new-labels", "labels-comments", "labels-numbered",
    "jsonl-duplicates", "jsonl-unknown", "jsonl-broken", "json-duplicates", "json-names", "bio-tokens", "bio-items",
    "candidates-duplicates", "lines-x", "scores-duplicates", "pharaoh-lines"])
def test_lines_beyond_the_items_are_not_read(registry, name):
    printed = check(registry, name, FILES[name].make(int(1.3 * MIB)))
    says = "at most 32,768 are allowed for a submission to 200 items; check that the file belongs to this task"
    assert says in printed
    assert not re.search(r"\d+ (format|duplicate|unknown|tag|missing)", printed)  # no other problem was looked for


@pytest.mark.parametrize("name", ["jsonl-empty", "jsonl-1", "json-numbers", "json-lists", "json-objects",
                                  "spans-one-item", "spans-unknown", "scores-nan", "labels-unknown"])
def test_the_check_stops_after_many_errors(registry, monkeypatch, name):
    monkeypatch.setattr(document_module, "MAX_PROBLEMS", 500)
    content = b"\n".join(FILES[name].make(MIB).split(b"\n")[:1200])
    if FILES[name].task == "json":
        content = content.rstrip(b",") + b"]"
    printed = check(registry, name, content)
    assert "the check stopped here, after 500 errors; correct the errors, and check again" in printed
    assert "error: " in printed


def test_the_stop_names_its_line(registry, monkeypatch):
    monkeypatch.setattr(document_module, "MAX_PROBLEMS", 500)
    manifest = write("jsonl-empty", b"{}\n" * 1000)
    rows = registry("check", "jsonl-empty", "--task", manifest, "--format", "json", "--max-errors", "0",
                    exit_code=3).json
    assert [row["line"] for row in rows] == [*range(1, 502)]
    assert {row["severity"] for row in rows[:-1]} == {"error"}
    assert rows[-1]["severity"] == "warning"


@pytest.mark.parametrize("name", ["labels-duplicates", "jsonl-duplicates", "json-numbers", "bio-tokens", "lines-x",
                                  "scores-duplicates", "trec-one-document", "nbest-one"])
def test_a_gzip_bomb_is_refused_before_it_is_read(registry, name):
    """It could be read in full if every file might unfold to 64 MiB, as the gold may."""
    printed = check(registry, name, gzip.compress(FILES[name].make(5 * MIB)))
    assert "decompresses to more than 4 MiB, over 100 times its compressed size; decompress the file" in printed


def test_a_large_gzip_file_unfolds_to_64_mib_at_the_most(registry):
    """Memory for labels of some MB each was 1.5 GB; the same file unfolded is refused for its lines alone."""
    content = gzip.compress(random.Random(1).randbytes(2**20).hex().encode() + b"A" * 70 * MIB)  # 1 MiB
    printed = check(registry, "labels-field", content)
    assert "decompresses to more than 64 MiB, the limit for a submission to this task; decompress the file" in printed


def test_a_file_of_very_many_gzip_files_is_refused(registry):
    """Each takes 64 microseconds, however small it is; programs that fold blocks in parallel write larger ones."""
    content = gzip.compress(FILES["labels-x"].make(4000))
    assert "about 2,001 gzip files" in check(registry, "labels-x", content + gzip.compress(b"", mtime=0) * 2000)


def test_comments_alone_are_no_trees(registry):
    assert "the file has no sentence" in check(registry, "conllu-comments", b"# a\n" * 30)


def test_a_json_value_of_very_many_lists_is_not_built(registry, monkeypatch):
    """A list takes 20 times the memory of its brackets."""
    monkeypatch.setattr(json_values, "_CONTAINERS_PER_LINE", 1)
    content = FILES["json-nested-objects"].make(4 * (LEAST_LINES + 10))
    says = "more than 32,768 lists and objects, the most that are allowed for a submission to 200 items"
    assert says in check(registry, "json-nested-objects", content)


def test_submit_is_bounded_too(registry):
    for name, content, says in (
            ("labels-duplicates", FILES["labels-duplicates"].make(MIB), "at most 32,768 are allowed"),
            ("lines-x", gzip.compress(FILES["lines-x"].make(5 * MIB)), "decompresses to more than 4 MiB")):
        registry("apply", write(name, content), "--db", f"{name}.duckdb")
        assert says in registry("submit", "t", name, "--system", "x", "--db", f"{name}.duckdb", exit_code=3).stderr


def test_a_line_of_many_cells_ends_the_check(registry):
    printed = check(registry, "labels-wide", ("item,label\n" + ("i1,A" + ",1" * 10_000 + "\n") * 5).encode())
    assert "labels-wide:2: the line has 10,002 cells; at most 8,192 are allowed" in printed
    assert "labels-wide:3" not in printed


@pytest.mark.slow
def test_hostile_files_need_little_memory(tmp_path):
    """They are checked one after another in one process, which may take 300 MB in all."""
    pytest.importorskip("resource")
    names = ["labels-duplicates", "json-lists", "bio-tokens"]
    for name in names:
        write(name, FILES[name].make(6 * MIB))
    write("labels-nul", b"i1\tA\n" + b"\0" * 60 * MIB)  # 535 MB if it is decoded
    done = subprocess.run([sys.executable, "-c", _CHECKING, *names, "labels-nul"], capture_output=True, text=True,
                          check=True, cwd=tmp_path)
    *printed, peak = done.stdout.splitlines()
    assert all("are allowed" in line or "errors: " in line for line in printed[:-1]), printed
    assert "the line has 62,914,560 characters" in printed[-1]
    assert int(peak) / 1024 < 300


def _items(n, gold=None):
    return [Item(f"i{k}", gold) for k in range(n)]


@pytest.mark.parametrize(("reader", "items", "lines"), [
    ("labels", _items(100_000), 400_000), ("labels", _items(1), LEAST_LINES),
    ("trec", _items(200), 200 * 1000), ("nbest", _items(2000), 2000 * 1000), ("spans", _items(500), 500 * 200),
    ('bio(scheme="iob2")', _items(2, Tagged(("a",) * 50_000, frozenset())), 2 * 60_000),
    ('bio(scheme="iob2")', _items(500, Tagged((), frozenset())), 500 * 1000),
    ("conllu", _items(1000), 1000 * 300), ('trec(unknown_items="ignore")', _items(43), 7_000_000),
])
def test_honest_files_are_within_the_bounds(reader, items, lines):
    """Submissions of usual size for that many items: 1,000 documents per query, 1,000 candidates per segment, ..."""
    assert Document("f", b"").limit(parse("reader", READERS, reader).bounds(items)).most_lines >= lines


def test_a_constant_answer_may_be_compressed_by_any_factor():
    """Rows without names, all with the same label."""
    reader = READERS["labels"](item="", columns=("label",))
    n, row = 60_000, b"negative" * 10 + b"\n"
    content = gzip.compress(row * n)
    assert max(100 * len(content), 4 * MIB) < len(row) * n
    assert len(reader.read_answers(Document("f", content).limit(reader.bounds(_items(n))))) == n


def test_an_exact_number_of_lines_is_read():
    reader = READERS["labels"]()
    for n, is_read in ((LEAST_LINES, True), (LEAST_LINES + 1, False)):
        document = Document("f", b"".join(b"i%d\tA\n" % k for k in range(n))).limit(reader.bounds(_items(3)))
        for one in (document, document.collect(Problems(5))):
            if is_read:
                assert len(reader.read_answers(one)) == n
            else:
                with pytest.raises(InputError, match="32,769 lines"):
                    reader.read_answers(one)


@pytest.mark.query_process
def test_memory_that_duckdb_does_not_count_ends_in_a_message(registry, scored, task):
    scored(task)
    for sql in ("SELECT reservoir_quantile(score, 0.5, 2000000000) FROM leaderboard", "SELECT repeat('x', 4000000000)"):
        printed = registry("query", sql, "--max-memory", "512M", exit_code=1).stderr
        assert printed == "error: the query needs more memory than its limit; increase --max-memory\n"


@pytest.mark.parametrize("name", ["score", "submission", "event"])
@pytest.mark.parametrize("view", ["SELECT * FROM kept", "SELECT 1 AS x"])
def test_a_view_in_place_of_a_table_is_named(registry, scored, task, name, view):
    scored(task)
    with duckdb.connect("registry.duckdb") as connection:
        connection.execute(f"CREATE TABLE kept AS FROM {name}; DROP TABLE {name}; CREATE VIEW {name} AS {view}")
    if name != "score":  # which submit neither reads nor writes
        printed = registry("submit", "small", "task/systems/a.tsv", "--system", "new", exit_code=1).stderr
        assert printed.startswith(f"error: registry.duckdb: the table {name} is missing: every registry has it")
    assert f"table\t{name}\tis missing" in registry("verify", exit_code=4).stdout


def request(address, head, body=b""):
    """Send a request as it is, and return the socket."""
    host, _, port = address.removeprefix("http://").rstrip("/").rpartition(":")
    sent = socket.create_connection((host, int(port)), timeout=300)
    sent.sendall(head.replace(b"\n", b"\r\n") + body)
    return sent


def status(sent):
    with sent, sent.makefile("rb") as answer:
        return int(answer.readline().split()[1])


@pytest.mark.slow
def test_a_server_ends_the_queries_of_clients_that_disconnect_and_limits_headers(scored, task):
    """Two queries run at a time, and others wait for 20 seconds: without an end, six would block those after them."""
    scored(task)
    endless = b"SELECT count(*) FROM range(1000000000000)"
    get = b"GET /sql?format=json&q=" + endless.replace(b" ", b"%20") + b" HTTP/1.1\nHost: localhost\n\n"
    post = b"POST /sql HTTP/1.1\nHost: localhost\nAccept: text/html\nContent-Length: %d\n\n" % len(endless)
    with running("--db", "registry.duckdb", "--timeout", "3600") as (_, address):
        for head, body in ((get, b""), (post, endless)):
            for sent in [request(address, head, body) for _ in range(6)]:
                sent.close()
            assert status(request(address, get.replace(endless.replace(b" ", b"%20"), b"SELECT%201"))) == 200
        line, host = b"GET %s HTTP/1.1\nHost: localhost\n", b"GET / HTTP/1.1\nHost: localhost\n"
        assert status(request(address, host + b"X: " + b"a" * 32_000 + b"\n\n")) == 200
        for head in (host + b"X: " + b"a" * 33_000 + b"\n\n", host + b"A: b\n" * 6000 + b"\n",
                     line % (b"/" + b"a" * 33_000) + b"\n", line % (b"/api/tasks?" + b"a" * 33_000) + b"\n"):
            assert status(request(address, head)) in (400, 431)
