"""The bytes of one file as lines of text: gzip and CRLF are read transparently, everything else is strict.

Submissions are untrusted. Bytes that are not UTF-8 are an error with a line number. A compressed file may not unfold to
more than `MAX_BYTES` (a small file to less), a line may not exceed `MAX_LINE`, and a file may not exceed `MAX_LINES`.

Readers call `Document.report` for each problem. It raises the error, unless the document has `Problems` that collect
errors; reading then continues after the faulty line, so that `registry check` shows all errors at once.
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

MAX_PROBLEMS = 10_000  # problems, after which a file is read no further


class TooManyProblemsError(InputError):
    """A file has more problems than are collected."""


class Problems:
    """What is wrong with one file, in the order in which it was found; of every line the first problem only.

    What follows from a problem in the same line is none of its own. All are counted by their category, `limit` of them
    are kept. `notes` are what is read as if nothing were. With `stops`, one more than `MAX_PROBLEMS` problems end the
    reading.
    """

    def __init__(self, limit: int | None, *, stops: bool = True) -> None:
        self.found: list[InputError] = []
        self.counts: Counter[str] = Counter()
        self.notes: list[InputError] = []
        self.stopped: TooManyProblemsError | None = None
        self._limit, self._stops = limit, stops
        self._lines: set[int] = set()

    def add(self, error: InputError) -> None:
        """Add an error.

        Raises:
            TooManyProblemsError: There are `MAX_PROBLEMS` problems already.
        """
        if error.line is not None and error.line in self._lines:
            return
        if self._stops and self.counts.total() >= MAX_PROBLEMS:
            raise TooManyProblemsError(f"the check stopped here, after {MAX_PROBLEMS:,} errors; correct these and "
                                       "check again", path=error.path, line=error.line)
        self._store(error)

    def end(self, error: InputError) -> None:
        """Add the error that ended reading."""
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
LEAST_LINES = 2**15  # that every submission may have, however few items there are
_LEAST_UNFOLDED = 2**22  # bytes
_UNFOLDED_PER_ITEM = 2**12  # bytes: even "A" on every line of a gzip file is far below
_MOST_UNFOLDED = 2**26
_MOST_UNFOLDED_PER_ITEM = 2**16


@dataclass(frozen=True)
class Bounds:
    """The most that is read of a file.

    Attributes:
        lines: Lines, rows or entries; None: as many as of any file.
        unfolded: Bytes that a compressed file may unfold to, whatever its size; None: as many as any file may.
        most_unfolded: Bytes that no compressed file may exceed; None: as many as any file may.
        reason: Where the bounds come from, for messages.
    """

    lines: int | None = None
    unfolded: int | None = None
    most_unfolded: int | None = None
    reason: str = ""

    @classmethod
    def for_submission(cls, n_items: int, lines: int) -> Bounds:
        """Return the bounds of a submission with at most so many lines."""
        return cls(max(LEAST_LINES, lines), max(_LEAST_UNFOLDED, _UNFOLDED_PER_ITEM * n_items),
                   max(_MOST_UNFOLDED, _MOST_UNFOLDED_PER_ITEM * n_items),
                   f" of a submission to {n_items:,} item{'s' * (n_items != 1)}; is it for another task?")


_PART = 2**20  # bytes
_WITHIN = bytes(range(0x80, 0xC0))  # bytes of a character of UTF-8 after its first one


def describe_invisible(text: str) -> str:
    """Describe the first character that is not printable."""
    first = next(character for character in text if not character.isprintable())
    name = unicodedata.name(first, "")
    return f"a control or invisible character, U+{ord(first):04X}" + (f" ({name})" if name else "")


def describe_unprintable(row: Mapping[str, str], wanted: Collection[str], *, can_repair: bool) -> str:
    """Describe the first column of a row that is not printable, and the remedy."""
    name, cell = next((name, cell) for name, cell in row.items() if not (name + cell).isprintable())
    where = f"{describe_invisible(name + cell)}, in column {name!r}"
    if name in wanted:
        return where + ('; repair = ["invisible"] leaves such out' if can_repair else "")
    return f"{where}; attributes = [] leaves columns out that nothing needs, else it names those that are kept"


def map_invisible(text: str) -> dict[int, str]:
    """Map control and format characters to nothing, and other blanks to spaces."""
    kinds = {character: unicodedata.category(character) for character in set(text) - {"\n", "\t"}
             if not character.isprintable()}
    return {ord(character): " " if kind[0] == "Z" else "" for character, kind in kinds.items()
            if kind[0] == "Z" or kind in ("Cc", "Cf")}


def count_marks(line: str) -> int:
    """Return the length of the longest run of combining marks."""
    runs = groupby(line, lambda character: unicodedata.combining(character) > 0)
    return max((sum(1 for _ in run) for are_marks, run in runs if are_marks), default=0)


def count_characters(content: bytes, start: int, end: int) -> int:
    """Return how many characters a part of a UTF-8 file has, without decoding it."""
    return sum(len(content[at:min(at + _PART, end)].translate(None, _WITHIN)) for at in range(start, end, _PART))


MARK = b"\x1f\x8b"  # the first bytes of every gzip file
_MEMBERS = 1000  # and one more per `_MEMBER` bytes, as some programs compress blocks by themselves
_MEMBER = 2**10


def unfold(content: bytes, most: int) -> bytes:
    """Unfold a gzip file, but at most `most` bytes and a few more.

    Raises:
        ValueError: The file is damaged, or has too many parts.
    """
    if (members := content.count(MARK + b"\x08")) > _MEMBERS + len(content) // _MEMBER:  # each takes 64 microseconds
        raise ValueError(f"some {members:,} gzip files, one after the other; compress the text as one file")
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            return read_at_most(most, file.read)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"damaged gzip file: {str(error).rstrip('.')}") from None


def read_at_most(limit: int, read: Callable[[int], bytes]) -> bytes:
    """Read a file, or just more than `limit` bytes of it; asked for all of them at once it would reserve as many."""
    parts, size = [], 0
    while size <= limit and (part := read(2**16)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


MAX_BYTES = 2**30
MAX_RATIO = 100  # of a compressed file beyond `TRUSTED` bytes; text is folded to a tenth, bombs to a thousandth
TRUSTED = 2**26
MAX_LINE = 2**24  # characters: the answers to one item may be many
MAX_LINES = 2**24  # each may become an answer, of some 150 bytes be it ever so short
MAX_CELLS = 2**13  # of a line that are told apart; each takes some 60 bytes, be it ever so short
MAX_MARKS = 30  # of one letter, where text is brought to NFC, as in the Stream-Safe Text Format (UAX #15, section 13)

_BLOCK = 2**14  # bytes that are decoded and split into lines together
_CONTAINERS = {
    b"PK\x03\x04": "a zip archive, as spreadsheets are too; give the text file in it by itself, or gzipped",
    b"PAR1": "a Parquet file, where text is wanted",
    **{mark: f"compressed by {program}; give it as it is, or gzipped" for mark, program in {
        b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd"}.items()},
    b"%PDF-": "a PDF; give plain text",
    b"\x93NUMPY": "an array of NumPy; write it as text, as numpy.savetxt() does",
    **dict.fromkeys((b"\x80\x04", b"\x80\x05"), "a pickle of Python; write it as text, or in JSON"),
}
_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "UTF-8 with a byte-order mark", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(frozen=True)
class Document:
    """One file that was read: `path` names it in errors, `name` in records, `content` is its bytes as they are on disk.

    `problems` collect what is wrong with it, if anybody wants to know more than the first; `repair` and `skip` see
    `declare`, `bounds` say how much of it is read.
    `made` is what was made of it, for the next one that wants the same: a file may hold many systems.
    """

    path: str
    content: bytes
    problems: Problems | None = field(default=None, compare=False)
    repair: tuple[str, ...] = ()
    skip: int = 0
    name: str = ""
    made: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    bounds: Bounds = field(default=Bounds(), compare=False)

    @classmethod
    def load(cls, path: str | Path, within: Path | None = None) -> Document:
        """Read the file at `path`; records name it relative to the folder `within`, see `recorded_name`.

        Raises:
            InputError: The file cannot be read.
        """
        try:
            if Path(path).exists() and not Path(path).is_file():
                raise InputError("not a regular file", path=path)
            with open(path, "rb") as file:
                content = read_at_most(MAX_BYTES, file.read)
        except OSError as error:
            raise InputError(f"cannot read the file: {error.strerror}", path=path) from None
        if len(content) > MAX_BYTES:
            raise InputError(f"larger than {MAX_BYTES >> 20} MiB", path=path)
        return cls(str(path), content, name=recorded_name(path, within))

    @cached_property
    def digest(self) -> str:
        """Digest of the bytes, as `sha256sum` prints it."""
        return digest(self.content)

    def error(self, message: str, line: int | None = None, item: str | None = None, *,
              category: Category = "format") -> InputError:
        """Return an error with its place in the file."""
        return InputError(message, path=self.path, line=line, item=item, category=category)

    def refuse(self, message: str, line: int | None = None, item: str | None = None, *,
               category: Category = "format") -> None:
        """Report an error."""
        self.report(self.error(message, line, item, category=category))

    def report(self, error: InputError) -> None:
        """Collect the error if `problems` are given, so that reading continues; otherwise raise it."""
        if self.problems is None:
            raise error
        self.problems.add(error)

    def report_empty(self, thing: str) -> None:
        """Report that the file has no `thing`, unless other problems explain it."""
        if self.problems is None or not self.problems.counts:
            self.refuse(f"no {thing} in this file")

    def collect(self, problems: Problems | None) -> Document:
        """Return the file with errors collected in `problems`; None: they are raised."""
        return replace(self, problems=problems)

    @property
    def has_notes(self) -> bool:
        """True if lines end with CR LF and the options do not accept that."""
        if "notes" not in self.made:
            self.made["notes"] = b"\r\n" in self._extract_text()
        return "crlf" not in self.repair and bool(self.made["notes"])

    def declare(self, repair: tuple[str, ...], skip: int = 0) -> Document:
        """Return the file without its first `skip` lines, with the named repairs to its text.

        Skipped lines count. `crlf`: lines that end with CR LF are no news (they are read as LF anyway); `bom`: a
        byte-order mark of UTF-8 is left out; `nfc`: the text is brought to Unicode normal form NFC; `invisible`:
        control and format characters are left out, other blanks are blanks.
        """
        return replace(self, repair=repair, skip=skip) if repair or skip else self

    def bound(self, bounds: Bounds) -> Document:
        """Return the file with bounds on how much of it is read."""
        return replace(self, bounds=bounds)

    @property
    def most_lines(self) -> int:
        """Maximal number of lines, rows or entries."""
        return MAX_LINES if self.bounds.lines is None else min(self.bounds.lines, MAX_LINES)

    @property
    def most_unfolded(self) -> int:
        """Maximal size of an unfolded file, in bytes."""
        return min(bound_unfolded(self.content, self.bounds.unfolded), self.bounds.most_unfolded or MAX_BYTES)

    def make_bounds_error(self, count: str, most: int, line: int | None = None) -> InputError:
        """Return the error for more lines, rows or entries than allowed."""
        return self.error(f"{count}; {most:,} are the most that are read{self.bounds.reason}", line, category="order")

    def make_size_error(self, remedy: str = "") -> InputError:
        """Return the error for a file that unfolds to more than `most_unfolded` bytes."""
        size = f"unfolds to more than {self.most_unfolded >> 20} MiB"
        if self.most_unfolded == MAX_BYTES:
            return self.error(size)
        if self.most_unfolded == self.bounds.most_unfolded:
            return self.error(f"{size}{remedy}, if it is a submission to this task")
        return self.error(f"{size}, over {MAX_RATIO} times its size{remedy}")

    def text(self) -> str:
        """Decode the file without its last line end; see `blocks`."""
        return "\n".join(block for _, block in self.blocks(MAX_LINES))

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield line numbers from 1 and lines without their line ends (LF or CRLF); see `blocks`."""
        for number, block in self.blocks():
            lines = block.split("\n")
            del block  # which may be one very long line
            yield from enumerate(lines, number)

    def blocks(self, most_lines: int | None = None) -> Iterator[tuple[int, str]]:
        """Yield blocks of whole lines, each with the number of its first line, counted from 1.

        Line ends are LF, that of a block's last line left out. All lines at once take up to 50 times the memory of the
        text. Where problems are collected, what is no text becomes U+FFFD, and NUL U+2400.

        Raises:
            InputError: The file is empty, binary, damaged, or not UTF-8, or has too many lines or too long a one; names
                the line.
        """
        content = self._extract_text()
        of = content.count(b"\n")
        if of > (most := most_lines or self.most_lines):
            raise self.make_bounds_error(f"{of:,} lines", most, most + 1)
        if self.problems is not None and "crlf" not in self.repair and (n := content.count(b"\r\n")):
            self.problems.notes.append(self.error(
                f"{'all' if n == of else n} of {counted(of, 'line')} end with CR LF, which is read as LF",
                category="encoding"))
        stop = len(content) - content.endswith(b"\n")
        number, at = 1 + self.skip, self._skip_lines(content, stop)
        while at <= stop:
            end = content.find(b"\n", at + _BLOCK, stop)
            end = stop if end < 0 else end
            if end - at > _BLOCK + MAX_LINE:  # bytes: decoding would take up to eight times as many
                last = max(at, content.rfind(b"\n", at, end) + 1)
                if (n := count_characters(content, last, end)) > MAX_LINE + 1:  # of which one may be CR
                    raise self._make_length_error(f"{n:,}", number + content.count(b"\n", at, last))
            block = self._decode(content[at:end], number).replace("\r\n", "\n").removesuffix("\r")
            if "nfc" in self.repair and not unicodedata.is_normalized("NFC", block):
                block = "\n".join(self._compose(line, n) for n, line in enumerate(block.split("\n"), number))
            if "invisible" in self.repair:
                block = block.translate(map_invisible(block))
            if len(block) > MAX_LINE:
                for of_line, line in enumerate(block.split("\n"), number):
                    if len(line) > MAX_LINE:
                        raise self._make_length_error(f"{len(line):,}", of_line)
            first, number, at = number, number + block.count("\n") + 1, end + 1
            given = [block]
            del block
            yield first, given.pop()  # and keep no hold of it

    def _skip_lines(self, content: bytes, stop: int) -> int:
        """Return the offset of the first line that is not skipped."""
        at = 0
        for _ in range(self.skip):
            at = content.find(b"\n", at, stop) + 1
            if not at:
                raise self.error(f"no line is left after {counted(self.skip, 'line')} that option 'skip' passes over")
        return at

    def _extract_text(self) -> bytes:
        """Return the bytes of the text: unfolded, not empty, no other file type, without byte-order mark."""
        content = self._unfold()
        if not content or content.isspace():
            raise self.error("the file is empty")
        for mark, what in _CONTAINERS.items():
            if content.startswith(mark) and b"\0" in content:
                raise self.error(f"the file is {what}", category="encoding")
        sides = content[:_BLOCK:2], content[1:_BLOCK:2]
        if any(0 not in one and 2 * other.count(0) > len(other) for one, other in (sides, sides[::-1])):
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
            raise self._make_encoding_error("lines end with CR alone; save the file with LF", 1)
        return content

    def _decode(self, block: bytes, first: int) -> str:
        """Decode lines, of which the first has number `first`; report every line that is not text."""
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
                self.report(self._make_encoding_error("a NUL character: this is not a text file", number))
        return text.replace("\0", "\u2400")

    def _compose(self, line: str, number: int) -> str:
        """Return a line in NFC; report long runs of marks, which would take quadratic time."""
        if unicodedata.is_normalized("NFC", line):
            return line
        if (most := count_marks(line)) > MAX_MARKS:
            self.report(self._make_encoding_error(f"{most:,} combining marks in a row, and {MAX_MARKS} are the most "
                                                  "that are brought to NFC; mend the line", number))
            return line
        return unicodedata.normalize("NFC", line)

    def _make_length_error(self, length: str, line: int) -> InputError:
        return self._make_encoding_error(f"a line of {length} characters; {MAX_LINE:,} is the most that is read", line)

    def _make_encoding_error(self, message: str, line: int) -> InputError:
        return self.error(message, line, category="encoding")

    def _unfold(self) -> bytes:
        if not self.content.startswith(MARK):
            return self.content
        try:
            unfolded = unfold(self.content, self.most_unfolded)
        except ValueError as error:
            raise self.error(str(error)) from None
        if len(unfolded) > self.most_unfolded:
            raise self.make_size_error("; give the file as it is, unfolded")
        return unfolded


def bound_unfolded(content: bytes, trusted: int | None = None) -> int:
    """Return the number of bytes to which a compressed file may unfold; `trusted` is the minimum, else TRUSTED."""
    return min(MAX_BYTES, max(min(TRUSTED, trusted or TRUSTED), MAX_RATIO * len(content)))
