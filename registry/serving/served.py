"""What all that is answered is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from registry.query.forked import ForkedProcess
from registry.serving.queries import Queries
from registry.serving.reading.cards import Cards
from registry.serving.reading.source import Source
from registry.serving.settings import Settings


@dataclass(frozen=True)
class Served:
    """What is served: the settings, the database, what answers SQL where any is answered, and the index's cards."""

    settings: Settings
    source: Source
    queries: Queries | None
    cards: Cards = field(default_factory=Cards)

    @classmethod
    def of(cls, settings: Settings, begin: Callable[[], ForkedProcess] = ForkedProcess) -> Self:
        """What there is within these settings; `begin` begins what answers a query."""
        source = Source(settings.path, organiser=settings.organiser, room=settings.room)
        return cls(settings, source, None if settings.queries is None else Queries(settings, settings.queries, begin))

    def close(self) -> None:
        """Begin nothing any more, and end the queries that run."""
        self.source.close()
        if self.queries is not None:
            self.queries.close()
