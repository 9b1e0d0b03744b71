"""Two systems on 400 items that a judge has scored, and people 60 of them; and what ppi-python says of these.

`PYTHONPATH=. python tests/studies/judged_items.py` prints that, where ppi-python 0.2.3 is installed.
"""

import random

ITEMS, LABELLED = 400, 60
# how far systems are from each other for people, how much the judge adds to what it sees, and how far it errs
SYSTEMS = {"aspen": (0.0, 0.02, 0.15), "birch": (-0.05, 0.1, 0.15)}


def scores():
    """What people say and what the judge says of every item, by system, with two decimals."""
    rng = random.Random(21)

    def near(middle, width):
        return middle + width * (sum(rng.random() for _ in range(12)) - 6)

    quality = [near(0.5, 0.2) for _ in range(ITEMS)]
    human = {s: [round(near(q + shift, 0.1), 2) for q in quality] for s, (shift, *_) in SYSTEMS.items()}
    judge = {s: [round(near(y + bias, width), 2) for y in human[s]] for s, (_, bias, width) in SYSTEMS.items()}
    return human, judge


def main():
    """Print what ppi-python finds."""
    import numpy as np
    import ppi_py

    human, judge = ({s: np.array(of) for s, of in by.items()} for by in scores())
    apart = [of["aspen"] - of["birch"] for of in (human, judge)]
    for name, y, f in [*((s, human[s], judge[s]) for s in SYSTEMS), ("aspen less birch", *apart)]:
        of = y[:LABELLED], f[:LABELLED], f[LABELLED:]
        print(name, *(np.ravel(x).tolist() for x in (
            ppi_py.ppi_mean_pointestimate(*of), ppi_py.ppi_mean_ci(*of, alpha=0.05), ppi_py.ppi_mean_pval(*of))))
        every = y[:LABELLED], f[:LABELLED], f
        w = np.where(np.arange(LABELLED) % 3, 2.0, 5.0)
        print(" slope 1", *ppi_py.ppi_mean_pointestimate(*every, lam=1).tolist(), "slope 0.7, weighted",
              *ppi_py.ppi_mean_pointestimate(*every, lam=0.7, w=w).tolist())


if __name__ == "__main__":
    main()
