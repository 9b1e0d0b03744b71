"""Bytes to lines: gzip and CRLF transparently, all else strict, or mended where a task says so."""

import bz2
import gc
import gzip
import hashlib
import io
import lzma
import zipfile

import pytest

from registry.errors import InputError
from registry.readers import READERS, Document, Lines, Problems
from registry.readers.parsing import document
from registry.readers.parsing.delimited import split_cells
from registry.values import parse
from tests.required_options import REQUIRED

with io.BytesIO() as archive:
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("out.tsv", "a\tx\n")
    ZIP = archive.getvalue()


def lines(content):
    return list(Document("f", content).lines())


@pytest.mark.parametrize("content", [b"a\nb\n", b"a\r\nb\r\n", b"a\nb", gzip.compress(b"a\r\nb\r\n", mtime=0),
                                     gzip.compress(b"a\n", mtime=0) + gzip.compress(b"b\n", mtime=0)])
def test_line_ends_and_gzip_make_no_difference(content):
    assert lines(content) == [(1, "a"), (2, "b")]


def test_only_line_feeds_end_lines():
    assert lines("a\x0cb\u2028c\x85d\n".encode()) == [(1, "a\x0cb\u2028c\x85d")]


@pytest.mark.parametrize(("content", "line", "says"), [
    (b"", None, "empty"),
    (b"\n \r\n", None, "empty"),
    (gzip.compress(b"", mtime=0), None, "empty"),
    (b"a\nb\xff\n", 2, "byte 0xff is not UTF-8"),
    (b"\xef\xbb\xbfa\n", 1, "byte-order mark"),
    ("a".encode("utf-16"), 1, "UTF-16"),
    (b"a\n\0\n", 2, "NUL"),
    ("an item\n".encode("utf-16-le"), 1, "seems to be UTF-16; save it as plain UTF-8"),
    ("an item\n".encode("utf-16-be"), 1, "seems to be UTF-16; save it as plain UTF-8"),
    (b"a\tx\rb\ty\r", 1, "the lines end with CR only; save the file with line ends LF"),
    (ZIP, None, "a zip archive or spreadsheet"),
    (bz2.compress(b"a\n"), None, "compressed by bzip2; decompress it, or use gzip"),
    (lzma.compress(b"a\n"), None, "compressed by xz; decompress it, or use gzip"),
    (gzip.compress(b"a\n" * 100, mtime=0)[:-9], None, "before the end-of-stream marker"),
    (b"\x1f\x8bnonsense", None, "the gzip file is damaged"),
])
def test_what_is_no_text_is_named(content, line, says):
    with pytest.raises(InputError, match=says) as caught:
        lines(content)
    assert caught.value.line == line
    assert str(caught.value).startswith("f:")


def test_a_bomb_does_not_unfold(monkeypatch):
    monkeypatch.setattr(document, "MAX_BYTES", 2**20)
    with pytest.raises(InputError, match="more than 1 MiB"):
        lines(gzip.compress(b"x" * 2**24))


def test_a_small_file_unfolds_to_no_large_one(monkeypatch):
    """To 100 times its size, unless that is little; what is as compressible as that is no text that anybody writes."""
    monkeypatch.setattr(document, "TRUSTED", 2**20)
    bomb = gzip.compress(b"x\n" * 2**23)
    with pytest.raises(InputError, match=f"more than {100 * len(bomb) >> 20} MiB, over 100 times its compressed size"):
        lines(bomb)
    assert len(lines(gzip.compress(b"x\n" * 2**19))) == 2**19


@pytest.mark.parametrize("blanks", [" ", "\t ", "  "])
def test_a_line_is_split_at_blanks_into_so_many_cells_and_the_rest(blanks):
    for n in range(1, 9):
        cells = [f"c\u00a0{k}" for k in range(n)]
        line = f"{blanks}{blanks.join(cells)}{blanks}"
        assert split_cells(line, "whitespace", 5) == (
            cells if n <= 5 else [*cells[:5], blanks.join(cells[5:]) + blanks])
    assert split_cells(" \t", "whitespace") == []


