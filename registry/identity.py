"""Canonical JSON, and digests that begin with the name of their algorithm."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: Any) -> str:
    """Convert a value to JSON in a unique form: sorted keys, no spaces, no nan.

    >>> canonical_json({"b": 1, "a": [True, None, "é"]})
    '{"a":[true,null,"é"],"b":1}'
    """
    return _ENCODER.encode(value)


def canonical_text(text: str) -> str:
    r"""Convert a string to JSON, as `canonical_json` does, but faster.

    >>> print(canonical_text('say "é"'))
    "say \"é\""
    """
    return encode_basestring(text)


def replace_undefined(value: Any) -> Any:
    """Replace nan and infinity by None, also in lists and dictionaries, for JSON."""
    if isinstance(value, list | tuple):
        return [replace_undefined(element) for element in value]
    if isinstance(value, dict):
        return {str(key): replace_undefined(element) for key, element in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def digest(content: bytes) -> str:
    """Return the SHA-256 digest of bytes.

    >>> digest(b"")[:19]
    'sha256:e3b0c44298fc'
    """
    return "sha256:" + hashlib.sha256(content).hexdigest()


def digest_json(value: Any) -> str:
    """Return the SHA-256 digest of a value that JSON can represent.

    Equal values have equal digests, because the JSON has a unique form.
    """
    return digest(canonical_json(value).encode())


def digest_lines(lines: Iterable[str]) -> str:
    """Return the SHA-256 digest of a sequence of texts.

    The lengths are included, so the digests of ["ab", "c"] and ["a", "bc"] differ.
    """
    state = hashlib.sha256()
    for line in lines:
        encoded = line.encode()
        state.update(b"%d:" % len(encoded))
        state.update(encoded)
    return "sha256:" + state.hexdigest()


def digest_array(array: NDArray[Any]) -> str:
    """Return the SHA-256 digest of an array: its shape, its type and its values.

    The digest does not depend on the memory layout or the byte order.
    """
    import numpy as np

    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    state = hashlib.sha256(f"{little.dtype.str}{little.shape}".encode())
    state.update(little.data)
    return "sha256:" + state.hexdigest()


SALTED = "salted-"  # the beginning of salted digests


def salt_digest(plain: str, salt: str | None) -> str:
    """Combine a digest with a secret, so that nobody can guess the content from it.

    Without a secret (`salt`), the digest is unchanged. `registry.releases.tables` computes the same in SQL.

    >>> salt_digest("sha256:e3b0", None), salt_digest("sha256:e3b0", "5f")[:20]
    ('sha256:e3b0', 'salted-sha256:c8ef74')
    """
    return plain if salt is None else SALTED + digest(f"{salt}:{plain}".encode())


def short(digested: str) -> str:
    """Shorten a digest to its first eight hexadecimal digits, for messages."""
    return digested.partition(":")[2][:8]
