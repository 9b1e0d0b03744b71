"""Files as people have them, which `registry quick` reads: what is damaged to see what becomes of it."""

import json
from dataclasses import dataclass, field

from registry.quick.plan import Request
from tests.conftest import ROOT
from tests.importers.test_mutations import LOGS
from tests.quick.layouts import ALONE, GOLD, HALVES, LISTS, OPEN, REFUSED, RIGHT, A, N, rows


@dataclass
class Layout:
    """Files by their names, those that are given as systems', the gold's, and what the user says."""

    files: dict[str, bytes]
    given: tuple[str, ...]
    asked: Request = field(default_factory=Request)
    gold: str | None = None


def _of(files, asked=None):
    """Files of which the first is the gold."""
    names = ["gold", *(f"system{n}" for n in range(1, len(files)))]
    return Layout({name: text.encode() for name, text in zip(names, files, strict=True)}, tuple(names[1:]),
                  asked or Request(), "gold")


def _alone(files, asked=None, name="all.csv"):
    """Files without a gold."""
    names = [name, *(f"system{n}" for n in range(1, len(files)))]
    return Layout({name: text.encode() for name, text in zip(names, files, strict=True)}, tuple(names),
                  asked or Request())


def _folder(name):
    """The files of a folder that has a task, without its manifest: the gold and the submissions."""
    folder = ROOT / "tests" / "fuzz" / "seeds" / name
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name != "task.toml"}


def _given(name, gold, *given, **said):
    return Layout(_folder(name), given, Request(**said), gold)


def _log(log):
    """The results of another program, given as the folder or file in which they are."""
    alone = log.kind in ("long", "wide")
    files = {f"logs/{name}": content for name, content in (*log.others.items(), (log.changed, log.pack(log.content)))}
    return Layout(files, (f"logs/{log.changed}" if alone else "logs",), Request(log.kind if log.options else None,
                                                                              dict(log.options)))


_LONG = [(f"x{n}", system, run, (n * 7 + run + len(system)) % 10 / 10) for n in N for system in ("aspen", "birch")
         for run in (1, 2)]
_NESTED = [{"doc": {"id": f"x{n}"}, "results": {"rouge2": {"f": n / 32, "p": 0.5}}, "n": n} for n in N]
_HIPE = "TOKEN\tNE-COARSE-LIT\tNE-NESTED\tMISC\n# hipe:document_id = d1\n" + "".join(
    f"w{n}\t{tag}\t_\t{'EndOfSentence' if n % 5 == 4 else '_'}\n" for n, tag in enumerate(
        ["B-pers", "I-pers", "O", "B-loc", "O"] * 6)) + "# hipe:document_id = d2\nw\tO\t_\t_\n"
LAYOUTS = {
    **{f"right {name}": _of(files) for name, (files, *_) in RIGHT.items()},
    **{f"alone {name}": _alone([text]) for name, (text, *_) in ALONE.items()},
    **{f"asked {name}": _of(files) for name, (files, _) in OPEN.items()},
    **{f"refused {name}": _of(files) for name, (files, _) in REFUSED.items()},
    "scores of each system": _alone([rows([f"x{n}" for n in N], HALVES, header=("item", "f1"))] * 3),
    "abstentions": _of(["\n".join(GOLD), "\n".join("" if n % 5 == 0 else of for n, of in enumerate(A))],
                       Request(missing="worst")),
    "spans of one tool": _of(["".join(json.dumps({"id": n, "data": {"text": "x" * 30}, "annotations": [
        {"result": [{"value": {"start": start, "end": end, "labels": [type_]}} for start, end, type_ in of]}]}) + "\n"
        for n, of in enumerate(spans)) for spans in (LISTS, LISTS[::-1])]),
    "spans in tables": _given("spans", "gold.csv", "south.tsv", kind="spans", options={"overlaps": "allow"}),
    "nested scores": _alone(["".join(json.dumps(one) + "\n" for one in _NESTED)] * 2, Request(
        options={"better": "higher"}, item=("doc.id",), score=("results.rouge2.f",))),
    "bio HIPE": _of([_HIPE, _HIPE.replace("B-loc", "B-org")], Request("bio", {
        "scheme": "iob2", "header": True, "label": "NE-COARSE-LIT", "comment": "# ", "document": "hipe:document_id",
        "sentence_end": ["MISC", "EndOfSentence"], "comments": "anywhere"})),
    "bio of several columns": _of(["".join(f"w{n} NN {tag} O\n" + "\n" * (n % 4 == 3) for n, tag in enumerate(
        tags * 6)) for tags in (["B-PER", "I-PER", "O", "B-LOC"], ["B-PER", "O", "O", "B-LOC"])], Request(label=("3",))
    ),
    "bio seeds": _given("bio", "gold.tsv", "aspen.tsv", label=("NE-COARSE-LIT",)),
    "rankings seeds": _given("beir", "qrels.tsv", "run.json", kind="trec", options={
        "judgments": ["query", "document", "relevance"], "skip": 1}),
    "long form": _alone([rows(*zip(*_LONG, strict=True), header=("item", "system", "run", "f1"), separator=",")]),
    "long form of JSON": _alone(["".join(json.dumps(dict(zip(("item", "system", "seed", "score"), row, strict=True)))
                                         + "\n" for row in _LONG)], Request(options={"better": "higher"}), "all.jsonl"),
    **{f"log {name}": _log(log) for name, log in LOGS.items()},
}
