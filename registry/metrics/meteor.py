"""METEOR 1.5: statistics by the original program, a Java archive, and scores by its formula over their sums.

The corpus score is computed from summed statistics; it is not the mean of segment scores. Loading English paraphrases
takes seconds, so one Java process of each kind runs until this process ends. Its input is untrusted: no segment can
end its line or field, and a program that dies or exceeds its time limit is an error.
"""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from threading import Thread, Timer
from typing import Literal, NamedTuple

import numpy as np

from registry.arrays import Floats
from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics.texts import ReferenceMetric, describe_undivided, list_texts

START_SECONDS, SEGMENT_SECONDS = 300.0, 10.0  # time limits, far above usual times

_SEPARATOR = "|||"
_ONE_WORD = "\ue000"  # replaces the separator in text that is already tokenized


@cache
def find_program(options: tuple[str, ...]) -> Jar:
    """Return the program with these options; every call returns the same one.

    Raises:
        InputError: Java or the package that carries the program is not installed.
    """
    return Jar(options)


class Jar:
    """One running program."""

    def __init__(self, options: tuple[str, ...]) -> None:
        self._options = options
        self._process = self._start()
        atexit.register(self.close)

    def statistics(self, references: Sequence[Sequence[str]], hypotheses: Sequence[str]) -> list[list[float]]:
        """Return the 23 statistics of every segment, in the program's order.

        Args:
            references: References of each segment.
            hypotheses: The system's text of each segment.

        Raises:
            InputError: The program ended early; the next call starts it again.
        """
        requests = [f" {_SEPARATOR} ".join(("SCORE", *map(self._clean_field, (*texts, hypothesis)))) + "\n"
                    for texts, hypothesis in zip(references, hypotheses, strict=True)]
        if self._process.poll() is not None:
            self.close()
            self._process = self._start()
        watchdog = Timer(START_SECONDS + SEGMENT_SECONDS * len(requests), self._process.kill)
        watchdog.daemon = True
        watchdog.start()
        Thread(target=self._feed, args=("".join(requests).encode(errors="replace"),), daemon=True).start()
        try:
            assert self._process.stdout is not None
            replies = list(islice(self._process.stdout, len(requests)))
            return [self._parse_numbers(replies, n) for n in range(len(requests))]
        except BaseException:  # pending replies must not answer later requests
            self.close()
            raise
        finally:
            watchdog.cancel()

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()
        self._told.close()

    def _start(self) -> Popen[bytes]:
        java = shutil.which("java")
        if java is None:
            raise InputError("METEOR needs Java, and there is no program `java`: install a Java runtime (Debian: "
                             "apt-get install default-jre-headless)")
        command = [java, "-Xmx2G", "-XX:+UseParallelGC", "-jar", str(_find_archive()), "-", "-", "-stdio",
                   *self._options]
        self._told = TemporaryFile()  # noqa: SIM115  (a pipe that nobody reads would stop the program when it is full)
        return Popen(command, stdin=PIPE, stdout=PIPE, stderr=self._told, start_new_session=True)  # noqa: S603

    def _feed(self, requests: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):  # it has ended; the reader of its replies finds out
            self._process.stdin.write(requests)
            self._process.stdin.flush()

    def _parse_numbers(self, replies: Sequence[bytes], n: int) -> list[float]:
        with suppress(ValueError):
            if n < len(replies) and len(numbers := [float(cell) for cell in replies[n].split()]) == 23:
                return numbers
        reply = replies[n].decode(errors="replace").strip() if n < len(replies) else self._read_last_words()
        raise InputError(f"METEOR ended at segment {n + 1}: {reply}")

    def _read_last_words(self) -> str:
        self._process.kill()
        self._process.wait()
        self._told.seek(0)
        lines = self._told.read().decode(errors="replace").splitlines()
        return next((line for line in lines if line.strip() and not line.lstrip().startswith("at ")),
                    "it took too long, or was ended")[:300]

    def _clean_field(self, text: str) -> str:
        """Remove line ends and field separators from a text without changing its words for the program."""
        text = text.replace("\n", " ").replace("\r", " ")
        return text.replace(_SEPARATOR, " | | | " if "-norm" in self._options else _ONE_WORD)


def _find_archive() -> Path:
    package = find_spec("pycocoevalcap")
    if package is None or package.submodule_search_locations is None:
        raise InputError("METEOR needs pycocoevalcap, which carries its program: pip install 'evalregistry[meteor]'")
    return Path(next(iter(package.submodule_search_locations))) / "meteor" / "meteor-1.5.jar"


