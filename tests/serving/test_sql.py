"""SQL over HTTP: whoever asks gets the rows, in any form, and nothing but rows."""

import gzip
import io
import json
import os
import re
import signal

import pyarrow.parquet
import pytest

from registry.query.request import Query, QueryRequest
from registry.query.waiting_process import WaitingProcess
from registry.serve.source import QueryLimits
from tests.query.refused import REFUSED

ASKED = "SELECT system, rank FROM leaderboard WHERE system = $s AND rank = $r"
ENDLESS = "SELECT max(len(list_transform(range(5000000), lambda x: list_sum(range(100000)))))"
FOUND = [{"system": "a", "rank": 1}]


def test_a_query_is_answered_however_it_comes_and_in_every_form(scored, task, served):
    scored(task)
    client, given = served(), {"q": ASKED, "$s": "a", "$r": "1"}
    as_json = {"q": ASKED, "format": "json", "params": {"s": "a", "r": 1}}
    answers = [client.get("/sql", params=given), client.post("/sql", data=given), client.post("/sql", json=as_json),
               client.post("/sql", params={"$s": "a", "$r": 1}, content=ASKED, headers={"Content-Type": "text/plain"})]
    assert [answer.json() for answer in answers] == [FOUND] * 4
    assert client.get("/sql", params=given, headers={"Accept": "text/csv"}).text == "system,rank\na,1\n"
    assert client.get("/sql", params=given | {"format": "tsv"}).text == "system\trank\na\t1\n"
    assert json.loads(client.get("/sql", params=given | {"format": "jsonl"}).text) == FOUND[0]
    parquet = client.get("/sql", params=given | {"format": "parquet"})
    assert pyarrow.parquet.read_table(io.BytesIO(parquet.content)).to_pylist() == FOUND
    tag = answers[0].headers["etag"]
    assert client.get("/sql", params=given, headers={"If-None-Match": tag}).status_code == 304
    page = client.get("/sql", params=given, headers={"Accept": "text/html,*/*;q=0.8"}).text
    assert re.search(r"<h2>1 row</h2>.*<bdi>a</bdi>.*<bdi>1</bdi>", page, re.DOTALL)
    assert "<dt><code>pairwise</code></dt>" in page
    many = client.get("/sql", params={"q": "FROM range(2000)"}, headers={"Accept": "text/html"}).text
    assert "the first 1,000 rows" in many


@pytest.mark.slow
def test_everything_else_is_refused(scored, task, served, opened, tmp_path):
    """All that `registry query` refuses, in one sentence, which stands inert on the page too."""
    scored(task)
    for name in ("secret.txt", "secret.csv"):
        (tmp_path / name).write_text("hidden")
    before = (tmp_path / "registry.duckdb").read_bytes(), sorted(path.name for path in tmp_path.iterdir())
    ask = opened(tmp_path / "registry.duckdb")
    client = served(start=lambda: ask)
    for sql in REFUSED:
        answer = client.post("/sql", content=sql, headers={"Content-Type": "text/plain"})
        assert answer.status_code == 400, sql
        assert "hidden" not in answer.text
        assert str(tmp_path) not in answer.text
    assert before == ((tmp_path / "registry.duckdb").read_bytes(), sorted(path.name for path in tmp_path.iterdir()))
    evil = client.get("/sql", params={"q": "SELECT '</textarea><script>alert(1)</script>' AS \"<b>\", no"},
                      headers={"Accept": "text/html"})
    assert evil.status_code == 400
    assert "<script" not in evil.text
    assert 'role="alert"' in evil.text
    shown = client.get("/sql", params={"q": "SELECT '<script>alert(1)</script>' AS \"<b>\""},
                       headers={"Accept": "text/html"})
    assert "<script" not in shown.text
    assert "<b>" not in shown.text
    assert "&lt;script&gt;" in shown.text
    assert "default-src 'none'" in shown.headers["content-security-policy"]


def test_what_compresses_a_result_is_ended_before_its_file_whatever_comes_of_the_query(scored, task, served,
                                                                                         monkeypatch):
    """Else Python from 3.12 on complains of each refused query where the server tells what it does."""
    class Noted(gzip.GzipFile):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            begun.append(self)

    begun = []
    scored(task)
    monkeypatch.setattr(gzip, "GzipFile", Noted)
    client = served()
    for sql, status in (("SELECT no", 400), ("SELECT 1", 200)):
        assert client.get("/sql", params={"q": sql, "format": "tsv"}).status_code == status
    assert [one.closed for one in begun] == [True, True]


def test_limits_hold_and_are_told(scored, task, served):
    scored(task)
    client = served(queries=QueryLimits(rows=3, size=100))
    for sql, status, told in (("FROM range(4)", 422, "more than 3 rows"), ("SELECT repeat('x', 200)", 422, "100 bytes"),
                              ("FROM range(3)", 200, "")):
        answer = client.get("/sql", params={"q": sql, "format": "tsv"})
        assert (answer.status_code, told in answer.text) == (status, True)
    for how, status in (({"content": "x" * (2**20 + 1), "headers": {"Content-Type": "text/plain"}}, 413),
                        ({"content": "{", "headers": {"Content-Type": "application/json"}}, 400),
                        ({"content": '{"q": "\\ud800"}', "headers": {"Content-Type": "application/json"}}, 400),
                        ({"json": {"q": "SELECT $a", "params": {"a": json.loads("[" * 90 + "]" * 90)}}}, 400),
                        ({"params": {"$a": "[" * 9000}, "content": b""}, 400),
                        ({"data": dict.fromkeys(map(str, range(101)), "")}, 400),
                        ({"json": [1]}, 400), ({"json": {"q": 1}}, 400), ({"content": b"\xff"}, 400),
                        ({"content": "x", "headers": {"Content-Type": "image/png"}}, 415), ({"data": {"z": "1"}}, 400)):
        assert client.post("/sql", **how).status_code == status
    assert client.get("/sql").json()["detail"].startswith("there is no query")
    closed = served(queries=None)
    assert closed.get("/sql?q=SELECT 1").status_code == 403
    assert closed.get("/api/tasks/small/items").status_code == 403
    assert closed.get("/api/tasks/small/items/i3").status_code == 403
    assert closed.get("/api/tasks/small/submissions").status_code == 200


@pytest.mark.slow
def test_a_process_answers_and_is_ended_at_its_limit(scored, task, served, tmp_path):
    scored(task)
    patient, short = (served(start=WaitingProcess, queries=QueryLimits(seconds=n, at_once=1)) for n in (60, 1))
    asked = {"q": ASKED, "$s": "a", "$r": "1"}
    assert patient.get("/sql", params=asked).json() == FOUND
    assert patient.get("/sql", params=asked | {"format": "parquet"}).content[:4] == b"PAR1"
    answer = short.get("/sql", params={"q": ENDLESS})
    assert (answer.status_code, "stopped after 1 s;" in answer.text) == (422, True)
    waiting, found = WaitingProcess(), bytearray()
    os.kill(waiting._process.pid, signal.SIGKILL)
    waiting._join()
    waiting.ask(QueryRequest(tmp_path / "registry.duckdb", Query("SELECT 1 AS n", {}), "csv", 2**30), 60, found.extend)
    assert found == b"n\n1\n", "another begins where the system has ended one that waited"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["registry.duckdb", "task"]
