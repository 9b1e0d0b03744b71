"""A dask scheduler and workers, each a process of its own, as on several machines; over TLS where openssl is there."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from tests.running import stat, wait_for

ROOT = Path(__file__).resolve().parent.parent
OPENSSL = shutil.which("openssl")
CERTIFICATE = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
               "-subj", "/CN=cluster", "-keyout", "key.pem", "-out", "certificate.pem")
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1",
               "OPENBLAS_NUM_THREADS": "1", "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error"}


def slowly(ones, n):
    """A product that takes a while, and the process that worked it out."""
    time.sleep(0.01)
    return n * int(ones.sum()), os.getpid()


class DaskProcesses:
    """What runs: the scheduler's address, and the workers that were started and not ended."""

    def __init__(self, folder, protocol):
        self.folder, self.protocol, self.workers = folder, protocol, []
        self.certificates = certificates(folder) if protocol == "tls" else {}
        self.environment = ENVIRONMENT | {f"DASK_{name.upper()}": value for name, value in self.certificates.items()}
        self.begin()

    def begin(self):
        """Start a scheduler."""
        told = self.folder / "scheduler.json"
        told.unlink(missing_ok=True)
        self.scheduler = self._start("scheduler", "--protocol", self.protocol, "--host", "127.0.0.1", "--port", "0",
                                     "--scheduler-file", told)
        wait_for(lambda: told.exists() and told.read_text().endswith("}"), 60)
        self.address = json.loads(told.read_text())["address"]

    def _start(self, what, *arguments):
        return subprocess.Popen(
            [sys.executable, "-m", "dask", what, *map(str, arguments), "--no-dashboard"], cwd=self.folder,
            env={**os.environ, **self.environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self, n, *arguments):
        """Start so many workers of one thread."""
        self.workers += [self._start("worker", self.address, "--nthreads", "1", "--no-nanny", *arguments)
                         for _ in range(n)]

    def kill(self, n):
        """End so many workers as the system does when memory is short; those that were started last."""
        for worker in self.workers[len(self.workers) - n:]:
            worker.kill()
            worker.wait()
            self.workers.remove(worker)

    def seconds(self):
        """The processor time that the scheduler and each worker have taken."""
        return [sum(map(int, stat(process.pid)[11:13])) / os.sysconf("SC_CLK_TCK")
                for process in (self.scheduler, *self.workers)]


def certificates(folder):
    """One certificate that signs itself, for all; gives the settings of dask that name it."""
    subprocess.run([OPENSSL, *CERTIFICATE], cwd=folder, check=True, capture_output=True)
    certificate, key, tls = str(folder / "certificate.pem"), str(folder / "key.pem"), "distributed__comm__tls"
    return {"distributed__comm__require_encryption": "true", f"{tls}__ca_file": certificate} | {
        f"{tls}__{role}__{part}": file for role in ("client", "scheduler", "worker")
        for part, file in (("cert", certificate), ("key", key))}


@contextmanager
def dask_processes(protocol="tcp"):
    """Start a scheduler, and end it with its workers."""
    with tempfile.TemporaryDirectory() as folder:
        running = DaskProcesses(Path(folder), protocol)
        try:
            yield running
        finally:
            for process in (*running.workers, running.scheduler):
                process.kill()
                process.wait()
