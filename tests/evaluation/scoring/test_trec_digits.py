"""Scores of ranked documents have the digits that trec_eval prints: of whole runs, and of every topic.

On a synthetic track with graded judgments, tied scores of documents, topics without relevant documents and topics that
a run leaves out. `python -m tests.evaluation.scoring.test_trec_digits FOLDER` looks at 200 runs of 50 topics, by two
seeds.
"""

import csv
import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytrec_eval

MEASURES = {"P5": "P_5", "P10": "P_10", "P30": "P_30", "AP": "map", "nDCG": "ndcg", "nDCG10": "ndcg_cut_10",
            "RR": "recip_rank"}
MANIFEST = """manifest = 1
[task]
id = "track"
[[test_set]]
name = "test"
gold = "qrels"
format = "trec"
[submission]
missing = "worst"
[[metric]]
id = "P5"
name = "P"
options = { cutoff = 5 }
[[metric]]
id = "P10"
name = "P"
options = { cutoff = 10 }
[[metric]]
id = "P30"
name = "P"
options = { cutoff = 30 }
[[metric]]
name = "AP"
[[metric]]
name = "nDCG"
[[metric]]
id = "nDCG10"
name = "nDCG"
options = { cutoff = 10 }
[[metric]]
name = "RR"
[[submit]]
file = "{system}.run"
"""


def write_track(folder, seed, runs, topics=50, pool=80, depth=40):
    """Write judgments and runs; how well a run ranks differs from run to run."""
    rng = np.random.default_rng(seed)
    grades = [rng.choice(4, pool, p=(0.8, 0.12, 0.05, 0.03)) * (topic % 17 > 0) for topic in range(topics)]
    folder.mkdir()
    (folder / "task.toml").write_text(MANIFEST)
    (folder / "qrels").write_text("".join(
        f"{topic + 301} 0 d{n:03} {grade}\n" for topic in range(topics) for n, grade in enumerate(grades[topic])))
    for run in range(runs):
        skill, lines = rng.uniform(0, 1.5), []
        for topic in np.flatnonzero(rng.random(topics) < rng.choice((1, 0.9))):
            found = rng.permutation(pool)[:depth]
            scores = np.round(skill * grades[topic][found] + rng.normal(size=depth), 1)  # so that some tie
            lines += [f"{topic + 301} Q0 d{n:03} 1 {score} r\n" for n, score in zip(found, scores, strict=True)]
        (folder / f"r{run:03}.run").write_text("".join(lines))


def printed(folder, run):
    """What trec_eval -c -q prints: {(measure, topic): digits}, of the whole run with the topic "all"."""
    with (folder / "qrels").open() as qrels, (folder / f"{run}.run").open() as ranked:
        judged = pytrec_eval.parse_qrel(qrels)
        found = pytrec_eval.RelevanceEvaluator(judged, set(MEASURES.values())).evaluate(pytrec_eval.parse_run(ranked))
    digits = {}
    for name, measure in MEASURES.items():
        of_topic = {topic: found[topic][measure] if topic in found else 0.0 for topic in sorted(judged)}
        total = list(itertools.accumulate(of_topic.values()))[-1]  # one after another, as trec_eval adds
        digits |= {(name, topic): f"{value:.4f}" for topic, value in of_topic.items()}
        digits[name, "all"] = f"{total / len(judged):.4f}"
    return digits


def differences(folder, query):
    """Where the registry's digits are others than trec_eval's: (run, measure, topic, ours, theirs)."""
    ours = {(row["system"], row["metric"], row["item"]): f"{float(row['score']):.4f}" for row in query(
        "SELECT system, metric, item, score FROM item_score UNION ALL "
        "SELECT system, metric, 'all', score FROM submission_score")}
    theirs = {(path.stem, *key): value for path in sorted(folder.glob("*.run"))
              for key, value in printed(folder, path.stem).items()}
    assert ours.keys() == theirs.keys()
    return [(*key, ours[key], theirs[key]) for key in theirs if ours[key] != theirs[key]]


def test_digits_are_those_of_trec_eval(registry, tmp_path):
    write_track(tmp_path / "track", seed=1, runs=3)
    registry("apply", tmp_path / "track" / "task.toml")
    registry("score", "track")
    assert differences(tmp_path / "track", lambda sql: registry("query", sql, "--format", "json").json) == []


def main(folder):
    """Compare whole tracks, and say where digits differ."""
    for seed in (1, 2):
        track = Path(folder) / f"track-{seed}"
        write_track(track, seed, runs=200)
        database = ["--db", str(track / "registry.duckdb")]
        for command in (["apply", str(track / "task.toml")], ["score", "track"]):
            subprocess.run([sys.executable, "-m", "registry", *command, *database], check=True, stderr=sys.stderr)

        def query(sql, database=database):
            done = subprocess.run([sys.executable, "-m", "registry", "query", sql, *database, "--format", "csv",
                                   "--max-rows", "1000000"], check=True, capture_output=True, text=True)
            return list(csv.DictReader(done.stdout.splitlines()))

        found = differences(track, query)
        print(f"seed {seed}: {len(found)} of {200 * 51 * len(MEASURES):,} numbers differ", *found, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1])
