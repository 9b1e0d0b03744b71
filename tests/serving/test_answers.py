"""What is kept and for how long, who is answered, and what answers say of themselves."""

import asyncio
import gzip
import re
import threading
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from registry.serve.app import ResultResponse
from registry.serve.queries import Answer, Queries
from registry.serve.server import MAX_CONNECTIONS, IdleConnections
from registry.serve.snapshots import Snapshots
from registry.serve.source import Cache, ProblemError, QueryLimits, Settings, Source, load_task_boards
from registry.store.database import Database

STANDINGS = "/api/tasks/small/boards/0/standings"
ASKED = [
    ({"url": "/", "headers": {"Host": "evil.example"}}, 421, "--allow-host"),
    ({"url": "/", "headers": {"Host": "127.0.0.1.evil.example:80"}}, 421, "host name is not permitted"),
    ({"url": "/", "headers": {"Host": "eval.example.org:8000"}}, 200, ""),
    ({"url": "/", "headers": {"Host": "[::1]:8000"}}, 200, ""),
    ({"url": "/nothing"}, 404, "openapi.json"), ({"url": "/tasks/smal"}, 404, "did you mean 'small'?"),
    ({"url": "/api/tasks/small/boards/7/pairs"}, 404, "the boards 0 to 0"),
    ({"url": "/tasks/..%2f..%2fregistry.duckdb"}, 404, ""), ({"url": "/tasks/%2e%2e/registry.duckdb"}, 404, ""),
    ({"url": "/registry.duckdb"}, 404, ""), ({"url": "/tasks/"}, 404, ""),
    ({"url": "/tasks/small.pairs/0/0.js"}, 404, "holds all pairs"),
    ({"url": "/api/tasks/small/items/i99"}, 404, "unknown item"),
    ({"url": "/?x=1"}, 400, "unknown parameter 'x'"), ({"url": "/", "method": "POST"}, 405, "the server is read-only"),
    ({"url": STANDINGS, "method": "DELETE"}, 405, ""),
    ({"url": STANDINGS, "headers": {"Accept": "image/png"}}, 406, ""),
    ({"url": STANDINGS, "method": "OPTIONS"}, 204, ""),
]


@pytest.mark.slow
def test_an_answer_is_made_once_and_known_until_the_registry_changes(registry, scored, task, served):
    scored(task)
    client = served()
    first = client.get(STANDINGS, headers={"Accept-Encoding": "identity"})
    zipped = client.get(STANDINGS, headers={"Accept-Encoding": "gzip"})
    assert (zipped.headers["content-encoding"], zipped.json()) == ("gzip", first.json())
    tags = {first.headers["etag"], zipped.headers["etag"], client.get(f"{STANDINGS}?format=csv").headers["etag"],
            client.get("/").headers["etag"], client.get("/tasks/small").headers["etag"]}
    assert len(tags) == 5
    assert not [tag for tag in tags if not re.fullmatch('"[0-9a-f]{16}-[0-9a-f]{20}(-gzip)?"', tag)]
    head = client.head(STANDINGS, headers={"Accept-Encoding": "identity"})
    assert (head.content, head.headers["content-length"]) == (b"", first.headers["content-length"])
    asked = {"Accept-Encoding": "identity", "If-None-Match": f'"x", W/{first.headers["etag"]}'}
    again = client.get(STANDINGS, headers=asked)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    (task.folder / "other.toml").write_text(task.manifest.read_text().replace('id = "small"', 'id = "other"'))
    registry("run", task.folder / "other.toml")
    assert client.get("/").text.count("<li data-task=") == 1
    client.renew()
    index = client.get("/").text
    assert index.count("<li data-task=") == 2
    assert client.get(STANDINGS, headers={"If-None-Match": "*"}).status_code == 304
    assert client.get("/tasks/none", headers={"If-None-Match": "*"}).status_code == 404
    before = Path("registry.duckdb").read_bytes()
    registry("withdraw", "small/test/c/c", "--reason", "asked")
    registry("site", "-o", "public")
    client.renew()
    assert client.get("/").text == Path("public/index.html").read_text() != index
    assert Path("registry.duckdb").read_bytes() != before
    changed = client.get(STANDINGS, headers=asked)
    assert (changed.status_code, changed.headers["etag"] != first.headers["etag"]) == (200, True)
    assert "Submissions or gold have changed" in client.get("/tasks/small").text


