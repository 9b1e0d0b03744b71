"""Analyses of a task: each is a value with options, its result is stored, and a stored result is not computed again.

shared           study (options, subjects, findings), run (compute and store), verify, score_distributions
of tests         advise
of systems       effects (effects and best), new_best (of all versions)
of gains         gains (of all pairs), threshold (and curve, test-size), calibration (and domains)
of rankings      ranking
of dependence    dependence (correlation, dependence, variance)
of judges        judge
of test sets     power; of several: suites (suite, macro-average, replicability)
planning files   synthesize: not stored as studies

`STUDIES` has a line for each study: a new one is a file and a line. The command line lists all of them, so no study is
imported before its use. If options turn a study into another one (`Study.meant`), that one is in `MEANT`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from registry.plugins import Catalogue, package_of

if TYPE_CHECKING:
    from registry.studies.study import Study


@dataclass(frozen=True)
class Known:
    """An entry of the list of studies: the module below `registry.studies`, the class, and the help of the command."""

    module: str
    called: str
    said: str

    def load(self) -> type[Study]:
        """Import the class of the study."""
        study: type[Study] = getattr(import_module(f"{__name__}.{self.module}"), self.called)
        return study


STUDIES = {
    "advise": Known("advise", "Advise", "Say which tests may be used, and which to take."),
    "threshold": Known("threshold", "Threshold", "Say which gains are probably significant."),
    "curve": Known("threshold", "Curve", "Show how confidence grows with gain."),
    "test-size": Known("threshold", "Sizes", "Say how large the test set must be."),
    "calibration": Known("calibration", "Calibration", "Say how often tests name the truly better system."),
    "correlation": Known("dependence", "Correlation", "Say what tests that assume independence would miss."),
    "dependence": Known("dependence", "Dependence", "Say what documents do to tests of single items."),
    "variance": Known("dependence", "Variance", "Say what items, runs and prompts add to errors."),
    "judge": Known("judge", "Judge", "Say how far a judge agrees with people."),
    "power": Known("power", "Power", "Say which differences a test set finds."),
    "replicability": Known(
        "suites", "Replicability", "Say on how many test sets each system beats another."),
    "effects": Known("effects", "Effects", "Print effect sizes and equivalence of every pair."),
    "best": Known("effects", "Best", "Print which systems may be best, and which ranks are open."),
    "new-best": Known("new_best", "NewBest", "Say which submissions of an open board were new bests."),
    "ranking": Known("ranking", "NBest", "Evaluate rankings: n-best lists, and where two differ."),
    "suite": Known("suites", "Suite", "Say which ranks systems may have over several test sets."),
    "macro-average": Known("suites", "Macro", "Say which averages over test sets differ."),
}
MEANT = {
    "domains": Known("calibration", "Domains", "Say whether gains carry over to other test sets."),
}


def load_study(name: str) -> type[Study]:
    """Import the study of a name: with or without a command, or of another package (`name@package`).

    Raises:
        InputError: The package is not installed, or offers no such study.
    """
    if package_of(name) is None:
        return (STUDIES | MEANT)[name].load()
    from registry.studies.study import Study

    return Catalogue("study", Study, ())[name]  # type: ignore[type-abstract]
