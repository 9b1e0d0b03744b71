"""What is brought in by columns is what is brought in row by row: the same database, or the same refusal.

`pytest tests/evaluation/ingest/test_columns.py --hypothesis-profile thorough` tries 200 tasks of either kind.
"""

import dataclasses
import datetime
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import RegistryError
from registry.evaluation.checking.check import check
from registry.evaluation.ingest.apply import apply
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.declared import expand_submissions
from registry.evaluation.resolve import resolve
from registry.evaluation.scoring.score import score
from registry.manifest import load_manifest
from registry.readers import Labels, Reader
from registry.readers.parsing import fast_tables
from registry.significance import Execution
from registry.store.database import Database
from registry.store.files import transaction
from registry.store.log import Journal
from registry.store.rows import get_driver
from tests.readers.small_tables import SEPARATORS, json_tables, parquet_tables, tables

THOROUGH = settings.default.max_examples > 100
MANIFEST = """manifest = 1
[task]
id = "t"
[significance]
seed = 1
[[test_set]]
name = "test"
gold = "gold.txt"
format = "{format}"
options = {{ item = {item}, attributes = ["kind"], {written} }}
[submission]
missing = "{missing}"
{metrics}
[[submit]]
file = "gold.txt"
system = "a"
options = {{ {aspen} }}
[[submit]]
file = "{others}.txt"
system = "b"
options = {{ {birch} }}
[[submit]]
file = "{{system}}.{{run}}.run"
options = {{ {birch} }}
"""
WITH_GOLD = '[[metric]]\nname = "MAE"\n[[metric]]\nname = "RMSE"\n'
METRICS = {
    "scores": ['[[metric]]\nname = "Mean"\n', '[[metric]]\nname = "Mean"\noptions = { worst = 0.5 }\n', WITH_GOLD],
    "statistics": ['[[metric]]\nname = "Formula"\noptions = { formula = "aspen / (gold + birch)" }\n',
                   '[[metric]]\nname = "Formula"\noptions = { formula = "birch - aspen", worst = [1, 2] }\n'],
    "candidates": ['[[metric]]\nname = "SetF"\n[[metric]]\nname = "SetP"\noptions = { best = 2 }\n',
                   '[[metric]]\nname = "SetR"\noptions = { threshold = 0.5, best = 3, ties = "exclude" }\n']}
OPTIONS = {"scores": ('gold = "gold"', 'score = "aspen"', 'score = "birch"'),
           "statistics": ('gold = ["gold"], statistics = ["aspen", "birch"]', "", 'statistics = ["birch", "aspen"]'),
           "candidates": ("""gold = "kind", true = ["new", "1"], false = ["old", "o'ld"]""", 'score = "aspen"',
                          'score = "birch", order = "ascending"')}


@st.composite
def tasks(draw):
    """A table of gold and systems, other files with rows of it in another order, and what a manifest says of them."""
    format_ = draw(st.sampled_from([*OPTIONS]))
    of_format, aspen, birch = OPTIONS[format_]
    how, content = draw(st.one_of(tables(right=True), tables(right=True), tables(),
                                  *([json_tables(right=True), parquet_tables(right=True)]
                                    if format_ != "candidates" else [])))
    written = f'separator = "{how}"' if how in SEPARATORS else f'syntax = "{how}"'
    other = content
    if how in SEPARATORS:
        head, *rows = content.rstrip(b"\n").split(b"\n")
        rows = draw(st.permutations(rows))[draw(st.sampled_from([0, 0, 0, 1])):]
        other = b"\n".join([head, *rows])
    keys = ['"item"', '"item"', '["item", "kind"]', *(["[]"] if format_ != "candidates" else [])]
    return {"format": format_, "aspen": aspen, "birch": birch,
            "written": f"{written}, {of_format}", "item": draw(st.sampled_from(keys)),
            "missing": draw(st.sampled_from(["reject", "drop", "own", "worst"])),
            "metrics": draw(st.sampled_from(METRICS[format_])),
            "others": draw(st.sampled_from(["gold", "other"]))}, content, other


LABELS = """manifest = 1
[task]
id = "t"
[significance]
seed = 1
[[test_set]]
name = "test"
gold = "gold.tsv"
format = "labels"
options = {{ {written} }}
[submission]
missing = "{missing}"
[[metric]]
name = "Accuracy"
[[metric]]
name = "LabelF"
[[submit]]
file = "systems/{{system}}.{{run}}"
options = {{ {written}, unknown = "accept"{option} }}
"""


SEPARATED = {mark: name for name, mark in SEPARATORS.items()}