@pytest.mark.usefixtures("snapshots_here")
def test_many_who_ask_wait_for_one_who_reads(scored, task, monkeypatch):
    scored(task)
    opened, reading = [], Database.reading

    async def ask():
        source = Source(Settings(Path("registry.duckdb")), Snapshots(Path("registry.duckdb")))
        monkeypatch.setattr(Database, "reading", lambda self, *given, **named: opened.append(self.path) or reading(
            self, *given, **named))
        with source.lease() as newest:
            boards = await asyncio.gather(*(load_task_boards(newest, "small", None) for _ in range(50)))
            boards.append(await load_task_boards(newest, "small", None))
            path = newest.file.path
        source.close()
        return path, {id(one) for one in boards}

    path, boards = asyncio.run(ask())
    assert opened == [path], "the snapshot is opened once, and the registry is not"
    assert len(boards) == 1


def test_the_file_of_a_result_is_gone_when_who_asked_for_it_is():
    file = TemporaryFile()  # noqa: SIM115  (who sends it closes it)
    file.write(b"x" * 200_000)

    async def send():
        gone = asyncio.Event()

        async def sending(message):
            if message["type"] == "http.response.body":
                gone.set()
                await asyncio.sleep(60)  # it reads nothing any more

        async def receive():
            await gone.wait()
            return {"type": "http.disconnect"}

        scope = {"type": "http", "asgi": {"spec_version": "2.3"}}
        await ResultResponse(Answer(file, 200_000, "", ()), {})(scope, receive, sending)

    asyncio.run(send())
    assert file.closed


