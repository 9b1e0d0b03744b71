"""Changes to zip files that leave them zip files: members of other names, methods, kinds and sizes than they seem."""

import io
import stat
import struct
import warnings
import zipfile

_NAMES = ["", "/etc/x", "../x", "..\\x", "C:\\x", "a/../../x", "x" * 300, "a\nb", "\u202etxt", "caf\u00e9", "nul",
          "a:b", "header.json/", "__MACOSX/x", ".x", "a/", "//"]
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_CENTRAL = b"PK\1\2"  # the mark of a member in the list at the end
_FIELDS = {6: "H", 8: "H", 10: "H", 16: "I", 20: "I", 24: "I", 28: "H", 30: "H", 38: "I", 42: "I"}
_NUMBERS = (0, 1, 2, 8, 9, 12, 14, 93, 95, 98, 99, 0x800, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)


def zip_mutated(content, rng, of_member):
    """Write an archive anew with one to three changes; `of_member(content, rng)` changes what a member holds."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [[name, archive.read(name), zipfile.ZIP_DEFLATED, stat.S_IFREG | 0o644]
                       for name in archive.namelist()]
    except Exception:  # of which zipfile has many; it was damaged before
        return content
    for _ in range(rng.choice((1, 1, 2, 3))):
        if members:
            rng.choice(_CHANGES)(members, rng.randrange(len(members)), rng, of_member)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive, warnings.catch_warnings(action="ignore"):  # of names twice
        for name, inner, method, mode in members:
            about = zipfile.ZipInfo(name.replace("\0", "_"))
            about.compress_type, about.external_attr = method, mode << 16
            archive.writestr(about, inner)
    return _field(written.getvalue(), rng) if rng.random() < 0.4 else written.getvalue()


def _field(content, rng):
    """Put another number into the list of members, as of a method, a size, an offset, or that it is encrypted."""
    places = [at for at in range(len(content) - 46) if content[at:at + 4] == _CENTRAL]
    if not places:
        return content
    changed, at = bytearray(content), rng.choice(places)
    offset, form = rng.choice(list(_FIELDS.items()))
    number = rng.choice(_NUMBERS) & (0xFFFF if form == "H" else 0xFFFFFFFF)
    struct.pack_into(f"<{form}", changed, at + offset, number)
    return bytes(changed)


def _named(members, at, rng, of_member):
    members[at][0] = rng.choice(_NAMES)


def _within(members, at, rng, of_member):
    members[at][0] = f"{rng.choice(_NAMES)}/{members[at][0]}"


def _twice(members, at, rng, of_member):
    members.append([members[at][0], of_member(members[at][1], rng), *members[at][2:]])


def _gone(members, at, rng, of_member):
    del members[at]


def _packed(members, at, rng, of_member):
    members[at][2] = rng.choice(_METHODS)


def _link(members, at, rng, of_member):
    members[at][3] = rng.choice((stat.S_IFLNK | 0o777, stat.S_IFDIR | 0o755, stat.S_IFIFO | 0o644, 0))


def _content(members, at, rng, of_member):
    members[at][1] = of_member(members[at][1], rng)


def _bomb(members, at, rng, of_member):
    members[at][1] = b" " * rng.choice((2**16, 2**20))


def _nested(members, at, rng, of_member):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(members[at][0].replace("\0", "_") or "x", members[at][1])
    members[at][1] = held.getvalue()


def _many(members, at, rng, of_member):
    members += [[f"{n}{members[at][0]}", b"", 0, stat.S_IFREG | 0o644] for n in range(rng.choice((3, 100)))]


_CHANGES = [_named, _within, _twice, _gone, _packed, _link, _content, _content, _bomb, _nested, _many]
