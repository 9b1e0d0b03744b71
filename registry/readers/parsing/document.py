"""Strict reading of a file as lines of text.

Files must be UTF-8 with LF as line end; gzip and CRLF are also accepted. Submissions are untrusted. Bytes that are not
UTF-8 are an error with a line number. A file may decompress to at most `MAX_BYTES` (less for a small file), and have at
most `MAX_LINES` lines of at most `MAX_LINE` characters.

Readers call `Document.report` for each problem. This method raises the error, unless the document has a `Problems`
object that collects errors. Reading then continues after the faulty line, so that `registry check` shows all errors
together.
"""

from __future__ import annotations

import gzip
import io
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from registry.errors import Category, InputError, counted
from registry.identity import digest
from registry.provenance import recorded_name

MAX_PROBLEMS = 10_000  # reading a file stops after so many problems


class TooManyProblemsError(InputError):
    """Error that stops the reading of a file after `MAX_PROBLEMS` problems."""


class Problems:
    """Collector of errors in one file, so that all errors can be shown together.

    Args:
        limit: Number of errors to store; None for all. Further errors are only counted, by category.
        stops: True to store only the first error of every line, and to stop reading after `MAX_PROBLEMS` errors.

    Attributes:
        found: Stored errors, in the order of detection.
        counts: Number of errors by category.
        notes: Harmless deviations, such as CRLF.
        stopped: The error that stopped reading, if there were too many errors; else None.
    """

    def __init__(self, limit: int | None, *, stops: bool = True) -> None:
        self.found: list[InputError] = []
        self.counts: Counter[str] = Counter()
        self.notes: list[InputError] = []
        self.stopped: TooManyProblemsError | None = None
        self._limit, self._stops = limit, stops
        self._lines: set[int] = set()

    def add(self, error: InputError) -> None:
        """Store an error, unless an error of the same line is already stored.

        Raises:
            TooManyProblemsError: The file already has `MAX_PROBLEMS` errors.
        """
        if error.line is not None and error.line in self._lines:
            return
        if self._stops and self.counts.total() >= MAX_PROBLEMS:
            raise TooManyProblemsError(f"the check stopped here, after {MAX_PROBLEMS:,} errors; correct the errors, "
                                       "and check again", path=error.path, line=error.line)
        self._store(error)

    def end(self, error: InputError) -> None:
        """Store the error that ended the reading of the file."""
        if isinstance(error, TooManyProblemsError):
            self.stopped = error
        elif error.line is None or error.line not in self._lines:
            self._store(error)

    def _store(self, error: InputError) -> None:
        self.counts[error.category] += 1
        if error.line is not None and self._stops:
            self._lines.add(error.line)
        if self._limit is None or len(self.found) < self._limit:
            self.found.append(error)


ONE_ROW = 4  # lines per item of a format with one row per item; the others are blank lines and comments
MANY_ROWS = 1000
LEAST_LINES = 2**15  # every submission may have so many, even for few items
_LEAST_BYTES = 2**22  # bytes
_BYTES_PER_ITEM = 2**12  # bytes: even "A" on every line of a gzip file is far below
_MOST_BYTES = 2**26
_MOST_BYTES_PER_ITEM = 2**16


@dataclass(frozen=True)
class Bounds:
    """Size limits of one file; None means the limit for all files.

    Attributes:
        lines: Maximal number of lines, rows or entries.
        small_file_bytes: Size to which even a very small compressed file may decompress.
        max_bytes: Maximal size of the decompressed file, in bytes.
        reason: Reason of the limits, for messages.
    """

    lines: int | None = None
    small_file_bytes: int | None = None
    max_bytes: int | None = None
    reason: str = ""

    @classmethod
    def for_submission(cls, n_items: int, lines: int) -> Bounds:
        """Return the size limits of a submission to a gold with `n_items` items.

        Args:
            n_items: Number of items in the gold.
            lines: Maximal number of lines; every submission may have at least `LEAST_LINES`.
        """
        return cls(max(LEAST_LINES, lines), max(_LEAST_BYTES, _BYTES_PER_ITEM * n_items),
                   max(_MOST_BYTES, _MOST_BYTES_PER_ITEM * n_items),
                   f" for a submission to {n_items:,} item{'s' * (n_items != 1)}; check that the file belongs to this "
                   "task")


