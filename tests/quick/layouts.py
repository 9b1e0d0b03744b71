"""Files as people have them: what `registry quick` reads at once, asks about, or refuses; `tests/fuzz` damages them."""

import json

N = range(24)
IDS = [f"q{n:02}" for n in N]
WORDS = ["amber", "birch", "cedar", "dahlia", "elm", "fern", "gorse", "hazel", "iris", "juniper", "kelp", "lilac",
         "maple", "nettle", "oak", "poplar", "quince", "rose", "sorrel", "tulip", "ulex", "violet", "willow", "yew"]
GOLD = [("yes", "no", "maybe")[n % 3] for n in N]
A, B = ([("yes", "no", "maybe")[(n + (n % every == 0)) % 3] for n in N] for every in (5, 3))
RATED, RATED_A = [1 + n % 5 for n in N], [1 + (n + n % 2) % 5 for n in N]
HALVES = [n + 0.5 for n in RATED]
PAIRS = [f"d{n // 4}" for n in N], [n % 4 for n in N]
SPANS = ["B-PER", "I-PER", "O", "B-LOC"] * 6
SENTENCES = [f"the {WORDS[n]} near the {WORDS[(5 * n + 3) % 24]} grows {WORDS[(7 * n + 1) % 24]}{' now' * (n % 3)}"
             for n in N]
OTHERS = [text.replace("grows", "has") for text in SENTENCES]
QRELS = "".join(f"{i} 0 d1 1\n" for i in IDS)
RUN = "".join(f"{i} Q0 d{n} {n} {9 - n} x\n" for i in IDS for n in range(3))
LINKS = "".join(f"1-{1 + n % 3} {2 + n % 2}-2\n" for n in N)
LISTS = [[(0, 4, "PER"), (9, 12, "PER"), (16, 21, "LOC")], [(13, 17, "LOC")], []]


def rows(*columns, header=(), separator="\t"):
    """Columns as lines of text."""
    return "".join(separator.join(map(str, row)) + "\n" for row in ([header] if header else []) + list(
        zip(*columns, strict=True)))


def lines(**columns):
    """Columns by their names as JSON Lines."""
    return "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n"
                   for row in zip(*columns.values(), strict=True))


def tagged(tags, separator="\t"):
    """A token and its tag on each line, sentences of four tokens."""
    return "".join(f"w{n}{separator}{tag}\n" + "\n" * (n % 4 == 3) for n, tag in enumerate(tags))


def span_lines(documents, of_span, within="spans"):
    """Spans of documents as JSON Lines of annotation tools."""
    return "".join(json.dumps({"id": f"d{n}", within: list(map(of_span, spans))}) + "\n"
                   for n, spans in enumerate(documents))


def _labelled(span):
    return dict(zip(("start", "end", "label"), span, strict=True))


