"""What makes two things the same: canonical JSON and digests tagged with their algorithm."""

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
    """Write `value` as the one JSON text that stands for it: sorted keys, no spaces, no nan.

    >>> canonical_json({"b": 1, "a": [True, None, "é"]})
    '{"a":[true,null,"é"],"b":1}'
    """
    return _ENCODER.encode(value)


def canonical_text(text: str) -> str:
    r"""Write a text as `canonical_json` does, sooner.

    >>> print(canonical_text('say "é"'))
    "say \"é\""
    """
    return encode_basestring(text)


def plain_value(value: Any) -> Any:
    """What JSON has: nan and infinity, which it does not, are null, also inside of lists and structures."""
    if isinstance(value, list | tuple):
        return [plain_value(one) for one in value]
    if isinstance(value, dict):
        return {str(key): plain_value(one) for key, one in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def digest(content: bytes) -> str:
    """Digest bytes; of a file's bytes it is what `sha256sum` prints.

    >>> digest(b"")[:19]
    'sha256:e3b0c44298fc'
    """
    return "sha256:" + hashlib.sha256(content).hexdigest()


def digest_json(value: Any) -> str:
    """Digest a JSON value by its canonical text."""
    return digest(canonical_json(value).encode())


def digest_lines(lines: Iterable[str]) -> str:
    """Digest a sequence of texts, each counted with its length, so that no two sequences run together."""
    state = hashlib.sha256()
    for line in lines:
        encoded = line.encode()
        state.update(b"%d:" % len(encoded))
        state.update(encoded)
    return "sha256:" + state.hexdigest()


def digest_array(array: NDArray[Any]) -> str:
    """Digest an array by shape, type and values in C order, independent of its layout in memory."""
    import numpy as np

    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    state = hashlib.sha256(f"{little.dtype.str}{little.shape}".encode())
    state.update(little.data)
    return "sha256:" + state.hexdigest()


SALTED = "salted-"  # how a digest begins that only its salt leads to


def salt_digest(plain: str, salt: str | None) -> str:
    """Return a digest that nobody without the salt can compute from a guess; without a salt the digest itself.

    `registry.releases.tables` does the same in SQL.

    >>> salt_digest("sha256:e3b0", None), salt_digest("sha256:e3b0", "5f")[:20]
    ('sha256:e3b0', 'salted-sha256:c8ef74')
    """
    return plain if salt is None else SALTED + digest(f"{salt}:{plain}".encode())


def short(digested: str) -> str:
    """The eight hexadecimal digits of a digest that people read."""
    return digested.partition(":")[2][:8]
