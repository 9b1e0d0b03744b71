"""The figures of studies, by the names that these call them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from registry.reports.figures.calibration import draw_calibration, draw_domains
from registry.reports.figures.decisions import draw_correlation, draw_dependence, draw_replicability
from registry.reports.figures.gains import draw_curve, draw_thresholds
from registry.reports.figures.nbest import KINDS, draw_nbest
from registry.reports.figures.power import draw_power
from registry.reports.figures.test_sizes import draw_sizes
from registry.studies.run import StudyResult

FIGURES: dict[str, Callable[[StudyResult, Path], None]] = {
    "thresholds": draw_thresholds, "curve": draw_curve, "test sizes": draw_sizes, "calibration": draw_calibration,
    "domains": draw_domains, "correlation": draw_correlation, "dependence": draw_dependence,
    "replicability": draw_replicability, "power": draw_power,
    **{kind: partial(draw_nbest, kind) for kind in KINDS},
}


def draw(result: StudyResult, path: Path, figure: str | None = None) -> None:
    """Draw a study into a file; the figure that the study takes for its own if none is named.

    Raises:
        InputError: matplotlib is not there, the path's ending says no form, or there is nothing to draw.
        StoreError: The file cannot be written.
    """
    FIGURES[figure or result.study.figure(result.finding)](result, path)
