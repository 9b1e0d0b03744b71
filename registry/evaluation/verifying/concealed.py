"""What a verification found, without what is hidden from readers."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection

from registry.evaluation.verifying.verify import Verified
from registry.store.hiding.names import names_of


def conceal_faults(connection: Connection, verified: Verified) -> None:
    """Take hidden names out of what was found; in a blind phase also what is wrong, which may be a score."""
    if all(fault.of == "table" for fault in verified.faults):  # then names may be unreadable too
        return
    names = names_of(connection, None)
    verified.faults = [replace(
        fault, name=names.said(fault.name),
        message="`registry --organiser verify` tells what" if names.blind else names.said(fault.message))
        for fault in verified.faults]
