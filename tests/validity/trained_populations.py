"""Populations of systems that are each trained several times."""

import numpy as np

from tests.validity.populations import correlated, over_one, ratio


def trained(units, trainings, gain=0.0, spread=0.15):
    """Right or wrong answers of systems that are each trained several times, and come out better or worse by chance.

    `gain` is what the first is better by, and `spread` how much a training differs, both in deviations of latent ease.
    """
    def draw(rng, runs):
        ease = correlated(rng, (runs, units, 2 * trainings), 0.5)
        skill = spread * rng.standard_normal((runs, 1, 2 * trainings)) + np.repeat([gain, 0.0], trainings)
        return over_one((ease < 0.5 + skill).astype(float))

    return ratio(f"systems trained {trainings} times, {units} items", (gain, 0.0), draw, trainings=trainings)


def retrained(units, trainings, spread=0.5, own=0.5, graded=True):
    """Systems that are each trained several times and that are good at items of their own, as all their runs are.

    `spread` is how much trainings of either system differ as a whole, or those of each.

    What is left of a latent score when items (1/2) and the system's own ones (1/2 times `own`) are taken away is chance
    in a run. Scores are latent ones in thousandths, or right where these are below 0.5.
    """
    def draw(rng, runs):
        of_items, of_systems, of_runs = (rng.standard_normal((runs, units, n)) for n in (1, 2, 2 * trainings))
        latent = np.sqrt(0.5) * (of_items + np.sqrt(own) * np.repeat(of_systems, trainings, axis=2)
                                 + np.sqrt(1 - own) * of_runs)
        latent += np.repeat(np.broadcast_to(spread, 2), trainings) * rng.standard_normal((runs, 1, 2 * trainings))
        return over_one(np.rint(1000 * latent) if graded else (latent < 0.5).astype(float))

    kind = "graded" if graded else "right or wrong"
    return ratio(f"{trainings} trainings, {kind}, own items, {units} items", (0.0, 0.0), draw, trainings=trainings)


def prompted(units, prompts, trainings):
    """Systems that are trained several times and asked with the same prompts, one of which suits one more by chance.

    Without trainings it is the seeds of training that systems share, and that suit one more.
    """
    shared = "prompt" if trainings else "seed"
    sizes = (1, units, 2, prompts, max(1, trainings))
    factors = tuple({shared: str(n), **({"run": str(run)} if trainings else {})}
                    for n in range(prompts) for run in range(sizes[4]))

    def draw(rng, runs):
        def effect(deviation, *axes):
            return deviation * rng.standard_normal(
                [runs, *(size if axis in axes else 1 for axis, size in enumerate(sizes) if axis)])

        latent = (effect(0.7, 1) + effect(0.5, 1, 2) + effect(0.4, 2, 3) + effect(0.5, 1, 2, 3) + effect(0.5, 3)
                  + (effect(0.3, 2, 4) if trainings else 0) + effect(0.7, 1, 2, 3, 4))
        return over_one(latent.reshape(runs, units, -1), 3)

    of = f"{prompts} {shared}s" + (f", {trainings} trainings" if trainings else "")
    return ratio(f"{of}, own items, {units} items", (0.0, 0.0), draw, trainings=len(factors), factors=factors)
