"""Releases every sample task, with and without its gold, and validates the releases by roc-validator and mlcroissant.

    python -m tests.releases.validators [DIR ...]

validates these folders instead. The validators, which the registry itself does not need, are installed in an
environment of their own, `.venv/validators`.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from typer.testing import CliRunner

from registry.cli.app import app
from tests.conftest import ROOT

PACKAGES = ("roc-validator>=0.13", "mlcroissant[parquet]>=1.1", "rocrate>=0.16")
ENVIRONMENT = ROOT / ".venv" / "validators"


def released(folder):
    """Releases of all sample tasks."""
    for manifest in sorted((ROOT / "sample_data").glob("*/task.toml")):
        db, task = folder / "registry.duckdb", manifest.parent.name
        for arguments in (["run", manifest], ["release", task, "-o", folder / task, "--sources"],
                          ["release", task, "-o", folder / f"{task}-held", "--without-gold"]):
            done = CliRunner().invoke(app, [*map(str, arguments), "--db", str(db)])
            assert done.exit_code == 0, done.output
        yield from (folder / task, folder / f"{task}-held")


def main(folders):
    if not ENVIRONMENT.exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
        subprocess.run([ENVIRONMENT / "bin" / "pip", "install", "--quiet", *PACKAGES], check=True)
    within = Path(__file__).with_name("in_validators.py")
    return subprocess.run([ENVIRONMENT / "bin" / "python", within, *folders]).returncode


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        sys.exit(main(sys.argv[1:] or list(released(Path(made)))))
