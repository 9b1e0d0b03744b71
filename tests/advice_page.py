"""Makes docs/advice.md: what is said of every test for every metric, on made-up answers of the kind that it takes.

A verdict rests on what statistics look like (right or wrong, graded, counts with denominators of their own), so every
metric scores 200 items of two systems, by its own code.
"""

from collections import defaultdict
from functools import cache
from itertools import cycle

import numpy as np

from registry.evaluation.matrices import Counts, Steps, build_matrix
from registry.families import FAMILIES, find_step, remove_rounding
from registry.items import Answer, AnswerSet, Item, Links, Response, Span, Tagged
from registry.metrics import METEOR, METRICS, ConfusionMetric, Formula, JointMetric
from registry.metrics.confusion import make_label_code
from registry.metrics.sets import MatchMetric
from registry.readers import Conllu, Document
from registry.significance import TESTS, StatisticMatrix
from registry.studies.advise import VARIANTS, describe_score, judge_test, list_preferred
from tests.required_options import REQUIRED

N = 200
LABELS = ("1", "2", "3")  # which metrics of words and of numbers take
MARKS = {"valid": "valid", "warning": "warned", "refused": "refused"}


def _labels(rng):
    return lambda: (str(rng.choice(LABELS)),) * 2


def _spans(rng):
    def one():
        return Tagged(("w",) * 12, frozenset(Span(3 * n, 3 * n + 2, "x") for n in range(4) if rng.random() < 0.8))

    return lambda: (one(), one())


def _answers(rng):
    def one():
        return AnswerSet(tuple(Response(f"r{n}", "", None) for n in range(6) if rng.random() < 0.7))

    return lambda: (one(), one())


def _segments(rng):
    words = ["the", "a", "old", "new", "house", "garden", "river", "sees", "finds", "builds", "near", "under", "two"]

    def one():
        return " ".join(rng.choice(words, rng.integers(5, 15)))

    return lambda: ({"gold": one()}, one())


def _statistics(rng):
    return lambda: ({"gold": 3.0 + rng.integers(4), "tokens": 5.0 + rng.integers(9)},
                    {"tp": float(rng.integers(3)), "pred": 3.0 + rng.integers(3), "nll": float(rng.random())})


def _rankings(rng):
    """Runs lack the first documents."""
    def one(values, first=0):
        return {f"d{n}": values(n) for n in range(first, 20)}

    return lambda: (one(lambda _: int(rng.integers(2))), one(lambda n: float(rng.permutation(99)[n]), first=5))


def _links(rng):
    def one():
        return Links(tuple((n, int(n + rng.integers(2))) for n in range(int(rng.integers(3, 9)))))

    return lambda: (one(), one())


def _judged(rng):
    """People look at the same 60 items of every system; golds are drawn first."""
    places = cycle(range(N))

    def one():
        human = round(float(rng.normal()), 4)
        return {"judge": round(human + float(rng.normal()), 4)} | ({"human": human} if next(places) < 60 else {})

    return lambda: (None, one())


VALUES = {"label": _labels, "span": _spans, "answer": _answers, "segment": _segments, "statistic": _statistics,
          "ranking": _rankings, "alignment": _links, "judged": _judged,
          "score": lambda rng: lambda: (float(rng.normal()), round(float(rng.normal()), 4)),
          "logprob": lambda rng: lambda: (int(rng.integers(20, 60)),
                                          (-20 * float(rng.random()), int(rng.integers(5, 15))))}


def _sentences(rng, lengths, mistaken=0.0):
    """CoNLL-U of sentences with so many words, each of two letters and attached to one before it, tags at random.

    A share of the words and of the sentences is cut in two: mistakes of a system.
    """
    lines = []
    for length in lengths:
        forms = [form for _ in range(length) for form in (("a", "b") if rng.random() < mistaken else ("ab",))]
        n = 0
        for form in forms:
            n = 1 if n > 2 and rng.random() < mistaken else n + 1
            head = 0 if n == 1 else int(rng.integers(1, n))
            tags, relation = rng.choice(["NOUN", "VERB"]), "root" if n == 1 else rng.choice(["obj", "det"])
            lines += [""] * (n == 1) + ["\t".join(map(str, (
                n, form, rng.choice(["w", "v"]), tags, tags[0], "_", head, relation, "_", "_")))]
    return ("\n".join([*lines[1:], "", ""])).encode()


@cache
def examples(kind):
    """Items and the answers of two systems, of what metrics of this kind take."""
    rng = np.random.default_rng(1)
    if kind == "tree":
        reader, lengths = Conllu(), rng.integers(3, 12, N)
        items = reader.read_gold({"gold": Document("gold", _sentences(rng, lengths))})
        systems = [Document("system", _sentences(rng, lengths, 0.1)) for _ in range(2)]
        return items, [reader.assign(items, reader.read_answers(of), of.path) for of in systems]
    draw = VALUES[kind](rng)
    items = [Item(f"i{n}", draw()[0]) for n in range(N)]
    return items, [[Answer(item.key, draw()[1]) for item in items] for _ in range(2)]


