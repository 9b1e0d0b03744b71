"""Worker processes.

A worker process is not a fork of the process that starts it. A worker process ends when that process ends, and ignores
interrupts.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.util
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from registry.errors import RegistryError
from registry.platforms import START_METHOD, start_fork_server

CONTEXT = multiprocessing.get_context(START_METHOD)


@contextmanager
def worker_processes(workers: int, initialize: Callable[..., None], *arguments: Any) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of worker processes, which start when work is submitted.

    All worker processes are ended at the end of the `with` block.

    Args:
        workers: Largest number of processes.
        initialize: Function that each process calls first. It must be defined at the top level of a module.
        arguments: Picklable arguments of `initialize`.

    Raises:
        RegistryError: No process can be started, or the operating system ended a process.
    """
    try:
        preload([_module_of(value) for value in (initialize, *arguments) if callable(value)])
        pool = ProcessPoolExecutor(workers, CONTEXT, _initialize, (str(shared_folder()), initialize, arguments))
    except OSError as error:  # the name of a socket is too long, or there are too many semaphores
        raise RegistryError(f"no other process can be started: {error}; --workers 1 needs none") from None
    try:
        yield pool
    except BrokenProcessPool:
        raise RegistryError("the system ended a worker process, most likely for lack of memory; --workers 1 takes the "
                            "least") from None
    finally:
        pool.shutdown(cancel_futures=True)


def shared_folder() -> Path:
    """Return a temporary folder for files that worker processes share.

    The folder is removed when this process ends. If this process is killed, the worker processes remove the folder.
    """
    return Path(multiprocessing.util.get_temp_dir())


def preload(modules: list[str]) -> None:
    """Import modules in advance, so that worker processes start faster.

    A server process imports the modules, and worker processes are forked from this server. The server ends with the
    current process. Windows has no such server. Modules are not imported from the current folder, because a submission
    there may be called `random.py`.
    """
    previous = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        start_fork_server([*_find_command_module(), *modules])
    finally:
        del os.environ["PYTHONSAFEPATH"]
        if previous is not None:
            os.environ["PYTHONSAFEPATH"] = previous


def _module_of(function: Callable[..., object]) -> str:
    return function.func.__module__ if isinstance(function, partial) else function.__module__


def _find_command_module() -> list[str]:
    """Return the module of the running command, which every worker process imports.

    Returns:
        A list with the name of the module; empty if there is none.
    """
    command = getattr(sys.modules["__main__"], "main", None)
    return [command.__module__] if getattr(command, "__module__", "__main__") != "__main__" else []


def _initialize(folder: str, initialize: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(folder)
    initialize(*arguments)


def end_with_parent(folder: str) -> None:
    """Let this process end when its parent process ends.

    This process then removes the `shared_folder` of the parent process.
    """
    threading.Thread(target=_wait_for_parent, args=(folder,), daemon=True).start()


def _wait_for_parent(folder: str) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
