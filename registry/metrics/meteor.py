"""METEOR 1.5: statistics from the original program, and scores from their sums.

The score of a corpus is computed from summed statistics; it is not the mean of segment scores. The program is written
in Java. Loading English paraphrases takes seconds, so that each Java process (one per combination of options) runs
until this Python process ends. The texts that Java receives are untrusted: line ends and field separators are removed
from a segment, and a program that ends early or exceeds its time limit is an error.
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
    """Return the running METEOR program for some command-line options.

    The program is started at the first call, and then reused.

    Raises:
        InputError: Java, or the package that contains the program, is not installed.
    """
    return Jar(options)


class Jar:
    """Running Java process of METEOR 1.5, which reads segments and prints statistics."""

    def __init__(self, options: tuple[str, ...]) -> None:
        self._options = options
        self._process = self._start()
        atexit.register(self.close)

    def statistics(self, references: Sequence[Sequence[str]], hypotheses: Sequence[str]) -> list[list[float]]:
        """Return the 23 statistics of every segment, in METEOR's order.

        Args:
            references: References of each segment.
            hypotheses: The system's text for each segment.

        Raises:
            InputError: The program ended early. The next call starts it again.
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
        """End the Java process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()
        self._stderr.close()

    def _start(self) -> Popen[bytes]:
        java = shutil.which("java")
        if java is None:
            raise InputError("METEOR needs Java, but the program `java` is not installed; install a Java runtime "
                             "(Debian: apt-get install default-jre-headless)")
        command = [java, "-Xmx2G", "-XX:+UseParallelGC", "-jar", str(_find_archive()), "-", "-", "-stdio",
                   *self._options]
        self._stderr = TemporaryFile()  # noqa: SIM115  (a full pipe without a reader would stop the program)
        return Popen(command, stdin=PIPE, stdout=PIPE, stderr=self._stderr, start_new_session=True)  # noqa: S603

    def _feed(self, requests: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):  # if the program has ended, reading its replies raises the error
            self._process.stdin.write(requests)
            self._process.stdin.flush()

    def _parse_numbers(self, replies: Sequence[bytes], n: int) -> list[float]:
        with suppress(ValueError):
            if n < len(replies) and len(numbers := [float(cell) for cell in replies[n].split()]) == 23:
                return numbers
        reply = replies[n].decode(errors="replace").strip() if n < len(replies) else self._read_error()
        raise InputError(f"the METEOR program stopped at segment {n + 1}: {reply}")

    def _read_error(self) -> str:
        self._process.kill()
        self._process.wait()
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").splitlines()
        return next((line for line in lines if line.strip() and not line.lstrip().startswith("at ")),
                    "it took too long, or another program ended it")[:300]

    def _clean_field(self, text: str) -> str:
        text = text.replace("\n", " ").replace("\r", " ")
        return text.replace(_SEPARATOR, " | | | " if "-norm" in self._options else _ONE_WORD)


def _find_archive() -> Path:
    package = find_spec("pycocoevalcap")
    if package is None or package.submodule_search_locations is None:
        raise InputError("METEOR needs the package pycocoevalcap, which contains the METEOR program; run pip install "
                         "'evalregistry[meteor]'")
    return Path(next(iter(package.submodule_search_locations))) / "meteor" / "meteor-1.5.jar"


class _Parameters(NamedTuple):
    """Parameters of METEOR for a language.

    Source: Denkowski and Lavie 2014, tables 1 and 2, task `rank`.

    Attributes:
        alpha: Weight of recall against precision.
        beta: Exponent of the fragmentation penalty.
        gamma: Weight of the fragmentation penalty.
        delta: Weight of content words against function words.
        weights: Weights of exact, stem, synonym and paraphrase matches.
    """

    alpha: float
    beta: float
    gamma: float
    delta: float
    weights: tuple[float, float, float, float]  # of exact, stem, synonym and paraphrase matches


_ENGLISH = _Parameters(0.85, 0.2, 0.6, 0.75, (1.0, 0.6, 0.8, 0.6))
_ANY = _Parameters(0.75, 1.4, 0.7, 0.5, (1.0, 0.5, 0.0, 0.0))  # exact matches and stems, in every language


class METEOR(ReferenceMetric):
    """Harmonic mean of precision and recall of matched words, from 0 to 1.

    A penalty lowers the score if the matched words are in many fragments.

    Attributes:
        language: Language of the texts. English has its own parameters. The other languages have common parameters and
            match words and stems; `other` matches only words. The paraphrases of Czech, French, German, Russian and
            Spanish are not distributed with the program.
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
            raise InputError(f"option 'text' of METEOR is 'normalize', which supports only English, not "
                             f"{self.language!r}; tokenize the texts, and set 'lowercase' or 'as-is'")

    def find_tokenization_fault(self, texts: Sequence[str]) -> str | None:
        return describe_undivided(texts, self.name, 'use chrF, or BLEU with tokenize = "{tokenizer}"')

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Return METEOR's statistics of every segment as an array, [items, 23].

        If a segment has several references, the best one counts.
        """
        if not items:
            return np.zeros((0, 23))
        flags = {"normalize": ("-norm",), "lowercase": ("-lower",), "as-is": ()}[self.text]
        item_texts = [self.list_references(item) for item in items]  # the program needs the same number for each
        references = [[*texts, *texts[:1] * (len(self.references) - len(texts))] for texts in item_texts]
        statistics = np.array(find_program(("-l", self.language, *flags)).statistics(references, list_texts(answers)))
        # the program sorts matches by stage
        sorted_matches = statistics[:, 4:20].reshape(-1, 4, 4).swapaxes(1, 2).reshape(-1, 16)
        rows = np.concatenate([statistics[:, :4], sorted_matches, statistics[:, 20:]], axis=1)
        # A segment that equals its reference has no fragmentation: the program does not count its one chunk.
        system, reference = rows[:, [*range(4, 8), *range(12, 16)]], rows[:, [*range(8, 12), *range(16, 20)]]
        is_unbroken = (system.sum(axis=1) == rows[:, 0]) & (reference.sum(axis=1) == rows[:, 1]) & (rows[:, 20] == 1)
        rows[is_unbroken, 20] = 0
        return rows

    def score(self, sums: Floats) -> Floats:
        """Compute METEOR scores from summed statistics; the score without any match is 0.

        The score is the weighted harmonic mean of precision and recall, times (1 - fragmentation penalty).

        Args:
            sums: Statistics summed over segments, [..., 23].
        """
        parameters = _ENGLISH if self.language == "en" else _ANY
        precision, recall = (self._share_matched(sums, parameters, side) for side in (0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = 1 / ((1 - parameters.alpha) / precision + parameters.alpha / recall)
            scattered = sums[..., 20] / ((sums[..., 21] + sums[..., 22]) / 2)
            scores = mean * (1 - parameters.gamma * scattered**parameters.beta)
        return np.where(np.isnan(scores), 0.0, np.maximum(scores, 0.0))

    def _share_matched(self, sums: Floats, parameters: _Parameters, side: int) -> Floats:
        """Compute precision or recall: the weighted share of words that are matched.

        A match counts with the weight of its kind (exact, stem, synonym, paraphrase). Content words have the weight
        delta, and function words 1 - delta.

        Args:
            sums: Summed statistics, [..., 23].
            parameters: Parameters of the language.
            side: 0 for words of the system (precision), 1 for words of the reference (recall).
        """
        length, function = sums[..., side], sums[..., 2 + side]
        matched = np.zeros_like(length)
        for stage, weight in enumerate(parameters.weights):  # in turn: the last digit is the same for all array shapes
            content_matches, function_matches = sums[..., 4 + 4 * side + stage], sums[..., 12 + 4 * side + stage]
            matched += weight * (parameters.delta * content_matches + (1 - parameters.delta) * function_matches)
        return np.asarray(np.divide(matched, parameters.delta * (length - function) + (1 - parameters.delta) * function,
                                    out=np.full_like(matched, np.nan), where=length > 0))
