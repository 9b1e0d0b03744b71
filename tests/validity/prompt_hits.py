"""Of how many boards it is told that some prompts break a system, and how often `crossed` rejects at 5 %.

    python -m tests.validity.prompt_hits [RUNS]

Systems of equal expected scores under the same prompts. A share of the prompts breaks each of them, by 25 times what
systems deviate from prompt to prompt, but for the last system, which none breaks; the first and the last are tested.
"""

import sys

import numpy as np

from registry.significance import Crossed, StatisticMatrix
from registry.significance.diagnostics.samples import find_outlying_levels
from tests.validity.examinations import ALPHA
from tests.validity.populations import ACCURACY, over_one, quotient_of
from tests.validity.run_hits import SETTINGS

ITEMS = 200


def board(latent):
    """Systems by their scores, [items, systems, prompts]."""
    _, systems, prompts = latent.shape
    statistics = over_one(latent, 6)
    return StatisticMatrix(statistics.mean(axis=2), quotient_of(ACCURACY), quotient=ACCURACY,
                           runs=tuple(np.moveaxis(statistics, 1, 0)),
                           factors=(tuple({"prompt": str(n)} for n in range(prompts)),) * systems)


def shares(rng, systems, prompts, share, runs):
    """How often `crossed` rejects, and it is told: of all boards, and of those on which a prompt broke a system."""
    rejected, told, broke = np.zeros((3, runs))
    for at in range(runs):
        noise = [deviation * rng.standard_normal((ITEMS if n < 2 else 1, systems if n != 3 else 1, prompts if n else 1))
                 for n, deviation in enumerate((0.5, 0.5, 0.02, 0.3))]
        fails = rng.random((systems - 1, prompts)) < share
        matrix = board(sum(noise) - np.concatenate([fails, np.full((1, prompts), share)]))
        rejected[at] = Crossed().run(matrix, [(0, systems - 1)], SETTINGS).p_value[0] <= ALPHA
        told[at], broke[at] = find_outlying_levels(matrix) is not None, fails.any()
    return [rejected.mean(), told.mean(), told[broke > 0].mean() if broke.any() else np.nan]


def main(runs=2000):
    """Print the table."""
    rng = np.random.default_rng(1)
    print("| systems | prompts | breaking | `crossed` | told | told where one broke |\n|" + " --- |" * 6)
    for systems, share in ((4, 0.0), (2, 0.1), (4, 0.1)):
        for prompts in (5, 10, 20, 50):
            found = " | ".join(f"{100 * of:.1f}" for of in shares(rng, systems, prompts, share, runs))
            print(f"| {systems} | {prompts} | {100 * share:g} % | {found} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
