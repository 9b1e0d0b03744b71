"""The bytes of one file as lines of text: gzip and CRLF are read transparently, everything else is strict.

Submissions are untrusted: what does not decode is an error that names its line, and a compressed file may not unfold
to more than `MAX_BYTES`.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from registry.errors import InputError
from registry.identity import digest

MAX_BYTES = 2**30

_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "UTF-8 with a byte-order mark", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(frozen=True)
class Document:
    """One file that was read: `path` names it in errors, `content` is its bytes as they stand on disk."""

    path: str
    content: bytes

    @classmethod
    def load(cls, path: str | Path) -> Document:
        """Read the file at `path`.

        Raises:
            InputError: The file cannot be read.
        """
        try:
            if Path(path).exists() and not Path(path).is_file():
                raise InputError("not a regular file", path=path)
            with open(path, "rb") as file:
                content = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise InputError(f"cannot read the file: {error.strerror}", path=path) from None
        if len(content) > MAX_BYTES:
            raise InputError(f"larger than {MAX_BYTES >> 20} MiB", path=path)
        return cls(str(path), content)

    @cached_property
    def digest(self) -> str:
        """The digest of the file's bytes, as `sha256sum` prints it."""
        return digest(self.content)

    def text(self) -> str:
        """Decode the file.

        Raises:
            InputError: It is empty, binary, damaged, or not UTF-8; names the line.
        """
        content = self._unfold()
        if not content.strip():
            raise InputError("the file is empty", path=self.path)
        for mark, encoding in _BYTE_ORDER_MARKS.items():
            if content.startswith(mark):
                raise InputError(f"the file is {encoding}; save it as plain UTF-8", path=self.path, line=1)
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise InputError(f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8",
                             path=self.path, line=line) from None
        if (at := text.find("\0")) >= 0:
            raise InputError("a NUL character: this is not a text file", path=self.path,
                             line=text.count("\n", 0, at) + 1)
        return text

    def lines(self) -> Iterator[tuple[int, str]]:
        """Give every line with its number, counted from 1, without its line end (LF or CRLF)."""
        lines = self.text().split("\n")
        if lines[-1] == "":
            lines.pop()
        for number, line in enumerate(lines, 1):
            yield number, line.removesuffix("\r")

    def _unfold(self) -> bytes:
        if not self.content.startswith(_GZIP):
            return self.content
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(self.content)) as file:
                unfolded = file.read(MAX_BYTES + 1)
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(f"damaged gzip file: {str(error).rstrip('.')}", path=self.path) from None
        if len(unfolded) > MAX_BYTES:
            raise InputError(f"unfolds to more than {MAX_BYTES >> 20} MiB", path=self.path)
        return unfolded


def split(line: str, separator: str) -> list[str]:
    """Split a line at tabs, or (`whitespace`) at runs of spaces and tabs; other blanks belong to what they stand in."""
    if separator == "tab":
        return line.split("\t")
    return [cell for cell in line.replace("\t", " ").split(" ") if cell]
