"""Layouts of labels by chance, of which no label is ever taken for another one in silence."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import InputError
from registry.evaluation.ingest.fit import Policies, join
from registry.guessing.guess import Asked
from registry.guessing.made import made
from registry.missing import MissingPolicy
from registry.readers import Document
from tests.guessing.test_guessing import GOLD, IDS, PAIRS, WORDS, A, readers, rows


@settings(max_examples=100)
@given(st.data())
def test_a_label_is_never_another_one_in_silence(tmp_path_factory, data):
    """However columns, headers, separators and lines are shuffled: answers are joined as they are, or it is asked."""
    folder, draw = tmp_path_factory.mktemp("layouts"), data.draw
    keys = draw(st.sampled_from([[(i,) for i in IDS], [(i,) for i in WORDS], [*zip(*PAIRS, strict=True)],
                                 [(n % 8, n // 8) for n in range(24)]]))
    classes = draw(st.sampled_from([["yes", "no", "maybe"], ["0", "1", "2"], ["O", "B-x", "I-x"], ["1.5", "2", "id"]]))
    named = dict(zip(["yes", "no", "maybe"], classes, strict=True))
    blank = draw(st.sampled_from([99, 99, 2, 3]))  # every so many-th item has no label in the gold
    truth = {i: {"gold": named[g] if n % blank else "", "a": named[a]}
             for n, (i, g, a) in enumerate(zip(keys, GOLD, A, strict=True), 1)}
    for who in ("gold", "a"):
        order = list(truth)
        random.Random(draw(st.integers(0, 9))).shuffle(order)
        extra = draw(st.sampled_from([[], [[str(n % 3) for n in range(24)]], [["1"] * 24], [[named["no"]] * 24]]))
        columns = [[truth[i][who] for i in order], *extra, *zip(*order, strict=True)]
        names = [draw(st.sampled_from(["label", "klasse"])), *["extra" for _ in extra],
                 draw(st.sampled_from(["id", "ident", "name"])), "nr"][:len(columns)]
        places = draw(st.permutations(range(len(columns))))
        header = [names[n] for n in places] if draw(st.booleans()) else ()
        (folder / who).write_text(rows(*(columns[n] for n in places), header=header, separator=draw(
            st.sampled_from("\t, "))))
    try:
        found = made([folder / "gold", folder / "a"], Asked(metric="Accuracy"))
    except InputError:
        return
    gold, system = readers(found)
    items = gold.read_gold({"gold": Document.load(folder / "gold")})
    document = Document.load(folder / "a")
    answers = join(items, system.read_answers(document), system, Policies(MissingPolicy.REJECT), document)
    read = {(item.key, item.gold, answer.value) for item, answer in zip(items, answers, strict=True)}
    assert read in [{(" ".join(map(str, i[::way])), of["gold"], of["a"]) for i, of in truth.items()} for way in (1, -1)]
