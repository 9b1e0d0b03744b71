"""How often ranks over several test sets hold: `python -m tests.studies.suites.coverage`.

Systems are right or wrong on the items of test sets of many sizes. Either they are equal on each set, or only on
average over all the sets that there might be: what a set adds to a system is random then, and who takes ranks with
other items for ranks with other sets errs. Ranks are missed where not every system may have all of them.
"""

from types import SimpleNamespace

import numpy as np
from scipy.special import ndtri

from registry.studies.suites import Suite
from tests.studies.unstored import case_of, means

RUNS, SYSTEMS = 600, 8
SIZES = {"5 sets of 50": (50,) * 5, "5 sets of 30 to 480": (30, 60, 120, 240, 480), "20 sets of 50": (50,) * 20,
         "3 sets of 100": (100,) * 3}


def suite(rng, sizes, spread):
    """Boards of these sizes; what a set adds to a system's latent quality has this deviation."""
    boards = []
    for items in sizes:
        quality = ndtri(0.7) + spread * rng.standard_normal(SYSTEMS)
        ease = (rng.standard_normal((items, 1)) + rng.standard_normal((items, SYSTEMS))) / np.sqrt(2)
        boards.append(means((ease < quality).astype(float)))
    case = case_of(*boards, resamples=199)
    for board in case.boards:
        board.scores = board.matrix.scores()
        board.key = SimpleNamespace(test_set=board.key.test_set, with_unit=board.key.with_unit)
    return case


def missed(sizes, spread, runs=RUNS):
    """How often ranks are missed: with other items, and with other test sets."""
    rng, found = np.random.default_rng([len(sizes), sum(sizes), round(10 * spread)]), []
    for _ in range(runs):
        rows = Suite().run(suite(rng, sizes, spread)).tables["systems"]
        found.append([any((row[f"{of}_low"], row[f"{of}_high"]) != (1, SYSTEMS) for row in rows)
                      for of in ("items", "sets")])
    return np.mean(found, axis=0)


if __name__ == "__main__":
    print("| test sets | a set's own share | with other items | with other sets |\n| --- | --- | --- | --- |")
    for name, of in SIZES.items():
        for own in (0.0, 0.3):
            print(f"| {name} | {own} | " + " | ".join(f"{n:.3f}" for n in missed(of, own)) + " |", flush=True)
