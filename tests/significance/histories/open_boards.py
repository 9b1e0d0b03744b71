"""How often a history of 200 submissions has a false new best: `python -m tests.significance.histories.open_boards`.

Of histories that are fixed beforehand, and of submitters who look at what is shown of earlier submissions. These know
nothing of the items, whose two labels are coins: all that they submit is as good as chance, and every new best is a
false one. `vote` submits random answers, and at the end what most of those say that seemed better than chance (or than
those before). `climber` flips the answers to random items of what is shown as the best, and at the end those that were
seldom among flips that failed.

P-values are those of one-sided exact sign tests, the largest against all earlier submissions.
"""

import zlib

import numpy as np
from scipy.stats import binom

from registry.significance.histories import find_new_bests, find_new_bests_by_ladder, run_ladder, run_ladder_by_errors

SUBMISSIONS, ALPHA, ITEMS = 200, 0.05, 1000
RUNS = 1000


def log_p_values(right, solved=None):
    """Of answers that are right or wrong, [submissions, items], in the order of time; 0 for one that is no record.

    `solved` is the number of further items that each has right, as have all that are better.
    """
    solved = np.zeros(len(right), dtype=int) if solved is None else solved
    found, scores = np.zeros(len(right)), right.sum(axis=1) + solved
    for n in range(1, len(right)):
        if scores[n] > scores[:n].max():
            won = (right[n] & ~right[:n]).sum(axis=1) + np.maximum(solved[n] - solved[:n], 0)
            lost = (~right[n] & right[:n]).sum(axis=1) + np.maximum(solved[:n] - solved[n], 0)
            found[n] = binom.logsf(won - 1, won + lost, 0.5).max()
    return found


def independent(rng):
    """Submissions of the same quality that have half of what makes an item easy in common."""
    ease = rng.standard_normal(ITEMS) + rng.standard_normal((SUBMISSIONS, ITEMS))
    return ease < 0.74, np.zeros(SUBMISSIONS, dtype=int)


def revised(rng):
    """Each is the one before with the answers to a tenth of the items made anew, as well as before."""
    answers = rng.random(ITEMS) < 0.7
    found = []
    for _ in range(SUBMISSIONS):
        anew = rng.random(ITEMS) < 0.1
        answers = np.where(anew, rng.random(ITEMS) < 0.7, answers)
        found.append(answers)
    return np.array(found), np.zeros(SUBMISSIONS, dtype=int)


def stairs(rng):
    """Every other one is far better than all before, and the one after it is as good: the most that can go wrong."""
    return rng.random((SUBMISSIONS, ITEMS)) < 0.5, 300 * (np.arange(SUBMISSIONS) // 2)


def slopes(rng):
    """Every twentieth is better by six standard errors of a difference, and those after it are as good."""
    return rng.random((SUBMISSIONS, ITEMS)) < 0.5, 134 * (np.arange(SUBMISSIONS) // 20)


def vote(rng, shown):
    """Random answers, and at last the majority of those that were seen to be good; `shown` are the scores seen."""
    right = rng.random((SUBMISSIONS - 1, ITEMS)) < 0.5
    seen = shown(right)
    weights = np.sign(seen - 0.5) if seen.dtype == float else seen.astype(float)
    votes = (2.0 * right - 1).T @ weights
    return np.vstack([right, np.where(votes == 0, rng.random(ITEMS) < 0.5, votes > 0)])


def climber(rng, step):
    """From the best that the Ladder has shown to random changes of it, and at last against those that failed.

    With a step, scores must rise by more than it; without, by the standard error of the difference. Changes are as
    large as raise the score most often.
    """
    best = rng.random(ITEMS) < 0.5
    found, failed = [best], np.zeros(ITEMS)
    for _ in range(SUBMISSIONS - 2):
        flips = rng.random(ITEMS) < (0.3 if step else 0.03)
        tried = best ^ flips
        found.append(tried)
        if tried.sum() - best.sum() > (step * ITEMS if step else np.sqrt(flips.sum())):
            best = tried
        else:
            failed += flips
    return np.vstack([found, best ^ (failed <= np.quantile(failed, 0.1))])


def shown_by(right, step):
    """What the Ladder shows of submissions."""
    scores = right.mean(axis=1)
    if step:
        return run_ladder(scores, step)
    return run_ladder_by_errors(
        scores, lambda n, at: float((1.0 * right[n] - right[at]).std()) / np.sqrt(ITEMS), 1 / ITEMS)


def of_fixed(draw, runs=RUNS):
    """How often any submission is a false new best, and what share of the true ones is found."""
    rng = np.random.default_rng(zlib.crc32(draw.__name__.encode()))
    false, true = [], []
    for _ in range(runs):
        right, solved = draw(rng)
        better = np.append(False, np.diff(solved) > 0)
        declared = find_new_bests(log_p_values(right, solved), ALPHA, SUBMISSIONS).declared
        false.append((declared & ~better).any())
        true += declared[better].tolist()
    return np.mean(false), np.mean(true) if true else np.nan


def of_adaptive(attack, step, runs=RUNS):
    """How often there is a false new best where these attack: at the levels of fixed histories, and at the Ladder's.

    `step` is the Ladder's; 0: by standard errors; None: all scores are shown.
    """
    rng = np.random.default_rng(zlib.crc32(f"{attack.__name__} {step}".encode()))
    found = []
    for _ in range(runs):
        if attack is vote:
            right = vote(rng, lambda of: of.mean(axis=1) if step is None else shown_by(of, step).raised)
        else:
            right = climber(rng, step)
        log_p = log_p_values(right)
        row = [find_new_bests(log_p, ALPHA, SUBMISSIONS).declared.any(), np.nan, np.nan]
        if step is not None:
            raised = shown_by(right, step).raised
            values = round(1 / step) + 1 if step else ITEMS + 1
            row[1:] = find_new_bests_by_ladder(log_p, raised, ALPHA, SUBMISSIONS, values).declared.any(), raised.sum()
        found.append(row)
    return np.mean(found, axis=0)


def main():
    """Print both tables."""
    print("| fixed beforehand | a false new best | true ones found |\n| --- | --- | --- |")
    for draw in (independent, revised, stairs, slopes):
        print(f"| {draw.__name__} | " + " | ".join(f"{of:.3f}" for of in of_fixed(draw)) + " |", flush=True)
    print("\n| submitter | shown | a false new best | at the Ladder's levels | values shown |\n"
          "| --- | --- | --- | --- | --- |")
    for attack, step in ((vote, None), (vote, 0.02), (vote, 0), (climber, 0.02), (climber, 0.05), (climber, 0)):
        said = "all scores" if step is None else f"Ladder, step {step}" if step else "Ladder by standard errors"
        fixed, own, values = of_adaptive(attack, step)
        print(f"| {attack.__name__} | {said} | {fixed:.3f} | {own:.3f} | {values:.1f} |", flush=True)


if __name__ == "__main__":
    main()