class _Parameters(NamedTuple):
    """Parameters of a language: Denkowski and Lavie 2014, tables 1 and 2, task `rank`."""

    alpha: float
    beta: float
    gamma: float
    delta: float
    weights: tuple[float, float, float, float]  # of exact, stem, synonym and paraphrase matches


_ENGLISH = _Parameters(0.85, 0.2, 0.6, 0.75, (1.0, 0.6, 0.8, 0.6))
_ANY = _Parameters(0.75, 1.4, 0.7, 0.5, (1.0, 0.5, 0.0, 0.0))  # exact matches and stems, in every language


class METEOR(ReferenceMetric):
    """Harmonic mean of precision and recall of matched words, with a penalty for fragmentation; from 0 to 1.

    Attributes:
        language: English, or a language that is matched by words and stems with language-independent parameters
            (`other`: words only). The paraphrases of Czech, French, German, Russian and Spanish are not distributed
            with the program.
        text: Preprocessing: `normalize` (tokenize and lowercase, English only), `lowercase`, or `as-is` for tokenized
            text.
    """

    called = "METEOR"
    family = "meteor"
    scorer = "METEOR 1.5"
    extra = "meteor"
    libraries = ("pycocoevalcap",)
    citation = "Denkowski and Lavie 2014"

    language: Literal["en", "da", "fi", "hu", "it", "nl", "no", "pt", "ro", "se", "tr", "other"] = "en"
    text: Literal["normalize", "lowercase", "as-is"] = "normalize"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.text == "normalize" and self.language != "en":
            raise InputError(f"option 'text' of METEOR is 'normalize', which the program can do for English only; "
                             f"tokenize the text of language {self.language!r}, and take 'lowercase' or 'as-is'")

    def describe_misreading(self, texts: Sequence[str]) -> str | None:
        return describe_undivided(texts, self.name, 'take chrF, or BLEU with tokenize = "{tokenizer}"')

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Match every segment with the reference that scores highest."""
        if not items:
            return np.zeros((0, 23))
        flags = {"normalize": ("-norm",), "lowercase": ("-lower",), "as-is": ()}[self.text]
        item_texts = [self.texts_of(item) for item in items]  # the program needs the same number for each
        references = [[*texts, *texts[:1] * (len(self.references) - len(texts))] for texts in item_texts]
        statistics = np.array(find_program(("-l", self.language, *flags)).statistics(references, list_texts(answers)))
        by_stage = statistics[:, 4:20].reshape(-1, 4, 4).swapaxes(1, 2).reshape(-1, 16)  # the program sorts by stage
        rows = np.concatenate([statistics[:, :4], by_stage, statistics[:, 20:]], axis=1)
        # A segment that equals its reference has no fragmentation: the program does not count its one chunk.
        tested, referred = rows[:, [*range(4, 8), *range(12, 16)]], rows[:, [*range(8, 12), *range(16, 20)]]
        whole = (tested.sum(axis=1) == rows[:, 0]) & (referred.sum(axis=1) == rows[:, 1]) & (rows[:, 20] == 1)
        rows[whole, 20] = 0
        return rows

    def score(self, sums: Floats) -> Floats:
        """Weight matches by stage, and function words by 1 - delta; no match scores 0."""
        parameters = _ENGLISH if self.language == "en" else _ANY
        precision, recall = (self._share_matched(sums, parameters, side) for side in (0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = 1 / ((1 - parameters.alpha) / precision + parameters.alpha / recall)
            scattered = sums[..., 20] / ((sums[..., 21] + sums[..., 22]) / 2)
            scores = mean * (1 - parameters.gamma * scattered**parameters.beta)
        return np.where(np.isnan(scores), 0.0, np.maximum(scores, 0.0))

    def _share_matched(self, sums: Floats, parameters: _Parameters, side: int) -> Floats:
        """Return the weighted share of matched words of the system (0) or the reference (1); sums order by order."""
        length, function = sums[..., side], sums[..., 2 + side]
        matched = np.zeros_like(length)
        for stage, weight in enumerate(parameters.weights):
            content, empty = sums[..., 4 + 4 * side + stage], sums[..., 12 + 4 * side + stage]
            matched += weight * (parameters.delta * content + (1 - parameters.delta) * empty)
        return np.asarray(np.divide(matched, parameters.delta * (length - function) + (1 - parameters.delta) * function,
                                    out=np.full_like(matched, np.nan), where=length > 0))
