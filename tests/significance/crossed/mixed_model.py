"""The variance components of SCORES by statsmodels: `python -m tests.significance.crossed.mixed_model`.

It needs statsmodels, which nothing else here does. REML gives those of moments where data are balanced and none is
negative.
"""

import numpy as np

SCORES = np.array([[5, 6, 4], [7, 9, 7], [4, 4, 3], [6, 8, 5], [7, 7, 7], [5, 6, 3.]])  # of items in runs
MIXED_MODEL = (2.1778, 0.7667, 0.4556)  # of items, runs and what is left, by statsmodels 0.15.0


def main():
    """Print the components of items, runs and what is left, by REML."""
    from pandas import DataFrame
    from statsmodels.regression.mixed_linear_model import MixedLM

    n, m = SCORES.shape
    data = DataFrame({"score": SCORES.ravel(), "item": np.repeat(np.arange(n), m), "run": np.tile(np.arange(m), n),
                      "all": 1})
    formulas = {"item": "0 + C(item)", "run": "0 + C(run)"}
    fit = MixedLM.from_formula("score ~ 1", data, groups="all", re_formula="0", vc_formula=formulas).fit(reml=True)
    print(dict(zip(fit.model.exog_vc.names, fit.vcomp.round(4), strict=True)), "residual", round(fit.scale, 4))


if __name__ == "__main__":
    main()
