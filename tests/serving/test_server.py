"""The server as it is started: one address, readers beside a writer, and an end when it is told to."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.running import interruptible


@contextmanager
def running(*options):
    """A server in a process of its own, and its address."""
    command = [sys.executable, "-m", "registry", "serve", "--port", "0", *map(str, options)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible) as process:
        try:
            while not (told := process.stderr.readline()).startswith("serving "):
                assert told.startswith("warning: "), told + process.stderr.read()
            yield process, told.split(" at ")[1].partition(";")[0]
        finally:
            process.kill()


def fetched(address):
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.read()


@pytest.mark.slow
def test_readers_beside_a_writer(registry, scored, task):
    """Commits are shown after a while; nobody fails, and the file is as the writer left it."""
    scored(task)
    seen, stop = [], threading.Event()
    with running("--db", "registry.duckdb", "--every", 0) as (process, url):
        def ask():
            while not stop.wait(0.02):  # the writer computes too
                seen.append(len(json.loads(fetched(f"{url}api/tasks/small/boards/0/standings"))))

        asking = [threading.Thread(target=ask) for _ in range(4)]
        for one in asking:
            one.start()
        Path("more.tsv").write_text("".join(f"{item}\t{label}\n" for item, label in task.gold.items()))
        for system, options, rows in (("more", (), 3), ("most", ("--run",), 5)):  # one is not scored by itself
            registry("submit", "small", "more.tsv", "--system", system, *options)
            until = time.monotonic() + 60
            while len(json.loads(fetched(f"{url}api/tasks/small/boards/0/standings"))) != rows:
                assert time.monotonic() < until
                time.sleep(0.05)
        stop.set()
        for one in asking:
            one.join()
        after = Path("registry.duckdb").read_bytes()
        fetched(f"{url}tasks/small")
        process.send_signal(signal.SIGINT)
        assert process.stderr.read().endswith("stopped\n")
        assert process.wait(20) == 0
    assert seen == sorted(seen)
    assert set(seen) <= {3, 5}
    assert Path("registry.duckdb").read_bytes() == after
    assert {path.name for path in Path().glob("*.duckdb*")} == {"registry.duckdb", ".registry.duckdb.lock"}


@pytest.mark.slow
def test_private_answers_stay_on_this_machine_and_in_no_cache(registry, scored, task):
    scored(task)
    with running("--db", "registry.duckdb", "--private") as (_, url):
        for address in ("", "tasks/small", "sql?q=SELECT%201"):
            with urllib.request.urlopen(f"{url}{address}") as answer:
                assert answer.headers["Cache-Control"] == "private, no-store"
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        refused = registry("serve", "--private", "--host", host, "--port", 0, exit_code=2).stderr
        assert f"--private shows all data to everybody who can connect to {host}" in refused


def test_a_place_that_cannot_be_had_is_told_of(registry, scored, task):
    scored(task)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert registry("serve", "--port", port, exit_code=1).stderr == (
            f"error: port {port} of 127.0.0.1 is in use by another program; choose another --port, or 0 for any free "
            "port\n")
    assert "192.0.2.1, port 0: " in registry("serve", "--host", "192.0.2.1", "--port", 0, exit_code=1).stderr
    assert "'no such' is not an address of this machine" in registry(
        "serve", "--host", "no such", "--port", 0, exit_code=1).stderr
    assert "is neither an origin, such as https://example.org, nor *" in registry(
        "serve", "--cors", "example.org", exit_code=2).stderr
    assert "no registry here" in registry("serve", "--db", "none.duckdb", "--port", 0, exit_code=3).stderr
