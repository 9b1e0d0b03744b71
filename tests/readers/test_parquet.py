"""Parquet is bounded as gzipped text is: by what it says it unfolds to, and by what it does, before a value is made."""

import struct
import subprocess
import sys

import duckdb
import pytest

from registry.errors import InputError
from registry.readers.parsing import document as limits
from registry.readers.parsing import fast_tables as module
from registry.readers.parsing.document import Document
from registry.readers.parsing.fast_tables import LEAST_MEMORY, read_parquet_rows
from tests.conftest import ROOT


def parquet(select, folder, options=""):
    path = folder / "made.parquet"
    duckdb.sql(f"COPY ({select}) TO '{path}' (FORMAT parquet {options})")
    return Document.load(path)


BOMBS = {
    "equal values": ("SELECT 1::TINYINT AS item, true AS label FROM range(17_000_000)", "the file has 17,000,000 "
                                                                                        "rows; at most 16,777,216 "),
    "one long value": ("SELECT range AS item, repeat('x', 1_000_000) AS label FROM range(200)",
                       "the file decompresses to more than 64 "),
    "one very long value": ("SELECT 1 AS item, repeat('x', 17_000_000) AS label", "the file has a value of 17,000,000 "
                                                                                  "bytes"),
    "well compressed": ("SELECT range AS item, repeat('x', 1000) || range AS label FROM range(80_000)",
                        "the file decompresses to more than 64 "),
    "lists of a long value": ("SELECT range AS item, list_resize([]::VARCHAR[], 100, repeat('x', 100_000)) AS label "
                              "FROM range(40)", "the file decompresses to more than"),
    "columns": (f"SELECT 1 AS item, 1 AS label, {', '.join(f'1 AS c{n}' for n in range(8191))}", "the file has 8,193 "
                                                                                                 "columns; "),
}
READ = """
import resource, sys
from registry.errors import InputError
from registry.readers.parsing.document import Document
from registry.readers.parsing.fast_tables import read_parquet_rows
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
next(read_parquet_rows(Document.load(sys.argv[1])))
before = peak()
for path in sys.argv[2:]:
    try:
        next(read_parquet_rows(Document.load(path), ["item", "label"]))
    except InputError as error:
        print(error.message)
print(peak() - before)
"""


@pytest.mark.slow
def test_bombs_are_refused_before_a_row_is_read_and_in_bounded_memory(tmp_path):
    """In a process of its own, whose memory says what was unfolded: together they stand for 0.8 GB."""
    (tmp_path / "small").mkdir()
    parquet("SELECT 1 AS item", tmp_path / "small")
    paths = []
    for n, (select, _) in enumerate(BOMBS.values()):
        folder = tmp_path / str(n)
        folder.mkdir()
        assert len(parquet(select, folder, ", COMPRESSION zstd").content) < 1_000_000
        paths.append(folder / "made.parquet")
    told = subprocess.run([sys.executable, "-c", READ, tmp_path / "small" / "made.parquet", *paths], cwd=ROOT,
                          capture_output=True, text=True, check=True).stdout.splitlines()
    for line, (name, (_, says)) in zip(told, BOMBS.items(), strict=False):
        assert line.startswith(says), name
    kilobytes = int(told[len(BOMBS)])
    assert kilobytes << 10 < 1.5 * LEAST_MEMORY


def test_a_footer_that_says_fewer_rows_is_not_believed(tmp_path, monkeypatch):
    """The number of rows of the whole file, 70,000, becomes 7; that of its row group stays."""
    document = parquet("SELECT range AS item FROM range(70_000)", tmp_path)
    monkeypatch.setattr(limits, "MAX_LINES", 60_000)
    with pytest.raises(InputError, match="the file has 70,000 rows; at most 60,000 are allowed"):
        next(read_parquet_rows(document))
    start = len(document.content) - 8 - struct.unpack("<I", document.content[-8:-4])[0]
    footer = document.content[start:]
    varint = bytes([0xE0, 0xC5, 0x08])  # 140,000 = 2 * 70,000: whole numbers are written zigzag
    assert footer.count(varint) >= 2
    first, rest = footer.split(varint, 1)
    lying = Document("made.parquet", document.content[:start] + first + bytes([0x8E, 0x80, 0x00]) + rest)
    with pytest.raises(InputError, match="the file has 70,000 rows; at most 60,000 are allowed"):
        next(read_parquet_rows(lying))


def test_what_unfolds_to_less_than_the_bound_is_read(tmp_path):
    document = parquet("SELECT range AS item, 'a' AS label, repeat('x', 1_000_000) AS other FROM range(200)", tmp_path)
    assert sum(1 for _ in read_parquet_rows(document, ["label", "item"])) == 200


def test_the_bound_is_that_of_the_text_it_stands_for(tmp_path, monkeypatch):
    """Rows `0 a` to `9 a`: 4 bytes each as lines of text, of which 40 may be read and 39 not."""
    document = parquet("SELECT range AS item, 'a' AS label FROM range(10)", tmp_path)
    monkeypatch.setattr(limits, "TRUSTED", 0)
    monkeypatch.setattr(limits, "MAX_RATIO", 10**6)
    monkeypatch.setattr(module, "_DECLARED", "SELECT 0, 0 WHERE $1 <> '' AND len($2) > 0")
    for most in (40, 39):
        monkeypatch.setattr(limits, "MAX_BYTES", most)
        rows = read_parquet_rows(document, ["item", "label"])
        if most == 40:
            assert [row["item"] for _, row in rows] == list(range(10))
        else:
            with pytest.raises(InputError, match="the file decompresses to more than 0 MiB"):
                next(rows)
