"""What boards say in words: neither more nor less than their letters and their decisions."""

import math
import re
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from registry.boards.statements import describe_groups
from registry.significance.ranks import assign_letters, find_groups

OVER = "at 5 % after Holm's correction over 28 pairs"


def told(n, alike, ranks=None, *, systems=None):
    """What is said of n systems h0, h1, ... where these pairs are not told apart."""
    differ = ~np.eye(n, dtype=bool)
    for a, b in alike:
        differ[a, b] = differ[b, a] = False
    systems = systems or n
    settings = SimpleNamespace(correction="holm", alpha=0.05, n_systems=systems, family_size=math.comb(systems, 2))
    names, ranks = [f"h{k}" for k in range(n)], ranks or list(range(1, n + 1))
    return describe_groups(names, ranks, differ, find_groups(differ), settings)


def within(*groups):
    return {pair for group in groups for pair in combinations(group, 2)}


@pytest.mark.parametrize(("groups", "said"), [
    ([range(8)], f"No two of the 8 systems are significantly different {OVER}."),
    ([], f"Every two of the 8 systems are significantly different {OVER}."),
    ([range(4)], f"Not significantly different from each other {OVER}: ranks 1 to 4."),
    ([range(1, 5), (5, 6)],
     f"h0 is better than every other system {OVER}. Not significantly different from each other: ranks 2 to 5; "
     "ranks 6 and 7."),
    ([(0, 3, 4, 5), (1, 3)], f"Not significantly different from each other {OVER}: ranks 1 and 4 to 6; ranks 2 and 4."),
    ([(n, n + 1) for n in range(1, 6)], f"h0 is better than every other system, and 5 of 28 pairs of systems are not "
     f"significantly different {OVER}: registry pairs shows which."),
    ([(n, n + 1) for n in range(7)], f"h0 is better than 6 of 7 other systems, and 7 of 28 pairs of systems are not "
     f"significantly different {OVER}: registry pairs shows which."),
])
def test_what_is_separable(groups, said):
    assert told(8, within(*groups)) == said


@pytest.mark.parametrize(("ranks", "groups", "said"), [
    ([1, 1, 3, 4], [(0, 1)], "rank 1 (h0 and h1)"),
    ([1, 2, 2, 4], [(0, 1), (1, 2)], "ranks 1 and 2 (h1); rank 2 (h1 and h2)"),
    ([1, 2, 2, 4], [(0, 1, 2)], "ranks 1 and 2"),
    ([1, 2, 2, 4], [(1, 2, 3), (0, 3)], "ranks 1 and 4; ranks 2 and 4"),
    ([1, 2, 2, 4, 5], [(0, 1, 2, 3)], "ranks 1 to 4"),
])
def test_equal_ranks_are_those_of_the_table(ranks, groups, said):
    assert told(len(ranks), within(*groups), ranks).partition(": ")[2] == f"{said}."


def test_systems_without_a_rank_are_no_part_of_it():
    assert told(3, [], systems=4) == (
        "Every two of the 3 ranked systems are significantly different at 5 % after Holm's correction over 6 pairs.")
    assert told(3, [(1, 2)], systems=4).startswith("h0 is better than every other ranked system")


def test_two_systems():
    assert told(2, []) == "h0 is better than h1 at 5 % after Holm's correction over 1 pair."
    assert told(2, [(0, 1)]) == "h0 is not significantly different from h1 at 5 % after Holm's correction over 1 pair."


def test_groups_beyond_the_letters_are_counted():
    """One of each of eight triples makes 3^8 groups."""
    apart = within(*(range(k, k + 3) for k in range(0, 24, 3)))
    said = told(24, set(combinations(range(24), 2)) - apart)
    assert said == ("h0 is better than 2 of 23 other systems, and 252 of 276 pairs of systems are not significantly "
                    "different at 5 % after Holm's correction over 276 pairs: registry pairs shows which.")


@st.composite
def boards(draw):
    """Ranks of up to nine systems, and which pairs are not told apart."""
    n = draw(st.integers(2, 9))
    firsts = [True, *draw(st.lists(st.booleans(), min_size=n - 1, max_size=n - 1))]
    ranks = [max(k for k in range(place + 1) if firsts[k]) + 1 for place in range(n)]
    return ranks, {pair for pair in combinations(range(n), 2) if draw(st.booleans())}


def read(said, ranks):
    """The pairs that a sentence calls not significantly different; their number where it only counts them."""
    n = len(ranks)
    if counted := re.search(r"(\d+) of \d+ pairs of systems are not significantly different", said):
        return int(counted[1])
    if said.startswith("No two") or "not significantly different from h1 at" in said:
        return within(range(n))
    found = set()
    groups = said.partition("ot significantly different from each other")[2].partition(": ")[2]
    for group in re.findall(r"ranks? [^;.]+", groups):
        members = set()
        for first, last, names in re.findall(r"(\d+)(?: to (\d+))?(?: \(([^)]+)\))?", group):
            of = {k for k in range(n) if int(first) <= ranks[k] <= int(last or first)}
            members |= of if not names else of & {int(k) for k in re.findall(r"h(\d+)", names)}
        found |= within(sorted(members))
    return found


@example(([1, 2, 3, 4], {(0, 3)}))  # 1 and 4 are not told apart, 1 and 2 are
@given(boards())
def test_the_sentence_the_letters_and_the_decisions_say_the_same(board):
    ranks, alike = board
    n, said = len(ranks), told(len(ranks), alike, ranks)
    differ = np.array([[a != b and (min(a, b), max(a, b)) not in alike for b in range(n)] for a in range(n)])
    marks = assign_letters(find_groups(differ), n)
    assert {(a, b) for a, b in combinations(range(n), 2) if set(marks[a]) & set(marks[b])} == alike
    assert read(said, ranks) in (alike, len(alike))
    assert said.startswith("h0 is better than every other system") == (
        n > 2 and len(alike) > 0 and not any(0 in pair for pair in alike))
