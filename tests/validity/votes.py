"""How often tests of strengths from votes err, if votes of one voter and votes on one prompt are dependent.

    python -m tests.validity.votes [RUNS]

A run is a set of votes. A pair errs if the 95 % interval excludes the true difference. Rank sets err if they call a
system better than one that is as good or better. The rules count votes as units, voters as units, and voters crossed
with prompts.
"""

import sys
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from registry.significance import Settings
from registry.significance.joint.votes import Votes, fit_bradley_terry
from tests.validity.examinations import ALPHA, HERE

DRAWS = 999
RULES = {"votes": (), "voters": ("voter",), "crossed": ("voter", "prompt")}


@dataclass(frozen=True)
class VotePopulation:
    """Where votes come from.

    Voters and prompts favour some systems, so votes are dependent. The model of Bradley and Terry is true of each
    single vote.

    Attributes:
        name: What it is, for the table.
        strengths: True strengths.
        votes, voters, prompts: How many there are.
        by_voter, by_prompt: Shares of the variance of a vote that come from tastes of the voter and from the prompt.
        uneven: Exponent of the decreasing shares of voters, prompts and systems in the votes; 0 if all are equal.
        ties: Tie parameter of Davidson's model, which is then fitted; 0: there are no ties.
        adaptive: Whether systems that have won more often get more votes.
        newcomer: Factor of the share of the last system in the votes.
    """

    name: str
    strengths: tuple[float, ...]
    votes: int
    voters: int
    prompts: int
    by_voter: float = 0.15
    by_prompt: float = 0.15
    uneven: float = 0.0
    ties: float = 0.0
    adaptive: bool = False
    newcomer: float = 1.0

    def draw(self, rng):
        """Draw votes."""
        k, n = len(self.strengths), self.votes
        voter, prompt = (rng.choice(m, n, p=self.shares(m)) for m in (self.voters, self.prompts))
        tastes, fit = rng.standard_normal((self.voters, k)), rng.standard_normal((self.prompts, k))
        own, strengths = rng.standard_normal(n), np.array(self.strengths)

        def judge(some, a, b):
            latent = (np.sqrt(self.by_voter / 2) * (tastes[voter[some], a] - tastes[voter[some], b])
                      + np.sqrt(self.by_prompt / 2) * (fit[prompt[some], a] - fit[prompt[some], b])
                      + np.sqrt(1 - self.by_voter - self.by_prompt) * own[some])
            half = (strengths[a] - strengths[b]) / 2
            win, loss = (np.exp(side) / (np.exp(half) + np.exp(-half) + self.ties) for side in (half, -half))
            level = special.ndtr(latent)
            return np.where(level > 1 - win, 1.0, np.where(level < loss, 0.0, 0.5))

        shares = self.shares(k) * np.append(np.ones(k - 1), self.newcomer)
        a, b = self.draw_pairs(rng, n, shares / shares.sum())
        outcomes = judge(np.arange(n), a, b)
        if self.adaptive:
            half = n // 2
            rates = np.bincount(a[:half], outcomes[:half], k) + np.bincount(b[:half], 1 - outcomes[:half], k)
            shares = np.exp(4 * rates / np.bincount(np.append(a[:half], b[:half]), minlength=k))
            a[half:], b[half:] = self.draw_pairs(rng, n - half, shares / shares.sum())
            outcomes[half:] = judge(np.arange(half, n), a[half:], b[half:])
        return Votes(a, b, outcomes, k, groups={"voter": voter, "prompt": prompt})

    def shares(self, n):
        """Shares of some voters, prompts or systems in the votes."""
        shares = np.arange(1, n + 1) ** -self.uneven
        return shares / shares.sum()

    @staticmethod
    def draw_pairs(rng, n, shares):
        """Draw pairs of different systems."""
        a, b = rng.choice(len(shares), (2, n), p=shares)
        while (same := a == b).any():
            b[same] = rng.choice(len(shares), same.sum(), p=shares)
        return a, b


def equal(k):
    return (0.0,) * k


def spread(k, width=2.0):
    """Strengths of pairs of equal systems."""
    return tuple(np.repeat(np.linspace(-width / 2, width / 2, -(-k // 2)), 2)[:k].tolist())


POPULATIONS = (
    VotePopulation("5 equal systems, 20 voters, 40 prompts", equal(5), 600, 20, 40),
    VotePopulation("5 systems, uneven", spread(5), 800, 20, 60, uneven=0.7),
    VotePopulation("5 equal systems, 8 voters", equal(5), 600, 8, 100),
    VotePopulation("20 equal systems, 40 voters, 80 prompts", equal(20), 3000, 40, 80),
    VotePopulation("20 systems, uneven", spread(20), 4000, 40, 100, uneven=0.7),
    VotePopulation("20 systems, 400 voters, 600 prompts, uneven", spread(20), 6000, 400, 600, uneven=0.7),
    VotePopulation("20 systems, strong voters", spread(20), 4000, 40, 100, by_voter=0.3, by_prompt=0.1),
    VotePopulation("20 systems, strong prompts", spread(20), 4000, 100, 40, by_voter=0.1, by_prompt=0.3),
    VotePopulation("20 systems, ties", spread(20), 4000, 40, 100, ties=0.7),
    VotePopulation("20 systems, adaptive", spread(20), 4000, 40, 100, adaptive=True),
    VotePopulation("20 systems, near separation", spread(20, 8.0), 2000, 40, 100),
    VotePopulation("20 systems, 400 voters, 600 prompts, a newcomer", spread(20), 6000, 400, 600, newcomer=0.08),
    VotePopulation("100 systems, 300 voters, 500 prompts", spread(100), 20_000, 300, 500),
)


def count_errors(population, rng):
    """Return, for each rule, the shares of pairs and of pairs of the last system that err, and whether rank sets do."""
    votes = population.draw(rng)
    strengths = np.array(population.strengths)
    a, b = np.triu_indices(len(strengths), 1)
    fit = fit_bradley_terry(votes, ties="davidson" if population.ties else "half")
    settings = Settings(resamples=DRAWS, seed=int(rng.integers(2**32)), execution=HERE)
    for kinds in RULES.values():
        estimates = replace(fit.strengths, groups={kind: fit.strengths.groups[kind] for kind in kinds})
        pairs = replace(fit, strengths=estimates).compare(a, b, confidence=1 - ALPHA)
        true = strengths[a] - strengths[b]
        errs = np.where(np.isfinite(pairs.low), (pairs.low > true) | (true > pairs.high), np.nan)
        wins = estimates.compute_rank_sets(settings, alpha=ALPHA).wins
        yield *map(average, (errs, errs[b == b.max()])), wins[strengths[:, None] <= strengths].any()


def average(values):
    """Return the mean of the defined values, or nan."""
    defined = values[np.isfinite(values)]
    return defined.mean() if len(defined) else np.nan


def main(runs=400):
    """Print the table."""
    columns = [f"{what}: {rule}" for what in ("pairs", "pairs of the last system", "rank sets") for rule in RULES]
    print("| population | " + " | ".join(columns) + " |\n" + "| --- " * (1 + len(columns)) + "|")
    for n, population in enumerate(POPULATIONS):
        rng = np.random.default_rng([20271205, n])
        rates = 100 * np.nanmean([list(count_errors(population, rng)) for _ in range(runs)], axis=0)
        print(f"| {population.name} | " + " | ".join(f"{rate:.1f} %" for rate in rates.T.ravel()) + " |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