_PART = 2**20  # bytes
_CONTINUATION = bytes(range(0x80, 0xC0))  # bytes of a UTF-8 character after its first one


def describe_invisible(text: str) -> str:
    """Describe the first unprintable character of a text, by code and Unicode name."""
    first = next(character for character in text if not character.isprintable())
    name = unicodedata.name(first, "")
    return f"a control or invisible character, U+{ord(first):04X}" + (f" ({name})" if name else "")


def describe_unprintable(row: Mapping[str, str], required: Collection[str], *, can_repair: bool) -> str:
    """Describe the first unprintable character in the cells of a row.

    Args:
        row: Cells by column.
        required: Columns that occur in options; other columns can be ignored.
        can_repair: True if the option `repair` can remove the characters.
    """
    name, cell = next((name, cell) for name, cell in row.items() if not (name + cell).isprintable())
    place = f"column {name!r} has {describe_invisible(name + cell)}"
    if name in required:
        return f"{place}; remove it" + (', or set repair = ["invisible"]' if can_repair else "")
    return f"{place}; set attributes = [] to ignore unused columns, or list the columns to read"


def map_invisible(text: str) -> dict[int, str]:
    """Make a table for `str.translate` that removes a text's invisible characters.

    The table removes control and format characters, and replaces other blank characters by spaces.
    """
    kinds = {character: unicodedata.category(character) for character in set(text) - {"\n", "\t"}
             if not character.isprintable()}
    return {ord(character): " " if kind[0] == "Z" else "" for character, kind in kinds.items()
            if kind[0] == "Z" or kind in ("Cc", "Cf")}


def count_marks(line: str) -> int:
    """Return the length of the longest sequence of combining marks in a line."""
    runs = groupby(line, lambda character: unicodedata.combining(character) > 0)
    return max((sum(1 for _ in run) for are_marks, run in runs if are_marks), default=0)


def count_characters(content: bytes, start: int, end: int) -> int:
    """Count the characters in a part of a UTF-8 file without decoding it.

    Args:
        content: Content of the file.
        start: First byte of the part.
        end: Byte after the part.
    """
    return sum(len(content[offset:min(offset + _PART, end)].translate(None, _CONTINUATION))
               for offset in range(start, end, _PART))


MARK = b"\x1f\x8b"  # the first bytes of every gzip file
_MEMBERS = 1000  # and one more per `_MEMBER` bytes, because some programs compress blocks separately
_MEMBER = 2**10


def decompress(content: bytes, most: int) -> bytes:
    """Decompress a gzip file, but stop soon after a maximal size.

    Args:
        content: Content of the file.
        most: Maximal size in bytes. The result is longer if the file is too large.

    Raises:
        ValueError: The file is damaged, or consists of too many gzip files.
    """
    if (members := content.count(MARK + b"\x08")) > _MEMBERS + len(content) // _MEMBER:  # each takes 64 microseconds
        raise ValueError(f"the file consists of about {members:,} gzip files; compress the text as one gzip file")
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            return read_at_most(most, file.read)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"the gzip file is damaged ({str(error).rstrip('.')}); compress the text again") from None


