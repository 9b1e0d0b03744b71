"""Tables and pages over HTTP are what commands print and write, all of it and nothing else."""

import csv
import io
import json
import re

import jsonschema
import pytest

from registry.serve.app import _ROUTES
from registry.serve.tables import ITEM_LISTS, PAGES
from tests.conftest import ROOT

DOCS = (ROOT / "docs" / "serve.md").read_text()


@pytest.mark.slow
def test_tables_and_pages_are_those_of_commands(registry, scored, task, served, tmp_path):
    scored(task)
    client = served(items=2)
    base = "/api/tasks/small"

    def rows(path, **parameters):
        return client.get(base + path, params=parameters).raise_for_status().json()

    board = registry("board", "--format", "json")
    assert rows("/boards/0/standings") == board.json
    assert client.get(f"{base}/boards/0/standings", headers={"Accept": "text/csv"}).text == registry(
        "board", "--format", "csv").stdout
    assert rows("/boards/0/pairs") == registry("pairs", "--format", "json").json
    assert rows("/boards/0/pairs", system="c", top=3) == registry(
        "pairs", "--system", "c", "--top", 3, "--format", "json").json
    assert rows("/submissions") == registry("list", "submissions", "--format", "json").json
    assert client.get("/api/tasks").json() == registry("list", "tasks", "--format", "json").json
    for which in ITEM_LISTS:
        assert rows("/items", list=which) == registry("items", "small", which, "--format", "json").json
    assert rows("/items/i3") == registry("items", "small", "show", "i3", "--format", "json").json
    assert [row["id"] for row in rows("/metrics")] == ["acc"]
    (only,) = rows("/boards")
    assert only["signature"] == board.json[0]["signature"]
    assert (only["systems"], only["pairs"], only["best"]) == (3, 3, board.json[0]["submission"])
    registry("site", "-o", tmp_path / "site", "--items", "2", "--url", "http://127.0.0.1")
    for path, file in {"/": "index.html", "/index.html": "index.html", "/tasks/small": "tasks/small.html",
                       "/tasks/small.html": "tasks/small.html", "/feed.xml": "feed.xml"}.items():
        assert client.get(path).text == (tmp_path / "site" / file).read_text()
    elsewhere = served(items=2, hosts=("eval.example.org",), url="https://eval.example.org/mt/")
    assert 'href="https://eval.example.org/mt/tasks/small.html' in elsewhere.get("/feed.xml").text
    no_host = client.get("/feed.xml", headers={"Host": '127.0.0.1:80"/><evil'}).raise_for_status().text
    assert ("evil" in no_host, 'href="tasks/small.html' in no_host) == (False, True)


@pytest.mark.slow
def test_parts_of_a_table_are_the_whole_of_it(registry, scored, task, served):
    task.systems |= {name: task.gold | dict.fromkeys(list(task.gold)[:n], "no") for n, name in enumerate("defg")}
    scored(task)
    client, address = served(), "/api/tasks/small/boards/0/pairs"
    whole, parts, followed = client.get(address), [], f"{address}?limit=4&format=jsonl"
    while followed:
        part = client.get(followed)
        assert part.headers["x-total-count"] == "21"
        parts += [json.loads(line) for line in part.text.splitlines()]
        last, followed = followed, (address + part.links["next"]["url"]) if "next" in part.links else None
    assert parts == whole.json()
    assert len(parts) == 21
    for rel, first in (("first", parts[0]), ("prev", parts[16]), ("last", parts[20])):
        assert json.loads(client.get(address + part.links[rel]["url"]).text.splitlines()[0]) == first
    registry("withdraw", "small/test/d/d", "--reason", "asked")
    client.renew()
    changed = client.get(last)
    assert (changed.status_code, "start again" in changed.json()["detail"]) == (410, True)


@pytest.mark.parametrize(("asked", "told"), [
    ("/boards/0/pairs?limit=0", "limit must be a whole number from 1 to 10000"),
    ("/boards/0/pairs?limit=ten", "limit must be"), ("/boards/0/pairs?limit=1&limit=2", "parameter limit occurs twice"),
    ("/boards/0/pairs?offest=2", "did you mean 'offset'?"), ("/items?list=worst", "list cannot be 'worst'"),
    ("/boards?at=2000-01-01", "before the first entry of the log"), ("/boards?format=xml", "format cannot be 'xml'"),
])
def test_what_is_asked_wrongly_is_told(scored, task, served, asked, told):
    scored(task)
    answer = served().get(f"/api/tasks/small{asked}")
    assert answer.status_code == 400
    assert told in answer.json()["detail"]


def test_what_there_is_to_ask_for_is_described(registry, scored, task, served):
    """Every address, by its schema; and docs/serve.md names every one with its parameters."""
    scored(task)
    client = served()
    described = client.get("/openapi.json").json()
    plain = {re.sub(r":\w+", "", path) for path in _ROUTES} - {"/index.html"}
    assert described["paths"].keys() == plain | {"/sql"}
    assert PAGES.keys() <= plain
    values = {"task": "small", "board": 0, "item": "i3"}
    for path, of in described["paths"].items():
        assert f"`{path}`" in DOCS, path
        for parameter in of["get"]["parameters"]:
            assert parameter["in"] == "path" or f"`{parameter['name']}`" in DOCS, parameter["name"]
        if path.startswith("/api"):
            schema = of["get"]["responses"]["200"]["content"]["application/json"]["schema"]
            rows = client.get(path.format(**values)).json()
            assert rows
            jsonschema.Draft202012Validator({**schema, "components": described["components"]}).validate(rows)


@pytest.mark.slow
def test_a_board_of_the_past(registry, scored, task, served):
    scored(task)
    client = served()
    before = client.get("/api/tasks/small/boards/0/standings").json()
    registry("withdraw", "small/test/c/c", "--reason", "asked")
    registry("compare", "small")
    client.renew()
    past = client.get("/api/tasks/small/boards/0/standings", params={"at": before[0]["signature"]})
    assert len(client.get("/api/tasks/small/boards/0/standings").json()) == 2
    assert past.json() == registry("board", "--at", before[0]["signature"], "--format", "json").json
    assert "This is the state of the registry" in client.get("/tasks/small", params={"at": before[0]["signature"]}).text


def test_csv_is_inert(scored, task, served):
    """What looks like a formula is none, as in all commands."""
    task.systems["=1+1"] = dict(task.gold)
    scored(task)
    found = csv.DictReader(io.StringIO(served().get("/api/tasks/small/boards/0/standings?format=csv").text))
    assert "'=1+1" in [row["system"] for row in found]
