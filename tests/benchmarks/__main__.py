"""Run the benchmarks and print one table; exits with 1 where a limit is missed.

    python -m tests.benchmarks [NAME ...]
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.benchmarks.figures import Figure, measure

BENCHMARKS = ("command_line", "ingest", "inserts", "scoring", "statistics", "regions", "bootstrap", "permutation",
              "costs", "cluster", "ranking", "reading", "parsing", "boards", "leaderboard", "studies", "plan")


def main(names):
    figures: list[Figure] = []
    for name in names or BENCHMARKS:
        print(f"running {name} ...", file=sys.stderr, flush=True)
        with ProcessPoolExecutor(1, get_context("spawn")) as process:  # each has its memory measured by itself
            figures += process.submit(measure, name).result()
    width = max(len(figure.what) for figure in figures)
    for figure in figures:
        verdict = "" if figure.holds is None else "ok" if figure.holds else "MISSED"
        print(f"{figure.what:<{width}}  {figure.measured:>22}  {figure.beside:<44}  {verdict}")
    sys.exit(any(figure.holds is False for figure in figures))


if __name__ == "__main__":
    main(sys.argv[1:])
