"""WMT22 Czech-English: official BLEU and chrF, and sacrebleu's own bootstrap of scores."""

import csv
import html
import math
import random
from pathlib import Path

import numpy as np
import pytest
import sacrebleu.metrics
from sacrebleu.significance import _bootstrap_resample

from registry.items import index_by_key
from registry.metrics import BLEU
from registry.readers import Document, Lines, NBest, Sgml, WmtXml
from registry.significance import Settings, StatisticMatrix
from registry.significance.pairwise.independent import rank_sum
from registry.significance.resampling.scores import score_resamples

MANIFEST = Path(__file__).parent / "wmt22-cs-en.toml"


@pytest.fixture
def data(real_data):
    return real_data("wmt22-cs-en")


def test_official_bleu_and_chrf_to_4_decimals(wmt22, data):
    """66 scores: 11 systems against B, C, and both in the order C, B."""
    board = wmt22.json
    with (data / "official-scores.csv").open() as file:
        official = {(r["system"], r["metric"]): float(r["score"]) for r in csv.DictReader(file)}
    assert len(board) == 66
    for row in board:
        assert row["score"] == pytest.approx(official[row["system"], row["metric"]], abs=5e-5)


def test_order_is_judged_by_the_source_where_there_is_no_reference(registry, data, tmp_path):
    """All 11 systems pass against a pack; shifted and shuffled files do not."""
    registry("task-pack", MANIFEST, "--root", data, "-o", "pack")
    assert "generaltest2022: 1,448 items; 11 submissions checked" in registry(
        "check", *sorted((data / "system-outputs").iterdir()), "--task", "pack/task.toml").stderr
    lines = (data / "system-outputs" / "generaltest2022.cs-en.hyp.Online-A.en").read_text().split("\n")[:-1]
    shuffled = random.Random(1).sample(lines, len(lines))
    for changed, says in ((shuffled, "the lines may be shuffled"),
                          ([*lines[:700], *lines[701:], "one at the end"], "as if a line were missing above"),
                          ([*lines[:700], "one more", *lines[700:-1]], "as if a line had been added above")):
        (tmp_path / "new.txt").write_text("\n".join(changed) + "\n")
        (problem,) = registry("check", "new.txt", "--task", "pack/task.toml", "--format", "json", exit_code=3).json
        assert says in problem["message"]
        assert problem["category"] == "order"
        assert changed is shuffled or 650 < problem["line"] < 760


def test_the_directories_of_mt_metrics_eval(registry, data, tmp_path):
    """Its texts are read as they lie there; the official BLEU of three systems against both references."""
    folder = tmp_path / "wmt22"
    files = {f"references/cs-en.ref{name}.txt": f"references/generaltest2022.cs-en.ref.{name}.en" for name in "BC"}
    files |= {f"system-outputs/cs-en/{name}.txt": f"system-outputs/generaltest2022.cs-en.hyp.{name}.en"
              for name in ("Online-A", "Online-W", "CUNI-Transformer")}
    files["sources/cs-en.txt"] = "sources/generaltest2022.cs-en.src.cs"
    for there, here in files.items():
        (folder / there).parent.mkdir(parents=True, exist_ok=True)
        (folder / there).write_bytes((data / here).read_bytes())
    (folder / "documents").mkdir()
    (folder / "documents" / "cs-en.docs").write_text("".join(
        f"{'news' if n < 700 else 'other'}\tdoc{n // 10}\n" for n in range(1448)))
    (folder / "task.toml").write_text("""
        manifest = 1
        [task]
        id = "wmt22"
        [[test_set]]
        name = "cs-en"
        gold = "references/cs-en.refC.txt"
        source = "sources/cs-en.txt"
        format = "lines"
        references = [{ name = "refB", path = "references/cs-en.refB.txt" }]
        attributes = "documents/cs-en.docs"
        options = { attributes = ["domain", "document"] }
        cluster = "document"
        [[metric]]
        name = "BLEU"
        options = { references = ["gold", "refB"] }
        [significance]
        test = "bootstrap"
        unit = "cluster"
        resamples = 100
        seed = 1
        [[submit]]
        file = "system-outputs/cs-en/{system}.txt"
        """)
    with (data / "official-scores.csv").open() as file:
        official = {r["system"]: float(r["score"]) for r in csv.DictReader(file) if r["metric"] == "bleu-all"}
    board = registry("run", folder / "task.toml", "--format", "json").json
    assert len(board) == 3
    assert all(row["score"] == pytest.approx(official[row["system"]], abs=5e-5) for row in board)
    counts = registry("query", "SELECT count(*) AS n FROM item_attribute WHERE name = 'domain' AND value = 'news'",
                      "--format", "json").json
    assert counts == [{"n": 700}]


