"""Small tables as programs and people write them: right, and with one thing or another amiss."""

import json
import tempfile
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path

import duckdb
import pytest
from hypothesis import strategies as st

from registry.readers.parsing import fast_tables
from registry.readers.parsing.fast_tables import _CONFIG

NUMBERS = st.one_of(
    st.sampled_from(["0", "1"]), st.sampled_from(["0", "1"]),
    st.decimals(-100, 100, places=5, allow_nan=False).map(str), st.floats(-1000, 1000).map(repr),
    st.sampled_from([".5", "1.", "+3", "-0", "-0.0", "1e-3", "2E2", "007", "1e-400", "4194303.5", "4503599627370495",
                     "0.1000000000000000055511151231257827"]))
WRONG = st.sampled_from(["", "", "NA", "x", "nan", "inf", "1e999", "1_0", " 1", "1 ", "0x1", "--1", "1,5", "４", "1e",
                         "4398046511104.5", "4503599627370496", '"1"', '"', "true"])
NUMBERED = st.integers(0, 40).map(lambda n: f"i{n}")
KEYS = st.one_of(NUMBERED, st.text("ab 'é\u4e00#\\", min_size=1, max_size=4))
SEPARATORS = {"tab": "\t", "comma": ",", "whitespace": " "}
AMISS = ['"', "\r", "\n", "\n\n", "\t", ",", " ", "\0", "\ufeff", "#", "\u200b", "e\u0301", "\x0b", "\udcff", "''"]


@cache
def in_memory():
    """A database for all tables of this process: one takes longer to start than any of them to be written or read."""
    return duckdb.connect(config={"threads": 1})


@pytest.fixture(scope="module")
def one_database(tmp_path_factory):
    """Read all files with one database, as restricted as that of `fast_tables.open_duckdb`."""
    folder, numbers = tmp_path_factory.mktemp("read"), count()
    with pytest.MonkeyPatch.context() as patch, duckdb.connect(config=_CONFIG) as database:
        database.execute(f"SET allowed_directories = ['{folder}/']")
        database.execute("SET enable_external_access = false")
        database.execute("SET lock_configuration = true")

        @contextmanager
        def reading(content, name):
            path = folder / f"{next(numbers)}-{name}"
            path.write_bytes(content)
            with database.cursor() as connection:
                yield connection, path
            path.unlink()

        patch.setattr(fast_tables, "open_duckdb", reading)
        yield


@st.composite
def tables(draw, systems=("aspen", "birch"), *, right=False):
    """The text of a table with a header, and how it is separated; where it is `right` only scores may be lacking."""
    separator = draw(st.sampled_from(sorted(SEPARATORS)))
    keys = draw(st.lists(NUMBERED if right or separator == "whitespace" else KEYS, min_size=1, max_size=12,
                         unique=right or draw(st.integers(0, 9)) > 0))
    kinds = st.sampled_from(["new", "old", "o'ld", "1"])
    rows = [[key, draw(kinds), draw(NUMBERS), *(draw(NUMBERS) for _ in systems)] for key in keys]
    lines = [["item", "kind", "gold", *systems], *rows]
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        line = lines[draw(st.integers(1, len(rows)))]
        if not right:
            line[draw(st.integers(0, 2 + len(systems)))] = draw(WRONG)
        elif separator != "whitespace":
            line[-1] = ""
    if separator == "comma" and draw(st.booleans()):
        lines = [[f'"{cell}"' if n < 2 and '"' not in cell else cell for n, cell in enumerate(line)] for line in lines]
    text = "\n".join(SEPARATORS[separator].join(line) for line in lines) + "\n" * draw(st.sampled_from([0, 1, 1, 2]))
    for _ in range(0 if right else draw(st.sampled_from([0, 0, 0, 1]))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(AMISS)) + text[at + draw(st.integers(0, 1)):]
    return separator, text.encode("utf-8", "surrogateescape")


