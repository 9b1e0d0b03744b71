"""What a registry goes through in years: kills, full and read-only disks, spoiled files. Nothing may be lost.

python -m tests.faults                            # 500 kills, 30 sizes of disks, 1,000 flips, 100 cuts
python -m tests.faults --kills 50 --flips 0 --cuts 0 --sizes 0
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.faults.disks import full, read_only
from tests.faults.files import cuts, flips
from tests.faults.kills import CASES, kills
from tests.faults.prepared import prepare

MOST = 4 * 2**20  # bytes that a full disk leaves free


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__.partition("\n")[0])
    for name, n in {"kills": 500, "sizes": 30, "flips": 1000, "cuts": 100}.items():
        parser.add_argument(f"--{name}", type=int, default=n, help="(default: %(default)s)")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), help="which commands are killed")
    parser.add_argument("--seed", type=int, default=20, help="of moments and places")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder) / "prepared")  # which imports all that forked processes need
        failed = [_kills(Path(folder), given), _spoiled(Path(folder), given), _disks(Path(folder), given)]
    return any(failed)


def _kills(folder, given):
    killed, failed = Counter(), 0
    if not given.kills:
        return 0
    for name, was_killed, wrong in kills(folder, given.kills, given.seed, cases={of: CASES[of] for of in given.only}):
        killed[name] += was_killed
        failed += bool(wrong)
        for what in wrong:
            print(f"{name}: {what}", flush=True)
    print(f"kills: {given.kills}, of which {sum(killed.values())} before the end "
          f"({', '.join(f'{name} {killed[name]}' for name in given.only)}); {failed} with failures", flush=True)
    return failed


def _spoiled(folder, given):
    path, failed = folder / "prepared" / "scored.duckdb", 0
    for what, spoil, n in (("flips", flips, given.flips), ("cuts", cuts, given.cuts)):
        if n:
            found = spoil(path, folder, n, given.seed)
            failed += found["wrong"]
            print(f"{what}: {n}: {', '.join(f'{count} {name}' for name, count in found.items())}", flush=True)
    return failed


def _disks(folder, given):
    if not given.sizes:
        return 0
    sizes, refused, failed = [MOST * n**2 // given.sizes**2 for n in range(given.sizes)], Counter(), 0
    own = folder / "disks"  # where no command that was killed has left what it makes
    own.mkdir()
    for name, free, status, wrong in full(own, folder / "prepared", sizes):
        refused[name] += status != 0
        failed += bool(wrong)
        for what in wrong:
            print(f"{name} with {free} bytes free: {what}", flush=True)
    print(f"full disks: {given.sizes} sizes of {len(CASES)} commands; refused: "
          f"{', '.join(f'{name} {n}' for name, n in refused.items())}; {failed} with failures", flush=True)
    for name, _, wrong in read_only(own, folder / "prepared"):
        failed += bool(wrong)
        for what in wrong:
            print(f"{name} on a read-only disk: {what}", flush=True)
    print("read-only disk: done", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
