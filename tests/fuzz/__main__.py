"""Fuzz the readers for some minutes of processor time each, and print every failure with the command that repeats it.

python -m tests.fuzz                       # each reader for a minute
python -m tests.fuzz bio --minutes 10
python -m tests.fuzz bio --seed 7 --trial 1234
"""

import argparse
import sys
import time

from registry.readers import READERS
from tests.fuzz.seeds import seeds
from tests.fuzz.trial import trial

MOST_FAILURES = 5  # of one reader


def fuzz(reader, known, *, seed, seconds, first=0):
    """Run trials until the time is up; gives their number and how many failed."""
    end = time.process_time() + seconds
    n, failed = first, 0
    while (time.process_time() < end or n == first) and failed < MOST_FAILURES:
        one = known[n % len(known)]
        if told := trial(one, f"{seed}/{reader}/{n}"):
            failed += 1
            print(f"{one.task} {one.role or 'submission'}: repeat with: "
                  f"python -m tests.fuzz {reader} --seed {seed} --trial {n}\n{told}", flush=True)
        n += 1
    return n - first, failed


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("reader", nargs="*", default=list(READERS), help="the readers; else all")
    parser.add_argument("--minutes", type=float, default=1,
                        help="of processor time, for each reader (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="of the mutations; else the time")
    parser.add_argument("--trial", type=int, help="only this trial")
    given = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    seed = int(time.time()) if given.seed is None else given.seed
    known, failures = seeds(real=True), 0
    for reader in given.reader:
        seconds = 60 * given.minutes if given.trial is None else 0
        n, failed = fuzz(reader, known[reader], seed=seed, seconds=seconds, first=given.trial or 0)
        print(f"{reader}: {n} files, {failed} failures (seed {seed}, {len(known[reader])} files mutated)", flush=True)
        failures += failed
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