def read_at_most(limit: int, read: Callable[[int], bytes]) -> bytes:
    """Read a file, but stop soon after a maximal size.

    The file is read in parts of 64 KiB, because a single large request would reserve the memory of the maximal size.

    Args:
        limit: Maximal size in bytes. The result is longer if the file is larger.
        read: Method `read` of the file.
    """
    parts, size = [], 0
    while size <= limit and (part := read(2**16)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


MAX_BYTES = 2**30
MAX_RATIO = 100  # of compression beyond `TRUSTED` bytes; text has a ratio of 10, bombs of 1000
TRUSTED = 2**26
MAX_LINE = 2**24  # characters: the answers to one item may be many
MAX_LINES = 2**24  # each may become an answer, which takes at least 150 bytes
MAX_CELLS = 2**13  # in a line; each takes at least 60 bytes
MAX_MARKS = 30  # of one letter if text is normalized, as in the Stream-Safe Text Format (UAX #15, section 13)

_BLOCK = 2**14  # bytes that are decoded and split into lines together
_CONTAINERS = {
    b"PK\x03\x04": "a zip archive or spreadsheet; extract the text file, or compress it with gzip",
    b"PAR1": "a Parquet file, but this format needs text; write plain text",
    **{mark: f"compressed by {program}; decompress it, or use gzip" for mark, program in {
        b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd"}.items()},
    b"%PDF-": "a PDF; write plain text",
    b"\x93NUMPY": "a NumPy array; write it as text, for example with numpy.savetxt()",
    **dict.fromkeys((b"\x80\x04", b"\x80\x05"), "a Python pickle; write the data as text or JSON"),
}
_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "UTF-8 with a byte-order mark", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(frozen=True)
class Document:
    """Content of an input file, which yields its lines and reports its errors.

    Attributes:
        path: Path of the file, for errors.
        content: Bytes of the file on disk.
        problems: Collector of errors; None to raise the first error.
        repair: Names of repairs of the text, such as `crlf` and `bom`.
        skip: Number of first lines that are ignored.
        name: Name of the file in provenance records.
        cache: Cache of derived data, because a file may contain many systems.
        bounds: Limits of the file's size.
    """

    path: str
    content: bytes
    problems: Problems | None = field(default=None, compare=False)
    repair: tuple[str, ...] = ()
    skip: int = 0
    name: str = ""
    cache: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    bounds: Bounds = field(default=Bounds(), compare=False)

    @classmethod
    def load(cls, path: str | Path, within: Path | None = None) -> Document:
        """Load a file from disk.

        Args:
            path: Path of the file.
            within: Folder to which the file's name in provenance records is relative.

        Raises:
            InputError: The file cannot be read.
        """
        try:
            if Path(path).exists() and not Path(path).is_file():
                raise InputError("this is not a regular file; name a file", path=path)
            with open(path, "rb") as file:
                content = read_at_most(MAX_BYTES, file.read)
        except OSError as error:
            raise InputError(f"cannot read the file: {error.strerror}", path=path) from None
        if len(content) > MAX_BYTES:
            raise InputError(f"the file is larger than {MAX_BYTES >> 20} MiB; split it, or make it smaller", path=path)
        return cls(str(path), content, name=recorded_name(path, within))

    @cached_property
    def digest(self) -> str:
        """SHA-256 digest of the file's bytes, as `sha256sum` prints it."""
        return digest(self.content)

    def error(self, message: str, line: int | None = None, item: str | None = None, *,
              category: Category = "format") -> InputError:
        """Make an InputError that names this file, and line and item if given."""
        return InputError(message, path=self.path, line=line, item=item, category=category)

    def refuse(self, message: str, line: int | None = None, item: str | None = None, *,
               category: Category = "format") -> None:
        """Report an error in this file: store it if errors are collected, else raise it."""
        self.report(self.error(message, line, item, category=category))

    def report(self, error: InputError) -> None:
        """Store an error if this document collects errors; otherwise raise it."""
        if self.problems is None:
            raise error
        self.problems.add(error)

    def report_empty(self, noun: str) -> None:
        """Report that the file has no items, unless other errors are already reported.

        Args:
            noun: Noun for the error "the file has no NOUN", such as "item" or "sentence".
        """
        if self.problems is None or not self.problems.counts:
            self.refuse(f"the file has no {noun}; check that it is the correct file")

    def collect(self, problems: Problems | None) -> Document:
        """Return a copy of the document that collects its errors in `problems`.

        Args:
            problems: The collector; None to raise the first error.
        """
        return replace(self, problems=problems)

    @property
    def has_undeclared_crlf(self) -> bool:
        """True if a line ends with CR LF, and the option `repair` does not accept this."""
        if "crlf" not in self.cache:
            self.cache["crlf"] = b"\r\n" in self._extract_text()
        return "crlf" not in self.repair and bool(self.cache["crlf"])

    def with_options(self, repair: tuple[str, ...], skip: int = 0) -> Document:
        """Return a copy of the document that repairs its text, and skips its first lines.

        Skipped lines count in line numbers.

        Args:
            repair: Names of the repairs. `crlf` accepts CR LF without a note. `bom` removes a byte-order mark. `nfc`
                normalizes the text to NFC. `invisible` removes control and format characters, and replaces other blank
                characters by spaces.
            skip: Number of first lines to ignore.
        """
        return replace(self, repair=repair, skip=skip) if repair or skip else self

    def limit(self, bounds: Bounds) -> Document:
        """Return a copy of the document with other size limits."""
        return replace(self, bounds=bounds)

    @property
    def most_lines(self) -> int:
        """Maximal number of lines, rows or entries that are read from the file."""
        return MAX_LINES if self.bounds.lines is None else min(self.bounds.lines, MAX_LINES)

    @property
    def max_bytes(self) -> int:
        """Maximal size of the decompressed file, in bytes."""
        limit = get_decompression_limit(self.content, self.bounds.small_file_bytes)
        return min(limit, self.bounds.max_bytes or MAX_BYTES)

    def make_bounds_error(self, count: str, most: int, line: int | None = None) -> InputError:
        """Make the error that a file has too many lines, rows or entries.

        Args:
            count: Actual number with its noun, such as "70,000 lines".
            most: Maximal number.
            line: Line number of the first line above the limit.
        """
        return self.error(f"the file has {count}; at most {most:,} are allowed{self.bounds.reason}", line,
                          category="order")

    def make_size_error(self, remedy: str = "") -> InputError:
        """Make the error that a file decompresses to too many bytes.

        Args:
            remedy: Advice at the end of the message.
        """
        size = f"the file decompresses to more than {self.max_bytes >> 20} MiB"
        if self.max_bytes == MAX_BYTES:
            return self.error(f"{size}; split it, or make it smaller")
        if self.max_bytes == self.bounds.max_bytes:
            return self.error(f"{size}, the limit for a submission to this task"
                              f"{remedy or '; check that it is the correct file'}")
        return self.error(f"{size}, over {MAX_RATIO} times its compressed size{remedy}")

    def text(self) -> str:
        """Return the text of the file without its last line end.

        Raises:
            InputError: The file is not valid text: it is empty, binary, damaged, not UTF-8 or too long.
        """
        return "\n".join(block for _, block in self.blocks(MAX_LINES))

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield pairs of line number (from 1) and line (without its line end).

        Raises:
            InputError: The file is not valid text: it is empty, binary, damaged, not UTF-8 or too long.
        """
        for number, block in self.blocks():
            lines = block.split("\n")
            del block  # which may be one very long line
            yield from enumerate(lines, number)

    def blocks(self, most_lines: int | None = None) -> Iterator[tuple[int, str]]:
        r"""Yield the text in blocks of lines, each with the number of its first line.

        For example, (1, "a\nb") and (3, "c"). Blocks need less memory than a list of all lines. If errors are
        collected, U+FFFD replaces invalid bytes, and U+2400 replaces NUL.

        Args:
            most_lines: Maximal number of lines; None for the limit of this document.

        Raises:
            InputError: The file is empty, binary, damaged or not UTF-8, or has too many or too long lines; the error
                names the line.
        """
        content = self._extract_text()
        n_lines = content.count(b"\n")
        if n_lines > (most := most_lines or self.most_lines):
            raise self.make_bounds_error(f"{n_lines:,} lines", most, most + 1)
        if self.problems is not None and "crlf" not in self.repair and (n := content.count(b"\r\n")):
            self.problems.notes.append(self.error(
                f"{'all' if n == n_lines else f'{n:,}'} of {counted(n_lines, 'line')} end with CR LF (Windows), which "
                "is interpreted as LF",
                category="encoding"))
        stop = len(content) - content.endswith(b"\n")
        number, offset = 1 + self.skip, self._skip_lines(content, stop)
        while offset <= stop:
            end = content.find(b"\n", offset + _BLOCK, stop)
            end = stop if end < 0 else end
            if end - offset > _BLOCK + MAX_LINE:  # bytes; decoded text may take eight times as many
                last = max(offset, content.rfind(b"\n", offset, end) + 1)
                if (n := count_characters(content, last, end)) > MAX_LINE + 1:  # one may be CR
                    raise self._make_length_error(f"{n:,}", number + content.count(b"\n", offset, last))
            block = self._decode(content[offset:end], number).replace("\r\n", "\n").removesuffix("\r")
            if "nfc" in self.repair and not unicodedata.is_normalized("NFC", block):
                block = "\n".join(self._compose(line, n) for n, line in enumerate(block.split("\n"), number))
            if "invisible" in self.repair:
                block = block.translate(map_invisible(block))
            if len(block) > MAX_LINE:
                for line_number, line in enumerate(block.split("\n"), number):
                    if len(line) > MAX_LINE:
                        raise self._make_length_error(f"{len(line):,}", line_number)
            first, number, offset = number, number + block.count("\n") + 1, end + 1
            holder = [block]
            del block
            yield first, holder.pop()  # without a reference to the block, which may be large

    def _skip_lines(self, content: bytes, stop: int) -> int:
        """Return the byte position after the lines that the option `skip` ignores.

        Args:
            content: Bytes of the text.
            stop: Position of the end of the last line.
        """
        offset = 0
        for _ in range(self.skip):
            offset = content.find(b"\n", offset, stop) + 1
            if not offset:
                raise self.error(f"option 'skip' ignores the first {counted(self.skip, 'line')}, and no other line "
                                 "follows; set a smaller number")
        return offset

    def _extract_text(self) -> bytes:
        """Return the bytes of the text, decompressed and without byte-order mark.

        Raises:
            InputError: The file is empty, or of another type than text.
        """
        content = self._decompress()
        if not content or content.isspace():
            raise self.error("the file is empty; check that it is the correct file")
        for mark, description in _CONTAINERS.items():
            if content.startswith(mark) and b"\0" in content:
                raise self.error(f"the file is {description}", category="encoding")
        sides = content[:_BLOCK:2], content[1:_BLOCK:2]
        if any(0 not in first and 2 * second.count(0) > len(second) for first, second in (sides, sides[::-1])):
            raise self._make_encoding_error("the file seems to be UTF-16; save it as plain UTF-8", 1)
        for mark, encoding in _BYTE_ORDER_MARKS.items():
            if content.startswith(mark):
                error = self._make_encoding_error(f"the file is {encoding}; save it as plain UTF-8", 1)
                if encoding == "UTF-16":
                    raise error
                if "bom" not in self.repair:
                    self.report(error)
                content = content.removeprefix(mark)
        if b"\n" not in content and content.find(b"\r", 0, -1) >= 0:
            raise self._make_encoding_error("the lines end with CR only; save the file with line ends LF", 1)
        return content

    def _decode(self, block: bytes, first: int) -> str:
        """Decode a block of lines as UTF-8, and report every line that is not valid.

        Args:
            block: Bytes of the lines.
            first: Number of the first line.
        """
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError:
            text = block.decode("utf-8", "replace")
        else:
            if b"\0" not in block:
                return text
        for number, line in enumerate(block.split(b"\n"), first):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                self.report(self._make_encoding_error(
                    f"byte 0x{line[error.start]:02x} is not UTF-8; save the file as UTF-8", number))
            if b"\0" in line:
                self.report(self._make_encoding_error("the line has a NUL character, so this is not a text file; save "
                                                      "it as UTF-8 text", number))
        return text.replace("\0", "\u2400")

    def _compose(self, line: str, number: int) -> str:
        """Normalize a line to Unicode NFC.

        A line with a long run of combining marks is reported instead, because normalization would take quadratic time.
        """
        if unicodedata.is_normalized("NFC", line):
            return line
        if (most := count_marks(line)) > MAX_MARKS:
            self.report(self._make_encoding_error(
                f"the line has {most:,} combining marks (such as accents) in a row, but repair = [\"nfc\"] allows at "
                f"most {MAX_MARKS}; correct the line", number))
            return line
        return unicodedata.normalize("NFC", line)

    def _make_length_error(self, length: str, line: int) -> InputError:
        return self._make_encoding_error(f"the line has {length} characters; at most {MAX_LINE:,} are allowed", line)

    def _make_encoding_error(self, message: str, line: int) -> InputError:
        return self.error(message, line, category="encoding")

    def _decompress(self) -> bytes:
        if not self.content.startswith(MARK):
            return self.content
        try:
            content = decompress(self.content, self.max_bytes)
        except ValueError as error:
            raise self.error(str(error)) from None
        if len(content) > self.max_bytes:
            raise self.make_size_error("; decompress the file")
        return content


def get_decompression_limit(content: bytes, trusted: int | None = None) -> int:
    """Return the maximal size to which a compressed file may decompress, in bytes.

    The limit is `MAX_RATIO` times the size of the compressed file, but at least `trusted` and at most `MAX_BYTES`.

    Args:
        content: Content of the compressed file.
        trusted: Size that every file may have, at most `TRUSTED`; None for `TRUSTED`.
    """
    return min(MAX_BYTES, max(min(TRUSTED, trusted or TRUSTED), MAX_RATIO * len(content)))
