"""What programs read of boards: JSON that its schema describes, and the same numbers in every form."""

import csv
import io
import json
from dataclasses import replace

import jsonschema
import pytest

from registry.messages import Message
from registry.rendering.render import render
from registry.reports.boards import make_board_table
from registry.reports.columns import BOARD_KEYS, PAIR_KEYS
from registry.reports.paper_tables import render_latex_board
from tests.conftest import ROOT
from tests.generated_docs import SCHEMAS
from tests.reports.boards import leaderboard

SAMPLES = ("entities", "translation", "relations", "stance")


def validate(name, rows):
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(rows, schema)


@pytest.mark.parametrize("sample", SAMPLES)
def test_boards_and_pairs_are_as_their_schemas_say(registry, scored, sample):
    scored(ROOT / "sample_data" / sample / "task.toml")
    validate("board", registry("board", "--format", "json").json)
    validate("pairs", registry("pairs", "--format", "json").json)


def test_so_are_resampled_ranks_and_undefined_scores(registry, scored, task):
    task.extra = "[board]\nranks = 'bootstrap'\nrank_baselines = false\n[[submit]]\nfile = 'systems/a.tsv'\n" \
        "system = 'base'\nkind = 'baseline'"
    scored(task)
    rows = registry("board", "--format", "json").json
    assert None in [row["rank"] for row in rows]
    assert None not in [row["share_best"] for row in rows if row["rank"] is not None]
    validate("board", rows)


@pytest.mark.parametrize("name", ["board", "pairs"])
def test_the_schema_refuses_what_is_not_there(name, registry, scored, task):
    scored(task)
    (row, *_) = registry(name, "--format", "json").json
    key = {"board": "score", "pairs": "p_value"}[name]
    for wrong in ({**row, "more": 1}, {**row, key: "0.5"}, {k: v for k, v in row.items() if k != key}):
        with pytest.raises(jsonschema.ValidationError):
            validate(name, [wrong])


def described(stored):
    return [Message(one["code"], one["parameters"]).described() for one in json.loads(stored)]


@pytest.mark.parametrize(("command", "view", "keys"), [("board", "leaderboard", BOARD_KEYS),
                                                       ("pairs", "pairwise", PAIR_KEYS)])
def test_csv_and_json_agree_with_a_query_to_full_precision(registry, scored, command, view, keys):
    scored(ROOT / "sample_data" / "translation" / "task.toml")
    stored = registry("query", f"SELECT * FROM {view}", "--format", "json").json
    stored = [row | {"messages": described(row["messages"])} if "messages" in row else row for row in stored]
    shown = registry(command, "--format", "json").json
    shared = [key for key in keys if key in stored[0]]
    assert len(shared) > 20
    assert [[row[key] for key in shared] for row in shown] == [[row[key] for key in shared] for row in stored]
    written = list(csv.DictReader(io.StringIO(registry(command, "--format", "csv").stdout)))
    texts = [{key: value if isinstance(value, str) else "" if value is None else "; ".join(one["code"] for one in value)
              if isinstance(value, list) else json.dumps(value) for key, value in row.items()} for row in shown]
    assert written == texts
    assert all(float(cell) == row[key] for line, row in zip(written, shown, strict=True)
               for key, cell in line.items() if isinstance(row[key], float))


def test_rounding_never_changes_the_order():
    """Scores that print alike stay in their order, and those that look as if they were out of it are not sorted."""
    scores = [0.80004999, 0.80004998, 0.80004997, 0.79995001]
    names = ["delta", "beta", "gamma", "alpha"]
    board = leaderboard(names, scores)
    tables = {form: render([make_board_table(board)], form) for form in ("table", "md", "csv", "tsv", "json")}
    for written in (*tables.values(), render_latex_board(board)):
        assert sorted(names, key=written.index) == names
    assert tables["md"].count("0.8000") == 4
    assert json.loads(tables["json"])[1]["score"] == 0.80004998
    assert render_latex_board(board).count(r"\textbf{0.8000}") == 1  # the others are no best scores
    tied = replace(board, standings=tuple(replace(of, score=0.8) for of in board.standings))
    assert render_latex_board(tied).count(r"\textbf{0.8000}") == 4
