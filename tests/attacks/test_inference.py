"""What readers see does not depend on what is hidden: registries that differ only in that give the same answers to SQL.

So nothing can be inferred from gaps between ids, from counts, or from results that tasks share.
"""

import re

import pytest
from typer.testing import CliRunner

from registry.cli.app import app
from registry.query.question import Query
from registry.query.sql import answer
from registry.store import models
from registry.store.database import Database
from tests.label_tasks import LabelTask

ITEMS = [f"i{n:02}" for n in range(40)]
GOLD = {item: "yes" if n % 3 else "no" for n, item in enumerate(ITEMS)}
# Times, and random numbers with the digests that contain them, in texts and as columns.
_VARYING = re.compile(r"(sha256:|salted-|id:)?[0-9a-f]{16,}|id:\w+|\d{4}-\d\d-\d\d[T ][\d:.Z]+"
                      r"|datetime\.datetime\([\d, ]*\)")
_COLUMNS = {"at", "created_at", "started_at", "ended_at", "salt", "hash", "digest", "signature", "time", "when"}


def wrong(*places, label="maybe"):
    """The gold's labels but for some places."""
    return GOLD | {ITEMS[place]: label for place in places}


# Open systems that equal hidden ones of the first registry, of the second, and of none.
GUESSES = {"guess1": wrong(7), "guess2": wrong(3, 5, 8), "guess3": wrong(1, 2)}
HIDDEN = ({"near": wrong(7), "far": wrong(3, 9, 12, 30, label="perhaps"), "twin": wrong(7)},
          {"near": wrong(3, 5, 8), "far": wrong(*range(0, 30, 2), label="never"), "twin": wrong(4, 31, label="other")})


def build(folder, hidden):
    """Return a registry with a task in its blind phase between two open ones, one of which has the same items."""
    db = folder / "registry.duckdb"

    def run(name, systems, extra=""):
        task = LabelTask(folder / name, GOLD, systems, extra=f'[[metric]]\nid = "f1"\nname = "Kappa"\n{extra}')
        manifest = task.write()
        manifest.write_text(manifest.read_text().replace('"small"', f'"{name}"'))
        done = CliRunner().invoke(app, ["run", str(manifest), "--actor", "organisers", "--db", str(db)])
        assert done.exit_code == 0, done.output

    run("before", {"early": wrong(2)})
    run("blind", hidden, "[board]\nhidden = true\n")
    run("after", GUESSES)
    run("before", {"early": wrong(2), "later": wrong(1, 4)})
    return db


def read_all(path, *, organiser=False):
    """Return the rows of every table and view by its name, without times and what depends on random numbers."""
    rows = {}
    with Database(path, organiser=organiser).querying() as connection:
        def ask(sql):
            result = answer(connection, Query(sql, {}))
            shown = [n for n, column in enumerate(result.columns) if column not in _COLUMNS]
            return [tuple(row[n] for n in shown) for batch in result.batches for row in batch]

        for (name,) in ask("SELECT name FROM (SHOW TABLES) WHERE NOT starts_with(name, 'secret_')"):
            shown = [_VARYING.sub("", repr(row)) for row in ask(f'FROM "{name}"')]
            rows[name] = shown if name in models.metadata.tables else sorted(shown)  # views have no order
    return rows


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two registries that differ in what the systems of a blind task answer."""
    return [build(tmp_path_factory.mktemp("variant"), hidden) for hidden in HIDDEN]


def test_answers_to_sql_do_not_depend_on_hidden_answers(two):
    first, second = map(read_all, two)
    assert first.keys() == second.keys() >= models.metadata.tables.keys()
    differing = {name: (first[name], second[name]) for name in first if first[name] != second[name]}
    assert differing == {}


def test_answers_to_an_organiser_depend_on_them(two):
    """The control: most tables differ."""
    first, second = (read_all(path, organiser=True) for path in two)
    assert {"answer", "response", "label", "pair_result", "tested_statistics", "score", "standing"} <= {
        name for name in first if first[name] != second[name]}
