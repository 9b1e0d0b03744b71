"""The command that serves a registry over HTTP."""

from __future__ import annotations

import signal
import threading
from types import ModuleType
from typing import Annotated

import typer

from registry.cli.console import report
from registry.cli.explore import MIN_QUERY_MEGABYTES
from registry.cli.options import Db, find_database, parse_size
from registry.cli.publish import Items, check_folder_address
from registry.errors import RegistryError


def serve(
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help=(
        "The address to listen on; other machines can connect to addresses other than the loopback."))] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0: any free port.")] = 8000,
    db: Db = None,
    private: Annotated[bool, typer.Option("--private", help=(
        "Show all data, including hidden names and scores; only on the loopback."))] = False,
    every: Annotated[float, typer.Option("--every", metavar="SECONDS", min=0, help=(
        "The shortest time between two updates from the registry."))] = 10,
    items: Items = 0,
    sql: Annotated[bool | None, typer.Option("--sql/--no-sql", help=(
        "Answer SQL queries, and show all items with texts, gold and answers. Default: only on the loopback."))] = None,
    timeout: Annotated[float, typer.Option("--timeout", metavar="SECONDS", min=0.1, help=(
        "End a query after this time."))] = 10,
    max_rows: Annotated[int, typer.Option("--max-rows", metavar="N", min=1, help="End a query after N rows.")] =
        100_000,
    max_memory: Annotated[str, typer.Option("--max-memory", metavar="SIZE", help=(
        "The memory limit of a query, such as 512M or 4G."))] = "1G",
    queries: Annotated[int, typer.Option("--queries", metavar="N", min=1, help=(
        "How many queries to run at the same time; others wait."))] = 2,
    cache: Annotated[str, typer.Option("--cache", metavar="SIZE", help=(
        "Memory for stored responses and their leaderboards."))] = "256M",
    allow_host: Annotated[list[str] | None, typer.Option("--allow-host", metavar="NAME", help=(
        "A host name of this machine that requests may use; repeatable."))] = None,
    cors: Annotated[list[str] | None, typer.Option("--cors", metavar="ORIGIN", help=(
        "Let scripts of this origin read the data: https://example.org, or * for all; repeatable."))] = None,
    url: Annotated[str | None, typer.Option("--url", metavar="BASE", help=(
        "The public address of the site behind a proxy, for the links of the feed. Default: the address of the "
        "request."))] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log every request on stderr.")] = False,
) -> None:
    """Serve the website and tables over HTTP.

    The server has the pages of `registry site`, tables for programs, and answers to SQL queries; /openapi.json
    describes them. They contain only public data. The server shows changes of the registry after some seconds, and
    never writes to it.
    """
    server = _import_server()
    from registry.publication.unapplied import refuse_unapplied
    from registry.serve.source import QueryLimits, Settings

    limits = QueryLimits(seconds=timeout, rows=max_rows, memory=parse_size(
        max_memory, "--max-memory", min_megabytes=MIN_QUERY_MEGABYTES), at_once=queries)
    is_loopback = server.is_loopback(host)
    if private and not is_loopback:
        raise typer.BadParameter(f"--private shows all data to everybody who can connect to {host}; leave out "
                                 "--host or --private")
    database = find_database(db)
    database.require()
    if not private:
        refuse_unapplied(database)
    settings = Settings(
        database.path, private, every, items, limits if (is_loopback if sql is None else sql) else None,
        parse_size(cache, "--cache"), (host, *(allow_host or ())), tuple(map(_check_origin, cors or ())),
        "" if url is None else check_folder_address(url))

    def announce() -> None:
        if private:
            report("warning: the server shows all data, including hidden names and scores")
        if not is_loopback:
            report(f"warning: other machines can connect to {host} without a password"
                   + (", and read gold and submissions" if settings.shows_texts else ""))
        report(f"serving {database.path} at {server.make_url(listener)}; Ctrl-C stops")

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the server has a handler of its own
    with server.open_listener(host, port) as listener:
        server.serve(settings, listener, announce, verbose=verbose)
    report("stopped")


def _import_server() -> ModuleType:
    try:
        from registry.serve import server
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio", "h11"):
            raise
        raise RegistryError("`registry serve` requires starlette and uvicorn: pip install 'evalregistry[serve]'"
                            ) from None
    return server


def _check_origin(text: str) -> str:
    scheme, separator, rest = text.rstrip("/").partition("://")
    if text != "*" and (scheme not in ("http", "https") or not separator or not rest or "/" in rest):
        raise typer.BadParameter(f"--cors {text!r} is neither an origin, such as https://example.org, nor *")
    return text.rstrip("/").lower()