@st.composite
def parquet_tables(draw, systems=("aspen", "birch"), *, right=False):
    """A Parquet file with columns of one type or another; where it is `right` only scores may be lacking."""
    rows = draw(st.integers(1, 8))
    numbers = {"DOUBLE": st.sampled_from([0.0, 1.0, 0.1, -2.5, -0.0, 1e9, float("nan")]),
               "FLOAT": st.sampled_from([0.5, 0.1]), "INTEGER": st.integers(-9, 9), "BOOLEAN": st.booleans(),
               "DECIMAL(9,3)": st.sampled_from([0.125, 3.5]), "VARCHAR": st.sampled_from(["1", "", "x"])}
    keys = {"VARCHAR": st.lists(st.one_of(KEYS, st.just("")), min_size=rows, max_size=rows),
            "INTEGER": st.just(list(range(rows))), "BIGINT": st.lists(st.integers(0, 5), min_size=rows, max_size=rows),
            "UUID": st.just([f"00000000-0000-0000-0000-00000000000{n}" for n in range(rows)]),
            "DOUBLE": st.just([float(n) for n in range(rows)])}
    columns = {}
    if right:
        keys = {name: keys[name] for name in ("INTEGER", "UUID")}
        numbers = {"DOUBLE": st.sampled_from([0.0, 1.0, 0.1, -2.5, -0.0, 1e5]), "INTEGER": numbers["INTEGER"]}
    type_ = draw(st.sampled_from(sorted(keys)))
    columns["item"] = type_, draw(keys[type_])
    columns["kind"] = "VARCHAR", draw(st.lists(st.sampled_from(["new", "old"]), min_size=rows, max_size=rows))
    for name in ("gold", *systems):
        type_ = draw(st.sampled_from([*sorted(numbers), "DOUBLE", "DOUBLE", "INTEGER"]))
        none = [st.none()] if not (right and name == "gold") and draw(st.integers(0, 5)) == 0 else []
        columns[name] = type_, draw(st.lists(st.one_of(numbers[type_], *none), min_size=rows, max_size=rows))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        with in_memory().cursor() as connection:
            connection.execute("CREATE OR REPLACE TABLE t "
                               f"({', '.join(f'{name} {of}' for name, (of, _) in columns.items())})")
            connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(columns))})",
                                   list(map(list, zip(*(values for _, values in columns.values()), strict=True))))
            connection.execute(f"COPY t TO '{path}' (FORMAT parquet)")
        return "parquet", path.read_bytes()


@st.composite
def json_tables(draw, systems=("aspen", "birch"), *, right=False):
    """JSON Lines of rows with numbers; where it is `right` only scores may be lacking."""
    keys = draw(st.lists(st.one_of(NUMBERED, st.integers(0, 9)) if right else st.one_of(
        KEYS, st.integers(-1, 9), st.just(True), st.none(), st.just("\u200b")), min_size=1, max_size=8, unique_by=str))
    numbers = st.one_of(st.integers(-3, 3), st.floats(-1000, 1000),
                        st.sampled_from([2**52 - 1, -0.0, 4194303.5, 1e-300]))
    wrong = st.sampled_from([2**52, 2.0**42 + 0.5, 10**400, "1", "NA", True, [1], {"a": 1}, float("inf"),
                             float("nan")])
    rows = []
    for key in keys:
        row = {"item": key, "kind": draw(st.sampled_from(["new", "old", "1"])), "gold": draw(numbers)}
        rows.append(row | {name: draw(numbers) for name in systems})
    if draw(st.booleans()):
        draw(st.sampled_from(rows))[systems[-1]] = draw(st.sampled_from([None, ""]))
    if not right:
        for _ in range(draw(st.sampled_from([0, 1, 2]))):
            draw(st.sampled_from(rows))[draw(st.sampled_from(["kind", "gold", "more", *systems]))] = draw(wrong)
    text = "\n".join(map(json.dumps, rows)) + "\n" * draw(st.sampled_from([0, 1, 1, 2]))
    for _ in range(0 if right else draw(st.sampled_from([0, 0, 0, 1]))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(AMISS)) + text[at + draw(st.integers(0, 1)):]
    return "jsonl", text.encode("utf-8", "surrogateescape")
