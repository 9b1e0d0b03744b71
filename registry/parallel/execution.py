"""Run tasks in one or several threads, in processes, or on a dask cluster.

All of these ways give identical results: the result of a task depends only on its argument, and results are returned in
the order of the tasks. Each worker of a cluster receives the function and its arrays once, and then batches of small
tasks. If a worker dies, dask gives the tasks of this worker to other workers.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, TypeVar

from threadpoolctl import ThreadpoolController

from registry.errors import InputError, RegistryError
from registry.parallel.processes import worker_processes
from registry.provenance import computing_versions

if TYPE_CHECKING:
    from distributed import Client, Future

Task = TypeVar("Task")
Result = TypeVar("Result")

_PATIENCE = 30.0  # seconds without any worker, after which the work fails
_ANSWER_SECONDS = 5.0  # waiting time for the answer of a scheduler
_POLL_SECONDS = 1.0  # time between two counts of the workers
_BATCHES = 8  # per thread; with fewer batches a dead worker loses more work, more batches need more messages
_BATCHES_AHEAD = 2  # per thread; batches that are submitted before their results are needed
_NOT_STORED = "unfinished results are not stored; run the command again"
_LARGEST_MESSAGE = "1 TiB"  # by default dask warns above 10 MB, and a submission may be larger


def submit_ahead(submit: Callable[[Task], Any], tasks: Iterable[Task], n_ahead: int,
                 get_result: Callable[[Any], Any] = lambda future: future.result()) -> Iterator[Any]:
    """Run tasks in a pool, and submit only a few in advance, to limit the memory.

    Results are yielded in the order of the tasks.

    Args:
        submit: Function that submits a task and returns its future.
        tasks: The tasks.
        n_ahead: Largest number of tasks that are submitted before their results are needed.
        get_result: Function that waits for the result of a future.
    """
    futures: deque[Any] = deque()
    for task in tasks:
        futures.append(submit(task))
        if len(futures) > n_ahead:
            yield get_result(futures.popleft())
    while futures:
        yield get_result(futures.popleft())


def limit_blas_to_one_thread() -> AbstractContextManager[object]:
    """Return a context manager that limits each matrix product to one thread."""
    limit: AbstractContextManager[object] = _find_libraries(len(sys.modules)).limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _find_libraries(n_modules: int) -> ThreadpoolController:  # noqa: ARG001
    """Return a controller for the threads of the loaded numerical libraries.

    The search takes milliseconds. Its result is cached until the number of imported modules, `n_modules`, changes.
    """
    return ThreadpoolController()


class Cluster:
    """Connection to a dask scheduler, whose workers run tasks.

    The connection is opened when the first work is submitted.

    Attributes:
        address: Address of the scheduler, such as tcp://host:8786 or tls://host:8786.
        patience: Seconds without any worker after which the work fails.
    """

    def __init__(self, address: str, patience: float = _PATIENCE) -> None:
        self.address, self.patience = address, patience
        self._client: Client | None = None
        self._checked = set[str]()  # workers with the same software as this process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection to the scheduler, and cancel all submitted tasks."""
        if self._client is not None:
            self._finalizer()
            self._client = None

    @property
    def is_connected(self) -> bool:
        """True if the connection to the scheduler is open."""
        return self._client is not None

    @property
    def client(self) -> Client:
        """Connection to the dask scheduler, which is opened at the first use.

        All workers have the same versions of the software as this process; this is checked.

        Raises:
            InputError: dask is not installed, no scheduler or worker answers, or a worker has other versions.
        """
        if self._client is None:
            client = _connect(self.address)
            try:
                client.wait_for_workers(1, timeout=self.patience)
                self._check_workers(client)
            except TimeoutError:
                client.close()
                raise InputError(f"the dask scheduler at {self.address} has no worker; start some: dask worker "
                                 f"{self.address}") from None
            except BaseException:
                client.close()
                raise
            self._client, self._finalizer = client, weakref.finalize(self, client.close)
        return self._client

    @property
    def threads(self) -> int:
        """Number of threads that all workers of the cluster have now.

        Raises:
            InputError: dask is not installed, no scheduler or worker answers, or a worker has other versions of the
                software.
            RegistryError: The scheduler does not answer any more.
        """
        client = self.client
        with self._translate_errors():
            return sum(client.nthreads().values())

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task], n_tasks: int) -> Iterator[Result]:
        """Run tasks on the workers, and yield their results in the order of the tasks.

        Args:
            work: Function that returns the result of a task.
            tasks: The tasks.
            n_tasks: Number of tasks.

        Raises:
            InputError: dask is not installed, no scheduler or worker answers, or a worker has other versions of the
                software.
            RegistryError: The scheduler or all workers are gone, or the same task has killed several workers.
        """
        threads, client = max(1, self.threads), self.client
        with self._translate_errors():
            self._check_workers(client)
            shared_work = client.scatter(work, hash=False, broadcast=True)
        batches = _make_batches(iter(tasks), max(1, n_tasks // (_BATCHES * threads)))
        for results in submit_ahead(lambda batch: client.submit(_run_batch, shared_work, batch, pure=False), batches,
                                    _BATCHES_AHEAD * threads, self._wait_for_result):
            yield from results
        with self._translate_errors():
            self._check_workers(client)  # check the workers that joined later, before the caller stores the results

    def _wait_for_result(self, future: Future) -> Any:
        from distributed.scheduler import KilledWorker

        last_worker: float | None = None  # time at which the last worker was gone
        while True:
            try:
                return future.result(timeout=_POLL_SECONDS)
            except TimeoutError:
                last_worker = None if self.threads else last_worker or time.monotonic()
                if last_worker is not None and time.monotonic() - last_worker > self.patience:
                    raise RegistryError(f"the dask scheduler at {self.address} lost all workers, and none joined for "
                                        f"{self.patience:.0f} s; {_NOT_STORED}") from None
            except KilledWorker:
                raise RegistryError("several dask workers died of the same task, most likely for lack of memory; "
                                    f"{_NOT_STORED}") from None
            except CancelledError:
                raise RegistryError(f"the dask scheduler at {self.address} does not answer any more, or all workers "
                                    f"with the shared data are gone; {_NOT_STORED}") from None

    def _check_workers(self, client: Client) -> None:
        """Check that new workers have the same software versions as this process.

        With other versions, the last bits of a result could differ.

        Raises:
            InputError: A worker has other versions.
        """
        new, local = [worker for worker in client.nthreads() if worker not in self._checked], computing_versions()
        for worker, remote in (client.run(computing_versions, workers=new, on_error="return") if new else {}).items():
            if isinstance(remote, OSError):  # the worker has just died
                continue
            if isinstance(remote, BaseException):
                raise InputError(f"the dask worker {worker} has no evalregistry, or another version of it: {remote}")
            if differences := _describe_differences(remote, local):
                raise InputError(f"the dask worker {worker} has {differences}; install the same versions there, "
                                 "because results must be the same bits")
            self._checked.add(worker)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, RuntimeError, ValueError):
            raise RegistryError(f"the dask scheduler at {self.address} does not answer any more; {_NOT_STORED}"
                                ) from None


def _make_batches(tasks: Iterator[Task], size: int) -> Iterator[list[Task]]:
    while batch := list(islice(tasks, size)):
        yield batch


def _run_batch(work: Callable[[Any], Any], tasks: list[Any]) -> list[Any]:
    with limit_blas_to_one_thread():
        return [work(task) for task in tasks]


def _connect(address: str) -> Client:
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise InputError("a cluster needs dask: pip install 'evalregistry[dask]'") from None
    if address.startswith("tls:") and not dask.config.get("distributed.comm.tls.ca-file"):
        raise InputError(f"the dask scheduler at {address!r} needs certificates: set "
                         "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ..__TLS__CLIENT__CERT and ..__TLS__CLIENT__KEY, or "
                         "write them into ~/.config/dask/*.yaml")
    dask.config.set({"distributed.admin.large-graph-warning-threshold": _LARGEST_MESSAGE})
    for name in ("distributed", "distributed.client"):  # these loggers log errors that are also raised
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no warnings about versions: `_check_workers` compares them
            return Client(address, timeout=_ANSWER_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise InputError(f"no dask scheduler answers at {address!r}: {error}") from None


def _describe_differences(remote: dict[str, str], local: dict[str, str]) -> str:
    """Describe which software has another version on a worker than on this machine.

    Args:
        remote: Versions on the worker, by software.
        local: Versions on this machine, by software.
    """
    return ", ".join(f"{name} {remote.get(name, 'missing')} (here {local.get(name, 'missing')})"
                     for name in sorted(remote.keys() | local.keys()) if remote.get(name) != local.get(name))


Progress = Callable[[str, int, int], None]  # name of the work, finished tasks, all tasks


@dataclass(frozen=True)
class Execution:
    """Settings for running work: threads, processes or a cluster, and memory.

    Attributes:
        workers: Number of threads or processes; None means one for each processor.
        cluster: Cluster for resampling, exact tail probabilities and scoring; None means this machine.
        memory: Largest number of bytes of statistics, resamples and scores in memory. Larger arrays are written to a
            temporary file.
        progress: Function that is called with the progress of the work.
        processes: Whether worker processes may score and test pairs. Each worker process imports the main module again,
            so the import of the main module must not start any work.
    """

    workers: int | None = None
    cluster: Cluster | None = None
    memory: int = 2**31
    progress: Progress | None = None
    processes: bool = False

    @property
    def threads(self) -> int:
        """Number of threads that run work in this process."""
        return self.workers or os.cpu_count() or 1

    @property
    def n_parallel(self) -> int:
        """Number of tasks that run at the same time, here or on the cluster."""
        return self.threads if self.cluster is None else self.cluster.threads

    @property
    def local(self) -> Execution:
        """The same settings, but work runs on this machine and not on the cluster.

        Such settings are used for arrays that are too large to send to workers.
        """
        return replace(self, cluster=None)

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task], name: str = "blocks of draws", *,
            n_tasks: int | None = None, is_python: bool = False) -> Iterator[Result]:
        """Run tasks, and yield their results in the order of the tasks.

        Only a few tasks run before their results are needed, which limits the memory. After an interrupt, no further
        task starts.

        Args:
            work: Function that returns the result of a task; a cluster or processes require a picklable function.
            tasks: The tasks; a cluster or processes require picklable tasks.
            name: Name of the tasks, for the progress.
            n_tasks: Number of tasks; required if `tasks` has no length.
            is_python: Whether the work is mostly Python code, which only processes can run in parallel.
        """
        n = len(tasks) if isinstance(tasks, Sized) else n_tasks
        assert n is not None
        if self.cluster is not None:
            results = self.cluster.map(work, tasks, n)
        elif is_python and self.processes:
            results = _map_in_processes(work, tasks, min(self.threads, n))
        else:
            results = _map_in_threads(work, tasks, min(self.threads, n))
        return with_progress(results, n, name, self.progress)


