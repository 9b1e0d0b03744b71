"""A large leaderboard from the file to the page: 1,000 systems, right or wrong on 10,000 items, by the command line.

Beside it stands the same by hand, a script (`tests.benchmarks.by_hand`). Processes have their processor time and memory
measured, from their start to their end.

    python -m tests.benchmarks.leaderboard SYSTEMS ITEMS [csv]

measures another size, from Parquet (or CSV) alone, without limits.
"""

import math
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import polars
from scipy import special, stats

from tests.benchmarks.figures import Figure
from tests.conftest import ROOT

ROUNDING = 1e-10  # of ln p
TINY = 1e-290


@dataclass(frozen=True)
class Cost:
    """What a process took: seconds of processor time, and GiB of memory at the most."""

    seconds: float
    memory: float

    def __str__(self):
        return f"{self.seconds:.1f} s, {self.memory:.2f} GiB"


def run():
    with tempfile.TemporaryDirectory() as folder:
        return list(measured(Path(folder), 1000, 10_000, ("csv", "parquet")))


def measured(folder, systems, items, forms, *, limits=True):
    outcomes = correct(systems, items)
    names = [f"system-{n}" for n in range(systems)]
    table = polars.DataFrame({"item": [f"i{n}" for n in range(items)]} | dict(zip(names, outcomes.T, strict=True)))
    size, table_size = f"{systems:,} systems x {items:,} items", outcomes.size
    for form in forms:
        path = folder / f"scores.{form}"
        (table.write_csv if form == "csv" else table.write_parquet)(path)
        hand = process(sys.executable, "-m", "tests.benchmarks.by_hand", path).seconds
        db = str(folder / f"{form}.duckdb")
        steps = {
            "import": ("import", "wide", path, "--option", "item=item", "--task", "large", "--to", folder / form),
            "compare": ("compare", "large"), "board": ("board", "large"),
            "page": ("page", "large", "-o", folder / f"{form}.html")}
        costs = {name: command(*arguments, "--db", db) for name, arguments in steps.items()}
        for name, cost in costs.items():
            most = {"board": 2.0, "page": 5.0}.get(name) if limits else None
            yield Figure(f"{size}, {form}: {name}", str(cost), f"< {most:g} s" if most else "",
                         cost.seconds < most if most else None)
        together = sum(costs[name].seconds for name in ("import", "compare", "board"))
        yield Figure(f"{size}, {form}: import, compare and board", f"{together:.1f} s",
                     f"{together / hand:.1f} times {hand:.2f} s of numpy and polars (at most 25)",
                     together <= 25 * hand if limits else None)
        memory = max(cost.memory for cost in costs.values())
        yield Figure(f"{size}, {form}: memory", f"{memory:.2f} GiB", "< 2 GiB" if limits else "",
                     memory < 2 if limits else None)
        n_bytes, page = os.path.getsize(db), os.path.getsize(folder / f"{form}.html")
        yield Figure(f"{size}, {form}: database", f"{n_bytes / 1e6:.1f} MB", "< 25 MB" if limits else
                     f"{8 * n_bytes / table_size:.2f} bits an outcome, pairs included",
                     n_bytes < 25e6 if limits else None)
        yield Figure(f"{size}, {form}: page", f"{page / 1e6:.2f} MB", "< 3 MB", page < 3e6)
    scipy_off, exact_off, underflowing = deviations(db)
    yield Figure(f"{size}: p-values from {TINY:g} up", f"{scipy_off:.1e}", f"<= {ROUNDING:g} from scipy's binomial",
                 scipy_off <= ROUNDING)
    yield Figure(f"{size}: 1,000 of {underflowing:,} smaller ones", f"{exact_off:.1e}",
                 f"<= {ROUNDING:g} from ln p by whole numbers", exact_off <= ROUNDING)


def correct(systems, items):
    """Right or wrong, [items, systems], by difficulties of items and abilities of systems."""
    rng = np.random.default_rng(7)
    difficulty, ability = rng.normal(size=items), np.linspace(-1, 1, systems)
    found = np.empty((items, systems), dtype=np.uint8)
    for n, hard in enumerate(difficulty):
        found[n] = rng.random(systems) < special.expit(ability - hard)
    return found


@cache
def compiled():
    """The environment of commands whose modules are compiled, as those of an installed package are."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([sys.executable, "-m", "compileall", "-q", ROOT / "registry"], env=environment, check=True)
    return environment


def command(*arguments):
    """Run a command of the registry."""
    return process(sys.executable, "-m", "registry", *arguments)


def process(*arguments):
    """Run a process, and measure it."""
    begun = subprocess.Popen([*map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=compiled())
    said = begun.stderr.read()
    _, status, usage = os.wait4(begun.pid, 0)
    begun.returncode = os.waitstatus_to_exitcode(status)
    assert begun.returncode == 0, said.decode()
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20)


def deviations(db):
    """The largest relative deviation of stored p-values, and of ln p where they underflow, with how many do."""
    with duckdb.connect(db, read_only=True) as connection:
        found = connection.execute(
            "SELECT difference, n_units, n_discordant, p_value, log10_p FROM pair_result").fetchnumpy()
    n, lead = found["n_discordant"], np.rint(found["difference"] * found["n_units"]).astype(int)
    ahead = (n + np.abs(lead)) // 2
    large = found["p_value"] >= TINY
    expected = np.where(lead == 0, 1, np.minimum(1, 2 * stats.binom.sf(ahead - 1, n, 0.5)))
    off = np.abs(found["p_value"][large] / expected[large] - 1).max()
    small = np.flatnonzero(~large)
    some = np.random.default_rng(1).choice(small, min(1000, len(small)), replace=False)
    exact = [abs(found["log10_p"][k] * math.log(10) - ln_tail(int(ahead[k]), int(n[k]))) for k in some.tolist()]
    return float(off), max(exact, default=0.0), len(small)


def ln_tail(ahead, n):
    """Ln of the two-sided p-value of so many of n coins, by whole numbers."""
    term = total = math.comb(n, ahead)
    for k in range(ahead, n):
        term = term * (n - k) // (k + 1)
        total += term
    return math.log(total) + (1 - n) * math.log(2)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        for figure in measured(Path(scratch), int(sys.argv[1]), int(sys.argv[2]), (sys.argv[3:] or ["parquet"])[:1],
                               limits=False):
            print(f"{figure.what}  {figure.measured}  {figure.beside}", flush=True)
