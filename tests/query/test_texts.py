"""The view of texts: what stands in items and what systems say of them, unpacked when a query names it."""

import duckdb
import pytest

import registry as package

TASK = """manifest = 1
[task]
id = "mt"
[[test_set]]
name = "test"
gold = "gold.txt"
format = "lines"
source = "source.txt"
references = [{ name = "B", path = "b.txt" }]
attributes = "documents.txt"
[submission]
missing = "worst"
[[metric]]
name = "WER"
[significance]
seed = 1
[[submit]]
file = "runs/{system}.{run}.txt"
"""
SOURCE, GOLD, B = ("eins", "zwei", "drei"), ("one", "two", "three"), ("1", "2", "3")
SAID = {"ours.1": ("one", "tow", ""), "ours.2": ("one", "two", "3"), "theirs.1": ("'x'; \t$1", "two", "\u202eeerht")}


@pytest.fixture
def translations(scored, tmp_path):
    folder = tmp_path / "mt"
    (folder / "runs").mkdir(parents=True)
    for name, lines in {"source": SOURCE, "gold": GOLD, "b": B, "documents": ("d",) * 3}.items():
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    for name, lines in SAID.items():
        (folder / "runs" / f"{name}.txt").write_text("\n".join(lines) + "\n")
    (folder / "task.toml").write_text(TASK)
    scored(folder / "task.toml")


@pytest.mark.slow
def test_texts_of_translations(registry, translations):
    asked = "SELECT system || '.' || (replicate + 1) AS run, * FROM item_text"
    rows = registry("query", asked, "--format", "json").json
    assert len(rows) == 9
    for row in rows:
        n = row["position"]
        assert (row["item"], row["source"], row["gold"], row["golds"], row["output"]) == (
            str(n + 1), SOURCE[n], GOLD[n], {"gold": GOLD[n], "B": B[n]}, SAID[row["run"]][n] or None)
    with package.open("registry.duckdb") as opened:  # frames and lengths ask several times on one connection
        result = opened.query("FROM item_text WHERE output IS NULL")
        assert (len(result), result.columns[:3]) == (1, ["task", "test_set", "item"])
        assert [row[2] for row in result] == ["3"]
    with duckdb.connect("registry.duckdb", read_only=True) as other, pytest.raises(duckdb.Error, match="compressed"):
        other.execute("FROM item_text").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize(("lacking", "runs", "info"), [
    ("SELECT source_digest FROM submission_source WHERE name LIKE '%ours.2.txt'", {"ours.1", "theirs.1"},
     "the view item_text lacks 1 run, because the submitted files are not published"),
    ("SELECT source_digest FROM gold_source WHERE role = 'source'", set(),
     "the view item_text has no rows for task 'mt', because files of the gold are not published"),
    ("SELECT digest FROM source", set(),
     "the view item_text has no rows for task 'mt', because files of the gold are not published")])
def test_files_that_a_database_lacks_cause_an_info(registry, translations, lacking, runs, info):
    """As in a published database."""
    with duckdb.connect("registry.duckdb") as connection:
        connection.execute(f"DELETE FROM source WHERE digest IN ({lacking})")
    printed = registry("query", "SELECT DISTINCT system || '.' || (replicate + 1) AS run FROM item_text", "-f", "json")
    assert {row["run"] for row in printed.json} == runs
    assert printed.stderr == f"info: {info}\n"


@pytest.mark.slow
def test_tasks_without_texts_are_named(registry, scored, task):
    scored(task)
    found = registry("query", "FROM item_text", "--format", "json")
    assert (found.json, "item_text has no rows for task 'small'" in found.stderr) == ([], True)
