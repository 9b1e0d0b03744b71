"""No interval that `board` or `pairs` prints leaves the range of its metric.

`python -m tests.evaluation.comparing.random_boards` checks 500 boards.
"""

import pytest

from tests.conftest import ROOT
from tests.evaluation.comparing.random_boards import outside, read_intervals, write_tasks

SAMPLES = ROOT / "sample_data"
WITHOUT_MANIFEST = {"parsing": ("submissions", "--gold", "gold.conllu"), "retrieval": ("runs", "--gold", "qrels.txt"),
                    "benchmark": ("logs",)}


def check(registry):
    intervals = list(read_intervals(lambda command: registry(command, "--format", "json").json))
    assert not outside(intervals)
    return len(intervals)


@pytest.mark.thorough
@pytest.mark.slow
def test_of_random_boards(registry, tmp_path):
    manifests, boards = write_tasks(tmp_path, 0)
    assert boards > 50
    for manifest in manifests:
        registry("run", manifest)
    assert check(registry) > 200


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.parent.name for path in SAMPLES.glob("*/make.py")))
def test_of_sample_tasks(registry, scored, tmp_path, name):
    manifest = SAMPLES / name / "task.toml"
    if name in WITHOUT_MANIFEST:
        registry("new", "sample", *(part if part.startswith("-") else SAMPLES / name / part
                                    for part in WITHOUT_MANIFEST[name]))
        registry("run", tmp_path / "sample" / "task.toml")
    else:
        scored(manifest)
    assert check(registry) > 0 or name == "collocations"
