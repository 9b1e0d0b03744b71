"""The studies that test thousands of pairs: 31 systems with 2034 segments of BLEU."""

from registry.studies.calibration import Calibration
from registry.studies.threshold import Sizes, Threshold
from tests.benchmarks import bleu
from tests.benchmarks.figures import Figure, seconds
from tests.studies.unstored import case_of

SIZES = tuple(range(200, 2001, 200))


def run():
    """Each study once; what it tests is in the first column."""
    pairs = bleu.SYSTEMS * (bleu.SYSTEMS - 1) // 2
    sets = -(-4000 // pairs)
    return [
        _study(f"threshold, {pairs} pairs, 100,000 resamples", Threshold(), 100_000, 60),
        _study(f"test-size, {len(SIZES)} sizes x 20 repetitions of {pairs} pairs, 10,000 resamples",
               Sizes(sizes=SIZES, repetitions=20), 10_000, 180),
        _study(f"calibration, {sets * pairs} tests on 1,600 segments, 10,000 resamples",
               Calibration(size=1600, sets=sets), 10_000, 180),
    ]


def _study(what, study, resamples, limit):
    taken = seconds(study.run, case_of(bleu.matrix(), resamples=resamples))
    return Figure(f"study {what}", f"{taken:.1f} s", f"<= {limit} s", taken <= limit)
