"""The command line. No module-level import is slow, so that `--help` is instant."""

from __future__ import annotations

import atexit
import codecs
import gc
import io
import os
import sys

from typer.completion import get_completion_inspect_parameters

from registry.cli.app import app

__all__ = ["app", "main"]

# Thresholds of the garbage collector. Python's defaults (700, 10, 10) suit programs that make cyclic garbage; imports
# and readers make many objects that all stay in use.
GC_THRESHOLDS = (200_000, 20, 100)


def main() -> None:
    """Run the command line; this is the entry point of `registry` and `evalregistry`."""
    for argument in sys.argv[1:]:
        if not argument.isascii() and any("\ud800" <= c <= "\udfff" for c in argument):
            sys.exit(f"error: the argument {argument!r} is not UTF-8; rename the file")
    gc.set_threshold(*GC_THRESHOLDS)
    atexit.register(gc.freeze)  # otherwise Python's last collection visits all imported objects, in 0.13 seconds
    _buffer_stdout()
    _choose_encoding()
    sys.modules.setdefault("pandas", None)  # type: ignore[arg-type] # unused, but DuckDB would import it
    if "_REGISTRY_COMPLETE" in os.environ:  # set by the scripts of `registry completion`
        get_completion_inspect_parameters()  # registers typer's completion, as `add_completion` would
    try:
        app()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # a reader such as `head` closed the pipe
            print(f"error: cannot write the results: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _buffer_stdout() -> None:
    """Buffer stdout even if the variable PYTHONUNBUFFERED is set.

    Without a buffer, Python loses the rest of a text if the system accepts only a part of it, for example after
    SIGSTOP.
    """
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):  # False if a caller of `main` replaced stdout
        sys.stdout = open(sys.stdout.fileno(), "w", buffering=1, encoding=sys.stdout.encoding,  # noqa: SIM115
                          errors=sys.stdout.errors, closefd=False)


def _choose_encoding() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            if stream.isatty() or "PYTHONIOENCODING" in os.environ:
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8")
