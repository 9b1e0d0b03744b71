"""`registry import wide`: a table of items and systems becomes a task like any other."""

import tomllib

import duckdb
import pytest

from registry.importers import IMPORTERS
from registry.values import build
from tests.importers import scores

TABLE = "doc;n;aspen;Birch, large\n".replace(";", ",").replace("Birch, large", '"Birch, large"') + """d1,1,0.5,1
d1,2,0.25,
d2,1,1,0
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text(TABLE)
    return path


NAMED = ("--option", 'item=["doc", "n"]', "--option", 'attributes=["doc"]')


def test_one_command_makes_items_submissions_and_scores(registry, table):
    table.write_text(TABLE.replace("d1,2,0.25,\n", "d1,2,0.25,0.75\n"))
    told = registry("import", "wide", table, *NAMED).stderr
    assert "task: results/task.toml" in told
    assert "results: gold of test new; submissions: 2 added" in told
    assert "scores: 2 computed" in told
    scores = registry("query", "SELECT system, item, score FROM item_score ORDER BY ALL", "--format", "json").json
    assert [tuple(row.values()) for row in scores] == [
        ("Birch, large", "d1 1", 1), ("Birch, large", "d1 2", 0.75), ("Birch, large", "d2 1", 0),
        ("aspen", "d1 1", 0.5), ("aspen", "d1 2", 0.25), ("aspen", "d2 1", 1)]
    board = registry("run", "results/task.toml", "--format", "json").json
    assert {row["system"]: row["score"] for row in board} == {
        "aspen": pytest.approx(1.75 / 3), "Birch, large": pytest.approx(1.75 / 3)}


def test_items_that_a_system_has_no_score_of_can_be_left_out_for_all(registry, table):
    registry("import", "wide", table, *NAMED, "--option", "missing=drop")
    board = registry("run", "results/task.toml", "--format", "json").json
    assert {row["system"]: row["score"] for row in board} == {"aspen": 0.75, "Birch, large": 0.5}


def test_it_is_done_once_and_its_source_is_on_record(registry, table):
    table.write_text(TABLE.replace("0.25,\n", "0.25,0\n"))
    registry("import", "wide", table, *NAMED, "--task", "small", "--to", "here/it")
    assert "nothing changed" in registry("import", "wide", table, *NAMED, "--task", "small", "--to", "here/it").stderr
    (run,) = registry("query", "SELECT command, parameters, inputs FROM run", "--format", "json").json
    assert run["command"] == "import"
    assert f'"{table.name}":"sha256:' in run["inputs"]
    table.write_text("doc,n,aspen\nd1,1,1\n")
    assert "here/it/scores.csv: this file already exists with other content; remove it, or name" in registry(
        "import", "wide", table, *NAMED, "--task", "small", "--to", "here/it", exit_code=3).stderr


def test_what_fails_leaves_no_folder_behind_and_neither_does_a_dry_run(registry, table, tmp_path):
    told = registry("import", "wide", table, *NAMED, exit_code=3).stderr
    assert "results.csv: item 'd1 2': it has no score" in told
    assert not (tmp_path / "results").exists()
    table.write_text(TABLE.replace("0.25,\n", "0.25,0\n"))
    told = registry("import", "wide", table, *NAMED, "--dry-run").stderr
    assert "would be written: results/task.toml" in told
    assert sorted(path.name for path in tmp_path.glob("[!.]*")) == ["results.csv"]


def test_rows_are_numbered_and_systems_chosen(table):
    imported = build("importer", IMPORTERS, "wide", {"systems": ["aspen"], "better": "lower"}).read(table)
    assert [entry["system"] for entry in imported.tables["submit"]] == ["aspen"]
    assert imported.tables["test_set"][0]["options"]["item"] == []
    assert imported.tables["metric"][0]["options"] == {"better": "lower"}
    assert imported.files["scores.csv"] == table.read_bytes()


def test_the_manifest_is_toml_whatever_the_names(table, tmp_path):
    table.write_text('"a ""b"" \\ é"\n1\n')
    with build("importer", IMPORTERS, "wide", {}).read(table).write(tmp_path / "t", "t") as path:
        assert tomllib.loads(path.read_text())["submit"][0]["system"] == 'a "b" \\ é'


@pytest.mark.parametrize(("text", "arguments", "says"), [
    (TABLE, ["--option", "item=id"], "results.csv:1: the header has no column 'id'"),
    (TABLE, ["--option", "itm=id"], "unknown option 'itm' of wide; did you mean 'item'"),
    ("item\n1\n", ["--option", "item=item"], "results.csv:1: no column is left for a system"),
    ("a\u200bb\n1\n", [], "submit[0].system: 'a\\u200bb' contains '\\u200b'"),
    ("a\n1\nx\n", [], "results.csv:3: item '2': 'a' is 'x'; expected a finite number"),
    ("a\n1\n", ["--task", "no slug"], "task.id: 'no slug' is not a valid name; use only letters"),
])
def test_what_is_wrong_is_named(registry, table, text, arguments, says):
    table.write_text(text)
    assert says in registry("import", "wide", table, *arguments, exit_code=3).stderr


def test_unknown_kinds_name_the_known_ones(registry, table):
    assert "unknown importer 'wid'; did you mean 'wide'" in registry("import", "wid", table, exit_code=3).stderr


PANDAS = ",aspen,acme/birch-7b\nq0,0.5,1.0\nq1,0.25,\n"  # DataFrame.to_csv; the last cell is nan


@pytest.mark.parametrize(("content", "options", "says"), [
    (PANDAS, [], "results.csv:1: a column has no name in the header; name it, or add --option 'item=[\"\"]'"),
    ("item" + PANDAS, [], "results.csv:2: column 'item' has 'q0', which is not a score; add --option item="),
    (PANDAS.replace(",", ";"), [], "results.csv:1: the table has only one column, ';aspen;acme/birch-7b'; set "
     "the separator"),
    (PANDAS, ['item=[""]'], "error: results.csv: item 'q1': it has no score; add the answer, or set "
     "missing = \"worst\" (with the option worst of Mean) in the manifest; missing = \"drop\" would leave out "
     "1 of 2 items for all systems; for an import set the option 'missing'"),
])
def test_what_a_data_frame_writes_is_told_apart_or_refused_with_the_remedy(registry, table, content, options, says):
    table.write_text(content)
    given = [part for option in options for part in ("--option", option)]
    for more in ((), ("--dry-run",)):
        assert says in registry("import", "wide", "results.csv", *given, *more, exit_code=3).stderr


def test_a_data_frame_with_row_names_is_read(registry, table):
    table.write_text(PANDAS)
    registry("import", "wide", "results.csv", "--option", 'item=[""]', "--option", "missing=drop")
    assert scores(registry) == [("test", "acme", "birch-7b", 1), ("test", "aspen", "aspen", 0.375)]


@pytest.fixture
def parquet(tmp_path):
    """The table as Parquet, all of its scores there."""
    def write(select="SELECT doc, n, aspen, coalesce(birch, 0) AS birch FROM t"):
        path = tmp_path / "results.pq"
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE t AS FROM (VALUES ('d1', 1, 0.5, 1.0), ('d1', 2, 0.25, NULL), "
                               "('d2', 1, 1, 0)) t(doc, n, aspen, birch)")
            connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
        return path

    return write


def test_parquet_is_read_as_text_is(registry, parquet):
    registry("import", "wide", parquet(), *NAMED)
    assert scores(registry) == [("test", "aspen", "aspen", pytest.approx(1.75 / 3)),
                                ("test", "birch", "birch", pytest.approx(1 / 3))]


@pytest.mark.parametrize(("select", "says"), [
    ("FROM t", "results.pq: item 'd1 2': it has no score"),
    ("SELECT doc, n AS m, aspen FROM t", "results.pq: the file has no column 'n'; known: aspen, doc, m"),
    ("SELECT doc, n FROM t", "results.pq: no column is left for a system"),
    ("SELECT *, doc AS topic FROM t", "results.pq: column 'topic' has 'd1', which is not a score; add --option item="),
    ("SELECT *, true AS passed FROM t", "results.pq: column 'passed' has 'True', which is not a score"),
])
def test_what_is_wrong_with_parquet_is_named(registry, parquet, select, says):
    assert says in registry("import", "wide", parquet(select), *NAMED, exit_code=3).stderr


def test_a_file_that_only_begins_as_parquet_is_refused(registry, table):
    table.write_bytes(b"PAR1" + bytes(20))
    assert "results.csv: this is not a Parquet file" in registry("import", "wide", table, exit_code=3).stderr
