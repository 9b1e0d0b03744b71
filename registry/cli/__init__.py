"""The command line. Nothing heavy is imported at module level, so that `--help` is instant; commands import late."""

from __future__ import annotations

import os
import sys

from registry.cli.app import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line; the entry point of `registry` and `evalregistry`."""
    try:
        app()
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