def typical(metric, items, answers):
    """The matrix of a metric on such items."""
    if isinstance(metric, METEOR):  # a function of sums as BLEU is, whose program takes long
        counts = np.random.default_rng(1).integers(1, 4, (N, 2, len(FAMILIES[metric.family].columns)))
        counts[..., :2] += 20  # words, of which the others are some
        return build_matrix(metric, Counts.from_statistics(counts.astype(float)))
    rows = np.stack([metric.corpus_statistics(items, of) for of in answers], axis=1)
    if isinstance(metric, ConfusionMetric):
        gold, predicted = (rows[..., [side]] == [make_label_code(name) for name in LABELS] for side in (0, 1))
        counts = np.stack([gold & predicted, predicted, gold], axis=-1).astype(float)
        return build_matrix(metric, Counts.from_statistics(counts.reshape(*rows.shape[:-1], -1)))
    rows = np.stack([remove_rounding(of_system) for of_system in rows.swapaxes(0, 1)], axis=1)
    steps = Steps.choose(metric, [rows], find_step(rows))
    return build_matrix(metric, Counts.from_statistics(rows, steps))


def responses(metric, items, answers):
    """The same by single responses, where a metric counts them."""
    if not isinstance(metric, MatchMetric):
        return None
    rows, of = [], []
    for n, item in enumerate(items):
        gold = metric.members(item.gold)
        given = [metric.members(one[n].value) for one in answers]
        for answer in sorted(gold.union(*given), key=repr):
            rows.append([(answer in one and answer in gold, answer in one, answer in gold) for one in given])
            of.append(n)
    return StatisticMatrix(np.array(rows, dtype=float), metric.score, quotient=metric.quotient, family=metric.family,
                           answers_to=np.array(of))


def verdicts(metric):
    """What is said of every test of a metric, by item; by response of those that take nothing else."""
    items, answers = examples(metric.takes)
    matrix, single = typical(metric, items, answers), responses(metric, items, answers)
    found = {}
    for test in (*(known() for known in TESTS.values()), *VARIANTS):
        by_response = test.units[0] == "response" and single is not None
        said = judge_test(test, single if by_response else matrix, "response" if by_response else "item")
        found[repr(test)] = said
    return describe_score(matrix), repr(list_preferred(matrix)[0]), found


def metrics():
    """Every metric with its defaults, or as the example of it, and another formula."""
    for name, known in METRICS.items():
        if issubclass(known, JointMetric):
            continue  # only the Wald test takes votes and ratings
        yield known.build(REQUIRED.get(name, {}))
        if known is Formula:
            yield Formula(formula="exp(nll / tokens)")


def advice_page():
    """Metrics of which the same is said are told of together, by the name of the first; every test has its lines."""
    groups = defaultdict(list)
    for metric in metrics():
        what, advised, found = verdicts(metric)
        groups[what, advised, tuple(found.items())].append(repr(metric) if metric.name in REQUIRED else metric.name)
    said_of = defaultdict(lambda: defaultdict(list))
    for (_, _, found), (first, *_) in groups.items():
        for test, said in found:
            said_of[test][MARKS[said.status], "" if said.status == "valid" else said.reason].append(first)
    lines = [f"| `{test}` | {how} | {'all' if len(firsts) == len(groups) else _names(firsts)} | {why} |"
             for test, said in said_of.items() for mark in MARKS.values()
             for (how, why), firsts in said.items() if how == mark]
    return "\n".join([
        "# Which test for which metric", "", INTRODUCTION, "| metric, and those like it | score | take |",
        "| --- | --- | --- |",
        *(f"| {_names(names)} | {what} | `{advised}` |" for (what, advised, _), names in groups.items()),
        "", "| test | is | for metrics like | why |", "| --- | --- | --- | --- |", *lines, ""])


def _names(names):
    return ", ".join(f"`{name}`" for name in names)


INTRODUCTION = """\
Generated by `make docs` from what `registry study advise` says of 200 made-up items, which are independent of each
other. The first table tells which metrics are alike, and which test to take; the second names the first metric of such
a line for all of them. A test is valid, warned of (it can be computed and should not be believed as it stands), or
refused. `registry study advise TASK` says it of a task, with its clusters, its size and its systems: below 200 units
the plain bootstrap is warned of for every metric, and permutation is to be taken, studentized where systems are not
exchangeable. Tests of single responses stand for `unit = "response"`.
"""