@st.composite
def label_tasks(draw):
    """The labels of some items, those of systems in another order, with runs, new and lacking ones; and a manifest."""
    keys = draw(st.lists(st.integers(0, 30).map(lambda n: f"i{n}"), min_size=3, max_size=12, unique=True))
    separator = draw(st.sampled_from(["\t", " ", ","]))
    written = draw(st.sampled_from([f'separator = "{SEPARATED[separator]}"'] * 3 + ['syntax = "jsonl"']))
    quote = draw(st.sampled_from(["", '"'])) if separator == "," else ""
    labels = st.sampled_from(["yes", "no", "no", "Yes", "maybe"] if draw(st.booleans()) else ["yes", "no"])
    files = {"gold.tsv": "".join(f"{key}{separator}{draw(labels)}\n" for key in keys)}
    for name in ("a.1", "a.2", "b.1", "c.1"):
        lines = [f"{key}{separator}{quote}{draw(labels)}{quote}" for key in draw(st.permutations(keys))]
        lines = lines[draw(st.integers(0, 4)) == 0:] + draw(st.sampled_from([[]] * 12 + [["i99 no"], ['"i99" no']]))
        files[f"systems/{name}"] = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\r\n"]))
    if written == 'syntax = "jsonl"':
        files = {name: "".join(json.dumps(dict(zip(("item", "label"), line.replace(quote or "?", "").split(separator),
                                                   strict=False))) + "\n" for line in text.split("\n") if line.strip())
                 for name, text in files.items()}
    return {"written": written,
            "missing": draw(st.sampled_from(["reject", "drop", "own", "worst"])),
            "option": draw(st.sampled_from(["", "", ", fold_case = true", ', rename = { maybe = "no" }']))}, files


_DRAWN = ("hash", "salt", "digest")  # of the log, which rest on times, or are drawn


@pytest.fixture(scope="module")
def connection(tmp_path_factory, empty_registry):
    """To a new registry; what is brought in, is undone."""
    path = tmp_path_factory.mktemp("columns") / "registry.duckdb"
    path.write_bytes(empty_registry)
    with Database(path).holding() as opened:
        yield opened


def held(connection):
    """All rows of all tables in their order, but for times, and the log's salts and what rests on either."""
    cursor, found = get_driver(connection), {}
    for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall():
        if name != "run":
            columns = [column for column, *_ in cursor.execute(f"FROM {name}").description]
            found[name] = [[value for column, value in zip(columns, row, strict=True)
                            if not (name == "event" and column in _DRAWN) and not isinstance(value, datetime.datetime)]
                           for row in cursor.fetchall()]
    return found


def brought_in(connection, folder, enough):
    """What a check says of the task, and what a registry holds of it, with what was told; or why it was refused."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_tables, "ENOUGH", enough)
        if enough:
            patch.setattr(Labels, "_read_fast", lambda self, document: None)
            read = Reader.read_answers
            patch.setattr(Reader, "read_answers", lambda self, document: list(read(self, document)))
        specification, content = load_manifest(folder / "task.toml")
        task = resolve(specification, folder / "task.toml")
        checked = check(task, list(expand_submissions(task)), limit=3)
        said = [(str(problem.error), problem.cause, problem.fatal) for problem in checked.problems], checked.unlisted
        try:
            with transaction(connection, dry_run=True):
                ingest = Ingest(connection, Journal("run", {}), task)
                applied = apply(ingest, content)
                told = dataclasses.astuple(dataclasses.replace(applied, remarks=list(map(str, applied.remarks))))
                score(ingest, Execution(workers=1))
                return said, told, held(connection)
        except RegistryError as error:
            return said, str(error)


@settings(max_examples=200 if THOROUGH else 12)
@given(tasks())
def test_both_ways_bring_in_the_same(connection, task):
    options, content, other = task
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "gold.txt").write_bytes(content)
        (folder / "other.txt").write_bytes(other)
        for run in "12":
            (folder / f"c.{run}.run").write_bytes(content if run == "1" else other)
        (folder / "task.toml").write_text(MANIFEST.format(**options))
        assert brought_in(connection, folder, 0) == brought_in(connection, folder, 2**62)


@settings(max_examples=200 if THOROUGH else 10)
@given(label_tasks())
def test_both_ways_bring_in_the_same_labels(connection, task):
    options, files = task
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "systems").mkdir()
        for file, content in files.items():
            (folder / file).write_text(content, newline="")
        (folder / "task.toml").write_text(LABELS.format(**options))
        assert brought_in(connection, folder, 0) == brought_in(connection, folder, 2**62)
