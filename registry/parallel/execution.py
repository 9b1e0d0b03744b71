"""Work on tasks in this thread, in several, in processes, or on a dask cluster, with identical results.

A task depends on its argument alone, and results are returned in the order of the tasks. A cluster receives the
function that all tasks share once per worker, with its arrays; then small tasks, several at a time. If a worker dies,
dask gives its tasks to others.
"""

from __future__ import annotations

import logging
import sys
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, TypeVar

from threadpoolctl import ThreadpoolController

from registry.errors import InputError, RegistryError
from registry.provenance import computing

if TYPE_CHECKING:
    from distributed import Client, Future
import os
from collections.abc import Sized
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from registry.parallel.processes import worker_processes

Task = TypeVar("Task")


def ahead(submit: Callable[[Task], Any], tasks: Iterable[Task], most: int,
          result_of: Callable[[Any], Any] = lambda future: future.result()) -> Iterator[Any]:
    """Submit tasks and return the results in their order, with at most `most` tasks ahead of the result taken.

    Args:
        submit: Gives the future of a task.
        tasks: Taken one after the other.
        most: How many may wait, which bounds the memory.
        result_of: Waits for the result of a future.
    """
    waiting: deque[Any] = deque()
    for task in tasks:
        waiting.append(submit(task))
        if len(waiting) > most:
            yield result_of(waiting.popleft())
    while waiting:
        yield result_of(waiting.popleft())


def one_blas_thread() -> AbstractContextManager[object]:
    """Let matrix products have one thread each, in this process and for a while."""
    limit: AbstractContextManager[object] = _libraries(len(sys.modules)).limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:  # noqa: ARG001
    """The libraries with threads of their own; to find them takes milliseconds, and only an import brings another."""
    return ThreadpoolController()


Result = TypeVar("Result")

_PATIENCE = 30.0  # seconds without any worker after which the work is given up
_ANSWER = 5.0  # seconds that a scheduler has for its answer
_LOOK = 1.0  # seconds after which it is looked whether there still are workers
_BATCHES = 8  # of tasks for each thread: fewer cost more if a worker dies, more cost more messages
_AHEAD = 2  # batches of each thread that may be under way
_LARGE = "1 TiB"  # of a message: dask warns of 10 MB, which a submission may have


