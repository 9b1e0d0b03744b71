"""Strengths of 200 systems from 10^6 votes of 100,000 voters on 300,000 prompts: errors, all pairs and rank sets.

arena-rank and evalica are timed on the same votes if they are installed. arena-rank treats votes as independent and has
intervals of the strengths; evalica has only strengths. Seconds are processor time.
"""

import resource
import time
from importlib.util import find_spec

import numpy as np
from scipy import special

from registry.significance import Settings
from registry.significance.joint.votes import Votes, fit_bradley_terry
from tests.benchmarks.figures import Figure

SYSTEMS, VOTES, VOTERS, PROMPTS, DRAWS = 200, 1_000_000, 100_000, 300_000, 1000
WHAT = f"{VOTES:,} votes on {SYSTEMS} systems"


def run():
    """Each step, then all steps together, then other programs."""
    votes = draw()
    fit, fitting = measure(lambda: fit_bradley_terry(votes))
    _, errors = measure(lambda: fit.strengths.squared_errors)
    a, b = np.triu_indices(SYSTEMS, 1)
    _, pairs = measure(lambda: fit.compare(a, b))
    _, ranks = measure(lambda: fit.strengths.compute_rank_sets(Settings(resamples=DRAWS, seed=1)))
    total = fitting + errors + pairs + ranks
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    yield Figure(f"{WHAT}: fit", f"{fitting:.1f} s", "")
    yield Figure(f"{WHAT}: errors by voter and prompt", f"{errors:.1f} s", "")
    yield Figure(f"{WHAT}: {len(a):,} pairs", f"{pairs:.1f} s", "")
    yield Figure(f"{WHAT}: rank sets with {DRAWS:,} draws", f"{ranks:.1f} s", "")
    yield Figure(f"{WHAT}: together", f"{total:.1f} s", "<= 60 s", total <= 60)
    yield Figure(f"{WHAT}: peak memory, with the votes", f"{peak:.2f} GB", "<= 2 GB", peak <= 2)
    yield from time_peers(votes, fit.strengths.scores)


def measure(work):
    """Return a result and the seconds of processor time that it takes."""
    start = time.process_time()
    return work(), time.process_time() - start


def draw():
    """Votes on frequent and rare systems, by frequent and rare voters."""
    rng = np.random.default_rng(60)
    strengths, shares = rng.normal(0, 0.6, SYSTEMS), rng.dirichlet(np.ones(SYSTEMS))
    a = rng.choice(SYSTEMS, VOTES, p=shares)
    b = (a + rng.integers(1, SYSTEMS, VOTES)) % SYSTEMS
    is_win = rng.random(VOTES) < special.expit(strengths[a] - strengths[b])
    outcomes = np.where(rng.random(VOTES) < 0.2, 0.5, is_win.astype(float))
    by_voter = np.arange(1, VOTERS + 1) ** -0.8
    voters = rng.choice(VOTERS, VOTES, p=by_voter / by_voter.sum())
    return Votes(a, b, outcomes, SYSTEMS, groups={"voter": voters, "prompt": rng.integers(0, PROMPTS, VOTES)})


def time_peers(votes, scores):
    """Fits by other programs, which have to find the same strengths."""
    names = np.array([f"s{n:03}" for n in range(SYSTEMS)])
    if find_spec("arena_rank"):
        import pandas as pd
        from arena_rank.models.bradley_terry import BradleyTerry
        from arena_rank.utils.data_utils import PairDataset

        table = pd.DataFrame({"model_a": names[votes.a], "model_b": names[votes.b], "winner": np.select(
            [votes.outcomes == 1, votes.outcomes == 0], ["model_a", "model_b"], "tie")})
        result, seconds = measure(lambda: BradleyTerry(SYSTEMS).compute_ratings_and_cis(PairDataset.from_pandas(table)))
        theirs = np.array(result["ratings"]) * np.log(10) / 400
        apart = np.abs(theirs - theirs.mean() - scores).max()
        yield Figure(f"{WHAT}: arena-rank", f"{seconds:.1f} s", f"strengths differ by at most {apart:.1g}")
    if find_spec("evalica"):
        import evalica

        winners = np.select([votes.outcomes == 1, votes.outcomes == 0], [evalica.Winner.X, evalica.Winner.Y],
                            evalica.Winner.Draw).tolist()
        result, seconds = measure(lambda: evalica.bradley_terry(
            names[votes.a].tolist(), names[votes.b].tolist(), winners, tolerance=1e-10, limit=1000))
        theirs = np.log(result.scores.loc[names].to_numpy())
        apart = np.abs(theirs - theirs.mean() - scores).max()
        yield Figure(f"{WHAT}: evalica", f"{seconds:.1f} s", f"strengths differ by at most {apart:.1g}")