def test_bootstrap_means_and_deviations_are_those_of_sacrebleu(data):
    """Within Monte-Carlo error of sacrebleu's resampling of the same statistics, for three systems."""
    texts = {name: (data / path).read_text().split("\n")[:-1] for name, path in {
        "C": "references/generaltest2022.cs-en.ref.C.en",
        **{s: f"system-outputs/generaltest2022.cs-en.hyp.{s}.en" for s in ("Online-W", "Lan-Bridge", "ALMAnaCH-Inria")},
    }.items()}
    reference = texts.pop("C")
    reader, resamples = Lines(), 4000
    items = reader.read_gold({"gold": Document("C", "\n".join(reference).encode())})
    metric = BLEU()
    statistics = np.stack([metric.corpus_statistics(items, reader.read_answers(Document(s, "\n".join(t).encode())))
                           for s, t in texts.items()], axis=1)
    scores = score_resamples(StatisticMatrix(statistics, metric.score), Settings(resamples=resamples))
    peer = sacrebleu.metrics.BLEU(references=[reference])
    for n, text in enumerate(texts.values()):
        theirs = np.array([s.score for s in _bootstrap_resample(peer._extract_corpus_statistics(text, None), peer,
                                                                n_samples=resamples)[1]])
        error = theirs.std() / np.sqrt(resamples)
        assert abs(scores[:, n].mean() - theirs.mean()) < 5 * np.sqrt(2) * error
        assert scores[:, n].std() == pytest.approx(theirs.std(), rel=5 / np.sqrt(resamples))


def test_the_formats_of_the_task_hold_the_same_segments(data):
    """References and a system wrapped as WMT's XML, as SGML and as an n-best list: BLEU's statistics do not change."""
    names = {"B": "references/generaltest2022.cs-en.ref.B.en", "C": "references/generaltest2022.cs-en.ref.C.en",
             "X": "system-outputs/generaltest2022.cs-en.hyp.Online-A.en"}
    documents = {name: Document.load(data / file) for name, file in names.items()}
    lines = {name: [line for _, line in document.lines()] for name, document in documents.items()}

    def wrapped(name, opening, closing):
        segments = "".join(f'<seg id="{n}">{html.escape(line, quote=False)}</seg>\n'
                           for n, line in enumerate(lines[name], 1))
        return f"{opening}\n{segments}{closing}"

    xml = "<dataset><doc id='d'>{}</doc></dataset>".format("\n".join((
        wrapped("B", "<ref translator='B'>", "</ref>"), wrapped("C", "<ref translator='C'>", "</ref>"),
        wrapped("X", "<hyp system='X'>", "</hyp>"))))
    sgml = {name: wrapped(name, f'<{kind}>\n<doc sysid="{name}" docid="d">', f"</doc>\n</{kind}>")
            for name, kind in (("B", "refset"), ("C", "refset"), ("X", "tstset"))}
    nbest = "".join(f"{n} ||| {line} ||| {n}\n{n} ||| worse ||| 0\n" for n, line in enumerate(lines["X"]))

    def read(reader, gold, other, system, submission_reader=None):
        items = reader.read_gold({"gold": _document(gold), "reference:C": _document(other)})
        answers = index_by_key((submission_reader or reader).read_answers(_document(system)), "system")
        metric = BLEU(references=("C", "gold"))
        return metric.corpus_statistics(items, [answers[item.key] for item in items])

    plain = read(Lines(), *(documents[name].content for name in "BCX"))
    assert (read(WmtXml(reference="B"), xml, xml, xml) == plain).all()
    assert (read(Sgml(), *(sgml[name] for name in "BCX")) == plain).all()
    assert (read(Lines(), documents["B"].content, documents["C"].content, nbest, NBest()) == plain).all()


