"""The bytes of one file as lines of text: gzip and CRLF are read transparently, everything else is strict.

Submissions are untrusted: what does not decode is an error that names its line, a compressed file may not unfold to
more than `MAX_BYTES` (a small one to less), no line may be longer than `MAX_LINE`, and there may not be more than
`MAX_LINES`.

Readers `report` what is wrong. That raises it, unless the document came with `Problems` that collect it; reading then
goes on after the place, so that whoever checks a file sees all that is wrong with it at once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from registry.errors import Category, InputError, counted
from registry.identity import digest
from registry.provenance import recorded_name
from registry.readers.parsing.bounds import Bounds
from registry.readers.parsing.characters import count_characters, most_marks, visible
from registry.readers.parsing.gzipped import MARK, read_at_most, unfold
from registry.readers.parsing.problems import Problems

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
    `declared`, `bounds` say how much of it is read.
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
        """The digest of the file's bytes, as `sha256sum` prints it."""
        return digest(self.content)

    def error(self, message: str, line: int | None = None, item: str | None = None, *,
              category: Category = "format") -> InputError:
        """Say what is wrong with the file, and where."""
        return InputError(message, path=self.path, line=line, item=item, category=category)

    def refuse(self, message: str, line: int | None = None, item: str | None = None, *,
               category: Category = "format") -> None:
        """Report that something is wrong with the file."""
        self.report(self.error(message, line, item, category=category))

    def report(self, error: InputError) -> None:
        """Collect the error where somebody does, so that reading goes on; else raise it."""
        if self.problems is None:
            raise error
        self.problems.add(error)

    def report_empty(self, thing: str) -> None:
        """Report that there is no `thing` in the file, unless other problems say why."""
        if self.problems is None or not self.problems.counts:
            self.refuse(f"no {thing} in this file")

    def collecting(self, problems: Problems | None) -> Document:
        """Return the same file, whose problems are collected; None: they are raised."""
        return replace(self, problems=problems)

    @property
    def has_notes(self) -> bool:
        """Whether a file that reads well has lines that end with CR LF, and nobody said that this is no news."""
        if "notes" not in self.made:
            self.made["notes"] = b"\r\n" in self._plain()
        return "crlf" not in self.repair and bool(self.made["notes"])

    def declared(self, repair: tuple[str, ...], skip: int = 0) -> Document:
        """The same file without its `skip` first lines, in whose text is mended what else is named or refused.

        Skipped lines count. `crlf`: lines that end with CR LF are no news (they are read as LF anyway); `bom`: a
        byte-order mark of UTF-8 is left out; `nfc`: the text is brought to Unicode normal form NFC; `invisible`:
        control and format characters are left out, other blanks are blanks.
        """
        return replace(self, repair=repair, skip=skip) if repair or skip else self

    def bounded(self, bounds: Bounds) -> Document:
        """Return the same file, of which no more is read than the bounds say."""
        return replace(self, bounds=bounds)

    @property
    def most_lines(self) -> int:
        """The most lines, rows or entries that are read."""
        return MAX_LINES if self.bounds.lines is None else min(self.bounds.lines, MAX_LINES)

    @property
    def most_unfolded(self) -> int:
        """The most bytes that a compressed file may unfold to."""
        return min(most_unfolded(self.content, self.bounds.unfolded), self.bounds.most_unfolded or MAX_BYTES)

    def beyond(self, count: str, most: int, line: int | None = None) -> InputError:
        """Say that there are more lines, rows or entries than are read."""
        return self.error(f"{count}; {most:,} are the most that are read{self.bounds.reason}", line, category="order")

    def unfolds_to_more(self, remedy: str = "") -> InputError:
        """Return the error of a compressed file that unfolds to more than `most_unfolded` bytes."""
        size = f"unfolds to more than {self.most_unfolded >> 20} MiB"
        if self.most_unfolded == MAX_BYTES:
            return self.error(size)
        if self.most_unfolded == self.bounds.most_unfolded:
            return self.error(f"{size}{remedy}, if it is a submission to this task")
        return self.error(f"{size}, over {MAX_RATIO} times its size{remedy}")

    def text(self) -> str:
        """Decode the file, but for its last line end; see `blocks`. Its lines may be more than `most_lines`."""
        return "\n".join(block for _, block in self.blocks(MAX_LINES))

    def lines(self) -> Iterator[tuple[int, str]]:
        """Give every line with its number, counted from 1, without its line end (LF or CRLF); see `blocks`."""
        for number, block in self.blocks():
            lines = block.split("\n")
            del block  # which may be one very long line
            yield from enumerate(lines, number)

    def blocks(self, most_lines: int | None = None) -> Iterator[tuple[int, str]]:
        """Give the text in blocks of whole lines, each with the number of its first line, counted from 1.

        Line ends are LF, that of a block's last line left out. All lines at once take up to 50 times the memory of the
        text. Where problems are collected, what is no text becomes U+FFFD, and NUL U+2400.

        Raises:
            InputError: The file is empty, binary, damaged, or not UTF-8, or has too many lines or too long a one; names
                the line.
        """
        content = self._plain()
        of = content.count(b"\n")
        if of > (most := most_lines or self.most_lines):
            raise self.beyond(f"{of:,} lines", most, most + 1)
        if self.problems is not None and "crlf" not in self.repair and (n := content.count(b"\r\n")):
            self.problems.notes.append(self.error(
                f"{'all' if n == of else n} of {counted(of, 'line')} end with CR LF, which is read as LF",
                category="encoding"))
        stop = len(content) - content.endswith(b"\n")
        number, at = 1 + self.skip, self._skipped(content, stop)
        while at <= stop:
            end = content.find(b"\n", at + _BLOCK, stop)
            end = stop if end < 0 else end
            if end - at > _BLOCK + MAX_LINE:  # bytes: decoding would take up to eight times as many
                last = max(at, content.rfind(b"\n", at, end) + 1)
                if (n := count_characters(content, last, end)) > MAX_LINE + 1:  # of which one may be CR
                    raise self._too_long(f"{n:,}", number + content.count(b"\n", at, last))
            block = self._decode(content[at:end], number).replace("\r\n", "\n").removesuffix("\r")
            if "nfc" in self.repair and not unicodedata.is_normalized("NFC", block):
                block = "\n".join(self._composed(line, n) for n, line in enumerate(block.split("\n"), number))
            if "invisible" in self.repair:
                block = block.translate(visible(block))
            if len(block) > MAX_LINE:
                for of_line, line in enumerate(block.split("\n"), number):
                    if len(line) > MAX_LINE:
                        raise self._too_long(f"{len(line):,}", of_line)
            first, number, at = number, number + block.count("\n") + 1, end + 1
            given = [block]
            del block
            yield first, given.pop()  # and keep no hold of it

    def _skipped(self, content: bytes, stop: int) -> int:
        """The place where the first line begins that is not skipped."""
        at = 0
        for _ in range(self.skip):
            at = content.find(b"\n", at, stop) + 1
            if not at:
                raise self.error(f"no line is left after {counted(self.skip, 'line')} that option 'skip' passes over")
        return at

    def _plain(self) -> bytes:
        """The bytes of the text: unfolded, not empty, no other kind of file, without a byte-order mark."""
        content = self._unfold()
        if not content or content.isspace():
            raise self.error("the file is empty")
        for mark, what in _CONTAINERS.items():
            if content.startswith(mark) and b"\0" in content:
                raise self.error(f"the file is {what}", category="encoding")
        sides = content[:_BLOCK:2], content[1:_BLOCK:2]
        if any(0 not in one and 2 * other.count(0) > len(other) for one, other in (sides, sides[::-1])):
            raise self._unreadable("the file seems to be UTF-16; save it as plain UTF-8", 1)
        for mark, encoding in _BYTE_ORDER_MARKS.items():
            if content.startswith(mark):
                error = self._unreadable(f"the file is {encoding}; save it as plain UTF-8", 1)
                if encoding == "UTF-16":
                    raise error
                if "bom" not in self.repair:
                    self.report(error)
                content = content.removeprefix(mark)
        if b"\n" not in content and content.find(b"\r", 0, -1) >= 0:
            raise self._unreadable("lines end with CR alone; save the file with LF", 1)
        return content

    def _decode(self, block: bytes, first: int) -> str:
        """Decode lines, the `first` of which is given by its number, reporting every one that is no text."""
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
                self.report(self._unreadable(f"byte 0x{line[error.start]:02x} is not UTF-8; save the file as UTF-8",
                                             number))
            if b"\0" in line:
                self.report(self._unreadable("a NUL character: this is not a text file", number))
        return text.replace("\0", "\u2400")

    def _composed(self, line: str, number: int) -> str:
        """A line in NFC; marks without end, which would take the square of their number in time, are reported."""
        if unicodedata.is_normalized("NFC", line):
            return line
        if (most := most_marks(line)) > MAX_MARKS:
            self.report(self._unreadable(f"{most:,} combining marks in a row, and {MAX_MARKS} are the most that are "
                                         "brought to NFC; mend the line", number))
            return line
        return unicodedata.normalize("NFC", line)

    def _too_long(self, length: str, line: int) -> InputError:
        return self._unreadable(f"a line of {length} characters; {MAX_LINE:,} is the most that is read", line)

    def _unreadable(self, message: str, line: int) -> InputError:
        return self.error(message, line, category="encoding")

    def _unfold(self) -> bytes:
        if not self.content.startswith(MARK):
            return self.content
        try:
            unfolded = unfold(self.content, self.most_unfolded)
        except ValueError as error:
            raise self.error(str(error)) from None
        if len(unfolded) > self.most_unfolded:
            raise self.unfolds_to_more("; give the file as it is, unfolded")
        return unfolded


def most_unfolded(content: bytes, trusted: int | None = None) -> int:
    """Return how many bytes a compressed file with this content may unfold to; `trusted` is the least, else TRUSTED."""
    return min(MAX_BYTES, max(min(TRUSTED, trusted or TRUSTED), MAX_RATIO * len(content)))
