"""Other processes that work for this one: never copies of it, ended with it, and deaf to an interrupt meant for it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from registry.errors import RegistryError

# not a copy of this process: the database's threads would not be in it, but their locks
CONTEXT = multiprocessing.get_context("forkserver" if sys.platform != "win32" else "spawn")


@contextmanager
def processes(workers: int, begin: Callable[..., None], *given: Any) -> Iterator[ProcessPoolExecutor]:
    """Start processes when work is submitted, and end them.

    Args:
        workers: The most of them.
        begin: What each of them calls first, a function of a module.
        given: Its arguments, which are pickled, or memory that `CONTEXT` shares.

    Raises:
        RegistryError: One was ended by the system.
    """
    CONTEXT.set_forkserver_preload([begin.__module__])
    pool = ProcessPoolExecutor(workers, CONTEXT, _begin, (begin, given))
    try:
        yield pool
    except BrokenProcessPool:
        raise RegistryError("a process that computed was ended by the system, most likely for want of memory; "
                            "--workers 1 takes the least") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(begin: Callable[..., None], given: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    begin(*given)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
