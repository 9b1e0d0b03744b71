"""Reader of dependency trees in CoNLL-U.

The gold's sentences are the items. A submission may divide the same text into other words and sentences. `project`
aligns the words as the CoNLL 2018 scorer does (Zeman et al. 2018, "CoNLL 2018 Shared Task: Multilingual Parsing from
Raw Text to Universal Dependencies", section 3). Tokens are equal if they cover the same characters; so are words that
are not part of a multiword token. If one side has a multiword token, the shortest stretch of text that divides no
multiword token is compared: the longest common subsequence of word forms aligns its words.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from sys import intern
from typing import Any, Literal

from registry.errors import InputError, counted
from registry.items import Answer, Item, Response
from registry.readers.base import NamedReader
from registry.readers.parsing.document import MANY_ROWS, Document
from registry.treebank import NO_WORD, Projected, Projection, Sentence, Token, Word, strip_subtype

MOST_CELLS = 2**22  # of the table for a longest common subsequence: 2048 words on each side

ALONE = -1


Place = tuple[int, int, bool, str]  # a word in the whole text: start, end, True if its token is multiword, form


def project(gold: Sequence[Sentence], answers: Sequence[Answer], path: str) -> list[Projection]:
    """Align a system's words with the gold's words, and group them by gold sentence.

    The system may divide the same text into other words and sentences.

    Args:
        gold: Sentences of the gold, in the order of the text.
        answers: Sentences of the system, in the order of its file.
        path: Path of the submission, for errors.

    Returns:
        For each gold sentence: the words, tokens and sentences of the system that belong to it.

    Raises:
        InputError: The texts differ, or a stretch of multiword tokens is too long.
    """
    parsed = [answer.value for answer in answers]
    _check_text(gold, answers, path)
    starts = [0, *accumulate(len(sentence.text) for sentence in gold)][:-1]
    places = _place_words(parsed)
    try:
        partners = align_words(_place_words(gold), places)
    except ValueError as error:
        raise InputError(str(error), path=path) from None
    # sentence index and word number of each gold word
    positions = [(n, number) for n, sentence in enumerate(gold) for number in range(1, len(sentence.words) + 1)]
    words: list[list[Projected]] = [[] for _ in gold]
    tokens: list[set[tuple[int, int]]] = [set() for _ in gold]
    sentences: list[set[tuple[int, int]]] = [set() for _ in gold]

    def assign(target: list[set[tuple[int, int]]], start: int, end: int) -> None:
        index = bisect_right(starts, start) - 1
        target[index].add((start - starts[index], end - starts[index]))

    begin = first = 0
    for sentence in parsed:
        assign(sentences, begin, begin + len(sentence.text))
        for start, end, _ in sentence.tokens:
            assign(tokens, begin + start, begin + end)
        n_functional = sentence.count_function_words()
        for n, (word, functional) in enumerate(zip(sentence.words, n_functional, strict=True), first):
            partner = partners[n]
            index, number = positions[partner] if partner != ALONE else (bisect_right(starts, places[n][0]) - 1, 0)
            head = 0
            if word.head:
                head_partner = partners[first + word.head - 1]
                head_index, head_number = positions[head_partner] if head_partner != ALONE else (-1, 0)
                head = head_number if head_index == index else NO_WORD
            words[index].append(Projected(word, number, head, functional))
        begin += len(sentence.text)
        first += len(sentence.words)
    return [Projection(tuple(w), frozenset(t), frozenset(s)) for w, t, s in zip(words, tokens, sentences, strict=True)]


def align_words(gold: Sequence[Place], system: Sequence[Place]) -> list[int]:
    """Align each system word with a gold word, as in the CoNLL 2018 scorer.

    Args:
        gold: Start and end in the text, True for a word of a multiword token, and form of each gold word.
        system: The same of each system word.

    Returns:
        Index of the gold word for each system word; `ALONE` (-1) if no gold word is aligned with it.

    Raises:
        ValueError: A stretch of multiword tokens has too many words.
    """
    partners = [ALONE] * len(system)
    g = s = 0
    while g < len(gold) and s < len(system):
        gold_start, gold_end, gold_is_multi, _ = gold[g]
        system_start, system_end, system_is_multi, _ = system[s]
        if gold_is_multi or system_is_multi:
            first_g, first_s, g, s = _find_stretch(gold, system, g, s)
            for a, b in _align_common([form.lower() for *_, form in gold[first_g:g]],
                                      [form.lower() for *_, form in system[first_s:s]]):
                partners[first_s + b] = first_g + a
        elif gold_start == system_start and gold_end == system_end:
            partners[s] = g
            g += 1
            s += 1
        elif gold_start <= system_start:
            g += 1
        else:
            s += 1
    return partners


def _place_words(sentences: Sequence[Sentence]) -> list[Place]:
    places: list[Place] = []
    begin = 0
    for sentence in sentences:
        tokens = [(begin + start, begin + end, is_multiword) for start, end, is_multiword in sentence.tokens]
        places += [(*tokens[word.token], word.form) for word in sentence.words]
        begin += len(sentence.text)
    return places


def _find_stretch(gold: Sequence[Place], system: Sequence[Place], g: int, s: int) -> tuple[int, int, int, int]:
    """Find the shortest next part of both texts that cuts no multiword token.

    Gold words and system words are aligned part by part. The next word of one side is in a multiword token (French "du"
    = "de le"), so the part must contain whole multiword tokens of both sides. As in the official scorer, at most one
    word that begins before the token is left out.

    Args:
        gold: Start, end, multiword flag and form of each gold word.
        system: The same of each system word.
        g: Index of the next gold word.
        s: Index of the next system word.

    Returns:
        Indexes: first gold word, first system word, end of the gold words, and end of the system words.
    """
    gold_start, end, gold_is_multi, _ = gold[g]
    system_start, system_end, system_is_multi, _ = system[s]
    if gold_is_multi:
        s += not system_is_multi and system_start < gold_start
    else:
        end = system_end
        g += gold_start < system_start
    first_g, first_s = g, s

    def continues(places: Sequence[Place], index: int) -> bool:
        if index == len(places):
            return False
        begins, ends, is_multiword, _ = places[index]
        return begins < end if is_multiword else ends <= end

    while continues(gold, g) or continues(system, s):
        is_gold = g < len(gold) and (s == len(system) or gold[g][0] <= system[s][0])
        _, ends, is_multiword, _ = gold[g] if is_gold else system[s]
        if is_multiword:
            end = max(end, ends)
        g, s = g + is_gold, s + (not is_gold)
    return first_g, first_s, g, s


def _align_common(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Align two lists of words by a longest common subsequence.

    If there are several such subsequences, the function selects the same as the official CoNLL 2018 scorer.

    Returns:
        Pairs of indexes of equal words.

    Raises:
        ValueError: The lists are too long.
    """
    if len(first) * len(second) > MOST_CELLS:
        raise ValueError(f"multiword tokens cover {counted(max(len(first), len(second)), 'word')} without a break, "
                         "which is too many for a text; correct the ranges of the multiword tokens")
    longest = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]  # of the suffixes that begin at a and b
    for a in range(len(first) - 1, -1, -1):
        row, next_row = longest[a], longest[a + 1]
        for b in range(len(second) - 1, -1, -1):
            row[b] = max(next_row[b], row[b + 1], 1 + next_row[b + 1] if first[a] == second[b] else 0)
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
        raise InputError("the text differs from the gold text only in the Unicode normal form (NFC or NFD); use the "
                         "normal form of the gold", path=path)
    position = next((n for n, (a, b) in enumerate(zip(text, expected, strict=False)) if a != b),
              min(len(text), len(expected)))
    ends = list(accumulate(len(answer.value.text) for answer in answers))
    answer = answers[min(bisect_right(ends, position), len(answers) - 1)]
    if position == len(text):
        raise InputError("the text ends before the gold text, which continues with "
                         f"{expected[position:position + 20]!r}; add the missing sentences",
                         path=path, line=answer.line)
    continuation = f"has {expected[position:position + 20]!r}" if position < len(expected) else "ends"
    raise InputError(f"this sentence has the text {text[position:position + 20]!r}, but the gold text {continuation} "
                     "there; correct the word forms: without blanks, they must make the same text", path=path,
                     line=answer.line)


COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")

_BLANKS = re.compile("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")  # Unicode category Zs
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_COMMON = {str(number): number for number in range(200)}  # nearly all heads
_RANGE = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_EMPTY_NODE = re.compile(r"(0|[1-9][0-9]{0,8})\.[1-9][0-9]{0,8}")

# Comments that apply to all following sentences, with their attributes.
_LASTING = {"newdoc id": "document", "newpar id": "paragraph"}

Row = tuple[int, list[str]]


class Conllu(NamedReader):
    """CoNLL-U of Universal Dependencies: ten columns, blank lines after sentences.

    This file format is for dependency trees. Columns are separated by tabs. A submission may divide the gold's text
    into other words and sentences; it is aligned by characters, and each of its words, tokens and sentences counts
    once. A word that is aligned with a gold word belongs to the sentence of this gold word. Other words, tokens and
    sentences belong to the gold sentence in which they begin. Multiword tokens count as in the official scorer; empty
    nodes are ignored. Comments of the form `key = value` are attributes of the gold's sentences, except `text`.
    `newdoc id` is the attribute `document`, and `newpar id` the attribute `paragraph`, of all following sentences.

    Attributes:
        id: Key of the comment with the name of a gold sentence; if it is absent, sentences are numbered from 1. In
            submissions this comment is ignored.
        roots: Number of words without a head in every sentence: `one`, or `any` (at least one).
        empty_columns: Treatment of an empty column: `reject` the file, or interpret it as an `underscore`, unless it is
            ID, FORM or HEAD.
    """

    name = "conllu"
    lines_per_item = MANY_ROWS
    gives = "tree"
    named = "relation"

    id: str = "sent_id"
    roots: Literal["one", "any"] = "one"
    empty_columns: Literal["reject", "underscore"] = "reject"

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        document, items = documents["gold"], []
        for number, (line, sentence, attributes) in enumerate(self._read_sentences(document), 1):
            if not (key := attributes.pop(self.id, str(number))):
                raise document.error(f"the comment {self.id!r} is empty; write the name of the sentence, or remove the "
                                     "comment", line)
            items.append(Item(key, sentence, attributes, line))
        return items

    def parse_answers(self, document: Document) -> list[Answer]:
        return [Answer(str(number), sentence, line)
                for number, (line, sentence, _) in enumerate(self._read_sentences(document), 1)]

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> list[Answer]:
        projections = project([item.gold for item in items], self.fold_names(items, answers), path)
        return [Answer(item.key, projection, item.line) for item, projection in zip(items, projections, strict=True)]

    def names(self, values: Iterable[Any]) -> Counter[str]:
        return Counter(strip_subtype(word.deprel) for value in values for word in _list_words(value))

    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        return replace(value, words=tuple(
            word._replace(deprel=name(strip_subtype(word.deprel)) + word.deprel[len(strip_subtype(word.deprel)):])
            for word in value.words))

    def find_copied(self, gold: Any, answer: Any) -> Iterable[str]:
        return ("gold",) if _list_words(gold) == _list_words(answer) else ()

    def content(self, value: Any) -> Any:
        return [value.tokens, value.words]

    def task_text(self, value: Any) -> Any:
        return value.text

    def make_unanswered(self, text: Any) -> Any:
        if not isinstance(text, str) or not text:
            raise ValueError("expected text")
        return Sentence(text, (), ())

    def answer_set(self, value: Any) -> Iterable[Response]:
        """Return one answer for each dependency arc, with a key such as "2>1".

        The key "2>1" means that gold word 2 is the head of gold word 1. A system's word may have no aligned gold word:
        it is then "+N" (N is its number) if it is the dependent, and "?" if it is the head. The type of an answer is
        the relation without its subtype.
        """
        if isinstance(value, Sentence):
            return [Response(f"{word.head}>{n}", strip_subtype(word.deprel)) for n, word in enumerate(value.words, 1)]
        return [Response(f"{'?' if p.head == NO_WORD else p.head}>{p.at or f'+{n}'}", strip_subtype(p.word.deprel))
                for n, p in enumerate(value.words, 1)]

    def _read_sentences(self, document: Document) -> Iterator[tuple[int, Sentence, dict[str, str]]]:
        """Parse a file; yield first line number, sentence and attributes of each."""
        rows: list[Row] = []
        attributes: dict[str, str] = {}
        lasting: dict[str, str] = {}
        is_empty = True
        for number, line in document.lines():
            if line.startswith("#") and not rows:
                name, equals, value = line[1:].partition("=")
                if equals:
                    name = name.strip()
                    (lasting if name in _LASTING else attributes)[_LASTING.get(name, name)] = value.strip()
            elif line:
                rows.append((number, self._split_cells(line, document, number)))
            elif not rows:
                raise document.error("a blank line without a sentence before it; remove the blank line", number)
            else:
                attributes.pop("text", None)
                yield rows[0][0], self._parse_sentence(rows, document), lasting | attributes
                rows, attributes, is_empty = [], {}, False
        if rows:
            raise document.error("no blank line follows the last sentence; add one, or restore the missing lines if "
                                 "the file is cut short", number)
        if is_empty:
            raise document.error("the file has no sentence; check that it is the correct file")

    def _split_cells(self, line: str, document: Document, number: int) -> list[str]:
        if (columns := line.count("\t") + 1) != len(COLUMNS):
            raise document.error(f"the line has {counted(columns, 'column')}; expected 10, separated by tabs", number)
        cells = line.split("\t")
        if "" in cells:
            empty = [name for name, cell in zip(COLUMNS, cells, strict=True) if not cell]
            if self.empty_columns == "reject":
                document.refuse(f'column {empty[0]} is empty; write _, or set empty_columns = "underscore"', number)
            if required := [name for name in empty if name in ("ID", "FORM", "HEAD")]:
                raise document.error(f"column {required[0]} is empty; write a value", number)
            cells = [cell or "_" for cell in cells]
        return cells

    def _parse_sentence(self, rows: Sequence[Row], document: Document) -> Sentence:
        words: list[Word] = []
        tokens: list[Token] = []
        forms: list[str] = []
        lines: list[int] = []
        end = range_end = 0  # end of the text; number of the last word of a multiword token
        for line, (id_, form, lemma, upos, xpos, feats, head, deprel, *_) in rows:
            is_word = id_ == str(len(words) + 1)
            if not is_word and (node := _EMPTY_NODE.fullmatch(id_)) and int(node[1]) == len(words):
                continue
            if not is_word:
                range_end = _find_range_end(id_, len(words) + 1, range_end, document, line)
            if not is_word or len(words) >= range_end:
                if not form.isalnum() and not (form := _BLANKS.sub("", form)):
                    raise document.error("column FORM has only blanks; write the word form", line)
                tokens.append(Token(end, end := end + len(form), not is_word))
                forms.append(form)
            if is_word:
                number = _COMMON.get(head, -1)
                if number < 0 and _NUMBER.fullmatch(head):
                    number = int(head)
                if number < 0:
                    document.refuse(f"the head is {head!r}; expected the number of a word, or 0 for the root", line)
                words.append(Word(form, lemma, intern(upos), intern(xpos), intern(feats), max(number, 0),
                                  intern(deprel), len(tokens) - 1))
                lines.append(line)
        if len(words) < max(range_end, 1):
            raise document.error("the sentence ends within a multiword token; add the missing words" if range_end else
                                 "the sentence has no word; add its words, or remove it", rows[-1][0])
        if fault := self._find_tree_fault([word.head for word in words]):
            document.refuse(fault[1], lines[fault[0]])
            words = [word._replace(head=0) for word in words]
        return Sentence("".join(forms), tuple(tokens), tuple(words))

    def _find_tree_fault(self, heads: Sequence[int]) -> tuple[int, str] | None:
        """Check that the heads of a sentence's words form a tree.

        Faults are a head that does not exist, a cycle, and a second root. Heads without a cycle always have a root.

        Args:
            heads: Number of each word's head, from 1; 0 for the root.

        Returns:
            Index (from 0) of a word, and a message; None if the heads are a tree.
        """
        for n, head in enumerate(heads):
            if head > len(heads):
                return n, f"the head is word {head}, but the sentence has only {counted(len(heads), 'word')}"
        visited_from = [0] * (len(heads) + 1)
        for start in range(1, len(heads) + 1):
            word = start
            while word and not visited_from[word]:
                visited_from[word] = start
                word = heads[word - 1]
            if word and visited_from[word] == start:
                return word - 1, f"word {word} depends on itself, because heads form a cycle; correct one of the heads"
        if self.roots == "one" and heads.count(0) > 1:
            first = heads.index(0)
            second = heads.index(0, first + 1)
            return second, (f"words {first + 1} and {second + 1} are both roots; correct one of the two heads, or set "
                            'roots = "any"')
        return None


def _list_words(value: Sentence | Projection) -> Sequence[Word]:
    return value.words if isinstance(value, Sentence) else tuple(projected.word for projected in value.words)


def _find_range_end(id_: str, expected: int, range_end: int, document: Document, line: int) -> int:
    """Check the ID of a multiword token, such as "3-4", and return its last number.

    Args:
        id_: The ID.
        expected: Number that the first word must have.
        range_end: Number of the last word in the previous multiword token.
        document: The file, for errors.
        line: Line number, for errors.

    Raises:
        InputError: The ID is not valid here.
    """
    match = _RANGE.fullmatch(id_)
    if match and int(match[1]) == expected > range_end and int(match[2]) >= expected:
        return int(match[2])
    if match and expected <= range_end:
        raise document.error(f"ID {id_!r} begins within the previous multiword token; correct one of the two ranges",
                             line)
    raise document.error(f"the ID is {id_!r}; expected {expected}, the number of the next word", line)
