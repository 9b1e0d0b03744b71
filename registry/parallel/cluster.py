"""Work on a dask cluster, with the same results as here.

The function that all tasks share, with its arrays, travels to every worker once; what follows are small tasks, several
at a time, and their results. If a worker dies, its tasks go to others. If nobody has the function any more, it is sent
again, also to workers that came later.
"""

from __future__ import annotations

import logging
import math
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from registry.errors import InputError, RegistryError
from registry.parallel.blas_threads import one_blas_thread
from registry.provenance import computing

if TYPE_CHECKING:
    from distributed import Client, Future

Task = TypeVar("Task")
Result = TypeVar("Result")

_PATIENCE = 30.0  # seconds without any worker after which the work is given up
_ANSWER = 5.0  # seconds that a scheduler has for its answer
_LOOK = 1.0  # seconds after which it is looked whether there still are workers
_BATCH = 0.25  # seconds that tasks of one message should take: what a worker's death costs, and 100 times the overhead
_AHEAD = 2  # batches of each thread that may be under way
_SENDINGS = 5  # of a function whose holders died each time
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
        self._deserted: float | None = None  # since when there is no worker
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
                self._check(client, client.nthreads())
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
        """How many threads its workers have at this moment; raises as `workers`."""
        return sum(self.workers().values())

    def workers(self) -> dict[str, int]:
        """The workers at this moment, and how many threads each has.

        Raises:
            InputError: As `client`, also of a worker that came meanwhile.
            RegistryError: The scheduler answers no more, or there has been no worker for a while.
        """
        client = self.client
        try:
            threads: dict[str, int] = client.nthreads()
            self._check(client, threads)
        except (OSError, RuntimeError, ValueError):
            raise self.gone() from None
        if threads:
            self._deserted = None
            return threads
        self._deserted = self._deserted or time.monotonic()
        if time.monotonic() - self._deserted > self.patience:
            raise RegistryError(f"the dask scheduler at {self.address} has lost all its workers, and none came for "
                                f"{self.patience:.0f} s; what was not finished is not stored")
        return {}

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task], of: int) -> Iterator[Result]:
        """Work on so many tasks and return the results in their order; few are ahead of the one that is taken.

        Raises:
            InputError: As `client`.
            RegistryError: The scheduler or all workers are gone, or several workers died of the same task.
        """
        try:
            yield from _Mapping(self, work).results(iter(tasks), of)
        except RegistryError:
            raise
        except Exception as error:
            if self._client is None or self._client.status == "running":
                raise  # the work's own
            raise self.gone() from error

    def _check(self, client: Client, workers: Iterable[str]) -> None:
        """Refuse workers that would compute other bits, once each."""
        new, here = [worker for worker in workers if worker not in self._checked], computing()
        for worker, there in (client.run(computing, workers=new, on_error="return") if new else {}).items():
            if isinstance(there, OSError):  # it died just now
                continue
            if isinstance(there, BaseException):
                raise InputError(f"the dask worker {worker} has no evalregistry, or another version of it: {there}")
            if differing := _differing(there, here):
                raise InputError(f"the dask worker {worker} has {differing}: install the same there, or results would "
                                 "not be the same bits")
            self._checked.add(worker)

    def gone(self) -> RegistryError:
        """The error that the scheduler is gone."""
        return RegistryError(f"the dask scheduler at {self.address} does not answer any more; what was not finished is "
                             "not stored")


@dataclass(frozen=True, eq=False)
class _Batch(Generic[Task]):
    """Some tasks under way."""

    tasks: tuple[Task, ...]
    future: Future


