"""What other processors make of the same data: the sample tasks, compared by every kind of test, on emulated ones.

`python -m tests.evaluation.verifying.processors` brings them into a registry once for each kind of processor (of what
numpy's vectors and OpenBLAS' kernels take the one here for) and prints how many numbers differ, and how far at most.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import duckdb

from registry.evaluation.verifying.faults import measure_deviation
from tests.conftest import ROOT

PROCESSORS = {
    "as it is": {},
    "Haswell, AVX2": {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL"},
    "SkylakeX, AVX512": {"OPENBLAS_CORETYPE": "SkylakeX", "NPY_DISABLE_CPU_FEATURES": "AVX512_ICL"},
    "Prescott, SSE4": {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL",
                       "NUMBA_CPU_NAME": "generic"},
}
TASKS = ("entities", "stance", "translation", "relations")
TESTS = ("bootstrap", "bootstrap(studentized=true)", "permutation(studentized=true)", "t", "wilcoxon")
STUDIES = (("effects", "entities"), ("best", "translation"), ("threshold", "entities"))
TABLES = {"score": "scoring_id, metric_id", "replicate_score": "scoring_id, metric_id, replicate",
          "standing": "comparison_id, position", "comparison_pair": "comparison_id, position",
          "pair_result": "pair_result_id", "study": "study_id"}


def made(path, processor):
    """A registry of the sample tasks, made on a kind of processor; what a test does not take is left out."""
    def run(*arguments):
        subprocess.run([sys.executable, "-m", "registry", *map(str, arguments), "--db", path, "--format", "tsv"],
                       env={**os.environ, **processor}, capture_output=True, check=False)

    for task in TASKS:
        run("run", ROOT / "sample_data" / task / "task.toml")
        for test in TESTS:
            run("compare", task, "--test", test, "--resamples", 1000, "--quiet")
    for study, task in STUDIES:
        run(study, task, "--resamples", 1000)
    return path


def rows(path):
    """All numbers of a registry's results, as JSON values by table."""
    with duckdb.connect(str(path), read_only=True) as connection:
        for table, keys in TABLES.items():
            for row in connection.execute(f"SELECT * EXCLUDE (run_id) FROM {table} ORDER BY {keys}"
                                          if table not in ("standing", "comparison_pair", "replicate_score") else
                                          f"SELECT * FROM {table} ORDER BY {keys}").fetchall():
                yield table, [json.loads(value) if table == "study" and str(value).startswith("{") else value
                              for value in row if not hasattr(value, "year")]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        first = None
        for number, (name, processor) in enumerate(PROCESSORS.items()):
            found = list(rows(made(Path(scratch) / f"{number}.duckdb", processor)))
            first = first or found
            apart, most = Counter(), 0.0
            assert len(first) == len(found)
            for (table, before), (_, after) in zip(first, found, strict=True):
                if far := measure_deviation(before, after):
                    apart[table] += 1
                    most = max(most, far)
                    if far > 1e-9:
                        print("  ", table, before, after)
            print(f"{name}: {dict(apart) or 'none'} of {len(found)} rows differ, by a relative {most:.1e} at most",
                  flush=True)
