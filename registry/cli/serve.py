"""The command that serves a registry over HTTP."""

from __future__ import annotations

from types import ModuleType
from typing import Annotated

import typer

from registry.cli.console import say
from registry.cli.options import Db, database, size_in_bytes
from registry.cli.page import Items, folder_address
from registry.cli.query import LEAST_MEMORY
from registry.errors import RegistryError

Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help=(
    "Of this machine; others than the loopback let other machines in."))]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")]
Private = Annotated[bool, typer.Option("--private", help=(
    "Show everything, also names and scores that are not public yet; on the loopback only."))]
Every = Annotated[float, typer.Option("--every", metavar="SECONDS", min=0, help=(
    "Show changes of the registry at most this often."))]
Sql = Annotated[bool | None, typer.Option("--sql/--no-sql", help=(
    "Answer SQL, and show all items with their texts, gold and answers; on the loopback alone if not said."))]
Timeout = Annotated[float, typer.Option("--timeout", metavar="SECONDS", min=0.1, help="End a query after so long.")]
MaxRows = Annotated[int, typer.Option("--max-rows", metavar="N", min=1, help="End a query after so many rows.")]
MaxMemory = Annotated[str, typer.Option("--max-memory", metavar="SIZE", help=(
    "What a query may take, such as 512M or 4G."))]
AtOnce = Annotated[int, typer.Option("--queries", metavar="N", min=1, help=(
    "Queries that are answered at the same time; others wait."))]
Kept = Annotated[str, typer.Option("--cache", metavar="SIZE", help=(
    "Memory for answers and the boards behind them."))]
AllowedHosts = Annotated[list[str] | None, typer.Option("--allow-host", metavar="NAME", help=(
    "A name that this machine is called by in addresses; can be repeated."))]
Origins = Annotated[list[str] | None, typer.Option("--cors", metavar="ORIGIN", help=(
    "Let scripts of pages from there read what is served: https://example.org, or * for all; can be repeated."))]
Url = Annotated[str | None, typer.Option("--url", metavar="BASE", help=(
    "Where readers find the site, behind a proxy, for the links of the feed; else at the address that they ask."))]
Verbose = Annotated[bool, typer.Option("--verbose", help="Log every request on stderr.")]


def serve(
    host: Host = "127.0.0.1", port: Port = 8000, db: Db = None, private: Private = False, every: Every = 10,
    items: Items = 0, sql: Sql = None,
    timeout: Timeout = 10, max_rows: MaxRows = 100_000, max_memory: MaxMemory = "1G", queries: AtOnce = 2,
    cache: Kept = "256M", allow_host: AllowedHosts = None, cors: Origins = None, url: Url = None,
    verbose: Verbose = False,
) -> None:
    """Serve the site live over HTTP.

    Shows the pages that `registry site` writes, tables for programs, and answers to SQL; /openapi.json describes them.
    They contain public data only. A commit is shown some seconds later. The registry itself is never written to.
    """
    server = _server()
    from registry.serve.source import QueryLimits, Settings

    limits = QueryLimits(seconds=timeout, rows=max_rows, memory=size_in_bytes(max_memory, "--max-memory",
                         least=LEAST_MEMORY), at_once=queries)
    is_open = server.is_loopback(host)
    if private and not is_open:
        raise typer.BadParameter(f"--private shows everything to everybody who reaches {host}; leave out --host, or "
                                 "--private")
    target = database(db)
    target.require()
    settings = Settings(
        target.path, private, every, items, limits if (is_open if sql is None else sql) else None,
        size_in_bytes(cache, "--cache"), (host, *(allow_host or ())), tuple(map(_origin, cors or ())),
        "" if url is None else folder_address(url))

    def announce() -> None:
        if private:
            say("warning: everything is shown, also names and scores that are not public yet")
        if not is_open:
            say(f"warning: {host} can be reached from other machines, and nobody is asked who they are"
                + ("; they can read gold and submissions" if settings.shows_texts else ""))
        say(f"serving {target.path} at {server.address_of(listener)}; Ctrl-C stops")

    with server.bound(host, port) as listener:
        server.serve(settings, listener, announce, verbose=verbose)
    say("stopped")


def _server() -> ModuleType:
    """What serves, where it is installed."""
    try:
        from registry.serve import server
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio", "h11"):
            raise
        raise RegistryError("this needs starlette and uvicorn: pip install 'evalregistry[serve]'") from None
    return server


def _origin(given: str) -> str:
    """An origin as browsers write it."""
    scheme, between, rest = given.rstrip("/").partition("://")
    if given != "*" and (scheme not in ("http", "https") or not between or not rest or "/" in rest):
        raise typer.BadParameter(f"--cors {given!r} is no origin such as https://example.org, and not *")
    return given.rstrip("/").lower()
