"""Registries of earlier versions, with rows in every table that they had: upgraded, they say what they said.

`pytest tests/store/test_upgrades.py --hypothesis-profile thorough` upgrades one of every version.
"""

import shutil

import duckdb
import pytest
from hypothesis import settings

from registry.store import schema
from tests.label_tasks import LabelTask
from tests.store.older import back_to

SINCE = {"resolved": "0002", "remarks": "0010", "ci_low": "0017", "ci_high": "0017"}  # what earlier ones did not keep
ITEMS = [f"i{n:02}" for n in range(24)]
GOLD = {item: "abc"[n % 3] for n, item in enumerate(ITEMS)}
EARLIER = schema.revisions()[:-1] if settings.default.max_examples > 100 else ["0001", "0010"]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A registry whose tables all have rows, by today's program, and what it says of its boards and pairs."""
    folder = tmp_path_factory.mktemp("filled")
    systems = {f"s{n}": GOLD | {item: "zzz" if n == 3 else "b" if GOLD[item] == "a" else "a" for item in ITEMS[::n]}
               for n in (2, 3, 8)}
    task = LabelTask(
        folder / "task", GOLD, systems, {item: f"d{n % 2}" for n, item in enumerate(ITEMS)},
        significance={"seed": 3, "overall": "friedman"},
        extra='[[metric]]\nid = "f1"\nname = "LabelF"\n[[submit]]\nfile = "systems/s2.tsv"\nsystem = "t"\n'
              'track = "open"')
    return folder / "r.duckdb", task.write()


@pytest.mark.thorough
@pytest.mark.new_schema
@pytest.mark.parametrize("revision", EARLIER)
def test_an_earlier_registry_says_after_its_upgrade_what_it_said(filled, registry, tmp_path, revision):
    path, task = filled
    if not path.exists():
        for command in (["run", task], ["effects", "small"]):
            registry(*command, "--db", path)
    db = shutil.copyfile(path, tmp_path / "registry.duckdb")
    with duckdb.connect(str(db)) as connection:
        back_to(connection, revision)
        tables = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        empty = {name for name in tables if connection.execute(f"FROM {name} LIMIT 1").fetchone() is None}
        assert {name.partition("_")[0] for name in empty} <= {"statistics", "study", "tombstone"}  # none was purged
    assert "older than this program's" in registry("board", exit_code=4).stderr
    registry("init")
    for command in ("board", "pairs"):
        was, now = (registry(command, "--format", "json", "--db", of).json for of in (path, db))
        unknown = {name for name, since in SINCE.items() if revision < since}
        assert [{key: row[key] for key in row.keys() - unknown} for row in now] == [
            {key: row[key] for key in row.keys() - unknown} for row in was]
    shown = registry("show", now[0]["signature"], "--format", "json").json
    assert {row["submission"]: row["score"] for section in shown for row in section.get("systems", ())} == {
        row[f"submission_{side}"]: row[f"score_{side}"] for row in now for side in "ab"
        if row["signature"] == now[0]["signature"]}
    told = registry("verify")
    assert "all is well" in told.stderr
    assert ("comparisons of an older registry cannot be made again" in told.stderr) == (revision < "0013")
    registry("score")
    registry("compare")
    assert "older" not in registry("board").stderr
    assert "all is well" in registry("verify").stderr
