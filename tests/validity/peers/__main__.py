"""Run other programs on the nulls and print one table, with the versions of all of them.

    python -m tests.validity.peers [PROGRAM ...] [--null PATTERN ...] [--share S] [--write] [--processes N]

`make validity-peers` makes the environment that has them (`requirements.txt`). A program that is not there is left out
with a message, and so are csranks and coin, which take R. `--share 0.1` runs a tenth of the test sets. `--write` puts
the lines into docs/validity-peers.md, in the place of older ones of the same calls.
"""

import argparse
import fnmatch
import os
import re
import shutil
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from tests.validity.bands import LEVELS, kept
from tests.validity.peers.calls import calls as all_calls
from tests.validity.peers.programs import ALPHA
from tests.validity.record import markdown, recorded, replaced

PAGE = Path(__file__).resolve().parents[3] / "docs" / "validity-peers.md"
HEADER = ("null", "program", "call", "runs", "measured", "value", "error", "undefined", "keeps its level")


def lines_of(null, chosen, share):
    """The lines of a null, [calls], each program's on the same test sets; and seconds by call."""
    calls = [call for call in all_calls() if null in [of.name for of in call.on] and call.program in chosen]
    runs = [max(1, round(share * call.runs)) for call in calls]
    of = next(of for of in calls[0].on if of.name == null)
    found, seconds = [[] for _ in calls], np.zeros(len(calls))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n, test_set in enumerate(of.test_sets(max(runs))):
            for at, call in enumerate(calls):
                if n < runs[at]:
                    start = time.process_time()
                    found[at].append(call.ask(test_set))
                    seconds[at] += time.process_time() - start
    return [line(of, call, np.array(outcomes, dtype=float)) for call, outcomes in zip(calls, found, strict=True)], {
        f"{null}: {call.program} {call.said}": s for call, s in zip(calls, seconds, strict=True)}


def line(null, call, outcomes):
    """The cells of a line: an undefined p-value rejects nothing."""
    happened = outcomes <= ALPHA if call.what.startswith("p ") else outcomes
    rate, runs = round(float(np.mean(happened)), 4), len(outcomes)
    level = LEVELS.get(call.what, ALPHA)
    return (null.name, call.program, f"`{call.said}`", f"{runs:,}", call.what, f"{rate:.4f}",
            f"{np.sqrt(rate * (1 - rate) / runs):.4f}", str(int(np.isnan(outcomes).sum())), kept(rate, runs, level))


def installed():
    """The programs that are there with their versions; what is not is said."""
    found = {}
    for name in dict.fromkeys(call.program for call in all_calls()):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            print(f"{name}: not installed, left out", file=sys.stderr)
    if shutil.which("Rscript") is None:
        print("csranks, coin: R is not installed, left out", file=sys.stderr)
    else:
        print("csranks, coin: no calls are written for these yet, left out", file=sys.stderr)
    return found


def written(page, lines, versions):
    """The page with these lines and versions, in the order of the declaration."""
    old, _ = recorded(page, HEADER)
    by_call = {of[:3]: of for of in (*old, *lines)}
    ordered = [by_call[key] for key in declared() if key in by_call]
    said = ", ".join(f"{name} {of}" for name, of in versions.items())
    return re.sub(r"^Versions: .*$", f"Versions: {said}.", replaced(page, ordered, HEADER), flags=re.MULTILINE)


def declared():
    """What a line begins with, null by null."""
    pairs = [(null.name, call) for call in all_calls() for null in call.on]
    nulls = list(dict.fromkeys(name for name, _ in pairs))
    return [(name, call.program, f"`{call.said}`") for name, call in sorted(pairs, key=lambda of: nulls.index(of[0]))]


def main(arguments):
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.validity.peers", description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="all without")
    parser.add_argument("--null", nargs="*", default=["*"], metavar="PATTERN", help="of nulls' names")
    parser.add_argument("--share", type=float, default=1.0, help="of the declared number of test sets")
    parser.add_argument("--write", action="store_true", help="put the lines into docs/validity-peers.md")
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    asked = parser.parse_args(arguments)
    versions = installed()
    chosen = [name for name in versions if not asked.programs or name in asked.programs]
    names = list(dict.fromkeys(null.name for call in all_calls() if call.program in chosen for null in call.on
                               if any(fnmatch.fnmatch(null.name, pattern) for pattern in asked.null)))
    table = []
    with ProcessPoolExecutor(asked.processes) as pool:
        for running in [pool.submit(lines_of, name, chosen, asked.share) for name in names]:
            lines, seconds = running.result()
            print(*(f"{name}: {of:.1f} s" for name, of in seconds.items()), sep="\n", file=sys.stderr, flush=True)
            table += lines
            if asked.write:
                PAGE.write_text(written(PAGE.read_text(), lines, {**versions, "Python": sys.version.split()[0]}))
    print("\n".join(markdown(table, HEADER)))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    sys.exit(main(sys.argv[1:]))
