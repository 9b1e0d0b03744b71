"""What `--verbose` tells: what was decided and why, how long everything took, and where an error is from."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

from registry.errors import counted
from registry.platforms import peak_memory
from registry.version import __version__

_PACKAGES = ("duckdb", "duckdb-sqlalchemy", "sqlalchemy", "numpy", "scipy", "numba")


@dataclass
class Account:
    """How a command went: since when, what was said to be decided, and the stages of its work.

    Attributes:
        began: The moment at which it began.
        decided: What was told of its decisions; each is told once.
        stages: How often each stage of the work was done, and the seconds that it took.
    """

    began: float = field(default_factory=time.perf_counter)
    decided: set[str] = field(default_factory=set)
    stages: dict[str, tuple[int, float]] = field(default_factory=dict)

    @property
    def stamp(self) -> str:
        """The seconds so far, before a line."""
        return f"[{time.perf_counter() - self.began:7.2f} s] "

    def done(self, stage: str, seconds: float) -> None:
        """Take note of a stage that came to its end."""
        times, before = self.stages.get(stage, (0, 0.0))
        self.stages[stage] = times + 1, before + seconds

    def summary(self) -> Iterator[str]:
        """The stages, and what the process took as a whole."""
        for stage, (times, seconds) in self.stages.items():
            yield f"stage: {stage}: {seconds:.2f} s" + (f" in {counted(times, 'part')}" if times > 1 else "")
        peak = peak_memory()
        yield (f"took {time.perf_counter() - self.began:.2f} s, {time.process_time():.2f} s of processor time in this "
               "process" + (f", {peak / 2**20:.0f} MB at most" if peak is not None else ""))


# The account of the command that runs, where it is to be told; None: it is not.
account: ContextVar[Account | None] = ContextVar("account", default=None)


def versions() -> str:
    """The program and what its numbers come from, for bug reports."""
    import platform

    from registry.plugins import installed_version

    packages = ((name, installed_version(name)) for name in _PACKAGES)
    return ", ".join([f"evalregistry {__version__}", f"Python {platform.python_version()}", platform.platform(),
                      *(f"{name} {there}" if there else f"no {name}" for name, there in packages)])


def origin(error: BaseException) -> list[str]:
    """The lines of code that an error came from; not what it says or was raised from, which may be hidden."""
    return "".join(traceback.format_tb(error.__traceback__)).splitlines()