RIGHT = {  # files, the gold first; the reader, options of the gold's reader, and of the last system's
    "two columns": ([rows(IDS, GOLD), rows(IDS, A), rows(IDS, B)], "labels", {}, {}),
    "a header": ([rows(IDS, GOLD, header=("id", "label")), rows(IDS, A, header=("id", "label"))], "labels",
                 {"header": True, "item": "id"}, {"header": True}),
    "a header of the gold alone": ([rows(IDS, GOLD, header=("id", "label", "doc")[:2]), rows(IDS, A)], "labels",
                                   {"item": "id", "label": "label"}, {"header": False}),
    "an unusual header, of the gold alone": ([rows(IDS, GOLD, header=("id", "klasse")), rows(IDS, A)], "labels",
                                             {"item": "id", "label": "klasse"}, {"header": False}),
    "BOM and CRLF": (["\ufeff" + rows(IDS, GOLD).replace("\n", "\r\n"), rows(IDS, A, separator=" ")], "labels",
                     {"repair": ("bom",)}, {"separator": "whitespace", "repair": ()}),
    "comments": (["# made\n#\n" + rows(IDS, GOLD), "#id\tlabel\n" + rows(IDS, A)], "labels", {"comment": "#"}, {}),
    "text of which some is unseen": (
        [rows(IDS, GOLD, [f"{text}\u200d" for text in SENTENCES], header=("id", "label", "text")), rows(IDS, A)],
        "labels", {"attributes": (), "label": "label"}, {"header": False}),
    "JSON Lines": ([lines(id=IDS, label=GOLD), lines(id=IDS, prediction=A)], "labels",
                   {"syntax": "jsonl", "item": "id"}, {"label": "prediction"}),
    "confidences": ([lines(id=IDS, label=GOLD), lines(id=IDS, label=A, score=HALVES)], "labels", {},
                    {"label": "label"}),
    "a list in JSON": ([json.dumps([{"id": i, "label": label} for i, label in zip(IDS, labels, strict=True)])
                        for labels in (GOLD, A)], "labels", {"syntax": "json", "item": "id"}, {"label": "label"}),
    "an object of items in JSON": ([json.dumps(dict(zip(IDS, GOLD, strict=True)), indent=1), lines(id=IDS, label=A)],
                                   "labels", {"syntax": "json", "item": "item"}, {"syntax": "jsonl", "item": "id"}),
    "the gold repeated": ([lines(id=IDS, gold=GOLD, input=SENTENCES), *(
        lines(id=IDS, gold=GOLD, prediction=of) for of in (A, B))], "labels", {"label": "gold"},
                          {"label": "prediction"}),
    "decimals": ([rows(IDS, HALVES), rows(IDS, RATED_A)], "scores", {"gold": "gold"}, {"score": "score"}),
    "ratings": ([rows(IDS, RATED, header=("id", "rating")), rows(IDS, RATED_A)], "scores", {"gold": "rating"}, {}),
    "1.0 for 1": ([rows(IDS, [n % 2 for n in RATED]), rows(IDS, [f"{n % 2}.0" for n in RATED_A])], "labels",
                  {"rename": ()}, {"rename": (("0.0", "0"), ("1.0", "1"))}),
    "sentences of documents": (
        [rows(*PAIRS, GOLD, header=("doc_id", "sent_id", "label")), rows(*PAIRS, A, header=(
            "doc_id", "sent_id", "label"))], "labels", {"item": "sent_id", "within": ("doc_id",)}, {}),
    "a label on each line": (["\n".join(GOLD), "\n".join(A)], "labels", {"item": ""}, {"item": ""}),
    "a label on each line, of items with keys": ([rows(IDS, GOLD, header=("id", "label")), "\n".join(A)], "labels",
                                                 {"item": "", "label": "label"}, {"item": "", "header": False}),
    "a header over the gold alone": (["label\n" + "\n".join(GOLD), "\n".join(A)], "labels", {"header": True},
                                     {"header": False}),
    "a number on each line": (["\n".join(map(str, HALVES)), "\n".join(map(str, RATED_A))], "scores", {"item": ()}, {}),
    "text": (["\n".join(SENTENCES), "\n".join(OTHERS)], "lines", {}, {}),
    "texts by a key": ([lines(id=IDS, reference=SENTENCES), rows(IDS, OTHERS, header=("id", "output"), separator=",")],
                       "texts", {"text": "reference"}, {"text": "output"}),
    "tags": ([tagged(SPANS), tagged(SPANS, " ")], "bio", {"scheme": "iob2"}, {"separator": "whitespace"}),
    "tags with ends": ([tagged(["B-PER", "E-PER", "O", "S-LOC"] * 6)] * 2, "bio", {"scheme": "bioes"}, {}),
    "lenient tags": ([tagged(SPANS), tagged(["I-PER", *SPANS[1:]])], "bio", {"invalid_tags": "reject"},
                     {"invalid_tags": "begin"}),
    "tags below names of columns": (
        ["TOKEN\tNE\tMISC\n" + "".join(f"a{n}\tB-x\t_\nb{n}\tI-x\t_\nc{n}\tO\t_\n\n" for n in N),
         "TOKEN\tNE\tMISC\n" + "".join(f"a{n}\tB-x\t_\nb{n}\tE-x\t_\nc{n}\tO\t_\n" for n in N)],
        "bio", {"header": True, "label": "NE"}, {"scheme": "bioes", "boundaries": "gold"}),
    "links": ([LINKS, LINKS.replace("2", "0")], "pharaoh", {"offset": 1}, {"offset": 0}),
    "rankings": ([QRELS, RUN], "trec", {}, {}),
    "sets of answers": ([lines(item=IDS, answers=[["x", "y"]] * 24), lines(item=IDS, answers=[["x"]] * 24)],
                        "responses", {}, {}),
    "lists of spans": ([span_lines(LISTS, _labelled), span_lines([of[:1] for of in LISTS], _labelled)], "spans",
                       {"spans": "spans", "type": "label"}, {}),
    "lists of lists": ([span_lines(LISTS, list, "label"), span_lines([[]] * 3, list, "label")], "spans",
                       {"start": "0", "end": "1", "type": "2"}, {}),
}
ALONE = {  # one table of all systems; the reader, options of the gold's reader, and the systems
    "labels and the gold": (rows(IDS, GOLD, A, B, header=("id", "gold", "a", "b"), separator=","), "labels",
                            {"label": "gold", "item": "id"}, ["a", "b"]),
    "numbers and the gold": (rows(sorted(WORDS[:12] * 2), WORDS[:12] * 2, HALVES, RATED, RATED_A, IDS, header=(
        "word1", "word2", "gold", "a", "b", "note"), separator=","), "scores",
                             {"gold": "gold", "item": ("word1", "word2")}, ["a", "b"]),
    "numbers and the gold, no names": (rows(HALVES, RATED, RATED_A, header=("gold", "a", "b"), separator=","), "scores",
                                       {"gold": "gold", "item": ()}, ["a", "b"]),
    "texts and the reference": (rows(IDS, SENTENCES, OTHERS, [*OTHERS[:12], *SENTENCES[12:]], N, header=(
        "id", "reference", "a", "b", "length"), separator=","), "texts", {"text": "reference"}, ["a", "b"]),
}
OPEN = {  # files, the gold first; options that the question shows
    "labels or numbers": ([rows(IDS, RATED), rows(IDS, RATED_A)], ["--label 2", "--score 2"]),
    "labels or numbers, on each line": (["\n".join(map(str, RATED)), "\n".join(map(str, RATED_A))],
                                        ["--label 1", "--score 1"]),
    "labels or texts": ([rows(WORDS, WORDS[::-1]), rows(WORDS, ["x", *WORDS[-2::-1]])], ["--label 2", "--text 2"]),
    "a first line that may be a header": (
        [rows(WORDS, GOLD, header=("ident", "klasse")), rows(WORDS, A, header=("ident", "klasse"))],
        ["--option header=true", "--option header=false"]),
    "two columns of labels": ([rows(IDS, GOLD, B, header=("id", "stance", "mood")), rows(IDS, A)],
                              ["--label stance", "--label mood"]),
    "two columns called as a gold": ([lines(id=IDS, gold=GOLD, target=B), lines(id=IDS, prediction=A)],
                                     ["--label gold", "--label target"]),
    "several answers": ([lines(id=IDS, label=GOLD), lines(id=IDS, pred=A, output=B)],
                        ["--label label --label pred", "--label label --label output"]),
    "a gold's column beside an answer": ([lines(id=IDS, target=GOLD, response=B), lines(id=IDS, target=A, response=B)],
                                         ["--label target --label target", "--label target --label response"]),
    "no name of items": ([lines(sentence=SENTENCES, label=GOLD, n=RATED), lines(sentence=SENTENCES, label=A)],
                         ["--item sentence", "--in-order"]),
    "no header and three columns": ([rows(*PAIRS, GOLD), rows(*PAIRS, A)], ["--item 1 --item 2", "--label 3"]),
    "combinations of labels": ([rows(IDS, ["x,y", "y,z", "x,z", "x,y,z"] * 6)] * 2,
                               ["--label 2 --sets ,", "--label 2 --as labels"]),
    "probabilities": ([rows(IDS, [n % 2 for n in RATED]), rows(IDS, [n / 7 for n in RATED])],
                      ["--label 2", "--score 2"]),
    "numbers but for one": ([rows(IDS, [*HALVES[1:], "error"]), rows(IDS, RATED_A)], ["--score 2"]),
    "two columns of tags": ([tagged([f"{tag}\t{tag}" for tag in SPANS])] * 2, ["--label 2", "--label 3"]),
    "two lists of spans": ([lines(id=["a", "b"], spans=[[{"start": 0, "end": 1}]] * 2, entities=[[
        {"start": 0, "end": 2}]] * 2)] * 2, ["--option spans=spans", "--option spans=entities"]),
    "a judge": ([rows(IDS, header=("item",)), rows(IDS, RATED, ["", *RATED[1:]], header=("item", "judge", "human"))],
                ["--as judged --option drawn=random"]),
    "runs of an item": ([rows([*IDS, *IDS], [1] * 24 + [2] * 24, GOLD * 2, header=("id", "epoch", "label"))] * 2,
                        ["--runs fixed", "--runs random"]),
    "answers with a name each, and runs": (
        [rows(N, ["x", "y"] * 12, [n // 2 for n in N], GOLD, header=("uuid", "question", "seed", "label"))] * 2,
        ["--item uuid", "--item question --runs fixed"]),
    "labels of 0 and 1 in columns": (
        [rows(IDS, *([int(n % k == 0) for n in N] for k in (2, 3, 4)), header=("id", *"xyz"))] * 2,
        ["--label x", "--as multilabel"]),
    "a label that no system gives": ([rows(IDS, ["NA", *GOLD[1:]]), rows(IDS, ["yes", *A[1:]])], ["--label 2"]),
}
REFUSED = {  # files, the gold first; the beginning of the path, and what the message says
    "an item less": ([rows(IDS, GOLD), rows(IDS[:23], A[:23])], "system1: item 'q23': it has no answer"),
    "a line less": (["\n".join(GOLD), "\n".join(A[1:])], "the file has 23 rows, but the gold has 24 items"),
    "letter case": ([rows(IDS, GOLD), rows(IDS, [label.upper() for label in A])], "fold_case=true"),
    "other items": ([rows(IDS, GOLD), rows(WORDS, A)], "not in the gold"),
    "other tokens": ([tagged(SPANS), tagged(SPANS).replace("w", "v")], "token 1 is 'v0', but the gold token is 'w0'"),
    "unusual tags": ([tagged([tag.replace("-", "_") for tag in SPANS])] * 2, "write 'B-PER'"),
    "no gold of some items": ([rows(IDS, [g * (n % 3 > 0) for n, g in enumerate(GOLD)]), rows(IDS, A)],
                              "column '2' is empty in 8 of 24 rows"),
    "a quote that is open": ([rows(IDS, GOLD, separator=","), rows(IDS, ['"yes'] * 24, separator=",")], "system1"),
    "bars": ([rows(IDS, GOLD, separator="|"), rows(IDS, A, separator="|")], "looks like columns with '|' between them"),
    "a run that is none": ([QRELS, RUN.replace("d1 1 8", "d1 1 nan", 1)], "system1:2: 'q00 Q0 d1 1 nan x' does not "
                                                                          "have the format"),
    "nothing": (["", rows(IDS, A)], "the file is empty"),
    "an archive": (["PK\x03\x04\0\0", rows(IDS, A)], "a zip archive"),
    "deep JSON": (['{"a": ' * 9999, lines(id=IDS, label=A)], "looks like JSON"),
    "items within an object": ([json.dumps({"config": {"n": 1}, "eval": {i: {"label": g} for i, g in zip(
        IDS, GOLD, strict=True)}})] * 2, "the 24 entries of 'eval' (other keys: 'config')"),
    "SQuAD": ([json.dumps({"data": [{"paragraphs": [{"qas": []}]}], "version": "1.1"}), json.dumps({"q": "near"})],
              "the 1 entries of 'data'"),
    "names before text": (["".join(f"{i} {text}\n" for i, text in zip(IDS, texts, strict=True)) for texts in (
        SENTENCES, OTHERS)], "each line begins with the same name in all files"),
    "tags in text": (["".join(f"<t> {text} </t>\n" for text in texts) for texts in (SENTENCES, OTHERS)],
                     "tags such as <t>"),
    "labels after text": (["".join(f"{text} {label}\n" for text, label in zip(SENTENCES, labels, strict=True))
                           for labels in (["x"] * 24, GOLD)], "often differ only in the last word"),
    "RTTM": (["".join(f"SPEAKER abj 1 {n}.50 1.25 <NA> <NA> spk{n % 2} <NA> <NA>\n" for n in N)] * 2, "gold"),
    "an item twice": ([rows([*IDS, "q00"], [*GOLD, "no"], header=("id", "label")), rows(IDS, A)],
                      "'q00' is in lines 2 and 26"),
    "XML": (["<?xml version='1.0'?>\n<a><b/></a>\n"] * 2, "looks like XML"),
}
