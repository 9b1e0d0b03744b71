"""One file per format; `READERS` maps a format's name to its reader."""

from registry.plugins import Catalogue
from registry.readers.alignments import Naacl, Pharaoh
from registry.readers.base import Reader
from registry.readers.bio import Bio
from registry.readers.candidates import Candidates
from registry.readers.conllu import Conllu
from registry.readers.judged import Judged
from registry.readers.labels import Labels
from registry.readers.lines import Lines
from registry.readers.logprobs import LogProbabilities
from registry.readers.mtme import Mtme
from registry.readers.multilabel import Multilabel
from registry.readers.nbest import NBest
from registry.readers.parsing.document import Document
from registry.readers.parsing.problems import Problems
from registry.readers.responses import Responses
from registry.readers.scores import Scores, Statistics
from registry.readers.sgml import Sgml
from registry.readers.spans import Spans
from registry.readers.texts import Texts
from registry.readers.trec import Trec
from registry.readers.wmt_xml import WmtXml

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
))

__all__ = [
    "READERS", "Bio", "Candidates", "Conllu", "Document", "Judged", "Labels", "Lines", "LogProbabilities", "Mtme",
    "Multilabel", "NBest", "Naacl", "Pharaoh", "Problems", "Reader", "Responses", "Scores", "Sgml", "Spans",
    "Statistics", "Texts", "Trec", "WmtXml",
]
