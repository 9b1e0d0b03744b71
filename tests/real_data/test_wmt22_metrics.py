"""WMT22 Czech-English: sentence BLEU and chrF against direct assessments, by sacrebleu and numpy.

The segment numbers of the direct assessments are no line numbers of the texts: scores of single segments correlate at
no offset. So only measures of systems have a meaning here.
"""

import csv
import itertools
import shutil

import numpy as np
import pytest
import sacrebleu

METRICS = {"BLEU-C": ("BLEU", "C"), "chrF-B": ("chrF", "B")}
MANIFEST = """manifest = 1
task.id = "wmt22"
submission.missing = "own"
significance.seed = 1

[[test_set]]
name = "texts"
gold = "C.txt"
format = "lines"
references = [{ name = "B", path = "B.txt" }, { name = "C", path = "C.txt" }]
metrics = ["BLEU-C", "chrF-B"]

[[test_set]]
name = "people"
gold = "segments.csv"
format = "scores"
options = { item = "segment", separator = "comma" }
metrics = ["z"]

[[metric]]
id = "z"
name = "Mean"
options = { column = "z", better = "higher" }

[[submit]]
test_set = "texts"
file = "texts/{system}.txt"

[[submit]]
test_set = "people"
file = "people/{system}.csv"
"""


@pytest.fixture
def judged(real_data, tmp_path, scored):
    """Bring texts and assessments into a registry; gives the z-scores [segments, systems] and all texts by name."""
    data = real_data("wmt22-cs-en")
    for folder in ("texts", "people"):
        (tmp_path / folder).mkdir()
    for name in "BC":
        shutil.copyfile(data / f"references/generaltest2022.cs-en.ref.{name}.en", tmp_path / f"{name}.txt")
    systems = sorted(path.name.split(".hyp.")[1].removesuffix(".en") for path in (data / "system-outputs").iterdir())
    for system in systems:
        output = data / "system-outputs" / f"generaltest2022.cs-en.hyp.{system}.en"
        shutil.copyfile(output, tmp_path / "texts" / f"{system}.txt")
    texts = {path.stem: path.read_text().split("\n")[:-1] for path in tmp_path.rglob("*.txt")}
    human = np.full((len(texts["B"]), len(systems)), np.nan)
    for line in (data / "human" / "ad-seg-scores-cs-en.csv").read_text().splitlines()[1:]:
        system, segment, _, z, _ = line.split()
        if (name := system.rpartition(".")[0]) in systems:
            human[int(segment) - 1, systems.index(name)] = float(z)
    (tmp_path / "segments.csv").write_text("segment\n" + "".join(f"{n}\n" for n in range(1, len(human) + 1)))
    for system, scores in zip(systems, human.T, strict=True):
        with (tmp_path / "people" / f"{system}.csv").open("w") as file:
            csv.writer(file).writerows([("segment", "z"), *((n, z) for n, z in enumerate(scores, 1) if z == z)])
    metrics = "".join(f'[[metric]]\nid = "{name}"\nname = "{kind}"\noptions = {{ references = ["{reference}"] }}\n'
                      for name, (kind, reference) in METRICS.items())
    (tmp_path / "task.toml").write_text(MANIFEST + metrics)
    scored(tmp_path / "task.toml", "--root", tmp_path, command="apply", then=("score", "--workers", "1"))
    return human, [texts[system] for system in systems], texts


def test_agreement_of_systems_is_that_of_sentence_scores(judged, registry):
    human, outputs, references = judged
    peers = {"BLEU": sacrebleu.metrics.BLEU(), "chrF": sacrebleu.metrics.CHRF()}
    is_judged, n_systems = ~np.isnan(human), human.shape[1]
    pairs = list(itertools.combinations(range(n_systems), 2))
    signs = np.random.default_rng(1).choice((-1.0, 1.0), size=(4000, len(human)))

    def average(scores):
        return np.array([scores[is_judged[:, n], n].mean() for n in range(n_systems)])

    def simulate(scores):
        """The authors' p-values: the share of random signs whose sum is at least the observed one."""
        p_values = []
        for a, b in pairs:
            differences = np.where(is_judged[:, a] & is_judged[:, b], scores[:, a] - scores[:, b], 0)
            p_values.append(np.mean(signs @ differences >= differences.sum()))
        return np.array(p_values)

    rows = {row["metric"]: row for row in registry(
        "study", "metrics", "wmt22", "--human", "people/z", "--resamples", "100", "--format", "json").json}
    assert rows.keys() == METRICS.keys()
    human_p, human_means = simulate(human), average(human)
    for name, (kind, reference) in METRICS.items():
        scores = np.array([[peers[kind].sentence_score(text, [gold]).score
                            for text, gold in zip(texts, references[reference], strict=True)] for texts in outputs]).T
        means = average(scores)
        assert rows[name]["accuracy"] == pytest.approx(np.mean([
            (means[a] > means[b]) == (human_means[a] > human_means[b]) for a, b in pairs]))
        assert rows[name]["pearson_of_means"] == pytest.approx(np.corrcoef(means, human_means)[0, 1], abs=1e-6)
        assert rows[name]["spa"] == pytest.approx(1 - np.abs(human_p - simulate(scores)).mean(), abs=0.005)
