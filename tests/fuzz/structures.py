"""Changes to JSON that leave it JSON: values of other kinds, keys that are missing, renamed or there twice.

Bytes that are changed at random seldom get past the parser; what these changes make does, and meets the code behind it.
"""

import json
import math
from contextlib import suppress
from copy import deepcopy

_VALUES = [
    None, True, False, 0, -1, 1, 2, 0.5, -0.0, 1e308, 5e-324, 2**53 + 1, 2**63, -(2**64), 10**400, -(10**320),
    math.nan, math.inf, -math.inf, "", " ", "\n", "\t", "a", "0", "1", "nan", "1e999", "true", "None", "C", "\ud800",
    "a\udfffb", "\0", "\u202e", "\u2028", "\ufeff", "a\u0301" * 40, "..", "../../x", "/etc/passwd", "a/b", "{run}", "*",
    "[x]", "=1+1", "<b>", "a\tb", "a\nb", "x" * 5000, "2027-01-01", [], {}, [[]], [None], [{}], {"": None}, {"a": {}},
    [0] * 300, [1, 2], ["a", "a"],
]
_KEYS = ["", " ", "a", "0", "id", "score", "\ud800", "\0", "a.b", "a\nb", "x" * 300, "value", "results", "item"]
_TWICE = "\ue000twice\ue000"  # stands for a key until the text is written, as no object has two of the same name


def json_mutated(content, rng):
    """Change a value or a key of a JSON file, or of one line of JSON Lines; what is no JSON stays as it is."""
    with suppress(ValueError, RecursionError):
        return _changed(json.loads(content), rng)
    lines = content.split(b"\n")
    at = rng.randrange(len(lines))
    with suppress(ValueError, RecursionError):
        lines[at] = _changed(json.loads(lines[at]), rng)
    return b"\n".join(lines)


def _changed(value, rng):
    top = {"": value}
    again = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = list(_places(top))
        if rng.random() < 0.5:  # as often where there are few, near the top, as where there are many
            depth = rng.randrange(1 + max(deep for _, _, deep in places))
            places = [place for place in places if place[2] == depth] or places
        holder, key, deep = rng.choice(places)
        rng.choice(_CHANGES if deep else _CHANGES[:2])(holder, key, rng, places, again)
    text = json.dumps(top[""], ensure_ascii=rng.random() < 0.5, indent=rng.choice((None,) * 5 + (1,)))
    for key in again:
        text = text.replace(json.dumps(_TWICE), key, 1).replace(f'"{_TWICE}"', key, 1)
    return text.encode(errors="surrogatepass")


def _places(top):
    """Every value below this one: what holds it, its key there, and how deep that is."""
    left = [(top, 0)]
    while left:
        value, deep = left.pop()
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key, deep
            if isinstance(value[key], dict | list):
                left.append((value[key], deep + 1))


def _nasty(holder, key, rng, places, again):
    holder[key] = deepcopy(rng.choice(_VALUES))


def _other(holder, key, rng, places, again):
    """A copy of a value that stands elsewhere, so that nothing holds itself."""
    of, at, _ = rng.choice(places)
    holder[key] = deepcopy(of[at])


def _gone(holder, key, rng, places, again):
    with suppress(IndexError, KeyError):
        del holder[key]


def _renamed(holder, key, rng, places, again):
    if isinstance(holder, dict) and key in holder:
        names = [*_KEYS, *(at for _, at, _ in places if isinstance(at, str))]
        holder[rng.choice(names)] = holder.pop(key)


def _added(holder, key, rng, places, again):
    if isinstance(holder, dict):
        holder[rng.choice(_KEYS)] = deepcopy(rng.choice(_VALUES))
    else:
        holder.insert(rng.randrange(len(holder) + 1), deepcopy(rng.choice([*_VALUES, *holder])))


def _wrapped(holder, key, rng, places, again):
    with suppress(IndexError, KeyError):
        value = holder[key]
        holder[key] = rng.choice(([value], {"a": value}, json.dumps(value), [value, deepcopy(value)]))


def _deep(holder, key, rng, places, again):
    value = 1
    for _ in range(rng.choice((10, 10, 30, 400))):
        value = [value] if rng.random() < 0.5 else {"a": value}
    holder[key] = value


def _twice(holder, key, rng, places, again):
    if isinstance(holder, dict) and _TWICE not in holder:
        holder[_TWICE] = deepcopy(rng.choice(_VALUES))
        again.append(json.dumps(key))


def _number(holder, key, rng, places, again):
    with suppress(IndexError, KeyError, OverflowError):
        if isinstance(holder[key], int | float):
            holder[key] = rng.choice((holder[key] + 1, -holder[key], holder[key] * 1e300, str(holder[key]),
                                      holder[key] / 3, [holder[key]]))


_CHANGES = [_nasty, _other, _nasty, _gone, _renamed, _added, _wrapped, _deep, _twice, _number, _number]
