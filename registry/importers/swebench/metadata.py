"""What SWE-bench/experiments says of a submission: `metadata.yaml` in its folder, and the date in the folder's name.

The file is looked at where PyYAML is installed (the extra `swe-bench`); a submission's name is that of its folder
anyway, as that is what tells two of them apart. It is taken as PyYAML's nodes: made into objects a few lines could fill
all memory (merged mappings double with each line), and values of a wrong kind end in errors of any kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from registry.errors import InputError
from registry.importers.files import Sources

_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)_.+")
_LARGEST = 2**16  # bytes of a file that names a system and its makers
_LONGEST, _MOST = 300, 20  # characters of a text, and texts of a list, that are kept
_KINDS = ("str", "bool", "int", "float", "null", "timestamp", "seq", "map")  # of what is no program's own
_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
# What is kept, by the keys under which newer files and older ones have it.
_KEYS = {
    "name": (("info", "name"), ("name",)), "site": (("info", "site"), ("site",)), "report": (("info", "report"),),
    "organisation": (("tags", "org"),), "model": (("tags", "model"),), "open_model": (("tags", "os_model"),),
    "open_system": (("tags", "os_system"), ("oss",)), "checked": (("tags", "checked"), ("verified",)),
    "attempts": (("tags", "system", "attempts"), ("system", "attempts")),
}


def attributes_of(folder: Path, sources: Sources) -> dict[str, Any]:
    """What is known of the submission in a folder, for queries.

    Raises:
        InputError: Its metadata are no YAML, or too large.
    """
    found: dict[str, Any] = {}
    if match := _DATE.fullmatch(folder.name):
        found["date"] = "-".join(match.groups())
    file = folder / "metadata.yaml"
    if not file.is_file() or (metadata := _read(file, sources)) is None:
        return found
    for name, places in _KEYS.items():
        value = next((value for keys in places if (value := _under(metadata, keys)) is not None), None)
        if value is not None:
            found[name] = value
    return found


def _read(file: Path, sources: Sources) -> Any:
    """The metadata as a node of YAML; None where nothing can read them."""
    try:
        import yaml
    except ImportError:
        return None
    document = sources.load(file)
    if len(document.content) > _LARGEST:
        raise InputError(f"more than {_LARGEST >> 10} KiB, which is no description of a submission", path=file)
    try:
        metadata = yaml.compose(document.text(), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(f"not YAML: {str(error).partition(chr(10))[0][:200] or 'nested too deeply'}",
                         path=file) from None
    for node in _nodes(metadata):
        _check(node, file)
    return metadata


def _nodes(root: Any) -> Iterator[Any]:
    """All nodes, each once, however often it is referred to."""
    left, seen = [] if root is None else [root], set()
    while left:
        node = left.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            left += () if node.id == "scalar" else chain(*node.value) if node.id == "mapping" else node.value


def _check(node: Any, file: Path) -> None:
    """Refuse what reads otherwise than it seems to: other programs' objects, merged mappings, keys that stand twice."""
    line = node.start_mark.line + 1
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if kind not in _KINDS:
        what = "'<<' merges mappings; write their keys out" if kind == "merge" else f"a tag {kind[:60]!r}; leave it out"
        raise InputError(f"not YAML as it is read here: {what}", path=file, line=line)
    keys = [key.value for key, _ in node.value if key.id == "scalar"] if node.id == "mapping" else []
    if len(set(keys)) < len(keys):
        twice = next(key for n, key in enumerate(keys) if key in keys[:n])
        raise InputError(f"not YAML: the key {twice[:60]!r} stands twice", path=file, line=line)


def _under(metadata: Any, keys: Sequence[str]) -> str | bool | None:
    """A text or truth value under nested keys; several in a list become one text."""
    node = metadata
    for key in keys:
        of = node.value if node.id == "mapping" else ()
        if (node := next((value for name, value in of if name.value == key), None)) is None:
            return None
    if node.id == "scalar" and isinstance(value := _plain(node), bool):
        return value
    texts = map(_plain, node.value[:_MOST] if node.id == "sequence" else [node])
    text = ", ".join(one for one in texts if isinstance(one, str))
    return text if text and text.isprintable() else None


def _plain(node: Any) -> str | bool | None:
    """What a scalar says: a text, a truth value, or a whole number as text."""
    kind = node.tag.rpartition(":")[2] if node.id == "scalar" else ""
    if kind == "bool":
        return _TRUTHS.get(node.value.lower())
    if kind == "int":
        return node.value if re.fullmatch(r"-?\d{1,9}", node.value, re.ASCII) else None
    return node.value[:_LONGEST].strip() if kind == "str" else None
