"""The details of a task, read in one transaction with its leaderboards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from registry.leaderboards.details.bests import History, histories
from registry.leaderboards.details.confusions import Confusions, confusions
from registry.leaderboards.details.phases import phases
from registry.leaderboards.details.regions import Regions, regions
from registry.leaderboards.details.systems import Runs, Version, runs, versions
from registry.leaderboards.details.telling import Telling, telling_items
from registry.leaderboards.leaderboard import Leaderboard
from registry.store.catalog import TaskRow


@dataclass(frozen=True)
class Details:
    """What a page says of a task's systems beside their places on its leaderboards.

    Attributes:
        versions: Of all systems, in the order in which they came.
        runs: The scores of the runs of those that have several.
        regions: Which answers two systems share, and which only one of them gives.
        confusions: What each says where the gold says something else.
        telling: The items that set each apart; empty where no items are shown.
        histories: How the best scores moved.
    """

    versions: Sequence[Version] = ()
    runs: Sequence[Runs] = ()
    regions: Sequence[Regions] = ()
    confusions: Sequence[Confusions] = ()
    telling: Sequence[Telling] = ()
    histories: Sequence[History] = ()


NO_DETAILS = Details()


def details(connection: Connection, task: TaskRow, boards: Sequence[Leaderboard], items: int,
            until: int | None = None) -> Details:
    """Read the details of a task.

    Args:
        connection: One transaction, in which the boards were read.
        task: Whose.
        boards: Its leaderboards.
        items: How many items of each test set are shown; none: none is named, nor a label that few items have.
        until: The last entry of the log that counts; None: all do.
    """
    hidden = phases(connection, task.slug)
    return Details(
        versions(connection, task, hidden), runs(connection, task),
        tuple(regions(connection, task, boards)), tuple(confusions(connection, task, every_name=items > 0)),
        tuple(telling_items(connection, task, items)) if items else (), histories(connection, task, hidden, until))
