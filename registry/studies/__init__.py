"""Stored analyses of a task.

A study is a value with options. Its result is stored, and a stored result is not computed again.

common parts     study (options, subjects, findings), run (compute and store), verify, score_distributions
tests            advise
systems          effects (effects and best), new_best (all versions)
gains of pairs   gains, threshold (and curve, test-size), calibration (and domains)
n-best lists     ranking
facets           facets
dependence       dependence (correlation, dependence, variance)
judges           judge
metrics          metrics
a new version    gate
test sets        power; several test sets: suites (suite, macro-average, replicability)
simulated files  synthesize: not stored as studies

To add a study, write a file and add it to `STUDIES`. The command line lists these names, and imports a study only when
it is used. `RESOLVED_STUDIES` has studies that are no subcommand of `registry study`: options of another study select
them (`Study.resolve`), or they have their own command (`registry gate`).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from registry.plugins import Catalogue, find_package

if TYPE_CHECKING:
    from registry.studies.study import Study


@dataclass(frozen=True)
class StudyEntry:
    """Entry in the list of studies: the location of its class, and its help text.

    `module` is the name of a module in `registry.studies`.
    """

    module: str
    class_name: str
    help: str

    def load(self) -> type[Study]:
        """Import and return the class of the study."""
        study: type[Study] = getattr(import_module(f"{__name__}.{self.module}"), self.class_name)
        return study


STUDIES = {
    "advise": StudyEntry("advise", "Advise", "Say which tests may be used, and which to take."),
    "threshold": StudyEntry("threshold", "Threshold", "Say which gains are probably significant."),
    "curve": StudyEntry("threshold", "Curve", "Show how confidence grows with gain."),
    "test-size": StudyEntry("threshold", "Sizes", "Say which gains are significant on other sizes."),
    "calibration": StudyEntry("calibration", "Calibration", "Say how often tests name the truly better system."),
    "correlation": StudyEntry("dependence", "Correlation", "Say what tests that assume independence would miss."),
    "dependence": StudyEntry("dependence", "Dependence", "Say what documents do to tests of single items."),
    "variance": StudyEntry("dependence", "Variance", "Say what items, runs and prompts add to errors."),
    "judge": StudyEntry("judge", "Judge", "Say how far a judge agrees with people."),
    "metrics": StudyEntry("metrics", "Metrics", "Say which metric agrees best with people."),
    "power": StudyEntry("power", "Power", "Say which differences a test set finds."),
    "replicability": StudyEntry(
        "suites", "Replicability", "Say on how many test sets each system beats another."),
    "facets": StudyEntry("facets", "Facets", "Say in which facets a difference holds."),
    "effects": StudyEntry("effects", "Effects", "Print effect sizes and equivalence of every pair."),
    "best": StudyEntry("effects", "Best", "Print which systems may be best, and which ranks are open."),
    "new-best": StudyEntry("new_best", "NewBest", "Say which submissions of an open board were new bests."),
    "ranking": StudyEntry("ranking", "NBest", "Evaluate rankings: n-best lists, and where two differ."),
    "suite": StudyEntry("suites", "Suite", "Say which ranks systems may have over several test sets."),
    "macro-average": StudyEntry("suites", "Macro", "Say which averages over test sets differ."),
}
RESOLVED_STUDIES = {
    "gate": StudyEntry("gate", "Gate", "Test whether a candidate may replace a base system."),
    "domains": StudyEntry("calibration", "Domains", "Say whether gains carry over to other test sets."),
}


def load_study(name: str) -> type[Study]:
    """Return the class of a study by its name, such as `power`.

    If another installed package defines the study, its name has the form `name@package`.

    Raises:
        InputError: The package is not installed, or has no such study.
    """
    if find_package(name) is None:
        return (STUDIES | RESOLVED_STUDIES)[name].load()
    from registry.studies.study import Study

    return Catalogue("study", Study, ())[name]  # type: ignore[type-abstract]
