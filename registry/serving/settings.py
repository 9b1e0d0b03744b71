"""What is served, to whom, and within which limits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class QueryLimits:
    """What SQL of strangers may take.

    Attributes:
        seconds: After which a query is ended.
        rows: That a result has at most; a page shows fewer.
        memory: The bytes that the process of a query may take.
        size: The bytes that a result has at most.
        at_once: Queries that are answered at the same time.
        waiting: Queries that may wait for that.
        patience: The seconds that they wait.
    """

    seconds: float = 10
    rows: int = 100_000
    memory: int = 2**30
    size: int = 2**28
    at_once: int = 2
    waiting: int = 32
    patience: float = 20


@dataclass(frozen=True)
class Settings:
    """What is served.

    Attributes:
        path: Of the database.
        private: Whether everything is shown, else only what is public.
        every: The least seconds from one snapshot of the database to the next.
        items: How many items of each test set a page shows.
        queries: The limits of SQL; None: none is answered, and neither are items shown but as pages show them.
        room: The bytes that what is kept in memory may take.
        hosts: Names that this machine is called by, beside its addresses and localhost.
        origins: Whose pages' scripts may read what is served, `https://example.org`; `*`: everybody's.
        url: Where readers find the site, ending with a slash, for the links of the feed; else where they asked.
    """

    path: Path
    private: bool = False
    every: float = 10
    items: int = 0
    queries: QueryLimits | None = QueryLimits()
    room: int = 2**28
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    url: str = ""

    @property
    def caching(self) -> str:
        """The header Cache-Control of what is made of the registry."""
        return "private, no-store" if self.private else "no-cache"

    @property
    def shows_texts(self) -> bool:
        """Whether items may be read, with their texts, gold and answers."""
        return self.queries is not None or self.items > 0
