"""Sizes of test sets and of n-best lists, as people write them."""

from __future__ import annotations

import re

from registry.errors import InputError

_MOST_SIZES = 10_000


def rising_sizes(given: str, option: str) -> tuple[int, ...]:
    """Read sizes, as a grid or as a rising list.

    >>> rising_sizes("100:300:100", "--grid"), rising_sizes("5,10", "--grid")
    ((100, 200, 300), (5, 10))
    """
    wrong = InputError(f"{option} {given!r} is neither FIRST:LAST:STEP, such as 100:2000:50, nor a rising list, such "
                       "as 100,500,1000")
    if match := re.fullmatch(r"(\d{1,9}):(\d{1,9}):(\d{1,9})", given, re.ASCII):
        first, last, step = map(int, match.groups())
        if not step:
            raise wrong
        if (last - first) // step >= _MOST_SIZES:
            raise InputError(f"{option} {given!r} has more than {_MOST_SIZES} sizes")
        sizes = list(range(first, last + 1, step))
    elif re.fullmatch(r"\d{1,9}(,\d{1,9})*", given, re.ASCII):
        sizes = [int(size) for size in given.split(",")]
    else:
        raise wrong
    if not sizes or sizes[0] < 1 or sizes != sorted(set(sizes)):
        raise wrong
    return tuple(sizes)
