"""A system's words brought to the gold's sentences by their places in the text, as the CoNLL 2018 scorer aligns them.

Source: Zeman et al. 2018, "CoNLL 2018 Shared Task: Multilingual Parsing from Raw Text to Universal Dependencies",
section 3, and the scorer's own description. Tokens are the same if they are the same stretch of the text, and so are
words that are tokens. Where either side has a token of several words, all words of the shortest stretch that cuts
through no such token are aligned by the longest common subsequence of their forms.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from registry.errors import InputError, counted
from registry.items import Answer
from registry.treebank import NO_WORD, Projected, Projection, Sentence

MOST_CELLS = 2**22  # of the table of a longest common subsequence: 2048 words on either side

ALONE = -1


Place = tuple[int, int, bool, str]  # a word in the whole text: start, end, whether its token is multiword, form


def project(gold: Sequence[Sentence], answers: Sequence[Answer], path: str) -> list[Projection]:
    """Bring what a system has to each sentence of the gold, [gold sentences].

    Args:
        gold: The gold's sentences in the order of its text.
        answers: The system's sentences in the order of its file.
        path: Of that file.

    Raises:
        InputError: The two texts differ, or a multiword token is beyond all measure.
    """
    found = [answer.value for answer in answers]
    _check_text(gold, answers, path)
    starts = [0, *accumulate(len(sentence.text) for sentence in gold)][:-1]
    places = _places(found)
    try:
        partners = align_words(_places(gold), places)
    except ValueError as error:
        raise InputError(str(error), path=path) from None
    homes = [(n, at) for n, sentence in enumerate(gold) for at in range(1, len(sentence.words) + 1)]
    words: list[list[Projected]] = [[] for _ in gold]
    tokens: list[set[tuple[int, int]]] = [set() for _ in gold]
    sentences: list[set[tuple[int, int]]] = [set() for _ in gold]

    def charge(to: list[set[tuple[int, int]]], start: int, end: int) -> None:
        home = bisect_right(starts, start) - 1
        to[home].add((start - starts[home], end - starts[home]))

    begin = first = 0
    for sentence in found:
        charge(sentences, begin, begin + len(sentence.text))
        for start, end, _ in sentence.tokens:
            charge(tokens, begin + start, begin + end)
        for n, (word, functional) in enumerate(zip(sentence.words, sentence.functional(), strict=True), first):
            partner = partners[n]
            home, at = homes[partner] if partner != ALONE else (bisect_right(starts, places[n][0]) - 1, 0)
            head = 0
            if word.head:
                above = partners[first + word.head - 1]
                head = homes[above][1] if above != ALONE and homes[above][0] == home else NO_WORD
            words[home].append(Projected(word, at, head, functional))
        begin += len(sentence.text)
        first += len(sentence.words)
    return [Projection(tuple(w), frozenset(t), frozenset(s)) for w, t, s in zip(words, tokens, sentences, strict=True)]


def align_words(gold: Sequence[Place], found: Sequence[Place]) -> list[int]:
    """The number of the gold's word that each word of the system is aligned with, or `ALONE`, [system words].

    Raises:
        ValueError: A stretch of multiword tokens has too many words.
    """
    partners = [ALONE] * len(found)
    g = s = 0
    while g < len(gold) and s < len(found):
        here, end_here, here_multiword, _ = gold[g]
        there, end_there, there_multiword, _ = found[s]
        if here_multiword or there_multiword:
            first_g, first_s, g, s = _stretch(gold, found, g, s)
            for a, b in _common([form.lower() for *_, form in gold[first_g:g]],
                                [form.lower() for *_, form in found[first_s:s]]):
                partners[first_s + b] = first_g + a
        elif here == there and end_here == end_there:
            partners[s] = g
            g += 1
            s += 1
        elif here <= there:
            g += 1
        else:
            s += 1
    return partners


def _places(sentences: Sequence[Sentence]) -> list[Place]:
    places: list[Place] = []
    begin = 0
    for sentence in sentences:
        tokens = [(begin + start, begin + end, is_multiword) for start, end, is_multiword in sentence.tokens]
        places += [(*tokens[word.token], word.form) for word in sentence.words]
        begin += len(sentence.text)
    return places


def _stretch(gold: Sequence[Place], found: Sequence[Place], g: int, s: int) -> tuple[int, int, int, int]:
    """The words of the stretch that begins with a multiword token at `g` or `s`: first and end on either side.

    As in the scorer, a word that begins before the token is left out, though just one.
    """
    here, end, here_multiword, _ = gold[g]
    there, end_there, there_multiword, _ = found[s]
    if here_multiword:
        s += not there_multiword and there < here
    else:
        end = end_there
        g += here < there
    first_g, first_s = g, s

    def goes_on(places: Sequence[Place], at: int) -> bool:
        if at == len(places):
            return False
        begins, ends, is_multiword, _ = places[at]
        return begins < end if is_multiword else ends <= end

    while goes_on(gold, g) or goes_on(found, s):
        of_gold = g < len(gold) and (s == len(found) or gold[g][0] <= found[s][0])
        _, ends, is_multiword, _ = gold[g] if of_gold else found[s]
        if is_multiword:
            end = max(end, ends)
        g, s = g + of_gold, s + (not of_gold)
    return first_g, first_s, g, s


def _common(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """A longest common subsequence as pairs of places: of several the one that the scorer takes."""
    if len(first) * len(second) > MOST_CELLS:
        raise ValueError(f"multiword tokens of {counted(max(len(first), len(second)), 'word')} in one stretch: this is "
                         "no text")
    longest = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]  # of what begins at either place
    for a in range(len(first) - 1, -1, -1):
        row, below = longest[a], longest[a + 1]
        for b in range(len(second) - 1, -1, -1):
            row[b] = max(below[b], row[b + 1], 1 + below[b + 1] if first[a] == second[b] else 0)
    pairs, a, b = [], 0, 0
    while a < len(first) and b < len(second):
        if first[a] == second[b]:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        elif longest[a][b] == longest[a + 1][b]:
            a += 1
        else:
            b += 1
    return pairs


def _check_text(gold: Sequence[Sentence], answers: Sequence[Answer], path: str) -> None:
    expected, text = ("".join(s.text for s in side) for side in (gold, [answer.value for answer in answers]))
    if text == expected:
        return
    if unicodedata.normalize("NFC", text) == unicodedata.normalize("NFC", expected):
        raise InputError("the text is the gold's in another Unicode normalization (NFC or NFD); write the characters "
                         "as the gold does", path=path)
    at = next((n for n, (a, b) in enumerate(zip(text, expected, strict=False)) if a != b),
              min(len(text), len(expected)))
    ends = list(accumulate(len(answer.value.text) for answer in answers))
    answer = answers[min(bisect_right(ends, at), len(answers) - 1)]
    if at == len(text):
        raise InputError(f"the text ends before the gold's does, which goes on {expected[at:at + 20]!r}; add the rest: "
                         "every sentence must be there", path=path, line=answer.line)
    goes_on = repr(expected[at:at + 20]) if at < len(expected) else "nothing"
    raise InputError(f"in the sentence that begins here the text has {text[at:at + 20]!r} where the gold's has "
                     f"{goes_on}; forms must be the gold's, without blanks", path=path, line=answer.line)
