"""Makes docs/studies/ from the real data: every study's table, reading and figure, with what it shows and does not.

    python -m tests.study_gallery [FOLDER ...]
"""

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image  # comes with matplotlib
from typer.testing import CliRunner

from registry.cli.app import app
from tests.conftest import REAL_DATA, ROOT
from tests.gallery import MANIFESTS, shrink

STUDIES = ROOT / "docs" / "studies"


@dataclass(frozen=True)
class Shown:
    """One study of a task: its command after the task's id, whether it is drawn, and three sentences about it.

    Of a table with many rows the first `rows` are shown.
    """

    study: str
    said: str
    options: tuple[str, ...] = ()
    drawn: bool = True
    suffix: str = ""
    rows: int = 30

    @property
    def name(self):
        return self.study + self.suffix


SHOWN = {
    "semeval2018-arc": [
        Shown("threshold", "A gain of some 5.5 points of accuracy on these 444 items is nearly always significant, "
              "and one of 2.5 hardly ever. Against the random baseline it takes more than among systems, whose "
              "answers are correlated: the triangles lie below the circles. The rule's threshold rests on 14 pairs, "
              "and nothing here speaks of another test set, or of the correction that 231 pairs need.",
              ("--by", "kind")),
        Shown("curve", "Confidence rises with gain along one curve for pairs of systems, and along a lower one for "
              "pairs with the random baseline. Accuracy moves in steps of one item, so many pairs share a gain and "
              "differ only in how many items they disagree on. The curves describe these systems; they are fitted to "
              "pairs that share systems, and are smoother than 22 systems warrant.", ("--by", "kind")),
        Shown("calibration", "On test sets of 111 items drawn from the 444, tests about p = 0.05 name the better "
              "system less often than on the other tasks here, since most of these systems are close for so few "
              "items. Observed shares lie near those of normal noise, so nothing here speaks against the p-values, "
              "though the bootstrap is warned of below 200 items. It takes the 444 items for all there are, and says "
              "nothing of how systems do on other arguments."),
        Shown("advise", "Items are right or wrong, so permutation gives the p-values of the exact McNemar test, and t "
              "is misused. Sign and Wilcoxon's test are valid too. That a test is valid does not make it the one to "
              "take: permutation looks at the score that the board shows, whatever it is.", drawn=False),
        Shown("correlation", "A third of the significant pairs would be lost by a test of independent samples, "
              "although systems agree less here than elsewhere: many are close to guessing. The random baseline has "
              "r12 of about 0 with everybody, as is to be expected. The count depends on the correction over 231 "
              "pairs; with fewer systems it would be another.", rows=8),
        Shown("power", "On 444 items it takes a true difference of 4.8 to 9.8 points of accuracy to be found with a "
              "power of 80 %, depending on how often two systems disagree. A true difference of 3 points is found "
              "one time in five, and then looks more than twice as large as it is. The 11 points by which GIST leads "
              "are no such difference: they were observed, so their p-value speaks of them, and no power does.",
              ("--difference", "0.03"), rows=8),
    ],
    "wmt22-cs-en": [
        Shown("threshold", "Some 0.9 BLEU on these 1448 segments is about where differences become significant. "
              "Eleven systems make one borderline pair, so the rule gives nothing and only the fit to the pairs that "
              "are not far off does, with a wide interval. Whether systems were trained on the task's data alone "
              "makes no difference that so few pairs could show.",
              ("--metric", "bleu-all", "--by", "training", "--resamples", "100000"), suffix="-bleu"),
        Shown("threshold", "In chrF the same happens at about 0.45, so half a point of chrF is as hard to show as "
              "nearly a point of BLEU here. No pair at all lies at the border, and all but two are beyond it. The "
              "two metrics' thresholds are not comparable in what they mean to readers of the translations.",
              ("--metric", "chrf-all", "--by", "training", "--resamples", "100000"), suffix="-chrf"),
        Shown("curve", "Nearly all pairs lie at confidence 1: the systems differ by more than the test set's noise. "
              "The few that do not lie on a steep curve, as in figure 4 of the paper. So few points tell where the "
              "curve is, and not how wide.",
              ("--metric", "bleu-all", "--by", "training", "--resamples", "100000"), suffix="-bleu"),
        Shown("test-size", "From 100 segments to 1448 the threshold falls from about 3.6 BLEU to 0.9, near the "
              "inverse square root. Initial segments have much the same thresholds as random subsets, so nothing "
              "here says that the order of the documents matters. The extension to larger sets assumes more of the "
              "same documents and systems, which nothing here can check.", ("--metric", "bleu-all"), suffix="-bleu"),
        Shown("calibration", "On test sets of 362 segments nearly all tests about p = 0.05 name the better system, "
              "for few pairs of these systems are close. The bars show how much that hangs on which systems take "
              "part. It does not say that a gain in BLEU is one that readers would see.",
              ("--metric", "bleu-all"), suffix="-bleu"),
        Shown("advise", "BLEU is a function of sums and has no exact test, and 1448 segments are enough for the "
              "bootstrap, which the task declares. The tree of the paper would send a test set of this size to tests "
              "that ignore the size of differences; they look at segments, whose scores BLEU is not the mean of. "
              "Segments of one document are taken for independent here, because the files do not say which belong "
              "together.", ("--metric", "bleu-all", "--show", "steps"), drawn=False),
        Shown("correlation", "Lan-Bridge and Online-B have r12 = 0.93: a test that takes them for independent would "
              "be nearly four times too blunt. The paired t-test of the same difference agrees with the bootstrap in "
              "every decision. Systems may be alike because they share data or because they are copies; correlation "
              "does not say which.", ("--metric", "bleu-all"), rows=20),
        Shown("power", "One point of BLEU between two systems is found half of the time on 1448 segments; between "
              "Lan-Bridge and Online-B, whose outputs are nearly the same, it is found always. So what a test set can "
              "find is no property of the test set alone. The number of segments that are needed assumes that further "
              "ones are like these.", ("--metric", "bleu-all", "--difference", "1"), rows=20),
    ],
    "conll2018-fro_srcmf": [
        Shown("threshold", "Some 0.8 points of LAS on these 1927 sentences separate parsers. Pairs that both read the "
              "baseline's tags, or both their own, need a little less than mixed pairs, though the intervals leave "
              "that open; three borderline pairs are too few for the rule. The pairs with the parser at 2.9 % and "
              "others far off are left out of the fit, and out of the figure.",
              ("--by", "tagger", "--resamples", "100000")),
        Shown("curve", "Only between 0.5 and 0.6 points of LAS the gain alone does not tell whether a pair is "
              "significant. The scatter at one gain is that of how alike two parsers are. What the figure does not "
              "show is any correction for 300 pairs.", ("--by", "tagger", "--resamples", "100000")),
        Shown("test-size", "The threshold falls from 3.6 points of LAS with 100 sentences to 0.8 with 1927, as the "
              "inverse square root would have it: the fitted power is -0.51. The first sentences of the treebank "
              "behave like random ones. Half of today's threshold would take four times the sentences, if they were "
              "of the same kind.", ("--sizes", "100,200,400,600,800,1000,1200,1400,1600", "--resamples", "10000")),
        Shown("calibration", "Of the tests with p from 0.04 to 0.06, on test sets of 481 sentences drawn from the "
              "1927, about 95 % name the truly better parser; the paper found 92 % for its parsers on 1,600 of the "
              "Brown corpus. The one is what normal noise makes of parsers that far apart, and neither is 1 - p. "
              "The same on text of another century would be another question, which `--domains` asks.",
              ("--resamples", "10000")),
        Shown("correlation", "Of 300 pairs 262 are significant, and 45 of these would be missed by a test of "
              "independent samples. Those are pairs that stand close to each other on the board, which a leaderboard "
              "is made to tell apart. HUJI, with a LAS of 3 %, is correlated with nobody.", rows=8),
        Shown("power", "For the middle one of 300 pairs, what is detectable falls from 3.2 points of LAS on 241 "
              "sentences to 1.1 on all 1927, with the root of their number, as the method assumes. That is the level "
              "of a single comparison; a correction over 300 pairs asks for more. Sentences of four texts are taken "
              "for independent draws from one population.", ("--show", "sizes")),
        Shown("replicability", "The gold is made of four texts, two in verse and two in prose, which are test sets of "
              "their own here. CEA-LIST is first overall, and is not shown to be better than Stanford-18 on more than "
              "two of the four. A text where it is not shown is not one where it fails: the shortest has 238 "
              "sentences.", ("--across", "document"), rows=10),
    ],
    "wordalign": [
        Shown("curve", "Aligners are compared on English-French and on Romanian-English, each test set a curve. The "
              "gains at which confidence reaches 0.95 are alike, though the one has sure and possible links and the "
              "other only sure ones. A few pairs make both curves, so where they cross is chance."),
        Shown("calibration", "A pair that is significant on one language pair has the same better aligner on the "
              "other in 94 % of the cases, where of two samples of one population nearly all would. But only three "
              "pairs do not, and with resampled aligners the intervals reach to 100 %; the few pairs with larger p "
              "say nothing. Eleven aligners, most of them variants of two programs, are far from 50 independent pairs.",
              ("--domains",)),
        Shown("replicability", "awesome-align beats every other aligner on both test sets, so that k is 2. "
              "Symmetrizations of GIZA++ change places: grow-diagonal-final is shown to be better than grow-diagonal "
              "on Romanian-English alone. Two test sets are all that is claimed about; k is no share of all language "
              "pairs.", ("--test", "permutation"), rows=12),
    ],
}


