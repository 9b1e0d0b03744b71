"""What all that is answered is made of."""

from __future__ import annotations

from collections.abc import Callable

from registry.query.forked import ForkedProcess
from registry.serving.queries import Queries
from registry.serving.reading.cards import Cards
from registry.serving.reading.source import Source
from registry.serving.settings import Settings


class Served:
    """What is served: the settings, the database, what answers SQL where any is answered, and the index's cards.

    `begin` begins what answers a query.
    """

    def __init__(self, settings: Settings, begin: Callable[[], ForkedProcess] = ForkedProcess) -> None:
        self.settings = settings
        self.source = Source(settings.path, organiser=settings.organiser, room=settings.room)
        self.queries = None if settings.queries is None else Queries(settings, settings.queries, begin)
        self.cards = Cards()

    def close(self) -> None:
        """Begin nothing any more, and end the queries that run."""
        self.source.close()
        if self.queries is not None:
            self.queries.close()
