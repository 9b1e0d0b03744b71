"""What a comparison supports and what it does not, in plain sentences."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from registry.arrays import Flags
from registry.errors import counted
from registry.evaluation.submissions.erase import PURGED
from registry.leaderboards.comparison import Comparison
from registry.leaderboards.decisions import Decisions
from registry.leaderboards.directions import takes_observed
from registry.leaderboards.leaderboard import Ranks
from registry.rendering.table import p_value
from registry.significance import CORRECTIONS, TESTS, Crossed, Permutation, PredictionPowered
from registry.significance.cautions.evidence import in_pairs
from registry.significance.cautions.judges import FAVOURED, RARE
from registry.significance.cautions.rare_classes import RARE_CLASSES, RARE_IN_CLUSTERS, RARELY_WRONG
from registry.significance.cautions.seldom import HARDLY_WRONG, SELDOM
from registry.significance.cautions.unlike_samples import UNEVEN_RUNS, UNEVEN_SAMPLES, UNLIKE_SAMPLES
from registry.significance.cautions.weak_null import CAUTIONS
from registry.significance.correlations import ALIKE
from registry.significance.multiple import (
    count_required_draws,
    count_required_units,
    explain_too_few_runs,
    explain_too_few_units,
)
from registry.significance.pairwise.williams import NOT_NORMAL
from registry.values import parse

_GROUPS, _PLACES = 4, 12  # that one sentence names
_OF_RANKS: dict[Ranks, tuple[str, ...]] = {  # what conventions of ranks say, beside the decisions
    "range": (), "cluster": (),
    "neighbour": ("Ranges of neighbours end at the nearest systems that differ significantly, whether or not those "
                  "beyond do.",),
    "simultaneous": ("Simultaneous ranks and their clusters rest on a test of their own, of all differences at once: "
                     "it can leave open what the p-value of a pair decides, and decide what that leaves open.",),
    "bootstrap": ("Resampled ranks and their clusters say what resamples mostly give, and test nothing: they can part "
                  "systems that are not separable.",)}


def sentences(of: Comparison, runs: Sequence[int], pairs: Decisions, share: float = 1.0,
              ranks: Ranks = "range", request: str = "{}") -> tuple[str, ...]:
    """Say what a comparison supports.

    Args:
        of: The comparison.
        runs: How many each system has.
        pairs: What was decided.
        share: Of alpha, what boards of the same items have of their family's where joint draws are adjusted.
        ranks: The convention of the ranks that people see.
        request: The recorded request of the comparison as JSON, with the notes that chance explains.
    """
    if of.n_systems == 1:
        return ("One system: there is nothing to compare.",)
    said = [_counted(of, int(pairs.significant.sum()), ranks), *_OF_RANKS[ranks]]
    if of.unit != "cluster" and of.cluster is not None:
        said.append(f'{of.unit.capitalize()}s of one {of.cluster} are tested as if they were independent (unit = '
                    f'"{of.unit}"): p-values may be too small, and intervals too narrow.')
    if of.family_size > 1 and (condition := CORRECTIONS[of.correction].holds_if):
        said.append(condition)
    if of.overall is not None and of.degrees is not None:
        said.append(f"All systems at once: {of.overall} {of.statistic:.2f} with "
                    f"{counted(of.degrees, 'degree')} of freedom, p = {p_value(of.p_value)}.")
    if unresolved := int((pairs.numbers("resolved") == 0).sum()):
        said.append(f"{unresolved} of these decisions {'hangs' if unresolved == 1 else 'hang'} on Monte-Carlo error: "
                    "draw more with --resamples or --resolve.")
    notes = Counter(pairs.columns["note"].tolist())
    by_chance = json.loads(request).get("chance_notes", ())
    gone = pairs.columns["note"] == PURGED  # p-values that were there, and nothing else was said of
    if undefined := pairs.columns["note"][np.isnan(pairs.numbers("p_value")) & ~gone].tolist():
        why = undefined[0] if len(set(undefined)) == 1 else "registry pairs --format json says why"
        are = counted(len(undefined), "p-value is", "p-values are")
        said.append(f"{are} undefined, which counts as not significant: {why}.")
    among = "without the purged team " if gone.any() else ""
    said += [f"{_capital(in_pairs(told, notes.total() - int(gone.sum()), among + caution))}."
             for caution in (*CAUTIONS, SELDOM, HARDLY_WRONG, RARE_CLASSES, RARE_IN_CLUSTERS, RARELY_WRONG,
                             UNEVEN_SAMPLES, UNLIKE_SAMPLES, UNEVEN_RUNS, NOT_NORMAL, ALIKE, FAVOURED, RARE)
             if caution not in by_chance and (told := sum(times for note, times in notes.items() if caution in note))]
    if isinstance(parse("test", TESTS, of.test), PredictionPowered):
        said.append("Each difference is corrected by the judge with a slope of its own, so it is not quite that of the "
                    "two scores.")
    return (*said, *_of_runs(of, runs), *(_hopeless(of, runs) or _few_draws(of, pairs, share)))


def _of_runs(of: Comparison, runs: Sequence[int]) -> Sequence[str]:
    """Say of which runs and items conclusions do not hold, where systems have several runs."""
    if max(runs) == 1:
        return ()
    test = parse("test", TESTS, of.test)
    if of.runs == "fixed" or (isinstance(test, Crossed) and test.over == "items"):
        return ("These conclusions hold for these very runs: another training may come out otherwise.",)
    if isinstance(test, Permutation) or (isinstance(test, Crossed) and test.over == "runs"):
        return ("These conclusions hold for these very items: others may favour another system.",)
    if isinstance(test, Crossed) and test.over != "all":
        return (f"These conclusions hold for other {test.over} with these very items and runs.",)
    return ()


def _counted(of: Comparison, won: int, ranks: Ranks) -> str:
    """How many differences are significant, by what."""
    correction = CORRECTIONS[of.correction]
    corrected = "uncorrected" if of.correction == "none" else f"after {correction.title}"
    level = "a false discovery rate of " if correction.controls == "false discovery rate" else ""
    which = {"range": "; rank ranges are descriptive", "cluster": "; clusters are descriptive"}.get(ranks, "")
    sure = "" if correction.controls == "family-wise error" and not takes_observed(of) else which
    units = tested_over(of, counted(of.n_units, of.unit))
    return (f"{are_significant(won, math.comb(of.n_systems, 2))} at {level}{of.alpha:g} {corrected} ({of.test} "
            f"over {units}{_sided(of)}){sure}.")


def tested_over(of: Comparison, units: str) -> str:
    """What a comparison takes for a sample: these units, the runs of systems, or both."""
    if of.runs == "fixed":
        return units
    test = parse("test", TESTS, of.test)
    over = test.over if isinstance(test, Crossed) else "runs" if isinstance(test, Permutation) else "all"
    return {"all": f"{units} and runs", "items": units, "runs": "whole runs"}.get(over, over)


def are_significant(won: int, differences: int) -> str:
    """Say how many differences are significant.

    >>> [are_significant(won, 1) for won in (0, 1)]
    ['The one difference is not significant', 'The one difference is significant']
    >>> [are_significant(won, 6) for won in (0, 1)]
    ['None of 6 differences is significant', '1 of 6 differences is significant']
    >>> [are_significant(won, 6) for won in (5, 6)]
    ['5 of 6 differences are significant', 'All 6 differences are significant']
    """
    if differences == 1:
        return f"The one difference is {'' if won else 'not '}significant"
    if won == differences:
        return f"All {won} differences are significant"
    return f"{won or 'None'} of {differences} differences {'is' if won < 2 else 'are'} significant"


def _sided(of: Comparison) -> str:
    if takes_observed(of):
        return ", one-sided in the observed direction"
    return "" if of.alternative == "two-sided" else ", one-sided where declared"


def _hopeless(of: Comparison, runs: Sequence[int]) -> Sequence[str]:
    """Say that no difference can be significant, where so few units or runs leave no p-value that is small enough."""
    if not parse("test", TESTS, of.test).swaps_units:
        return ()
    own = math.comb(of.n_systems, 2)  # of the family's other boards, all significant at best
    pairs = of.family_size if of.correction == "bonferroni" else own
    if of.runs != "random":
        needed = count_required_units(pairs, of.correction, of.alpha, two_sided=not _sided(of))
        return () if of.n_units >= needed else (
            explain_too_few_units(of.n_units, needed, of.unit, two_sided=not _sided(of)),)
    said = explain_too_few_runs(runs, pairs, of.correction, of.alpha, two_sided=not _sided(of))
    return () if said is None else (said,)


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _few_draws(of: Comparison, pairs: Decisions, share: float) -> Sequence[str]:
    """Say that no drawn difference can be significant, where the corrected p-values of so few draws are too large."""
    p = pairs.numbers("p_value")
    by_pair = CORRECTIONS[of.correction].function is not None  # else all rest on joint draws
    known = ~np.isnan(p) | (pairs.columns["note"] == PURGED)
    drawn = ((pairs.columns["method"] == "monte-carlo") | (not by_pair)) & known
    if not drawn.any():
        return ()
    draws = int(np.nan_to_num(pairs.numbers("resamples")[drawn], nan=of.resamples).max())
    others = np.zeros(of.family_size - len(p))  # of other boards, all significant at best
    needed = count_required_draws(np.append(np.where(drawn, np.nan, np.where(np.isnan(p), 1.0, p)), others),
                                  of.correction, of.alpha * (1.0 if by_pair else share))
    return (too_few_draws(int(drawn.sum()), len(p), draws, needed),) if needed > draws else ()


def separable(names: Sequence[str], ranks: Sequence[int], differ: Flags,
              groups: Sequence[Sequence[int]], settings: Comparison) -> str:
    """Say which systems are told apart and which are not: all that the letters say, or how many pairs there are.

    Args:
        names: Of the ranked systems, best first; at least two.
        ranks: As the board shows them: 1, 2, 2, 4.
        differ: Which of them are told apart, [systems, systems], symmetric.
        groups: The largest groups of systems of which no two are told apart, by place from 0; none where they are too
            many (`registry.significance.ranks.find_groups`).
        settings: Of the comparison.
    """
    corrected = "" if settings.correction == "none" else f" after {CORRECTIONS[settings.correction].title}"
    over = f"at {100 * settings.alpha:g} %{corrected} over {counted(settings.family_size, 'pair')}"
    n = len(names)
    pairs, apart = math.comb(n, 2), int(differ.sum()) // 2
    ranked = "" if n == settings.n_systems else "ranked "  # others are in the family too
    if n == 2:
        return f"{names[0]} is {'better than' if apart else 'not separable from'} {names[1]} {over}."
    if apart in (0, pairs):
        return f"{'Every' if apart else 'No'} two of the {n} {ranked}systems are separable {over}."
    best = f"{names[0]} is better than every other {ranked}system" if differ[0, 1:].all() else ""
    if told := _groups(names, ranks, groups):
        return f"{best} {over}. Not separable from each other: {told}." if best else (
            f"Not separable from each other {over}: {told}.")
    best = best or f"{names[0]} is better than {differ[0].sum()} of {n - 1} other {ranked}systems"
    return (f"{best}, and {pairs - apart} of {pairs} pairs of {ranked}systems are not separable {over}: "
            "registry pairs shows which.")


def _groups(names: Sequence[str], ranks: Sequence[int], groups: Sequence[Sequence[int]]) -> str:
    """The groups of several systems by their ranks; nothing where that is too much for a sentence."""
    several = [group for group in groups if len(group) > 1]
    told = [_places(names, ranks, group) for group in several[:_GROUPS]]
    if len(several) > _GROUPS or sum(map(len, told)) > _PLACES:
        return ""
    return "; ".join(f"rank{'' if len(of) == 1 and ' to ' not in of[0] else 's'} {_listed(of)}" for of in told)


def _places(names: Sequence[str], ranks: Sequence[int], group: Sequence[int]) -> list[str]:
    """The ranks of a group, stretches of them as one; systems of equal rank are named where that leaves them open."""
    known = sorted(set(ranks))
    members = [[n for n in group if ranks[n] == rank] for rank in known]
    several = sum(map(bool, members)) > 1
    found: list[str] = []
    stretch: list[int] = []
    for rank, of_rank in zip(known, members, strict=True):
        if several and len(of_rank) == ranks.count(rank):
            stretch.append(rank)
            continue
        found += _stretch(stretch)
        found += [f"{rank} ({_listed([names[n] for n in of_rank])})"] if of_rank else []
        stretch = []
    return found + _stretch(stretch)


def _stretch(ranks: Sequence[int]) -> list[str]:
    return [f"{ranks[0]} to {ranks[-1]}"] if len(ranks) > 2 else list(map(str, ranks))


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def too_few_draws(drawn: int, family: int, draws: int, needed: int) -> str:
    """Say that so many draws let no drawn pair of a family be significant, and how many would."""
    which = "no difference" if drawn == family else f"none of the {drawn:,} differences of {family:,} that are drawn"
    return (f"With {draws:,} draws {which} can be significant, as no p-value can be small enough: set resamples to "
            f"{needed:,} or more.")