def make(folder):
    """Score the task in a registry of its own, and make its studies."""
    with tempfile.TemporaryDirectory() as scratch:
        db = str(Path(scratch) / "registry.duckdb")
        run("apply", MANIFESTS / f"{folder}.toml", "--root", REAL_DATA / folder, "--db", db)
        run("score", "--db", db)
        (STUDIES / folder).mkdir(parents=True, exist_ok=True)
        for shown in SHOWN[folder]:
            path = STUDIES / folder / shown.name
            plot = ("--plot", path.with_suffix(".png")) if shown.drawn else ()
            written = run("study", shown.study, task_of(folder), *shown.options, *plot, "--format", "md", "--db", db)
            path.with_suffix(".md").write_text(shortened(written, shown.rows))
            if shown.drawn:
                shrink(Image.open(path.with_suffix(".png")).convert("RGB"), path.with_suffix(".png"))


def shortened(written, rows):
    """Markdown of one table with its first rows only."""
    lines = written.split("\n")
    below = [n for n, line in enumerate(lines) if line.startswith("|")][2:]  # the heading
    if len(below) > rows:
        lines[below[rows]:below[-1] + 1] = ["", f"({len(below) - rows} rows more)"]
    return "\n".join(lines)


def run(*arguments):
    done = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def task_of(folder):
    return re.search(r'^id = "(.*)"$', (MANIFESTS / f"{folder}.toml").read_text(), re.MULTILINE)[1]


def index():
    """The page that shows all studies."""
    parts = ["# Studies of real shared tasks", "Made by `make studies` from the tasks' own submissions, with the "
             "manifests of `tests/real_data/`. [../studies.md](../studies.md) says what each study does. The sentences "
             "above a table say what it shows here and what it does not; those below it are the program's own reading."]
    for folder, studies in SHOWN.items():
        title = re.search(r'^title = "(.*)"$', (MANIFESTS / f"{folder}.toml").read_text(), re.MULTILINE)[1]
        parts.append(f"## {title}")
        for shown in studies:
            command = " ".join(["registry study", shown.study, task_of(folder), *shown.options])
            parts += [f"### {shown.study}: {folder}{shown.suffix}", f"    {command}", shown.said]
            if shown.drawn:
                parts.append(f'<img src="{folder}/{shown.name}.png" alt="{shown.study}" width="560">')
            parts.append((STUDIES / folder / f"{shown.name}.md").read_text().rstrip())
    (STUDIES / "README.md").write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or SHOWN:
        if (REAL_DATA / chosen).is_dir():
            make(chosen)
        else:
            print(f"{chosen}: no data; left as it is", file=sys.stderr)
    index()
