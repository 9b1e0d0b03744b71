"""The parts of a server that answers need."""

from __future__ import annotations

from collections.abc import Callable

from registry.query.forked import ForkedProcess
from registry.serving.queries import Queries
from registry.serving.reading.source import Source
from registry.serving.settings import Settings
from registry.serving.snapshots import Snapshots


class Served:
    """The settings, the registry's newest snapshot, and the answers to SQL; without them if SQL is off.

    `begin` starts a process for a query.

    Raises:
        RegistryError: The first snapshot cannot be written.
    """

    def __init__(self, settings: Settings, begin: Callable[[], ForkedProcess] = ForkedProcess) -> None:
        self.settings = settings
        snapshots = Snapshots(settings.path, private=settings.private, sources=settings.shows_texts,
                              every=settings.every)
        try:
            self.source = Source(settings, snapshots)
        except BaseException:
            snapshots.close()
            raise
        self.queries = None if settings.queries is None else Queries(self.source, settings.queries, begin)

    def stop(self) -> None:
        """End the queries that run."""
        if self.queries is not None:
            self.queries.close()

    def close(self) -> None:
        """End everything, and remove all snapshots."""
        self.stop()
        self.source.close()
