"""Run the benchmarks and print one table, with the peak memory of each; exits with 1 where a limit is missed.

    python -m tests.benchmarks [NAME ...]
"""

import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.benchmarks.figures import Figure, measure

BENCHMARKS = ("command_line", "ingest", "inserts", "scoring", "statistics", "regions", "bootstrap", "permutation",
              "costs", "cluster", "ranking", "reading", "parsing", "boards", "leaderboard", "memory", "studies",
              "growth", "serving", "votes", "peers")


def main(names):
    lines: list[tuple[Figure, str]] = []
    for name in names or BENCHMARKS:
        print(f"running {name} ...", file=sys.stderr, flush=True)
        with ProcessPoolExecutor(1, get_context("spawn")) as process:  # each has its memory measured by itself
            try:
                figures, peak = process.submit(measure, name).result()
            except Exception:
                traceback.print_exc()
                lines.append((Figure(name, "failed", "see the error above", holds=False), ""))
                continue
        memory = [f"{name}: {peak:.2f} GiB at most"] + [""] * len(figures)
        lines += zip(figures, memory, strict=False)
    width = max(len(figure.what) for figure, _ in lines)
    for figure, memory in lines:
        verdict = "" if figure.holds is None else "ok" if figure.holds else "MISSED"
        print(f"{figure.what:<{width}}  {figure.measured:>22}  {figure.beside:<44}  {verdict:<6}  {memory}".rstrip())
    sys.exit(any(figure.holds is False for figure, _ in lines))


if __name__ == "__main__":
    main(sys.argv[1:])