class _Mapping(Generic[Task, Result]):
    """One function on its tasks: as it was sent, and the batches that are under way."""

    def __init__(self, cluster: Cluster, work: Callable[[Task], Result]) -> None:
        self._cluster, self._work = cluster, work
        self._under_way: deque[_Batch[Task]] = deque()
        self._sendings = 0
        self._holding: dict[str, Future] = {}
        self._sent = self._send()

    def results(self, tasks: Iterator[Task], of: int) -> Iterator[Result]:
        """The results of all tasks; batches become as long as to be worth a message."""
        size, threads, looked = 1, self._spread(), time.monotonic()
        while True:
            while len(self._under_way) < _AHEAD * max(1, threads) and (some := tuple(islice(tasks, size))):
                of -= len(some)
                self._under_way.append(self._begun(some))
            if not self._under_way:
                _ = self._cluster.threads  # looks at those that came meanwhile, once more
                return
            found, seconds = self._first()
            if time.monotonic() - looked > _LOOK:
                threads, looked = self._spread(), time.monotonic()
            lasting = math.ceil(_BATCH * len(found) / max(seconds, 1e-6))
            size = max(1, min(4 * size, lasting, of // (_AHEAD * max(1, threads))))
            yield from found

    def _first(self) -> tuple[list[Result], float]:
        """The results of the first batch, whoever dies meanwhile."""
        from distributed import wait
        from distributed.scheduler import KilledWorker

        while True:
            try:
                with self._cluster.client.as_current():
                    wait([self._under_way[0].future], timeout=_LOOK)
            except TimeoutError:
                _ = self._cluster.threads  # complains where there is none
                continue
            except CancelledError:
                pass  # said again by the result
            try:
                found: tuple[list[Result], float] = self._under_way[0].future.result()
            except CancelledError as error:
                if getattr(error, "reason", "") == "scheduler-connection-lost":
                    raise self._cluster.gone() from None
                self._begin_again()
            except KilledWorker:
                raise RegistryError("dask workers died of the same task, most likely for want of memory, so it was "
                                    "given up; what was not finished is not stored") from None
            else:
                self._under_way.popleft()
                return found

    def _send(self) -> Future:
        """Send the function to one worker, once there is any; the others get it from there."""
        self._sendings += 1
        if self._sendings > _SENDINGS:
            raise RegistryError("all dask workers died, and so did those that came in their place, most likely for "
                                "want of memory; what was not finished is not stored")
        begun = time.monotonic()
        while True:
            while not self._cluster.threads:
                time.sleep(_LOOK)
            try:
                return self._cluster.client.scatter(self._work, hash=False)
            except (OSError, RuntimeError, ValueError):  # it died just now
                if time.monotonic() - begun > self._cluster.patience:
                    raise self._cluster.gone() from None
                time.sleep(_LOOK / 5)

    def _spread(self) -> int:
        """Have all workers fetch the function, also those that came meanwhile; gives the number of their threads.

        Otherwise dask may leave one idle to which a large function would have to be sent. Its own broadcast never ends
        where a worker dies meanwhile.
        """
        workers = self._cluster.workers()
        for worker in workers.keys() - self._holding.keys():
            self._holding[worker] = self._cluster.client.submit(_hold, self._sent, workers=[worker], pure=False)
        return sum(workers.values())

    def _begun(self, tasks: tuple[Task, ...]) -> _Batch[Task]:
        do = partial(_do, tasks)  # dask would look into a tuple
        return _Batch(tasks, self._cluster.client.submit(do, self._sent, pure=False))

    def _begin_again(self) -> None:
        """Send the function again, and begin again with what is not done: nobody has the function any more."""
        self._sent = self._send()
        self._holding.clear()
        self._spread()
        self._under_way = deque(batch if batch.future.status == "finished" else self._begun(batch.tasks)
                                for batch in self._under_way)


def _hold(work: object) -> None:
    """Nothing: the worker has been given the function."""


def _do(tasks: tuple[Any, ...], work: Callable[[Any], Any]) -> tuple[list[Any], float]:
    """Work on some tasks; returns the seconds of processor time that it took, too."""
    begun = time.thread_time()
    with one_blas_thread():
        return [work(task) for task in tasks], time.thread_time() - begun


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
