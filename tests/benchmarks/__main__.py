"""Run the benchmarks and print one table; exits with 1 where a limit is missed.

    python -m tests.benchmarks [NAME ...]
"""

import importlib
import sys

from tests.benchmarks.figures import Figure

BENCHMARKS = ("command_line", "inserts", "bootstrap")


def main(names):
    figures: list[Figure] = []
    for name in names or BENCHMARKS:
        print(f"running {name} ...", file=sys.stderr, flush=True)
        figures += importlib.import_module(f"tests.benchmarks.{name}").run()
    width = max(len(figure.what) for figure in figures)
    for figure in figures:
        verdict = "" if figure.holds is None else "ok" if figure.holds else "MISSED"
        print(f"{figure.what:<{width}}  {figure.measured:>22}  {figure.beside:<44}  {verdict}")
    sys.exit(any(figure.holds is False for figure in figures))


if __name__ == "__main__":
    main(sys.argv[1:])
