"""Work on tasks in this thread, in several, in processes, or on a dask cluster, with identical results.

A task depends on its argument alone, and results are returned in the order of the tasks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from registry.parallel.blas_threads import one_blas_thread
from registry.parallel.cluster import Cluster
from registry.parallel.ordered import ahead
from registry.parallel.processes import processes

Task = TypeVar("Task")
Result = TypeVar("Result")
Progress = Callable[[str, int, int], None]  # what is being done, how much of it is done (from 0), and of how much


@dataclass(frozen=True)
class Execution:
    """Who works, and with how much memory.

    Attributes:
        workers: The number of threads or processes; None: as many as there are processors.
        cluster: Whose workers draw, compute exact tails and score; None: this machine does.
        memory: The bytes that statistics, draws and scores may take; larger arrays are in a temporary file.
        progress: Called with the progress of the work.
        processes: Whether as many processes may score and work on pairs; their start imports the main module again,
            which must then do nothing.
    """

    workers: int | None = None
    cluster: Cluster | None = None
    memory: int = 2**31
    progress: Progress | None = None
    processes: bool = False

    @property
    def threads(self) -> int:
        """How many threads work in this process."""
        return self.workers or os.cpu_count() or 1

    @property
    def at_once(self) -> int:
        """How many tasks are worked on at the same time, here or by the cluster."""
        return self.threads if self.cluster is None else self.cluster.threads

    @property
    def here(self) -> Execution:
        """The same without a cluster, for work on arrays that are too large to be sent."""
        return replace(self, cluster=None)

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task], what: str = "blocks of draws", *,
            of: int | None = None, interpreted: bool = False) -> Iterator[Result]:
        """Work on tasks and return the results in their order.

        Only a few tasks are ahead of the result that is taken, which bounds the memory. After an interrupt no further
        task is begun.

        Args:
            work: From a task to its result; picklable where a cluster or processes work, who get it once.
            tasks: Picklable as well.
            what: They are, which is told with the progress.
            of: Their number, for tasks that are made as they are taken.
            interpreted: Whether the work is Python's, so that processes share it and not threads, where they may.
        """
        n = len(tasks) if isinstance(tasks, Sized) else of
        assert n is not None
        if self.cluster is not None:
            results = self.cluster.map(work, tasks, n)
        elif interpreted and self.processes:
            results = _in_processes(work, tasks, min(self.threads, n))
        else:
            results = _in_threads(work, tasks, min(self.threads, n))
        return with_progress(results, n, what, self.progress)


def _in_threads(work: Callable[[Task], Result], tasks: Iterable[Task], threads: int) -> Iterator[Result]:
    with one_blas_thread():  # the threads are here
        if threads < 2:
            yield from map(work, tasks)
            return
        pool = ThreadPoolExecutor(threads)
        try:
            yield from ahead(lambda task: pool.submit(work, task), tasks, 2 * threads)
        finally:
            pool.shutdown(cancel_futures=True)


def _in_processes(work: Callable[[Task], Result], tasks: Iterable[Task], workers: int) -> Iterator[Result]:
    if workers < 2:
        yield from map(work, tasks)
        return
    with processes(workers, _begin, work) as pool:
        yield from ahead(lambda task: pool.submit(_do, task), tasks, workers)


_work: list[Callable[[Any], Any]] = []  # of a process that works: what it was given at its start


def _begin(work: Callable[[Any], Any]) -> None:
    _work[:] = [work]


def _do(task: Any) -> Any:
    return _work[0](task)


def with_progress(results: Iterable[Result], of: int, what: str, progress: Progress | None) -> Iterator[Result]:
    """Pass on the results of so many tasks, and report their number as progress."""
    if progress and of:
        progress(what, 0, of)
    for done, result in enumerate(results, start=1):
        if progress:
            progress(what, done, of)
        yield result
