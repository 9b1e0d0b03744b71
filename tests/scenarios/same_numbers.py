"""Whether all numbers are those of an earlier commit: boards, pairs and studies of the real and the sample tasks.

`python -m tests.scenarios.same_numbers COMMIT [TASK ...]` runs each task with both codes and compares the JSON of
`board`, `pairs` and the studies of `docs/studies`, value by value and without messages. It prints how many values, how
many differ, and by how much at most: `1e-12` of a number that has twelve digits in common.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.conftest import REAL_DATA, ROOT
from tests.scenarios.earlier import code_of
from tests.study_gallery import SHOWN

TASKS = {path.stem: (path, REAL_DATA / path.stem) for path in sorted((ROOT / "tests" / "real_data").glob("*.toml"))} | {
    path.parent.name: (path, path.parent) for path in sorted((ROOT / "sample_data").glob("*/task.toml"))}


def printed(env: Mapping[str, str], task: str) -> dict[str, Any]:
    """What a program prints of a task, by command."""
    manifest, root = TASKS[task]
    with tempfile.TemporaryDirectory() as folder:
        def run(*arguments: str) -> str:
            done = subprocess.run([sys.executable, "-m", "registry", *arguments], cwd=folder, text=True, check=False,
                                  env={**env, "REGISTRY_QUIET": "1"}, capture_output=True)
            assert done.returncode == 0, (arguments, done.stderr)
            return done.stdout

        boards = json.loads(run("run", str(manifest), "--root", str(root), "--format", "json"))
        found = {"board": boards, "pairs": json.loads(run("pairs", "--format", "json"))}
        for of in SHOWN.get(task, ()):
            found[f"{of.study} {' '.join(of.options)}"] = json.loads(
                run("study", of.study, boards[0]["task"], *of.options, "--format", "json"))
    return found


_MESSAGES = {"note", "messages", "remarks", "warnings", "why"}  # whose words may change
_RENAMED = {"run_deviation": "run_sd", "frequent_low": "bootstrap_low", "frequent_high": "bootstrap_high",
            "first": "share_best", "both_right": "both_correct", "both_wrong": "both_incorrect",
            "only_a_right": "only_a_correct", "only_b_right": "only_b_correct"}


def comparable(rows: Sequence[Mapping[str, Any]], names: set[str]) -> list[dict[str, Any]]:
    """Return the rows of a command without messages, with their new names if these are among `names`."""
    return [{new if (new := _RENAMED.get(key, key)) in names else key: value
             for key, value in row.items() if key not in _MESSAGES} for row in rows]


def apart(before: Any, now: Any) -> Iterator[float]:
    """How far each value is from the earlier one: 0 the same bits; infinite where they are no two finite numbers."""
    if isinstance(before, dict) and isinstance(now, dict) and before.keys() == now.keys():
        for key in before:
            yield from apart(before[key], now[key])
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for one, other in zip(before, now, strict=True):
            yield from apart(one, other)
    elif before == now:
        yield 0.0
    else:
        numbers = isinstance(before, int | float) and isinstance(now, int | float)
        yield abs(before - now) / max(abs(before), abs(now)) if numbers else math.inf


def main(commit: str, tasks: Sequence[str]) -> int:
    """Print a line for each command on each task; gives 1 where something differs."""
    total: Counter[str] = Counter()
    with code_of(commit) as earlier:
        for task in tasks or TASKS:
            before, now = printed(earlier, task), printed(os.environ | {"PYTHONPATH": str(ROOT)}, task)
            for command in before:
                names = {name for row in now[command] for name in row}
                found = list(apart(comparable(before[command], names), comparable(now[command], names)))
                differ = [by for by in found if by]
                total.update(values=len(found), differ=len(differ))
                print(f"{task:20} {command:60} {len(found):8,} values, {len(differ):,} differ"
                      + (f", by {max(differ):.1g} at most" if differ else ""), flush=True)
    print(f"{total['values']:,} values, {total['differ']:,} differ from {commit}")
    return int(total["differ"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
