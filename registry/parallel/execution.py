"""Work on tasks in this thread, in several, or on a dask cluster, with identical results.

A task depends on its argument alone, and results are returned in the order of the tasks.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from registry.errors import InputError

Task = TypeVar("Task")
Result = TypeVar("Result")
Progress = Callable[[str, int, int], None]  # what is being done, how much of it is done (from 0), and of how much


@dataclass(frozen=True)
class Execution:
    """Who works, and with how much memory.

    Attributes:
        workers: The number of threads; None: as many as there are processors.
        cluster: The address of a dask scheduler that does the work; None: this process does.
        memory: The bytes that statistics, draws and scores may take; larger arrays are in a temporary file.
        progress: Called with the progress of the work.
        processes: Whether as many processes may work on pairs; their start imports the main module again, which must
            then do nothing.
    """

    workers: int | None = None
    cluster: str | None = None
    memory: int = 2**31
    progress: Progress | None = None
    processes: bool = False

    @property
    def threads(self) -> int:
        """How many threads work in this process."""
        return self.workers or os.cpu_count() or 1

    @property
    def here(self) -> Execution:
        """The same without a cluster, for work on single pairs."""
        return replace(self, cluster=None)

    def map(self, work: Callable[[Task], Result], tasks: Sequence[Task],
            what: str = "blocks of draws") -> Iterator[Result]:
        """Work on tasks and return the results in their order.

        Only a few tasks are ahead of the result that is taken, which bounds the memory. `work` is sent to a cluster
        once, so it must be picklable. After an interrupt no further task is begun. Progress is reported of `what`.
        """
        results = self._on_cluster(work, tasks) if self.cluster else self._in_threads(work, tasks)
        return with_progress(results, len(tasks), what, self.progress)

    def _in_threads(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        with _one_blas_thread():  # the threads are here
            if self.threads == 1 or len(tasks) < 2:
                yield from map(work, tasks)
                return
            pool = ThreadPoolExecutor(self.threads)
            try:
                yield from ahead(lambda task: pool.submit(work, task), tasks, 2 * self.threads)
            finally:
                pool.shutdown(cancel_futures=True)

    def _on_cluster(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        try:
            from distributed import Client
        except ImportError:
            raise InputError("a cluster needs dask: pip install 'evalregistry[dask]'") from None
        try:
            client = Client(self.cluster, timeout="5s")
        except (OSError, ValueError) as error:
            raise InputError(f"no dask scheduler answers at {self.cluster!r}: {error}") from None
        with client:
            sent = client.scatter(work, broadcast=True)
            workers = sum(client.nthreads().values())
            yield from ahead(lambda task: client.submit(_with_one_blas_thread, sent, task, pure=False), tasks,
                              2 * workers)


def with_progress(results: Iterable[Result], of: int, what: str, progress: Progress | None) -> Iterator[Result]:
    """Pass on the results of so many tasks, and report their number as progress."""
    if progress and of:
        progress(what, 0, of)
    for done, result in enumerate(results, start=1):
        if progress:
            progress(what, done, of)
        yield result


def ahead(submit: Callable[[Task], Future[Result]], tasks: Sequence[Task], most: int) -> Iterator[Result]:
    """Submit tasks and return the results in their order, with at most `most` tasks ahead of the result taken."""
    waiting: deque[Future[Result]] = deque()
    for task in tasks:
        waiting.append(submit(task))
        if len(waiting) > most:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _with_one_blas_thread(work: Callable[[Any], Any], task: Any) -> Any:
    with _one_blas_thread():
        return work(task)


def _one_blas_thread() -> AbstractContextManager[object]:
    limit: AbstractContextManager[object] = _libraries(len(sys.modules)).limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:  # noqa: ARG001
    """The libraries with threads of their own; to find them takes milliseconds, and only an import brings another."""
    return ThreadpoolController()
