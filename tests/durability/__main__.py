"""Run good and failing commands on one path, in all orders, at once and killed: nothing committed may be lost.

python -m tests.durability                # 500 rounds
python -m tests.durability --rounds 50 --seed 7
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.durability.commands import prepare
from tests.durability.rounds import rounds


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.durability", description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=500, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, help="of the commands, their order and when they are killed; else the time")
    given = parser.parse_args()
    seed = int(time.time()) if given.seed is None else given.seed
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder) / "prepared")
        for number, wrong in rounds(Path(folder), given.rounds, seed):
            failed += bool(wrong)
            for what in wrong:
                print(f"round {number}: {what}", flush=True)
    print(f"{given.rounds} rounds, {failed} with failures (seed {seed})")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