class Cluster:
    """The workers of a dask scheduler; it is connected to when there is work, and until it is closed or not used.

    Attributes:
        address: The scheduler's, such as tcp://host:8786 or tls://host:8786.
        patience: Seconds without any worker after which the work is given up.
    """

    def __init__(self, address: str, patience: float = _PATIENCE) -> None:
        self.address, self.patience = address, patience
        self._client: Client | None = None
        self._checked = set[str]()  # the workers that are known to compute the same bits

    def __enter__(self) -> Self:
        """Use it, and close it at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """End the connection and what is still under way, if there is any."""
        if self._client is not None:
            self._closing()
            self._client = None

    @property
    def is_connected(self) -> bool:
        """Whether there was any work."""
        return self._client is not None

    @property
    def client(self) -> Client:
        """The connection, whose workers were found to compute the same bits as this process.

        Raises:
            InputError: dask is not installed, no scheduler or worker answers, or a worker has other software.
        """
        if self._client is None:
            client = _connected(self.address)
            try:
                client.wait_for_workers(1, timeout=self.patience)
                self._check(client)
            except TimeoutError:
                client.close()
                raise InputError(f"the dask scheduler at {self.address} has no worker; start some: dask worker "
                                 f"{self.address}") from None
            except BaseException:
                client.close()
                raise
            self._client, self._closing = client, weakref.finalize(self, client.close)
        return self._client

    @property
    def threads(self) -> int:
        """How many threads its workers have at this moment.

        Raises:
            InputError: As `client`.
            RegistryError: The scheduler answers no more.
        """
        client = self.client
        with self._asking():
            return sum(client.nthreads().values())

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task], of: int) -> Iterator[Result]:
        """Work on so many tasks and return the results in their order; few are ahead of the one that is taken.

        Raises:
            InputError: As `client`, also of a worker that came meanwhile.
            RegistryError: The scheduler or all workers are gone, or several workers died of the same task.
        """
        threads, client = max(1, self.threads), self.client
        with self._asking():
            self._check(client)
            sent = client.scatter(work, hash=False, broadcast=True)
        batches = _batched(iter(tasks), max(1, of // (_BATCHES * threads)))
        for results in ahead(lambda batch: client.submit(_do_on_cluster, sent, batch, pure=False), batches,
                             _AHEAD * threads, self._result):
            yield from results
        with self._asking():
            self._check(client)  # workers that came meanwhile, before anything is stored

    def _result(self, future: Future) -> Any:
        """Wait for a result as long as there is a worker."""
        from distributed.scheduler import KilledWorker

        deserted: float | None = None
        while True:
            try:
                return future.result(timeout=_LOOK)
            except TimeoutError:
                deserted = None if self.threads else deserted or time.monotonic()
                if deserted is not None and time.monotonic() - deserted > self.patience:
                    raise RegistryError(f"the dask scheduler at {self.address} has lost all its workers, and none "
                                        f"came for {self.patience:.0f} s; what was not finished is not stored"
                                        ) from None
            except KilledWorker:
                raise RegistryError("dask workers died of the same task, most likely for want of memory, so it was "
                                    "given up; what was not finished is not stored") from None
            except CancelledError:
                raise RegistryError(f"the dask scheduler at {self.address} does not answer any more, or all workers "
                                    "that held the work are gone; what was not finished is not stored") from None

    def _check(self, client: Client) -> None:
        """Refuse workers that would compute other bits, once each."""
        new, here = [worker for worker in client.nthreads() if worker not in self._checked], computing()
        for worker, there in (client.run(computing, workers=new, on_error="return") if new else {}).items():
            if isinstance(there, OSError):  # it died just now
                continue
            if isinstance(there, BaseException):
                raise InputError(f"the dask worker {worker} has no evalregistry, or another version of it: {there}")
            if differing := _differing(there, here):
                raise InputError(f"the dask worker {worker} has {differing}: install the same there, or results would "
                                 "not be the same bits")
            self._checked.add(worker)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Name the scheduler if it does not answer any more."""
        try:
            yield
        except (OSError, RuntimeError, ValueError):
            raise RegistryError(f"the dask scheduler at {self.address} does not answer any more; what was not "
                                "finished is not stored") from None


def _batched(tasks: Iterator[Task], size: int) -> Iterator[list[Task]]:
    while batch := list(islice(tasks, size)):
        yield batch


def _do_on_cluster(work: Callable[[Any], Any], tasks: list[Any]) -> list[Any]:
    with one_blas_thread():
        return [work(task) for task in tasks]


def _connected(address: str) -> Client:
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise InputError("a cluster needs dask: pip install 'evalregistry[dask]'") from None
    if address.startswith("tls:") and not dask.config.get("distributed.comm.tls.ca-file"):
        raise InputError(f"the dask scheduler at {address!r} needs certificates: set "
                         "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ..__TLS__CLIENT__CERT and ..__TLS__CLIENT__KEY, or "
                         "write them into ~/.config/dask/*.yaml")
    dask.config.set({"distributed.admin.large-graph-warning-threshold": _LARGE})
    for name in ("distributed", "distributed.client"):  # whose errors are raised, and told in one line
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other versions, which are looked at in a moment
            return Client(address, timeout=_ANSWER, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise InputError(f"no dask scheduler answers at {address!r}: {error}") from None


def _differing(there: dict[str, str], here: dict[str, str]) -> str:
    """Say in what the software of a worker differs from that here."""
    return ", ".join(f"{name} {there.get(name, 'missing')} (here {here.get(name, 'missing')})"
                     for name in sorted(there.keys() | here.keys()) if there.get(name) != here.get(name))


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
    with worker_processes(workers, _begin, work) as pool:
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
