"""Runs commands, each in a process forked from this one, which begins at once and is killed when its time has come.

Lines of JSON come in: the arguments of a command, and after how many seconds it is killed. Its exit status goes out,
and how many seconds it took.
"""

import json
import sys
import time
from pathlib import Path

from tests.durability.commands import Command, prepare


def main(folder):
    """Run what comes in; what is printed goes to files in `folder`."""
    prepare(folder / "prepared")
    for line in sys.stdin:
        arguments, kill_after = json.loads(line)
        command = Command(arguments, kill_after=kill_after)
        start = time.monotonic()
        command.start(folder)
        print(json.dumps([command.wait(), time.monotonic() - start]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
