"""How long answers of `registry serve` take while another process imports and compares a large table.

The registry holds a task of that size already. Readers ask at fixed times, however long the answers before them took.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.figures import Figure
from tests.benchmarks.ingest import ITEMS, SYSTEMS, _written
from tests.scenarios.serve import REGISTRY, Reader, started

ADDRESSES = ("/", "/api/tasks/old/boards/0/standings")
READERS, LIMIT = 50, 0.2  # each asks once a second


def run():
    """Ask for the index and for standings from before the import until all of it is shown."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, db = _written(folder / "table.csv", SYSTEMS, ITEMS), folder / "r.duckdb"
        for command in _commands(table, "old", db):
            subprocess.run(command, check=True, capture_output=True)
        with started([*REGISTRY, "serve", "--port", "0", "--db", db], "serving ") as url:
            times, shown = asyncio.run(_measure(url, _commands(table, "new", db)))
    times.sort()
    most, last = times[int(0.99 * (len(times) - 1))], times[-1]
    return [
        Figure(f"answers while {SYSTEMS:,} systems x {ITEMS:,} items are imported, 99 % of {len(times):,}",
               f"{1000 * most:.0f} ms", f"<= {1000 * LIMIT:.0f} ms; half within "
               f"{1000 * times[len(times) // 2]:.0f} ms, all within {1000 * last:.0f} ms", most <= LIMIT),
        Figure("the import and the comparison are shown after", " and ".join(f"{seconds:.1f} s" for seconds in shown),
               "no limit")]


def _commands(table, task, db):
    """Import a table, and compare its systems."""
    given = ("import", "wide", table, "--option", "item=item", "--task", task, "--to", db.parent / task)
    return [[sys.executable, "-m", "registry", *map(str, arguments), "--db", str(db), "--quiet"]
            for arguments in (given, ("compare", task))]


async def _measure(url, commands):
    """Return the seconds to each answer, and from the end of each command until the index is another one."""
    for address in ADDRESSES:  # the first answers are made when the first clients ask
        await Reader(url).ask(address, Accept_Encoding="gzip")
    times, tags, end = [], [("", 0.0)], asyncio.Event()
    readers = [asyncio.ensure_future(_read(url, n, times, tags, end)) for n in range(READERS)]
    await asyncio.sleep(5)
    shown = []
    for command in commands:
        process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert await process.wait() == 0
        ended, tag = time.monotonic(), tags[-1][0]
        while tags[-1][0] == tag:
            await asyncio.sleep(0.01)
        shown.append(tags[-1][1] - ended)
    await asyncio.sleep(5)
    end.set()
    await asyncio.gather(*readers)
    return times, shown


async def _read(url, n, times, tags, end):
    """Ask for one address once a second, and note when the index has another tag."""
    reader, due, address = Reader(url), time.monotonic() + n / READERS, ADDRESSES[n % len(ADDRESSES)]
    while not end.is_set():
        await asyncio.sleep(due - time.monotonic())
        status, headers, _ = await reader.ask(address, Accept_Encoding="gzip")
        assert status == 200
        times.append(time.monotonic() - due)
        if address == "/" and headers["etag"] != tags[-1][0]:
            tags.append((headers["etag"], time.monotonic()))
        due += 1
