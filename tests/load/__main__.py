"""Submitters, readers and a backup at the same database, each a process: nothing may be lost, and nobody starves.

python -m tests.load                # 8 processes submit 50 times each, 4 read boards, 1 backs up
python -m tests.load --submitters 4 --each 4 --readers 2
"""

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

from tests.load.load import Load, judged

ITEMS = 1000


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__.partition("\n")[0])
    parser.add_argument("--submitters", type=int, default=8, help="processes that submit (default: %(default)s)")
    parser.add_argument("--each", type=int, default=50, help="submissions of each (default: %(default)s)")
    parser.add_argument("--readers", type=int, default=4, help="processes that read boards (default: %(default)s)")
    parser.add_argument("--wait", type=float, default=60, help="of every submission (default: %(default)s)")
    given = parser.parse_args()
    os.environ["REGISTRY_WAIT"] = str(given.wait)
    with tempfile.TemporaryDirectory() as folder:
        load = Load(Path(folder), given.submitters, given.each, given.readers)
        load.prepare(ITEMS, random.Random(1))
        wrong = list(judged(load, load.run()))
    for what in wrong:
        print(what)
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
