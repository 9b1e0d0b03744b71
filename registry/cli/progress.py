"""Progress of long work: one line that is rewritten on a terminal, or a line from time to time elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from registry.cli.console import verbose_log
from registry.errors import format_duration

FIRST_DELAY, NEXT_DELAY = 10.0, 30.0  # seconds until the first line and between lines, without a terminal
_TERMINAL_DELAY = 0.1  # seconds between two updates on a terminal


@dataclass
class _Stage:
    start: float
    done: int
    total: int


class Reporter:
    """Prints the progress of nested stages of work, and the remaining time.

    Args:
        write: A function that writes text.
        is_terminal: True to rewrite one line, False to add lines from time to time.
        clock: A function that returns the time in seconds.
        end_stage: A function that is called with the name and the duration of each completed stage.
    """

    def __init__(self, write: Callable[[str], None], *, is_terminal: bool,
                 clock: Callable[[], float] = time.monotonic,
                 end_stage: Callable[[str, float], None] | None = None) -> None:
        self._write, self._is_terminal, self._clock, self._end_stage = write, is_terminal, clock, end_stage
        self._stages: dict[str, _Stage] = {}
        self._next_update = clock() + (0 if is_terminal else FIRST_DELAY)
        self._line_length = 0  # characters on the terminal's line

    def __call__(self, name: str, done: int, total: int) -> None:
        """Record the progress of a stage, and print it if the last line is old enough.

        Args:
            name: The name of the stage.
            done: The number of completed parts.
            total: The number of all parts.
        """
        now = self._clock()
        stage = self._stages.setdefault(name, _Stage(now, done, total))
        stage.done, stage.total = done, total
        if done >= total:
            del self._stages[name]
            if self._end_stage is not None:
                self._end_stage(name, now - stage.start)
        if self._is_terminal and not self._stages:
            self._rewrite_line("")
            self._next_update = now
        elif self._stages and now >= self._next_update:
            line = "; ".join(_describe_stage(name, stage, now) for name, stage in self._stages.items())
            self._rewrite_line(line) if self._is_terminal else self._write(f"{line}\n")
            self._next_update = now + (_TERMINAL_DELAY if self._is_terminal else NEXT_DELAY)

    def _rewrite_line(self, line: str) -> None:
        if line or self._line_length:
            self._write("\r" + " " * self._line_length + "\r" + line)
        self._line_length = len(line)


def _describe_stage(name: str, stage: _Stage, now: float) -> str:
    left = (now - stage.start) * (stage.total / stage.done - 1) if stage.done else inf
    estimate = "" if left == inf else f" (about {format_duration(left)} left)"
    return f"{stage.done:,} of {stage.total:,} {name}{estimate}"


def make_reporter(*, quiet: bool) -> Reporter | None:
    """Make the progress reporter of a command, which writes to stderr.

    The result is None with `--quiet` or without stderr.
    """
    if quiet or sys.stderr is None:
        return None
    stream = sys.stderr

    def write(text: str) -> None:
        stream.write(text)
        stream.flush()

    log = verbose_log.get()
    return Reporter(write, is_terminal=stream.isatty(), end_stage=None if log is None else log.add_stage)
