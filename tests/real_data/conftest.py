"""The large tasks as registries, which several tests read.

They are scored in one process: others would only take turns with the suite's own.
"""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def conll2018(scored, real_data):
    """The parsers of Old French, scored; gives the folder."""
    folder = real_data("conll2018-fro_srcmf")
    scored(HERE / "conll2018-fro_srcmf.toml", "--root", folder, command="apply", then=("score", "--workers", "1"))
    return folder


@pytest.fixture
def wmt22(scored, real_data, tmp_path):
    """What `run` has said of the Czech-English systems; with few resamples, for speed."""
    manifest = tmp_path / "task.toml"
    manifest.write_text((HERE / "wmt22-cs-en.toml").read_text().replace("resamples = 10_000", "resamples = 100"))
    return scored(manifest, "--root", real_data("wmt22-cs-en"), "--workers", "1")
