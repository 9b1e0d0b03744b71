"""Analyses over many comparisons. `STUDIES` maps the name of a stored study to its class.

what all share   study (question, case, finding), conduct (found or made, and kept)
of tests         advise
of gains         gains (what they look at), threshold, curve, sizes, calibration, domains
                 drawn_sets (many test sets at once)
of dependence    correlation, dependence
of test sets     power, replicability
what is written  synthesize (a task to plan with), training (resampled training files): no studies that are kept
of rankings      candidates, ranking, repetitions: n-best lists, which commands of their own compute on demand
"""

from registry.studies.advise import Advise
from registry.studies.correlation import Correlation
from registry.studies.dependence import Dependence
from registry.studies.gains.calibration import Calibration
from registry.studies.gains.curve import Curve
from registry.studies.gains.domains import Domains
from registry.studies.gains.test_size import Sizes
from registry.studies.gains.threshold import Threshold
from registry.studies.planning.power import Power
from registry.studies.replicability import Replicability
from registry.studies.study import Study

STUDIES: dict[str, type[Study]] = {study.name: study for study in (
    Advise, Correlation, Dependence, Threshold, Curve, Sizes, Calibration, Domains, Power, Replicability)}

__all__ = [
    "STUDIES", "Advise", "Calibration", "Correlation", "Curve", "Dependence", "Domains", "Power", "Replicability",
    "Sizes", "Study", "Threshold",
]
