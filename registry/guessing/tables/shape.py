"""Whether the rows of one table of all systems are items, and its columns systems: what is no such table is refused."""

from __future__ import annotations

import re

from registry.guessing.guess import Asked
from registry.guessing.tables.keys import called, summary
from registry.guessing.tables.long import directions, is_measure, is_size, long_form, system_column
from registry.guessing.tables.roles import Roles, is_gold

_SYSTEM = frozenset((  # what a column that names systems is called, in one of its words
    "agent", "alg", "algo", "algorithm", "approach", "classifier", "framework", "method", "model", "models",
    "participant", "solver", "submission", "system", "team"))
_NAME = frozenset(("id", "name"))  # the other words of such a column
_PAIRS = ({"model_a", "model_b"}, {"system_a", "system_b"}, {"model_1", "model_2"}, {"system_1", "system_2"})
_SHOWN = 4  # columns in a message
_TWO = 2  # values, which may stand for right and wrong


def check_shape(roles: Roles, asked: Asked) -> None:
    """See that rows are items, and columns systems.

    Raises:
        QuestionError: There is a row for each item and system.
        InputError: Rows are systems, or pairs of them, or one is the mean of the others; or columns are measures.
    """
    document, table = roles.given.document, roles.table
    places = {name.strip().casefold(): n for n, name in enumerate(table.names)}
    if (pair := next((pair for pair in _PAIRS if pair <= places.keys()), None)) is not None:
        raise document.error(f"each row compares two systems, in the columns {' and '.join(sorted(pair))}; boards are "
                             "of each system's own scores: a row for each item, and a column for each system")
    if (system := next((n for name, n in places.items() if _names_systems(name) and not table.column(
            n).is_of_decimals), None)) is not None:
        if 2 * len(table.column(system).values) > len(table.rows):  # most have one row
            raise document.error(
                f"rows seem to be systems, by {called(table, system)}, and columns what is measured of them; a board "
                "needs the scores of all items: a row for each item, and a column for each system, so if columns are "
                "items here, transpose it. If rows are items, say --as scores")
        raise long_form(document, table, system, asked)
    if not roles.keys and (system := system_column(table)) is not None:
        raise long_form(document, table, system, asked)
    if roles.keys and (last := summary(table.column(roles.keys[0]))) is not None:
        raise document.error(f"the last row is called {last!r}, as the {last} of the others is; take it out, or say "
                             "--as scores if it is an item", item=last)
    numbers = [table.names[n] for n in roles.numbers]
    _check_sure(roles, asked)
    measures, others = list(filter(is_measure, numbers)), [name for name in numbers if not is_size(name)]
    are_most = len(measures) > 1 and 2 * len(measures) >= len(others)
    if len(numbers) > 1 and measures and (are_most or len(measures) == len(others)) and not any(
            map(is_gold, table.names)):
        raise document.error(f"columns seem to be measures, as {', '.join(measures[:_SHOWN])}, and no systems: a "
                             "board needs the scores of one measure, a row for each item, and a column or a file for "
                             "each system. If columns are systems here, say --as scores")


def _check_sure(roles: Roles, asked: Asked) -> None:
    """See that numbers are no systems' doubts of which of two labels an item has.

    Raises:
        InputError: They seem to be.
    """
    table = roles.table
    right = next((n for n in (*roles.flags, *roles.words) if is_gold(table.names[n]) and len(
        table.column(n).values) == _TWO), None)
    if right is None or right in roles.numbers or len(roles.numbers) < _TWO or "better" in asked.options or not all(
            table.column(n).is_of_decimals and all(0 <= float(cell) <= 1 for cell in table.column(n).values)
            and not any(directions(table.names[n])) for n in roles.numbers):
        return
    raise roles.given.document.error(
        f"{called(table, right)} has two labels, {' and '.join(sorted(table.column(right).values))}, and other columns "
        "have numbers from 0 to 1, as of how sure systems are: for rank correlation write 1 for the label of which "
        "more is more, 0 for the other, and say --as scores; or write the labels that systems decide for. If they are "
        "what each scored, say --option better=higher")


def _names_systems(name: str) -> bool:
    """Whether a column is called as one that names systems: `model`, `alg_name`, `Team name`."""
    words = set(re.findall("[a-z]+", name))
    return bool(words & _SYSTEM) and words <= _SYSTEM | _NAME
