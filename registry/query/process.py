"""A query in a process of its own, so that its limits hold.

DuckDB looks for an interrupt between vectors of rows only, and one row can hold a list that takes hours or all memory.
So the process is ended from outside at the time limit, on an interrupt, and when this one dies; and the system refuses
it more memory, and every file, from the moment when the database is open. It only reads, so it can be ended any time.

This process sends what is asked, the other sends back the text, and an error or what else is to be told. Only the
other imports what is heavy.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import re
import selectors
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE, Popen

from registry.errors import LimitError, RegistryError
from registry.query.question import QueryRequest

_START = "from registry.query.process import answer_parent; answer_parent()"
_CHUNK = 1 << 16
_LONGEST = 3600.0  # seconds in one wait; the system's call cannot wait for ever longer ones
_OF_DUCKDB = 0.8  # of the memory: what DuckDB counts itself; the rest is for what it does not count, and for Python


def ask(question: QueryRequest, timeout: float | None, write_bytes: Callable[[bytes], object]) -> list[str]:
    """Have a question answered in a process of its own; `write_bytes` gets the answer's UTF-8 as it comes.

    Returns:
        Notes on rows that are left out, as of texts that the registry does not have.

    Raises:
        RegistryError: What the query raises, with its exit status and excerpt.
        LimitError: It took longer than `timeout` seconds; those that `write_bytes` takes do not count.
    """
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # it finds the same modules
            "PYTHONUNBUFFERED": ""}  # and loses nothing of what the system does not take at once
    told = bytearray()
    command = [sys.executable, "-P", "-c", _START]
    with Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=here, start_new_session=True) as child:  # noqa: S603
        try:
            assert child.stdin is not None  # it stays open: its end tells the process that this one is gone
            with suppress(BrokenPipeError):  # it has ended already, and told why
                child.stdin.write(pickle.dumps(question))
                child.stdin.flush()
            assert child.stdout is not None
            assert child.stderr is not None
            copy({child.stdout.fileno(): write_bytes, child.stderr.fileno(): told.extend}, timeout)
            child.wait()
        finally:
            child.kill()
    return told_by(child.returncode, told.decode())


def copy(streams: Mapping[int, Callable[[bytes], object]], timeout: float | None) -> None:
    """Pass on what a process writes until it has closed all streams, to who takes that of each.

    Raises:
        LimitError: It took longer than `timeout` seconds.
    """
    left = math.inf if timeout is None else timeout
    with selectors.DefaultSelector() as selector:
        for stream, take in streams.items():
            selector.register(stream, selectors.EVENT_READ, take)
        while selector.get_map():
            since = time.monotonic()
            ready = selector.select(min(left, _LONGEST))
            left -= time.monotonic() - since
            if left <= 0:
                raise LimitError(f"the query was ended after {timeout:g} s; --timeout allows more")
            for key, _ in ready:
                if chunk := os.read(key.fd, _CHUNK):
                    key.data(chunk)
                else:
                    selector.unregister(key.fileobj)


def told_by(returncode: int, told: str) -> list[str]:
    """What a process that has ended told beside its answer.

    Raises:
        RegistryError: It has ended with one.
    """
    if returncode == 0:
        return json.loads(told.rpartition("\n")[2] or "[]")  # type: ignore[no-any-return]
    if -returncode in (signal.SIGKILL, signal.SIGABRT):
        raise LimitError("the query's process was ended by the system, most likely for want of memory; --max-memory "
                         "sets how much it may take")
    if returncode < 0:
        raise RegistryError(f"DuckDB crashed on this query ({signal.Signals(-returncode).name})")
    try:
        error = json.loads(told)
    except ValueError:
        raise RuntimeError(f"the query's process failed:\n{told}") from None
    raised = RegistryError(error["message"])
    raised.exit_code, raised.excerpt = returncode, error["excerpt"]
    raise raised


def answer_parent() -> None:
    """Answer the question that comes on stdin; the whole work of the process."""
    question: QueryRequest = pickle.load(sys.stdin.buffer)  # noqa: S301  (from the process that started this one)
    answer(question, sys.stdin.fileno())


def answer(question: QueryRequest, lifeline: int) -> None:
    """Answer a question on stdout, and tell what else there is on stderr; ends with the process that asks.

    `lifeline` is a file of which that holds the other end, and writes nothing to it any more.
    """
    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()
    sys.modules.setdefault("pandas", None)  # type: ignore[arg-type] # or DuckDB imports it, for half a second
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")  # type: ignore[union-attr]
    try:
        from registry.query.sql import write
        from registry.store.database import Database
        from registry.store.embargoes import find_left_out, note_hidden

        try:
            memory = int(question.memory * _OF_DUCKDB)
            with Database(question.path).querying(memory=memory, output=question.output) as connection:
                _bound(question.memory, 0 if question.output is None else question.max_bytes)
                told = [*find_left_out(connection).sentences, *note_hidden(connection),
                        *write(connection, question, sys.stdout)]
                sys.stdout.flush()
                sys.stderr.write("\n" + json.dumps(told))
        except MemoryError:
            raise LimitError("the query needs more memory than it may take; --max-memory allows more") from None
    except RegistryError as error:
        sys.stdout.flush()
        json.dump({"message": str(error), "excerpt": error.excerpt}, sys.stderr)
        sys.exit(error.exit_code)


def _end_with_parent(lifeline: int) -> None:
    """End the process when nobody holds the other end any more."""
    while os.read(lifeline, _CHUNK):
        pass
    os._exit(1)


def _bound(memory: int, size: int | None) -> None:
    """Have the system refuse this process more than `memory` bytes beside those that it has, and files of more bytes.

    None: files may be of any size.
    """
    try:
        import resource
    except ImportError:  # a system without limits of processes
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    if (status := Path("/proc/self/status")).exists():
        (taken,) = re.findall(r"^VmData:\s*(\d+) kB$", status.read_text(), re.MULTILINE)
        resource.setrlimit(resource.RLIMIT_DATA, (1024 * int(taken) + memory,) * 2)
