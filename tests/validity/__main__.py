"""Run the rows in full and print one table; exits with 1 where a band is left.

    python -m tests.validity [ROW ...] [--quick | --write] [--markdown] [--processes N]

A ROW is a name or a pattern such as 'bootstrap-*'. `--write` puts what was measured into docs/validity.md.
"""

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from tests.validity.record import HEADER, PAGE, markdown, written


def lines_of(name, *, quick):
    """The lines of the table for one row, and the seconds that it took."""
    from tests.validity import record
    from tests.validity.rows import ROWS

    row, start = ROWS[name], time.process_time()
    return record.lines_of(row, row.runs_quick if quick else row.runs_full), time.process_time() - start


def main(arguments):
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.validity", description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", default=["*"], metavar="ROW", help="names or patterns; all without")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="the few runs of the test suite")
    how.add_argument("--write", action="store_true", help="put the lines into docs/validity.md")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--processes", type=int, choices=(1, 2), default=min(2, os.cpu_count() or 1))
    asked = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is loaded: the processes are the threads
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from registry.errors import UnknownNameError
    from tests.validity.guarantees import with_summary
    from tests.validity.rows import ROWS, rows

    try:
        names = [row.name for row in rows(asked.rows) if row.runs_quick or not asked.quick]
    except UnknownNameError as error:
        parser.error(str(error))
    table = []
    with ProcessPoolExecutor(asked.processes) as pool:
        running = [pool.submit(lines_of, name, quick=asked.quick) for name in names]
        for name, row in zip(names, running, strict=True):
            lines, seconds = row.result()
            left = any(line[-1] != "ok" for line in lines)
            print(f"{name}: {seconds:.2f} s{', band LEFT' if left else ''}", file=sys.stderr, flush=True)
            table += lines
            if asked.write:
                PAGE.write_text(with_summary(written(PAGE.read_text(), lines, ROWS)))
    print("\n".join(markdown(table) if asked.markdown else text(table)))
    return 0 if all(line[-1] == "ok" for line in table) else 1


def text(table):
    """Lines of a table in columns."""
    widths = [max(map(len, column)) for column in zip(HEADER, *table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in (HEADER, *table)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
