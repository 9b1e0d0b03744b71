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
