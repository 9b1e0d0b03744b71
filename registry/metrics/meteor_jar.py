"""METEOR 1.5's own program, a Java archive, asked over its standard streams for the statistics of segments.

Loading English paraphrases takes seconds, so one process of each kind is kept until this one ends. What it reads is
untrusted text: nothing in a segment can end its line or its field; a program that dies, or takes longer than any
segment should, ends with an error that says what it told.
"""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from threading import Thread, Timer

from registry.errors import InputError

START_SECONDS, SEGMENT_SECONDS = 300.0, 10.0  # what it may take: many times what it takes

_SEPARATOR = "|||"
_ONE_WORD = "\ue000"  # stands for the separator where the text is not split into words further


@cache
def jar(options: tuple[str, ...]) -> Jar:
    """Give the program that runs with these options, the same one every time.

    Raises:
        InputError: Java or the package that carries the program is not installed.
    """
    return Jar(options)


class Jar:
    """One running program."""

    def __init__(self, options: tuple[str, ...]) -> None:
        self._options = options
        self._process = self._start()
        atexit.register(self.close)

    def statistics(self, references: Sequence[Sequence[str]], hypotheses: Sequence[str]) -> list[list[float]]:
        """Give the 23 statistics of every segment, in the program's order.

        Args:
            references: Of each segment.
            hypotheses: One for each segment.

        Raises:
            InputError: The program ended before it was done; a program of the same options can be asked again.
        """
        requests = [f" {_SEPARATOR} ".join(("SCORE", *map(self._field, (*texts, hypothesis)))) + "\n"
                    for texts, hypothesis in zip(references, hypotheses, strict=True)]
        if self._process.poll() is not None:
            self.close()
            self._process = self._start()
        watchdog = Timer(START_SECONDS + SEGMENT_SECONDS * len(requests), self._process.kill)
        watchdog.daemon = True
        watchdog.start()
        Thread(target=self._feed, args=("".join(requests).encode(errors="replace"),), daemon=True).start()
        try:
            assert self._process.stdout is not None
            replies = list(islice(self._process.stdout, len(requests)))
            return [self._numbers(replies, n) for n in range(len(requests))]
        except BaseException:  # what it would still say answers nothing that is asked later
            self.close()
            raise
        finally:
            watchdog.cancel()

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()
        self._told.close()

    def _start(self) -> Popen[bytes]:
        java = shutil.which("java")
        if java is None:
            raise InputError("METEOR needs Java, and there is no program `java`: install a Java runtime (Debian: "
                             "apt-get install default-jre-headless)")
        command = [java, "-Xmx2G", "-XX:+UseParallelGC", "-jar", str(_archive()), "-", "-", "-stdio", *self._options]
        self._told = TemporaryFile()  # noqa: SIM115  (a pipe that nobody reads would stop the program when it is full)
        return Popen(command, stdin=PIPE, stdout=PIPE, stderr=self._told, start_new_session=True)  # noqa: S603

    def _feed(self, requests: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):  # it has ended; the reader of its replies finds out
            self._process.stdin.write(requests)
            self._process.stdin.flush()

    def _numbers(self, replies: Sequence[bytes], n: int) -> list[float]:
        with suppress(ValueError):
            if n < len(replies) and len(numbers := [float(cell) for cell in replies[n].split()]) == 23:
                return numbers
        said = replies[n].decode(errors="replace").strip() if n < len(replies) else self._last_words()
        raise InputError(f"METEOR ended at segment {n + 1}: {said}")

    def _last_words(self) -> str:
        self._process.kill()
        self._process.wait()
        self._told.seek(0)
        lines = self._told.read().decode(errors="replace").splitlines()
        return next((line for line in lines if line.strip() and not line.lstrip().startswith("at ")),
                    "it took too long, or was ended")[:300]

    def _field(self, text: str) -> str:
        """Keep a text from ending its line or its field; words stay what the program would have taken them for."""
        text = text.replace("\n", " ").replace("\r", " ")
        return text.replace(_SEPARATOR, " | | | " if "-norm" in self._options else _ONE_WORD)


def _archive() -> Path:
    package = find_spec("pycocoevalcap")
    if package is None or package.submodule_search_locations is None:
        raise InputError("METEOR needs pycocoevalcap, which carries its program: pip install 'evalregistry[meteor]'")
    return Path(next(iter(package.submodule_search_locations))) / "meteor" / "meteor-1.5.jar"