def test_a_line_without_end_is_refused_before_it_is_decoded(monkeypatch):
    monkeypatch.setattr(document, "MAX_LINE", 1000)
    monkeypatch.setattr(document, "_BLOCK", 100)
    for hostile in (b"a\nb\n" + b"x" * 5000, b"a\nb\n" + "é".encode() * 2500, b"a\nb\n" + b"x" * 1001):
        with pytest.raises(InputError, match=r"the line has (5,000|1,001|2,500) characters") as caught:
            lines(hostile)
        assert caught.value.line == 3
    assert lines(b"x\n" * 2000 + b"y" * 1000)[-1] == (2001, "y" * 1000)


def test_the_digest_is_that_of_sha256sum(tmp_path):
    (tmp_path / "f").write_bytes(b"a\r\n")
    assert Document.load(tmp_path / "f").digest == "sha256:" + hashlib.sha256(b"a\r\n").hexdigest()


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputError, match="nothing: cannot read the file: No such file"):
        Document.load(tmp_path / "nothing")


@pytest.mark.parametrize(("repair", "content", "read"), [
    (("bom",), b"\xef\xbb\xbfa\r\nb\n", ["a", "b"]),
    (("nfc",), "e\u0301 \u1100\u1161\nx\n".encode(), ["é 가", "x"]),
    (("crlf", "nfc", "bom"), "\ufeffe\u0301\r\n".encode(), ["é"]),
    (("invisible",), "a\u00adb\u200b\tc\u00a0d\u3000e\x07\r\nf\n".encode(), ["ab\tc d e", "f"]),
    (("nfc",), ("a\n" * 2**20 + "e\u0301\n").encode(), [*"a" * 2**20, "é"]),
])
def test_what_the_manifest_lets_be_mended_is_mended(repair, content, read):
    problems = Problems(None)
    for form in (content, gzip.compress(content)):
        document = Document("f", form, problems).with_options(repair)
        assert [line for _, line in document.lines()] == read
    assert not problems.counts


def test_what_is_mended_is_no_news_and_all_else_is():
    for repair, named in ((), True), (("crlf",), False), (("nfc",), True):
        problems = Problems(None)
        list(Document("f", b"a\r\nb\n", problems).with_options(repair).lines())
        assert [note.message for note in problems.notes] == ["1 of 2 lines end with CR LF (Windows), which is "
                                                             "interpreted as LF"] * named
    for repair in ((), ("crlf", "nfc")):
        with pytest.raises(InputError, match="byte-order mark"):
            list(Document("f", b"\xef\xbb\xbfa\n").with_options(repair).lines())
    with pytest.raises(InputError, match="UTF-16"):
        list(Document("f", "a".encode("utf-16")).with_options(("bom",)).lines())


def test_marks_without_end_are_not_brought_to_nfc():
    """Sorting them takes the square of their number: a million would take hours."""
    hostile = ("x\na" + "\u0301\u0323" * 10**6 + "\n").encode()
    with pytest.raises(InputError, match=r"the line has 2,000,000 combining marks \(such as accents\) in a "
                                          "row") as caught:
        list(Document("f", hostile).with_options(("nfc",)).lines())
    assert caught.value.line == 2


def test_the_repair_is_an_option_of_every_reader_that_names_leave_out_where_there_is_none():
    for name, reader in READERS.items():
        assert "repair" not in repr(reader.build(REQUIRED.get(name, {})))
        mending = reader.build({**REQUIRED.get(name, {}), "repair": ["bom", "nfc"]})
        assert "repair=[bom, nfc]" in repr(mending)
        assert parse("reader", READERS, repr(mending)) == mending
        with pytest.raises(InputError, match="expected one of crlf, bom, nfc, invisible"):
            reader.build({**REQUIRED.get(name, {}), "repair": "utf-16"})


def test_reading_does_not_look_for_cycles_and_leaves_that_as_it_was():
    seen = []

    class Looking(Lines):
        def parse_answers(self, document):
            seen.append(gc.isenabled())
            return super().parse_answers(document)

    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        try:
            Looking().read_answers(Document("f", b"a\n"))
            with pytest.raises(InputError):
                Looking().read_answers(Document("f", b""))
            assert gc.isenabled() is enabled
        finally:
            gc.enable()
    assert seen == [False] * 4
