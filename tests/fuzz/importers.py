"""Fuzz the importers for some minutes of processor time each, and print every failure with the command that repeats it.

python -m tests.fuzz.importers                       # each kind of log for a minute
python -m tests.fuzz.importers inspect --minutes 10  # those whose name begins so
python -m tests.fuzz.importers inspect --seed 7 --trial 1234
"""

import argparse
import sys
import time
import traceback
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.importers.test_mutations import LOGS, put, trial

MOST_FAILURES = 5  # of one log
SLOW = 20  # seconds that no damaged log may take


def fuzz(name, *, seed, seconds, only=None):
    """Run trials until the time is up; gives their number, how many were refused, and how many failed."""
    end = time.process_time() + seconds
    refused = failed = 0
    with TemporaryDirectory() as folder:
        put(log := LOGS[name], Path(folder, "out"))
        for n in count(only or 0):
            started = time.process_time()
            try:
                with TemporaryDirectory() as made:
                    refused += trial(log, Path(folder, "out"), Path(made, "task"), f"{seed}/{name}/{n}") is not None
                assert time.process_time() - started < SLOW, "too slow"
            except Exception:
                failed += 1
                print(f"{name}: repeat with: python -m tests.fuzz.importers '{name}' --seed {seed} --trial {n}\n"
                      f"{traceback.format_exc(limit=-4)}", flush=True)
            if only is not None or time.process_time() >= end or failed >= MOST_FAILURES:
                return n + 1 - (only or 0), refused, failed
    raise AssertionError


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.importers", description=__doc__.partition("\n")[0])
    parser.add_argument("log", nargs="*", help=f"beginnings of {', '.join(LOGS)}; else all")
    parser.add_argument("--minutes", type=float, default=1, help="of processor time, for each (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the mutations; else the time")
    parser.add_argument("--trial", type=int, help="only this trial")
    given = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    failures = 0
    for name in [name for name in LOGS if name.startswith(tuple(given.log or [""]))]:
        n, refused, failed = fuzz(name, seed=given.seed, seconds=60 * given.minutes, only=given.trial)
        failures += failed
        print(f"{name}: {n} trials, {refused} refused, {failed} failed", flush=True)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
