"""What the commands cost: processor time of `--help`, wall time of a run that finds nothing to do."""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.figures import Figure, seconds

MANIFEST = Path(__file__).resolve().parents[2] / "sample_data" / "stance" / "task.toml"


def _registry(*arguments):
    subprocess.run([sys.executable, "-m", "registry", *arguments], check=True, capture_output=True)


def run():
    """Take the median of five processes each."""
    def cpu():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _registry("--help")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    help_cpu = sorted(cpu() for _ in range(5))[2]
    with tempfile.TemporaryDirectory() as folder:
        command = ("run", str(MANIFEST), "--db", str(Path(folder) / "r.duckdb"))
        first = seconds(_registry, *command)
        again = sorted(seconds(_registry, *command) for _ in range(5))[2]
    return [
        Figure("registry --help, processor time", f"{help_cpu:.3f} s", "< 0.25 s", help_cpu < 0.25),
        Figure("registry run on the sample task, first", f"{first:.2f} s", ""),
        Figure("registry run on the sample task, nothing changed", f"{again:.2f} s", "< 2 s", again < 2),
    ]
