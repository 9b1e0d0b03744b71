"""Analyses of a task, all asked in one way: a request with its options, what it finds, and a result that is kept.

what all share   study (options, subjects, finding), board_study (of boards' statistics), run (found or made, and kept),
                 score_distributions (scores in resamples), sizes (as people write them)
of tests         advise
of systems       effects (effects and best), new_best (of all versions)
of gains         gains (what they look at), threshold, curve, sizes, calibration, domains
                 (with bands of p-values), resampled_test_sets (many at once)
of rankings      nbest: load, precision, variation, evaluation
of dependence    dependent: correlation, documents, variance (of items and runs)
of judges        judge (agreement, bias, and what it adds to people's scores)
of test sets     planning.power; of several: suites: suite, macro_average (both of one matrix), replicability
what is written  planning.synthesize (a task to plan with), planning.training_sets: no studies that are kept

`STUDIES` has a line for each: a new one is a file and a line. As a command line lists them all, none is imported before
it is asked for. Where options turn a study into another one (`Study.meant`), that one is among `MEANT`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from registry.studies.study import Study


@dataclass(frozen=True)
class Known:
    """A study as it is listed: in which module of this folder its class is, and what its command does."""

    module: str
    called: str
    said: str

    def load(self) -> type[Study]:
        """The study itself."""
        found: type[Study] = getattr(import_module(f"{__name__}.{self.module}"), self.called)
        return found


STUDIES = {
    "advise": Known("advise", "Advise", "Say which tests may be used, and which to take."),
    "threshold": Known("gains.threshold", "Threshold", "Say which gains are probably significant."),
    "curve": Known("gains.curve", "Curve", "Show how confidence grows with gain."),
    "test-size": Known("gains.test_size", "Sizes", "Say how large the test set must be."),
    "calibration": Known("gains.calibration", "Calibration", "Say how often tests name the truly better system."),
    "correlation": Known("dependent.correlation", "Correlation", "Say what tests that assume independence would miss."),
    "dependence": Known("dependent.documents", "Dependence", "Say what documents do to tests of single items."),
    "variance": Known("dependent.variance", "Variance", "Say what items, runs and prompts add to errors."),
    "judge": Known("judge", "Judge", "Say how far a judge agrees with people."),
    "power": Known("planning.power", "Power", "Say which differences a test set finds."),
    "replicability": Known(
        "suites.replicability", "Replicability", "Say on how many test sets each system beats another."),
    "effects": Known("effects", "Effects", "Print effect sizes and equivalence of every pair."),
    "best": Known("effects", "Best", "Print which systems may be best, and which ranks are open."),
    "new-best": Known("new_best", "NewBest", "Say which submissions of an open board were new bests."),
    "ranking": Known("nbest.evaluation", "NBest", "Evaluate rankings: n-best lists, and where two differ."),
    "suite": Known("suites.suite", "Suite", "Say which ranks systems may have over several test sets."),
    "macro-average": Known("suites.macro_average", "Macro", "Say which averages over test sets differ."),
}
MEANT = {
    "domains": Known("gains.domains", "Domains", "Say whether gains carry over to other test sets."),
}


def study_named(name: str) -> type[Study]:
    """The study of a name, also one that has no command of its own."""
    return (STUDIES | MEANT)[name].load()
