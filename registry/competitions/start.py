"""Starter of the scoring program of a competition: the file `score.py`, next to the program's code and wheels.

It requires only Python. It unpacks the wheels into a temporary folder and runs the program with them.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from pathlib import Path


def main() -> int:
    """Start the scoring program: install its wheels temporarily, and run it.

    The command line has two arguments, the folders INPUT and OUTPUT. Returns the exit status.
    """
    program = Path(__file__).resolve().parent
    required = (program / "python.txt").read_text("utf-8").strip()
    if (current := f"{sys.version_info[0]}.{sys.version_info[1]}") != required:
        print(f"error: this is Python {current}, but the wheels of this program are for Python {required}; set the "
              f"competition's docker image to python:{required}-slim", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        for wheel in sorted((program / "wheels").glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder)
        sys.path[:0] = [str(program), folder, *map(str, Path(folder).glob("*.data/p*lib"))]
        try:
            from registry.competitions.scoring_program import main as score

            return score(sys.argv[1:])
        except Exception as error:
            print(f"error: the scoring program failed: {type(error).__name__}; tell the organisers", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
