"""A task of ten items.

    item   0 1 2 3 4 5 6 7 8 9
    gold   x x x x x y y y y y
    a      x x x x x y y x x x     7 right
    b      x x x y y x x y x x     4 right: 0 1 2 7
    c      x x x x z y y z x x     6 right: 0 1 2 3 5 6
"""

ITEMS = [f"i{n}" for n in range(10)]
GOLD, A, B, C = (dict(zip(ITEMS, labels, strict=True)) for labels in (
    "xxxxxyyyyy", "xxxxxyyxxx", "xxxyyxxyxx", "xxxxzyyzxx"))
SCORES = dict(zip(ITEMS, [5, 5, 4, 3, 3, 3, 2, 1, 1, 0], strict=True))  # of a's answers
NAMES = {name: f"small/test/{name}/{name}" for name in "abc"}


def macro(name, *arguments):
    """Write a call, submissions by their letters."""
    return f"{name}({', '.join(repr(NAMES.get(a, a)) if isinstance(a, str) else str(a) for a in arguments)})"
