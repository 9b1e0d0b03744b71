"""Views, macros and tables compared with those of a new registry, before any of them is used to verify others."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from registry.evaluation.verifying.faults import Fault
from registry.store.files.definitions import alterations, restore_views
from registry.store.rows import driver_of

KINDS = frozenset({"table", "view", "macro", "index", "sequence", "type", "schema"})  # of things that faults are of


def verify_definitions(connection: Connection) -> list[Fault]:
    """Compare what a copy of a registry defines with a new registry, then put the program's views and macros into it.

    Views and macros stay as they are if `can_go_on` is false: they may not go with the tables.
    """
    faults = [Fault(of.fault, of.kind, of.name, of.sentence) for of in alterations(driver_of(connection))]
    if faults and can_go_on(faults):
        restore_views(connection)
    return faults


def can_go_on(faults: Sequence[Fault]) -> bool:
    """True if all tables are as they should be, so that what they hold can be verified."""
    return not any(fault.of == "table" and fault.kind != "surplus" for fault in faults)
