"""The command line. Nothing heavy is imported at module level, so that `--help` is instant; commands import late."""

from __future__ import annotations

import os
import sys

from registry.cli.app import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line; the entry point of `registry` and `evalregistry`."""
    for argument in sys.argv[1:]:
        if not argument.isascii() and any("\ud800" <= c <= "\udfff" for c in argument):
            sys.exit(f"error: the argument {argument!r} is not UTF-8; rename the file")
    try:
        app()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # that is a reader who went away, as `head` does
            print(f"error: cannot write the results: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
