"""Views, macros and tables, with their comments, compared with a new registry before they are used to verify others."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from registry.evaluation.verifying.faults import Fault
from registry.store.definitions import alterations, restore_views
from registry.store.rows import driver_of

KINDS = frozenset({"table", "view", "macro", "index", "sequence", "type", "schema"})  # of things that faults are of


def verify_definitions(connection: Connection) -> list[Fault]:
    """Compare the definitions and comments of a copy of a registry with a new registry, then restore views and macros.

    Views and macros stay as they are if `can_go_on` is false: they may not go with the tables.
    """
    faults = [Fault(of.fault, of.kind, of.name, of.sentence) for of in alterations(driver_of(connection))]
    if faults and can_go_on(faults):
        restore_views(connection)
    return faults


def can_go_on(faults: Sequence[Fault]) -> bool:
    """True if all tables are as they should be, so that what they hold can be verified."""
    return not any(fault.of == "table" and fault.kind != "surplus" for fault in faults)
