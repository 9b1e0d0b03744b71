"""Files as people have them, which `registry quick` takes: what is damaged to see what becomes of its guesses."""

import json
from dataclasses import dataclass, field

from registry.guessing.guess import Asked
from tests.conftest import ROOT
from tests.guessing.test_guessing import OPEN, RIGHT, rows
from tests.guessing.test_layouts import BEIR, GOLD, LISTS, OURS, REFUSED, RUN, SENTENCES, SPANS, N
from tests.guessing.test_texts import TEXTS
from tests.importers.test_mutations import LOGS


@dataclass
class Layout:
    """Files by their names, those that are given, the gold first, and what the user says.

    """

    files: dict[str, bytes]
    given: tuple[str, ...]
    asked: Asked = field(default_factory=Asked)


def _of(files, asked=None, name="gold"):
    """Files of which the first is the gold, or holds all."""
    names = [name, *(f"system{n}" for n in range(1, len(files)))]
    return Layout({name: text.encode() for name, text in zip(names, files, strict=True)}, tuple(names),
                  asked or Asked())


def _folder(name):
    """The files of a folder that has a task, without its manifest: the gold and the submissions."""
    folder = ROOT / "tests" / "fuzz" / "seeds" / name
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name != "task.toml"}


def _given(name, *given, **said):
    return Layout(_folder(name), given, Asked(**said))


def _log(log):
    """The results of another program, given as the folder or file in which they are."""
    alone = log.kind in ("long", "wide")
    files = {f"logs/{name}": content for name, content in (*log.others.items(), (log.changed, log.pack(log.content)))}
    return Layout(files, (f"logs/{log.changed}" if alone else "logs",), Asked(log.kind if log.options else None,
                                                                              dict(log.options)))


_LONG = [(f"x{n}", system, run, (n * 7 + run + len(system)) % 10 / 10) for n in N for system in ("aspen", "birch")
         for run in (1, 2)]
_NESTED = [{"doc": {"id": f"x{n}"}, "results": {"rouge2": {"f": n / 32, "p": 0.5}}, "n": n} for n in N]
_HIPE = "TOKEN\tNE-COARSE-LIT\tNE-NESTED\tMISC\n# hipe:document_id = d1\n" + "".join(
    f"w{n}\t{tag}\t_\t{'EndOfSentence' if n % 5 == 4 else '_'}\n" for n, tag in enumerate(
        ["B-pers", "I-pers", "O", "B-loc", "O"] * 6)) + "# hipe:document_id = d2\nw\tO\t_\t_\n"
LAYOUTS = {
    **{f"table {name}": _of(files, name="accuracy.csv" if "metric" in name else "gold")
       for name, (files, *_) in RIGHT.items()},
    **{f"asked {name}": _of(files, name="all.csv" if len(files) == 1 else "gold") for name, (files, _) in OPEN.items()},
    **{f"refused {name}": _of(files) for name, (files, _) in REFUSED.items()},
    **{f"texts {name}": _of(files, name="alpha") for name, (files, *_) in TEXTS.items()},
    "positional numbers": _of(["".join(f"{n / 8}\n" for n in N)] * 2, Asked("scores")),
    "positional abstentions": _of(["\n".join(GOLD), "\n".join("" if n % 5 == 0 else of for n, of in enumerate(
        OURS["alpha"]))], Asked(missing="worst")),
    **{f"spans {tool}": _of(["".join(json.dumps(of(n, spans[n % 2:])) + "\n" for n, spans in enumerate(SPANS)),
                             "".join(json.dumps(of(n, spans[:1])) + "\n" for n, spans in enumerate(SPANS))])
       for tool, of in LISTS.items()},
    "spans of one file": _of([json.dumps([{"doc": f"d{n}", "text": SENTENCES[n], "gold": of, "alpha": of[:1],
                                           "bravo": of[1:]} for n, of in enumerate(SPANS)])], name="all.json"),
    "spans in tables": _given("spans", "gold.csv", "south.tsv", kind="spans", options={"overlaps": "allow"}),
    "nested scores": _of(["".join(json.dumps(one) + "\n" for one in _NESTED)] * 2,
                         Asked("scores", {"item": "doc.id", "score": "results.rouge2.f", "syntax": "jsonl"})),
    "nested labels": _of([json.dumps([{"id": one["doc"], "gold": {"is": GOLD[n]}} for n, one in enumerate(_NESTED)]),
                          json.dumps([{"id": one["doc"], "gold": {"is": OURS["alpha"][n]}}
                                      for n, one in enumerate(_NESTED)])],
                         Asked("labels", {"item": "id.id", "label": "gold.is", "syntax": "json"})),
    "bio HIPE": _of([_HIPE, _HIPE.replace("B-loc", "B-org")], Asked("bio", {
        "scheme": "iob2", "header": True, "label": "NE-COARSE-LIT", "comment": "# ", "document": "hipe:document_id",
        "sentence_end": ["MISC", "EndOfSentence"], "comments": "anywhere"})),
    "bio of several columns": _of(["".join(f"w{n} NN {tag} O\n" + "\n" * (n % 4 == 3) for n, tag in enumerate(
        tags * 6)) for tags in (["B-PER", "I-PER", "O", "B-LOC"], ["B-PER", "O", "O", "B-LOC"])]),
    "bio seeds": _given("bio", "gold.tsv", "aspen.tsv", options={"label": "NE-COARSE-LIT"}),
    "rankings": _of([BEIR, RUN]),
    "rankings seeds": _given("beir", "qrels.tsv", "run.json", kind="trec", options={
        "judgments": ["query", "document", "relevance"], "skip": 1}),
    "long form": _of([rows(*zip(*_LONG, strict=True), header=("item", "system", "run", "score"), separator=",")],
                     Asked("long", {"better": "higher", "run": "run"}), "all.csv"),
    "long form of JSON": _of(["".join(json.dumps(dict(zip(("item", "system", "seed", "f1"), row, strict=True))) + "\n"
                                      for row in _LONG)],
                             Asked("long", {"better": "higher", "run": "seed", "syntax": "jsonl", "score": "f1"}),
                             "all.jsonl"),
    **{f"log {name}": _log(log) for name, log in LOGS.items()},
}
