"""Two registries that differ only in what is hidden publish the same file."""

import json
import re
import shutil
from pathlib import Path

import duckdb
import pytest

from registry.publication.publish import publish
from registry.store.database import Database
from tests.conftest import ROOT
from tests.thorough import keep_each

SALTED = re.compile(r"salted-sha256:[0-9a-f]{64}")
# Salted digests, of which signatures have eight digits, depend on what is hidden, and confirm no guess at it.
IN_SIGNATURE = re.compile(r"(gold|id):[0-9a-f]{8}")

class SampleTask:
    """A sample task, of which some files and names can be changed; `names` has the new name of each system."""

    def __init__(self, folder, name, board):
        self.folder, self.name = folder, name
        shutil.copytree(ROOT / "sample_data" / name, folder, ignore=shutil.ignore_patterns("make.py"))
        manifest = folder / "task.toml"
        manifest.write_text(manifest.read_text().replace("resamples = 100_000", "resamples = 1_000") + board)

    @property
    def submissions(self):
        return sorted((self.folder / "submissions").iterdir())

    def rename(self):
        """Give every team and system another name, of which the order is the other way round."""
        stems = [path.stem.split(".") for path in self.submissions]
        teams = list(dict.fromkeys(stem[0] for stem in stems))
        for n, (path, stem) in enumerate(zip(self.submissions, stems, strict=True)):
            new = [f"{'zyxwvutsrq'[n]}-renamed"]
            if len(stem) > 1:
                new.insert(0, f"{'zyxwvutsrq'[teams.index(stem[0])]}-team")
            path.rename(path.with_name(".".join(new) + path.suffix))

    def rotate_outputs(self):
        """Give every system the output of another one, so that other scores result."""
        contents = [path.read_bytes() for path in self.submissions]
        for path, content in zip(self.submissions, [*contents[1:], contents[0]], strict=True):
            path.write_bytes(content)

    def rewrite_gold(self):
        """Write gold and outputs with other words or labels, in such a way that every score stays as it was."""
        for path in [*self.submissions, *self.folder.glob("gold.*"), *self.folder.glob("reference.*")]:
            path.write_text(REWRITTEN[self.name](path.read_text()))


def swap_labels(text):
    swapped = {"against": "none", "none": "against"}
    return re.sub(r"\t(against|none)\b", lambda found: f"\t{swapped[found[1]]}", text)


def swap_types(text):
    types = sorted(set(re.findall(r"\t[BI]-(\w+)", text)))
    return re.sub(r"(\t[BI]-)(\w+)", lambda found: found[1] + types[(types.index(found[2]) + 1) % len(types)], text)


def replace_letters(text):
    return text.translate(str.maketrans("abcdefghijklmnopqrstuvwxyz", "bcdefghijklmnopqrstuvwxyza"))


REWRITTEN = {"entities": swap_types, "stance": swap_labels, "translation": replace_letters}


def dump(path):
    """Every table of a public file in the order of its rows; times as ranks, salted digests without their digits."""
    with duckdb.connect(str(path), read_only=True) as connection:
        found = {}
        for (table,) in connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall():
            cursor = connection.execute(f'FROM "{table}"')
            columns = [column[0] for column in cursor.description]
            found[table] = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    times = sorted({value for rows in found.values() for row in rows for value in row.values()
                    if type(value).__name__ == "datetime"})
    for rows in found.values():
        for row in rows:
            for column, value in row.items():
                if type(value).__name__ == "datetime":
                    row[column] = f"time {times.index(value)}"
                elif isinstance(value, str):
                    row[column] = IN_SIGNATURE.sub(r"\1:-", SALTED.sub("salted", value))
    for row in found["run"]:
        row["digest"] = "salted"
    return found


@pytest.fixture
def published(registry, tmp_path):
    """Run a task, give every team and system a pseudonym by its place among the files, and publish."""
    def made(task, order):
        database = task.folder / "registry.duckdb"
        registry("run", task.folder / "task.toml", "--db", database)
        with duckdb.connect(str(database)) as connection:
            for n, name in enumerate(order):
                connection.execute("UPDATE system SET pseudonym = ? WHERE name = ?", [f"System {n + 1:02}A", name])
                connection.execute("""
                    UPDATE team SET pseudonym = coalesce(least(pseudonym, $team), $team)
                    WHERE team_id = (SELECT team_id FROM system WHERE name = $name)""",
                                   {"team": f"Pseudonym {n + 1:02}", "name": name})
        output = tmp_path / f"{task.folder.name}.duckdb"
        publish(Database(database), output, sources=True)
        return dump(output)

    return made


def systems(task):
    return [path.stem.rpartition(".")[2] for path in task.submissions]


VARIANTS = {  # how a task hides something, and what may then be changed
    "anonymous": ("[board]\nanonymous = true\n", SampleTask.rename),
    "blind": ("[board]\nhidden = true\n", SampleTask.rotate_outputs),
    "withheld": ("[release]\ngold = false\n", SampleTask.rewrite_gold)}
CASES = [(variant, name) for n, variant in enumerate(VARIANTS) for name in [*REWRITTEN, *REWRITTEN][n:n + 3]]


@pytest.mark.slow
@pytest.mark.parametrize("case", keep_each(3, CASES), ids="-".join)
def test_what_is_hidden_changes_nothing_that_is_published(published, tmp_path, case):
    variant, name = case
    board, change = VARIANTS[variant]
    one, other = SampleTask(tmp_path / "one", name, board), SampleTask(tmp_path / "other", name, board)
    before = systems(other)
    change(other)
    renamed = systems(other)
    # `rename` keeps the files in their order; as a set the names are others, and their order is reversed.
    order = renamed if change is not SampleTask.rename else sorted(renamed, reverse=True)
    assert len(order) == len(before)
    first, second = published(one, systems(one)), published(other, order)
    assert first.keys() == second.keys()
    for table, rows in first.items():
        assert second[table] == rows, table
    assert json.dumps(first, default=str).count("time") > 10
    assert Path(tmp_path / "one.duckdb").stat().st_size > 10_000