def _map_in_threads(work: Callable[[Task], Result], tasks: Iterable[Task], threads: int) -> Iterator[Result]:
    with limit_blas_to_one_thread():
        if threads < 2:
            yield from map(work, tasks)
            return
        pool = ThreadPoolExecutor(threads)
        try:
            yield from submit_ahead(lambda task: pool.submit(work, task), tasks, 2 * threads)
        finally:
            pool.shutdown(cancel_futures=True)


def _map_in_processes(work: Callable[[Task], Result], tasks: Iterable[Task], workers: int) -> Iterator[Result]:
    if workers < 2:
        yield from map(work, tasks)
        return
    with worker_processes(workers, _set_work, work) as pool:
        yield from submit_ahead(lambda task: pool.submit(_run_task, task), tasks, workers)


_work: list[Callable[[Any], Any]] = []  # in a worker process, the function for its tasks


def _set_work(work: Callable[[Any], Any]) -> None:
    _work[:] = [work]


def _run_task(task: Any) -> Any:
    return _work[0](task)


def with_progress(results: Iterable[Result], n: int, name: str, progress: Progress | None) -> Iterator[Result]:
    """Yield the results of `n` tasks, and call `progress` after each result."""
    if progress and n:
        progress(name, 0, n)
    for n_done, result in enumerate(results, start=1):
        if progress:
            progress(name, n_done, n)
        yield result
