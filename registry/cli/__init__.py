"""The command line. Nothing heavy is imported at module level, so that `--help` is instant."""

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

# New objects between two searches for cyclic garbage, and searches until older objects are searched too. Python's own
# 700 and 10 are for programs that make such garbage: imports and readers make many objects that all stay.
UNSEARCHED = (200_000, 20, 100)


def main() -> None:
    """Run the command line; the entry point of `registry` and `evalregistry`."""
    for argument in sys.argv[1:]:
        if not argument.isascii() and any("\ud800" <= c <= "\udfff" for c in argument):
            sys.exit(f"error: the argument {argument!r} is not UTF-8; rename the file")
    gc.set_threshold(*UNSEARCHED)
    atexit.register(gc.freeze)  # or Python looks at all that is imported once more before it ends, for 0.13 seconds
    _write_in_full()
    _choose_encoding()
    sys.modules.setdefault("pandas", None)  # type: ignore[arg-type] # nothing here takes it, but DuckDB imports it
    if "_REGISTRY_COMPLETE" in os.environ:  # set by the scripts of `registry completion`
        get_completion_inspect_parameters()  # registers typer's completion, as `add_completion` would
    try:
        app()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # that is a reader who went away, as `head` does
            print(f"error: cannot write the results: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _write_in_full() -> None:
    """Buffer stdout where PYTHONUNBUFFERED asks for none.

    What the system does not take at once, as when a process is stopped in the middle, Python leaves out then.
    """
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):  # whoever calls `main` may have put another there
        sys.stdout = open(sys.stdout.fileno(), "w", buffering=1, encoding=sys.stdout.encoding,  # noqa: SIM115
                          errors=sys.stdout.errors, closefd=False)


def _choose_encoding() -> None:
    """Write UTF-8 to files and pipes, and replacement characters to a terminal that lacks some."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            if stream.isatty() or "PYTHONIOENCODING" in os.environ:
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8")
