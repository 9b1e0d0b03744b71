"""Run the rows in full and print one table; exits with 1 where a band is left.

    python -m tests.validity [ROW ...] [--quick] [--markdown] [--processes N]

A ROW is a name or a pattern such as 'bootstrap-*'.
"""

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

HEADER = ("row", "population", "test", "runs", "measured", "value", "expected", "verdict")


def lines_of(name, *, quick):
    """The lines of the table for one row, the seconds that it took, and whether all its bands hold."""
    from tests.validity.rows import ROWS

    row, start = ROWS[name], time.process_time()
    runs = row.runs_quick if quick else row.runs_full
    found = row.measure(runs)
    lines = [(row.name, row.null.name, str(row.test), f"{runs:,}", m.what, m.value, m.expected,
              "ok" if m.holds else "LEFT") for m in found]
    return lines, time.process_time() - start, all(m.holds for m in found)


def main(arguments):
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.validity", description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", default=["*"], metavar="ROW", help="names or patterns; all without")
    parser.add_argument("--quick", action="store_true", help="the few runs of the test suite")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--processes", type=int, choices=(1, 2), default=min(2, os.cpu_count() or 1))
    asked = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is loaded: the processes are the threads
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from registry.errors import UnknownNameError
    from tests.validity.rows import rows

    try:
        names = [row.name for row in rows(asked.rows)]
    except UnknownNameError as error:
        parser.error(str(error))
    table, holds = [], True
    with ProcessPoolExecutor(asked.processes) as pool:
        running = [pool.submit(lines_of, name, quick=asked.quick) for name in names]
        for name, row in zip(names, running, strict=True):
            lines, seconds, all_hold = row.result()
            print(f"{name}: {seconds:.2f} s{'' if all_hold else ', band LEFT'}", file=sys.stderr, flush=True)
            table += lines
            holds &= all_hold
    print("\n".join(markdown(table) if asked.markdown else text(table)))
    return 0 if holds else 1


def text(table):
    """Lines of a table in columns."""
    widths = [max(map(len, column)) for column in zip(HEADER, *table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in (HEADER, *table)]


def markdown(table):
    """Lines of a table in Markdown."""
    return ["| " + " | ".join(line) + " |" for line in (HEADER, ("---",) * len(HEADER), *table)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
