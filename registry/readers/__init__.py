"""Readers, with one module per group of file formats; `READERS` lists all."""

from registry.plugins import Catalogue
from registry.readers.alignments import Naacl, Pharaoh
from registry.readers.base import Reader
from registry.readers.bio import Bio
from registry.readers.conllu import Conllu
from registry.readers.judgments import Ratings, Votes
from registry.readers.labels import Labels
from registry.readers.markup import Sgml, WmtXml
from registry.readers.parsing.document import Document, Problems
from registry.readers.responses import Candidates, Multilabel, Responses
from registry.readers.scores import Judged, LogProbabilities, Mtme, Scores, Statistics
from registry.readers.segments import Lines, NBest, Texts
from registry.readers.spans import Spans
from registry.readers.trec import Trec

READERS: Catalogue[Reader] = Catalogue("reader", Reader, (  # type: ignore[type-abstract]
    Labels,
    Bio,
    Spans,
    Lines,
    Texts,
    WmtXml,
    Sgml,
    NBest,
    Responses,
    Multilabel,
    Candidates,
    Scores,
    Mtme,
    Statistics,
    Judged,
    LogProbabilities,
    Trec,
    Conllu,
    Pharaoh,
    Naacl,
    Votes,
    Ratings,
))

__all__ = [
    "READERS", "Bio", "Candidates", "Conllu", "Document", "Judged", "Labels", "Lines", "LogProbabilities", "Mtme",
    "Multilabel", "NBest", "Naacl", "Pharaoh", "Problems", "Ratings", "Reader", "Responses", "Scores", "Sgml", "Spans",
    "Statistics", "Texts", "Trec", "Votes", "WmtXml",
]
