"""What some tests need that not every machine has: where it is absent they are skipped, and the last line says so."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

AXE = Path(__file__).resolve().parent.parent / "node_modules" / "axe-core" / "axe.min.js"
INSTALLED_BY = {
    "axe-core": "npm ci",
    "chromium": "apt-get install chromium-headless-shell",
    "java": "apt-get install default-jre-headless",
    "krippendorff": "pip install krippendorff",
    "node": "apt-get install nodejs",
    "node modules": "npm ci",
    "numba": "pip install numba",
    "pandas": "pip install pandas",
    "pdflatex": "apt-get install texlive-latex-recommended",
    "pingouin": "pip install pingouin",
    "perl": "apt-get install perl",
    "setpriv": "apt-get install util-linux",
    "zensical": "pip install '.[docs]'",
    "real data": "set REGISTRY_REAL_DATA to their folder",
}


def need(name, *, there=None):
    """Skip the test where a program, or what is not `there`, is absent."""
    if not (shutil.which(name) if there is None else there):
        pytest.skip(name)


def summary(skipped):
    """One line on the tests that were skipped, by what they need; `skipped` are why they were, as pytest says it."""
    reasons = Counter(reason.removeprefix("Skipped: ") for reason in skipped)
    needs = [f"{n} for want of {why}" + (f" ({INSTALLED_BY[why]})" if why in INSTALLED_BY else "")
             for why, n in sorted(reasons.items())]
    return f"{sum(reasons.values())} tests skipped: {'; '.join(needs)}"