def test_connections_without_a_whole_request_are_closed():
    class Open:
        def __init__(self, cycle=None):
            self.cycle, self.is_closed = cycle, False

        def shutdown(self):
            self.is_closed = True

    class Cycle:
        def __init__(self, *, response_complete):
            self.response_complete = response_complete

    slow, answered, again = Open(), Open(Cycle(response_complete=False)), Open(Cycle(response_complete=True))
    idle, there = IdleConnections(), [slow, answered, again]
    for second in range(26):
        idle.close_old(there, second)
        if second == 15:
            again.cycle = Cycle(response_complete=True)
    assert [one.is_closed for one in there] == [True, False, False]
    many = [Open() for _ in range(MAX_CONNECTIONS // 2 + 1)]
    for second in range(4):
        idle.close_old(many, second)
    assert all(one.is_closed for one in many)


def test_cached_values_take_so_much_room():
    cache = Cache(100)
    for n in range(4):
        cache.store(n, f"value {n}", 40)
    assert [cache.get(n) for n in range(4)] == [None, None, "value 2", "value 3"]
    cache.get(2)  # so that it is the one that was used last
    cache.store("more", "more", 40)
    cache.store("large", "large", 51)
    assert [cache.get(key) for key in (2, 3, "more", "large")] == ["value 2", None, "more", None]


def test_who_is_answered_and_what(scored, task, served):
    scored(task)
    client = served(hosts=("eval.example.org",))
    for how, status, told in ASKED:
        answer = client.request(**{"method": "GET"} | how)
        assert answer.status_code == status, how
        said_of(answer, status, told)


def said_of(answer, status, told):
    """Look at what an answer says of itself."""
    assert told in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in answer.headers
    assert "frame-ancestors" in answer.headers["content-security-policy"]
    assert str(Path.cwd()) not in answer.text
    if status >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["cache-control"] == "no-store"
    if status in (204, 405):
        assert {"GET", "HEAD"} <= set(answer.headers["allow"].split(", "))


def test_other_pages_read_what_they_were_let(scored, task, served):
    scored(task)
    client, ours, theirs = served(origins=("https://ours.example",)), "https://ours.example", "https://evil.example"
    let = client.get(STANDINGS, headers={"Origin": ours})
    assert let.headers["access-control-allow-origin"] == ours
    assert "Origin" in let.headers["vary"]
    asked = client.options("/sql", headers={"Origin": ours, "Access-Control-Request-Method": "POST"})
    assert "POST" in asked.headers["access-control-allow-methods"]
    assert "access-control-allow-origin" not in client.get(STANDINGS, headers={"Origin": theirs}).headers
    sql = {"url": "/sql", "params": {"q": "SELECT 1"}}
    for strange in ({"Origin": theirs}, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image"},
                    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}):
        assert client.get(**sql, headers=strange).status_code == 403
    for known in ({"Origin": ours}, {"Origin": "http://127.0.0.1"}, {"Sec-Fetch-Site": "none"},
                  {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}):
        assert client.get(**sql, headers=known).status_code == 200


def test_a_snapshot_that_cannot_be_read_is_told_without_its_path(scored, task, served, caplog):
    scored(task)
    client = served()
    with client.source.lease() as reading:
        reading.file.path.write_text("no database")
    answer = client.get("/", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert "busy or cannot be read" in answer.text
    assert str(reading.file.path.parent) not in answer.text
    assert f"{reading.file.path}: not a DuckDB database" in caplog.text


@pytest.mark.usefixtures("snapshots_here")
def test_queries_wait_for_each_other_up_to_a_limit(empty_registry):
    going, begun, asked, ended, path = threading.Event(), [], [], [], Path("registry.duckdb")
    path.write_bytes(empty_registry)

    class Slow:
        def __init__(self):
            begun.append(self)

        def ask(self, question, timeout, write_bytes):
            asked.append(self)
            going.wait(10)
            write_bytes(b"[]\n")
            return []

        def close(self):
            ended.append(self)

    async def ask():
        source = Source(Settings(path), Snapshots(path))
        queries = Queries(source, QueryLimits(at_once=1, waiting=1, patience=0.05), Slow)
        running = asyncio.ensure_future(queries.answer("FROM a", "json"))
        while queries._busy == set() or len(begun) < 2:  # one answers, and one waits for the next
            await asyncio.sleep(0.01)
        waiting = asyncio.ensure_future(queries.answer("FROM b", "json"))
        await asyncio.sleep(0)
        with pytest.raises(ProblemError, match="too many queries") as full:
            await queries.answer("FROM c", "json")
        with pytest.raises(ProblemError, match="take too long"):
            await waiting
        going.set()
        answer = await running
        after = await queries.answer("FROM d", "csv", zipped=True)
        queries.close()
        source.close()
        return full.value, b"".join(answer.read_pieces()), gzip.decompress(b"".join(after.read_pieces()))

    full, content, zipped = asyncio.run(ask())
    assert (full.status, full.headers["Retry-After"]) == (503, "5")
    assert content == zipped == b"[]\n"
    assert len(set(asked)) == len(asked) == 2, "each answers once"
    assert set(asked) <= set(ended)


def test_the_guard_counts_the_whole_head(scored, task, served):
    """What the server receives in one piece it does not limit, so the guard does."""
    scored(task)
    client = served()
    assert client.get("/api/tasks", headers={"X": "a" * 32_000}).status_code == 200
    answer = client.get("/api/tasks", headers={"X": "a" * 33_000})
    assert answer.status_code == 431
    assert "at most 32,768 bytes" in answer.json()["detail"]
    assert client.get("/api/tasks", headers={f"X{n}": "a" for n in range(5000)}).status_code == 431
