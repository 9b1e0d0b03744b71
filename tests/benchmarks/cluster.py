"""Draws, exact tails and scoring by two dask workers of one thread each, beside one and two workers without dask.

A worker is a process of its own, as on another machine, but here they share the processors with the program. So the
gain is seen in seconds only where the machine has nothing else to do; processor time shows it in any case: what dask
adds to the work, and how much of it the busier worker and the program have left, one after the other. Without what
dask's processes take while they are idle, 2 or 3 % of a processor each.
"""

import itertools
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from registry.cli import app
from registry.parallel.execution import Cluster
from registry.significance import Bootstrap, Execution, Permutation, Settings
from tests.benchmarks import bleu, scoring
from tests.benchmarks.figures import Figure
from tests.dask_processes import dask_processes
from tests.running import wait_for
from tests.significance.matrices import F1, matrix

RESAMPLES, SYSTEMS, SENTENCES, TRANSLATIONS, ROUNDS = 200_000, 24, 3000, 8, 1
_IDLE = 5  # seconds


def run():
    """What two workers gain, and that nobody's number or death changes a bit."""
    works = {
        f"bootstrap of BLEU, {bleu.SYSTEMS} systems, {RESAMPLES:,} resamples": ("blocks of draws", _draw),
        f"exact F1, {SYSTEMS} systems, {SENTENCES:,} sentences": ("pairs to count", partial(_count, _spans()))}
    with dask_processes() as processes, tempfile.TemporaryDirectory() as folder:
        _workers(processes, 2)
        figures = [_gain(processes, what, work) for what, (_, work) in works.items()]
        figures.append(_gain(processes, f"BLEU and chrF of {TRANSLATIONS} systems, {scoring.SEGMENTS:,} segments",
                             _Scoring(Path(folder))))
        return figures + [_same(processes, what, *of) for what, of in works.items()]


def _draw(how):
    matrix_, pairs = bleu.matrix(), list(itertools.combinations(range(bleu.SYSTEMS), 2))
    return list(Bootstrap().run(matrix_, pairs, Settings(resamples=RESAMPLES, seed=1, execution=how)))


def _count(spans, how):
    pairs = list(itertools.combinations(range(SYSTEMS), 2))
    return list(Permutation().run(matrix(spans, F1), pairs, Settings(execution=how, family=len(pairs))))


def _spans():
    """Sentences of some entities, of which systems find most, and some others."""
    rng = np.random.default_rng(4)
    gold = rng.poisson(2, (SENTENCES, 1))
    right = rng.binomial(gold, 0.8 + 0.004 * np.arange(SYSTEMS))
    return np.stack([right, right + rng.poisson(0.3, right.shape), np.broadcast_to(gold, right.shape)], axis=-1)


class _Scoring:
    """`registry score` of translations, in a new registry each time; gives what is in it."""

    def __init__(self, folder):
        self.folder, self.n = folder, 0
        reference, systems = scoring.corpus()
        files = {f"{n:02}.txt": system for n, system in enumerate(systems[:TRANSLATIONS])} | {"gold": reference}
        for file, lines in files.items():
            (folder / file).write_text("".join(f"{line}\n" for line in lines))
        (folder / "task.toml").write_text(scoring.MANIFEST)

    def __call__(self, how):
        self.n += 1
        db, by = self.folder / f"{self.n}.duckdb", ("--dask", how.cluster.address) if how.cluster else ()
        _command("apply", self.folder / "task.toml", "--db", db)
        _command("score", "--db", db, "--workers", how.threads, *by)
        return _command("query", "SELECT team, system, metric, item, score FROM item_score ORDER BY ALL", "--db", db,
                        "--format", "json")


def _command(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False).stdout


def _gain(processes, what, work):
    """Seconds alone, by two threads or processes, and by two dask workers; processor time alone and by these."""
    before = processes.seconds()
    time.sleep(_IDLE)
    idle = [(now - then) / _IDLE for now, then in zip(processes.seconds(), before, strict=True)]
    alone, two = Execution(workers=1), Execution(workers=2, processes=True)
    took, used, shares, found = {}, {}, [], {}
    with Cluster(processes.address) as cluster:
        for n in range(ROUNDS + 1):  # one to warm up
            for name, how in (("alone", alone), ("two", two), ("dask", Execution(workers=1, cluster=cluster))):
                before, here, begun = processes.seconds(), time.process_time(), time.perf_counter()
                found[name] = work(how)
                wall, here = time.perf_counter() - begun, time.process_time() - here
                if n:
                    of_each = [max(0.0, now - then - wall * rest)
                               for now, then, rest in zip(processes.seconds(), before, idle, strict=True)]
                    took.setdefault(name, []).append(wall)
                    used.setdefault(name, []).append(here + sum(of_each))
                    shares += [here + max(of_each[1:])] if name == "dask" else []
    same = found["alone"] == found["two"] == found["dask"]
    took, used = ({name: statistics.median(each) for name, each in of.items()} for of in (took, used))
    overhead, left = used["dask"] / used["alone"], used["alone"] / statistics.median(shares)
    return Figure(
        f"two dask workers: {what}", f"{took['dask']:.1f} s, CPU {used['dask']:.1f} s",
        f"one worker {took['alone']:.1f} s, CPU {used['alone']:.1f} s; two {took['two']:.1f} s; CPU "
        f"<= 1.25 x: {overhead:.2f}; gain by CPU {left:.2f}", same and overhead <= 1.25)


def _same(processes, what, stage, work):
    """Whether one, two and four workers give the same results, and two and four of which one is killed halfway."""
    expected, equal = work(Execution(workers=1)), []
    for n, dies in ((1, False), (2, False), (4, False), (2, True), (4, True)):
        _workers(processes, n)
        killed = []

        def kill(told, done, of, killed=killed):
            if told == stage and done >= of / 2 and not killed:
                processes.kill(1)
                killed.append(done)

        with Cluster(processes.address) as cluster:
            found = work(Execution(workers=1, cluster=cluster, progress=kill if dies else None))
        equal.append(found == expected and bool(killed) == dies)
    return Figure(f"  {what}: 1, 2 and 4 workers, one of 2 and of 4 killed", " ".join("same" if e else "OTHER"
                  for e in equal), "the same bits", all(equal))


def _workers(processes, n):
    """Have just so many workers, all there."""
    processes.kill(max(0, len(processes.workers) - n))
    processes.start(n - len(processes.workers))
    with Cluster(processes.address) as cluster:
        wait_for(lambda: cluster.threads == n, 120)