def _document(content):
    return Document("f", content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def human(real_data):
    """Direct assessments: z-scores by system and segment, and the organisers' p-values (0.12 where not below 0.05)."""
    folder = real_data("wmt22-cs-en") / "human"
    scores = {}
    for line in (folder / "ad-seg-scores-cs-en.csv").read_text().splitlines()[1:]:
        system, segment, _, z, _ = line.split()
        scores.setdefault(system, {})[segment] = z
    header, *rows = (line.split() for line in (folder / "adwilcox-csen.csv").read_text().splitlines() if line.strip())
    printed = {(row[0], other): float(p) for row in rows for other, p in zip(header, row[1:], strict=True)}
    return scores, {pair: p for pair, p in printed.items() if pair[0] != pair[1]}


def test_rank_sums_of_human_scores(human):
    """All 47 printed p-values, to the last bits: the organisers' test does not see ties through rounding noise."""
    scores, printed = human
    values = {system: np.array(list(map(float, of.values()))) for system, of in scores.items()}
    for (a, b), official in printed.items():
        p = math.exp(rank_sum(values[a], values[b], "greater", rounding=0).log_p)
        assert p > 0.05 if official == 0.12 else p == pytest.approx(official, rel=1e-10)
    assert sum(official < 0.05 for official in printed.values()) == 47


def test_the_board_of_human_scores(human, real_data, tmp_path, registry):
    """Systems judged on different segments: the organisers' clusters and decisions, ties respected in the p-values.

    The organisers test one-sided in the direction of the observed scores at 5 %. Their p-values are half of the
    two-sided ones, and their decisions those of two-sided tests at 10 %.
    """
    scores, printed = human
    segments = sorted({segment for of in scores.values() for segment in of})
    (tmp_path / "gold.tsv").write_text("\n".join(["item", *segments]) + "\n")
    (tmp_path / "systems").mkdir()
    for system, of in scores.items():
        rows = ["item\tscore", *(f"{segment}\t{z}" for segment, z in of.items())]
        (tmp_path / "systems" / f"{system}.tsv").write_text("\n".join(rows) + "\n")
    (tmp_path / "task.toml").write_text("""manifest = 1
        task = { id = "human" }
        test_set = [{ name = "cs-en", gold = "gold.tsv", format = "scores" }]
        submission = { missing = "own" }
        metric = [{ name = "Mean" }]
        significance = { test = "rank-sum", alpha = 0.1, correction = "none", seed = 1 }
        submit = [{ file = "systems/{system}.tsv" }]
        """)
    board = registry("run", tmp_path / "task.toml", "--format", "json").json
    rows = [line.split() for line in (real_data("wmt22-cs-en") / "human" / "clusters.csv").read_text().splitlines()]
    official = [(row[-1], int(row[4])) for row in rows if row[:2] == ["cs", "en"]]
    first = {row["cluster"]: row["rank"] for row in reversed(board)}
    assert [(row["system"], first[row["cluster"]]) for row in board] == official
    for pair in registry("pairs", "--format", "json").json:
        p = printed[pair["system_a"], pair["system_b"]]
        assert pair["significant"] == (p < 0.05)
        assert not pair["significant"] or pair["p_value"] / 2 == pytest.approx(p, rel=0.005)
    assert "--test rank-sum or --test two-sample-t" in registry("compare", "--test", "wilcoxon", exit_code=3).stderr
    assert "leaves out different items for each system" in registry("effects", exit_code=3).stderr
