"""Changes to a file such as programs, editors and enemies make them."""

import re

from tests.fuzz.archives import zip_mutated
from tests.fuzz.structures import json_mutated

_NASTY = [
    b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"\r", b"\r\n", b"\n", b"\n\n", b"\t", b"\t\t", b"\xc2\xa0",
    b"\xe2\x80\xa8", b"\xe2\x80\xae", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b"\xc0\x80", b"\xcc\x81", b'"', b"'", b"\\",
    b"\\u0000", b"\\ud800", b"#", b"-", b"|||", b"<", b">", b"&", b"&#0;", b"]]>", b"<!--", b"=", b"=cmd|'/c calc'!A0",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"nan", b"-inf", b"1e999", b"-0", b"9" * 400, b"1" * 5000, b"0x1",
    "\u0661".encode(), "\u00b2".encode(), b"B-", b"I-", b"O-", b"E-A", b"{}", b"[]", b"null", b"true", b"[" * 3000,
    b'{"a":' * 2000, b"(" * 3000, b"../" * 20, b"%s", b"${x}", b"a" * 5000,
]
LONGEST = 2**20  # bytes, read many times over in every trial
_WORD = re.compile(rb"[^\s]+")


def mutated(content, rng):
    """Change `content` in one to six ways, each of which may repeat a line hundreds of times.

    JSON and zip files are changed as bytes, and as often in what they hold.
    """
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4, 6))):
        changes = _of_structure(content) if rng.random() < 0.5 else None
        content = (changes or rng.choice(_MUTATIONS))(content, rng)[:LONGEST]
    return content


def _of_structure(content):
    if content.startswith(b"PK\3\4"):
        return lambda content, rng: zip_mutated(content, rng, mutated)
    return json_mutated if content[:200].lstrip()[:1] in (b"{", b"[") else None


def _place(content, rng, longest=64):
    at = rng.randrange(len(content) + 1)
    return at, min(len(content), at + rng.randrange(longest))


def _insert_nasty(content, rng):
    at, end = _place(content, rng, 4)
    return content[:at] + rng.choice(_NASTY) + content[end:]


def _nasty_word(content, rng):
    """Put something nasty in the place of a word, where it is a whole cell."""
    words = list(_WORD.finditer(content))
    if not words:
        return content
    word = rng.choice(words)
    return content[:word.start()] + rng.choice(_NASTY) + content[word.end():]


def _other_word(content, rng):
    words = list(_WORD.finditer(content))
    if not words:
        return content
    word, other = rng.choice(words), rng.choice(words)
    return content[:word.start()] + other[0] + content[word.end():]


def _flip(content, rng):
    changed = bytearray(content)
    for _ in range(rng.randrange(1, 4) if changed else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut_out(content, rng):
    at, end = _place(content, rng)
    return content[:at] + content[end:]


def _twice(content, rng):
    at, end = _place(content, rng)
    return content[:end] + content[at:end] * rng.choice((1, 1, 1, 50)) + content[end:]


def _truncate(content, rng):
    return content[:rng.randrange(len(content) + 1)]


def _lines(change):
    def mutation(content, rng):
        lines = content.split(b"\n")
        at = rng.randrange(len(lines))
        return b"\n".join(change(lines, at, rng))

    return mutation


def _shuffled(lines, at, rng):
    return rng.sample(lines, len(lines))


def _recode(content, rng):
    """Write another encoding or other line ends, or other separators throughout."""
    text = content.decode("utf-8", "replace")
    old, new = rng.choice((("\n", "\r\n"), ("\n", "\r"), ("\t", " "), ("\t", ","), (",", "\t"), (" ", "\t"),
                           (" ", "\u3000")))
    return rng.choice((lambda: text.encode("latin-1", "replace"), lambda: text.encode("utf-16"),
                       lambda: text.encode("utf-8-sig"), lambda: text.replace(old, new).encode(),
                       lambda: text.replace(old, new).encode()))()


_MUTATIONS = [
    _insert_nasty, _insert_nasty, _nasty_word, _nasty_word, _other_word, _other_word, _flip, _cut_out, _twice,
    _truncate, _recode, _lines(_shuffled),
    _lines(lambda lines, at, rng: lines[:at] + lines[at + 1:]),
    _lines(lambda lines, at, rng: lines[:at] + [lines[at]] * rng.choice((2, 2, 100)) + lines[at + 1:]),
    _lines(lambda lines, at, rng: [*lines[:at], lines[rng.randrange(len(lines))], *lines[at:]]),
    _lines(lambda lines, at, rng: [*lines[:at], b"\t".join([lines[at]] * rng.choice((2, 300))), *lines[at + 1:]]),
    _lines(lambda lines, at, rng: lines[at:at + 3]),
]
