"""`registry import long`, and the columns of runs of `wide`: the same scores in both forms are the same task."""

import json
import random

import pytest

from registry.errors import InputError
from registry.importers import IMPORTERS
from registry.values import build

RNG = random.Random(3)
SCORES = {(f"q{n}", system, run): RNG.randint(0, 8) / 8 for n in range(6) for system in ("acme/aspen", "birch")
          for run in ("1", "2")}
LONG = "id,doc,model,seed,acc\n" + "".join(
    f"{item},d{item[1]},{system},{run},{score}\n" for (item, system, run), score in SCORES.items())
JSON = [{"id": item, "doc": f"d{item[1]}", "by": {"model": system, "seed": int(run)}, "results": {"acc": score}}
        for (item, system, run), score in SCORES.items()]
WIDE = "id,doc," + ",".join(f"{system}.{run}" for _, system, run in list(SCORES)[:4]) + "\n" + "".join(
    f"q{n},d{n}," + ",".join(str(score) for (item, *_), score in SCORES.items() if item == f"q{n}") + "\n"
    for n in range(6))
OPTIONS = {"item": "id", "attributes": "doc", "system": "model", "run": "seed", "score": "acc", "metric": "acc"}
DEEP = OPTIONS | {"system": "by.model", "run": "by.seed", "score": "results.acc"}


def read(tmp_path, kind, text, **options):
    (tmp_path / "table").write_text(text)
    return build("importer", IMPORTERS, kind, options).read(tmp_path / "table")


@pytest.mark.parametrize(("kind", "text", "options"), [
    ("long", "".join(json.dumps(row) + "\n" for row in JSON), DEEP | {"syntax": "jsonl"}),
    ("long", json.dumps(JSON), DEEP | {"syntax": "json"}),
    ("long", LONG.partition("\n")[2], OPTIONS | {"columns": ["id", "doc", "model", "seed", "acc"]}),
    ("wide", WIDE, {"item": "id", "attributes": "doc", "runs": "{system}.{run}", "metric": "acc"}),
], ids=["JSON Lines", "JSON", "no header", "wide"])
def test_all_forms_are_one_task(tmp_path, kind, text, options):
    expected, found = read(tmp_path, "long", LONG, **OPTIONS), read(tmp_path, kind, text, **options)
    assert found.tables == expected.tables
    assert {name: list(map(json.loads, content.splitlines())) for name, content in found.files.items()} == {
        name: list(map(json.loads, content.splitlines())) for name, content in expected.files.items()}


def test_samples_that_pass_are_runs_and_minus_one_can_stand_for_no_score(tmp_path):
    rows = [{"item": f"q{n}", "system": system, "run": run, "score": (n + run) % 3 == 0}
            for n in range(6) for system in ("aspen", "birch") for run in range(2)]
    found = read(tmp_path, "long", "".join(map("{}\n".format, map(json.dumps, rows))), run="run", syntax="jsonl")
    runs = [found.files[f"test/systems/aspen/{run}.jsonl"].decode().splitlines() for run in (1, 2)]
    assert [[json.loads(row)["score"] for row in of] for of in runs] == [
        [float((n + run) % 3 == 0) for n in range(6)] for run in range(2)]
    rows = [{"item": f"q{n}", "system": system, "score": -1 if (n, system) == (2, "birch") else n}
            for n in range(6) for system in ("aspen", "birch")]
    found = read(tmp_path, "long", json.dumps(rows), syntax="json", unscored="-1", missing="drop")
    assert [json.loads(row)["item"] for row in found.files["test/systems/birch.jsonl"].splitlines()] == [
        f"q{n}" for n in range(6) if n != 2]


def test_runs_are_scored_by_their_average(registry, tmp_path):
    (tmp_path / "table.csv").write_text(LONG)
    registry("import", "long", "table.csv", *(part for name, value in OPTIONS.items() for part in (
        "--option", f"{name}={value}")))
    rows = registry("query", "SELECT system, score FROM submission_score ORDER BY ALL", "--format", "json").json
    assert [tuple(row.values()) for row in rows] == [
        (name.split("/")[-1], pytest.approx(sum(of) / 12)) for name in ("acme/aspen", "birch")
        if (of := [score for (_, system, _), score in SCORES.items() if system == name])]


@pytest.mark.parametrize(("kind", "text", "options", "says"), [
    ("long", LONG, {"run": None}, "table:3: item \"q0 \\(system 'acme/aspen'\\)\": occurs twice, first in line 2; if "
                                  "these rows are runs, name the column"),
    ("long", LONG, {"metric": "pass@1"}, "option 'metric' of long: 'pass@1' is not a valid name; .* such as pass-1"),
    ("long", LONG, {"system": "modle"}, "table:1: the header has no column 'modle'; did you mean 'model'"),
    ("long", LONG.replace("d5,birch", "d4,birch"), {}, "'doc' is 'd4', but 'd5' in another row"),
    ("long", LONG + "q7,d7,birch,1,1\n", {}, "'acme/aspen' \\(run 1\\) has no score of 1 item of 7"),
    ("long", LONG.replace("birch", " "), {}, "table:4: item 'q0': 'model' is ' '; expected a name"),
    ("long", LONG, {"item": []}, "must name one or more columns"),
    ("long", LONG, {"attributes": ["item"]}, "cannot name a column 'item'"),
    ("wide", WIDE, {"runs": "{system}"}, "expected {system} and {run}, each once"),
    ("wide", WIDE.replace("birch.2", "birch-2"), {"runs": "{system}.{run}"}, "the column 'birch-2' does not match"),
    ("wide", WIDE.replace("birch.2", "b.c.2"), {"runs": "{system}.{run}"}, "in several ways"),
    ("wide", WIDE + "q5,d5,1,1,1,1\n", {"runs": "{system}.{run}"}, "table:8: item 'q5': occurs twice, first in line 7"),
])
def test_what_is_wrong_is_named(tmp_path, kind, text, options, says):
    with pytest.raises(InputError, match=says):
        read(tmp_path, kind, text, **({"item": "id", "attributes": "doc"} | options if kind == "wide"
                                      else OPTIONS | options))
