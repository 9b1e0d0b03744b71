"""The members of a zip file, read in memory one at a time; nothing is ever unpacked to a folder.

An archive is untrusted: no member and not all that are read together may unfold to more than a bound, whatever the
archive says of their sizes.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import Any

from registry.errors import InputError
from registry.importers.files import parsed_json
from registry.readers import Document

MAX_MEMBER = 2**28  # bytes of one member, unfolded
MAX_ALL = 2**32  # bytes of all members that are read, unfolded

_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)  # LZMA takes what memory the archive says
_ZSTANDARD = 93  # the method's number in the zip format; Python's own reader knows it from 3.14 on
_LOCAL_HEADER = struct.Struct("<4s22xHH")


class Archive:
    """A zip file; `names` are its members, the last one of each name."""

    def __init__(self, document: Document) -> None:
        """Read the list of members.

        Raises:
            InputError: It is no zip file, or a member is a link, or its name leads out of it.
        """
        self.path = document.path
        self._content = document.content
        self._left = MAX_ALL
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(document.content))
        except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error) as error:
            raise document.error(f"not a zip file: {error}") from None
        self._members = {member.filename: member for member in self._zip.infolist()}
        self.names = list(self._members)
        for name, member in self._members.items():
            if stat.S_ISLNK(member.external_attr >> 16):
                raise document.error(f"the member {name!r} is a link")
            if name.startswith(("/", "\\")) or ".." in PurePosixPath(name.replace("\\", "/")).parts:
                raise document.error(f"the member {name!r} leads out of the archive")

    def json(self, name: str) -> Any:
        """Read a member that is one JSON value.

        Raises:
            InputError: It is damaged, too large, encrypted, compressed in an unknown way, or not JSON.
        """
        return parsed_json(self.read(name), self.member_path(name))

    def check(self) -> None:
        """Read every member as JSON within the bounds, for a program that knows none.

        Raises:
            InputError: One is damaged, too large, encrypted, compressed in an unknown way, or not JSON.
        """
        for name in self.names:
            self.json(name)
        self._left = MAX_ALL

    def member_path(self, name: str) -> str:
        """What errors call a member."""
        return f"{self.path}/{name}"

    def read(self, name: str) -> bytes:
        """Read a member.

        Raises:
            InputError: It is damaged, too large, encrypted, or compressed in an unknown way.
        """
        member, limit = self._members[name], min(MAX_MEMBER, self._left)
        try:
            if member.compress_type == _ZSTANDARD:
                content = self._zstandard(member, limit)
            elif member.compress_type not in _PLAIN:
                raise ValueError(f"it is compressed by method {member.compress_type}; zip it as usual, by deflate")
            else:
                with self._zip.open(member) as file:
                    content = file.read(limit + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError,
                struct.error) as error:
            raise InputError(f"cannot be unpacked: {error}", path=self.member_path(name)) from None
        if len(content) > limit:
            raise InputError(f"unfolds to more than {MAX_MEMBER >> 20} MiB, or all members to more than "
                             f"{MAX_ALL >> 20} MiB", path=self.member_path(name))
        self._left -= len(content)
        return content

    def _zstandard(self, member: zipfile.ZipInfo, limit: int) -> bytes:
        try:
            import zstandard
        except ImportError:
            raise InputError("this log is compressed with zstandard: pip install 'evalregistry[inspect]'",
                             path=self.path) from None
        signature, of_name, of_extra = _LOCAL_HEADER.unpack_from(self._content, member.header_offset)
        if signature != b"PK\3\4" or member.flag_bits & 1:
            raise ValueError("it is encrypted, or no member begins where the archive says")
        start = member.header_offset + _LOCAL_HEADER.size + of_name + of_extra
        folded = io.BytesIO(self._content[start:start + member.compress_size])
        try:
            with zstandard.ZstdDecompressor().stream_reader(folded, read_across_frames=True) as reader:
                content = reader.read(limit + 1)
        except (zstandard.ZstdError, MemoryError) as error:
            raise ValueError(str(error)) from None
        if len(content) <= limit and zlib.crc32(content) != member.CRC:
            raise ValueError("its checksum is another one")
        return content
