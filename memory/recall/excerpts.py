"""Evidence of a hit: its reasons, the words that match, and the sentences of a long text that answer a question."""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from memory.characters import seam_before, well_formed
from memory.history.message import Message
from memory.recall.lexicon.languages import MARKS, UNSPACED_SCRIPTS, normal, stop_words
from memory.recall.lexicon.terms import (
    LONGEST_WORD,
    find_words,
    question_terms,
    spell_word,
    tokenize,
    word_terms,
)

GAP = "…"
"""Stands where an excerpt leaves something out."""
EXCERPT_CHARACTERS = 300
"""Characters of an excerpt, at most."""
LONG_EXCERPT = 1_200
"""The same for searches that somebody asked for, and for messages that are read without a question."""
_SPARED = 60
"""A text that is longer than an excerpt by so few characters is told whole."""
_PIECE_CHARACTERS = 150
"""A longer sentence is cut into pieces of up to this length."""
_FULL = 10
"""An excerpt is full if less than this share of its room is left: a tenth."""
_NOTE_HEAD = 60
"""Characters of a note that say what it is about."""
_WORDS_AT_MOST = 48
"""Words of a question that are looked for."""
_PARTS_AT_MOST = 200
"""Parts of words that are looked for."""
_BEGINNING = 3
"""Letters that a word shares with every word of the same stem."""
_NEIGHBOUR_SHARE = 0.5
"""Share of the best sentence's score that the sentences beside it have for that."""
_NO_WORD = 0.001
"""Score of a sentence without a shared word, at most."""
_SHOWN_AT_MOST = 8
"""Matching words that are shown."""

_END = re.compile(
    r"(?<![.!?…؟۔।])[.!?…؟۔।]++[\"'”’»)\]]*+\s++"  # noqa: RUF001
    r"|(?<![。！？｡])[。！？｡]++[」』”’）]*+\s*+"  # noqa: RUF001
    r"|\n\s*+"
)
_CUT = re.compile(r"[\s,;，、；]")  # noqa: RUF001
_WORD = re.compile(rf"(?:[^\W_]|[{MARKS}])++(?:[.:]\d++)*+")

Reason = Literal["words", "meaning", "date", "writer"]
"""words: the message has a word of the question. meaning: it says something similar. date: it was written in the period
that the question names. writer: it was written by the person that the question is about.
"""
Spans: TypeAlias = tuple[tuple[int, int], ...]
"""Places in a text, in order: begin and end of each; () for the whole text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """The parts of a message that are told, as places without words: those of its text, and of its note."""

    text: Spans = ()
    note: Spans = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionWords:
    """The words of a question, to be found in many texts. A word matches by its stem.

    Of scripts without spaces, parts of the words match.
    """

    hashes: frozenset[int] = frozenset()
    languages: Sequence[str] = ()
    beginnings: frozenset[str] = frozenset()
    """The first letters of the words, so that few words of a text are stemmed."""
    exact: frozenset[str] = frozenset()
    """Numbers and the like, without a stem."""
    parts: re.Pattern[str] | None = None
    """Matches parts of words; None without any."""

    def find(self, text: str) -> Iterator[tuple[int, int | str]]:
        """Yield the place of each match, and what is the same for all forms of the word."""
        if self.parts:
            yield from ((match.start(), match.group()) for match in self.parts.finditer(text))
        if not (self.beginnings or self.exact):
            return
        for match in _WORD.finditer(text):
            word = match.group().casefold()
            if word in self.exact:
                yield match.start(), word
            elif (
                word[:_BEGINNING] in self.beginnings
                and (shared := self._hash_of(word[:LONGEST_WORD])) is not None
            ):
                yield match.start(), shared

    def _hash_of(self, word: str) -> int | None:
        terms = (term for language in self.languages for term, _ in word_terms(word, language))
        return next((term for term in terms if term in self.hashes), None)


NO_WORDS = QuestionWords()


def read_question(question: str) -> QuestionWords:
    """Return the words of a question without its stop words."""
    words = tokenize(normal(question))
    exact: set[str] = set()
    parts: dict[str, None] = {}
    beginnings: set[str] = set()
    hashes: set[int] = set()
    languages: dict[str, None] = {}
    for kind, piece in words.pieces[:_WORDS_AT_MOST]:
        spoken = words.languages.get(kind)
        if spoken is None:
            exact.add(piece)
        elif kind in UNSPACED_SCRIPTS:
            parts |= dict.fromkeys(
                part.removeprefix("~") for part, _ in spell_word(piece, spoken[0]) if len(part) > 1
            )
        elif piece not in stop_words(spoken[0]):
            beginnings.add(piece[:_BEGINNING])
            languages |= dict.fromkeys(spoken)
            hashes.update(
                term for each in spoken for term, weight in word_terms(piece, each) if weight == 1.0
            )
    longest_first = sorted(parts, key=len, reverse=True)[:_PARTS_AT_MOST]
    return QuestionWords(
        hashes=frozenset(hashes),
        languages=tuple(languages),
        beginnings=frozenset(beginnings),
        exact=frozenset(exact),
        parts=re.compile("|".join(map(re.escape, longest_first))) if parts else None,
    )


def excerpt_of(
    message: Message, words: QuestionWords = NO_WORDS, *, at_most: int = EXCERPT_CHARACTERS
) -> Excerpt | None:
    """Return the excerpt of a long message for a question; None for a message that is told whole.

    The words of the text and those of an attachment are cut apart, and the beginning of a note stays.
    """
    excerpt = Excerpt(
        text=find_spans(message.text, words, at_most=at_most),
        note=find_spans(message.note, words, at_most=at_most, head=_NOTE_HEAD),
    )
    return excerpt if excerpt.text or excerpt.note else None


def tell(message: Message, excerpt: Excerpt | None) -> Message:
    """Return the message with its excerpt in place of its text and note."""
    if excerpt is None:
        return message
    return replace(message, text=cut_to(message.text, excerpt.text), note=cut_to(message.note, excerpt.note))


def find_spans(text: str, words: QuestionWords, *, at_most: int, head: int = 0) -> Spans:
    """Return the places of the best sentences of a long text for a question; () for a short text.

    A sentence counts by the words that it shares with the question, rare ones of the text more. The sentences beside
    the best one count too. Without a shared word the text is told from its beginning. The first `head` characters
    always stay. No place divides a character that a reader sees as one.
    """
    if len(text) <= at_most + _SPARED:
        return ()
    text = well_formed(text)
    seams = [0, *_seams(text, min(_PIECE_CHARACTERS, at_most))]
    scores = _scores(text, seams, words)
    chosen: set[int] = set()
    room = at_most
    for number in sorted(range(len(scores)), key=lambda each: (seams[each] >= head, -scores[each], each)):
        length = seams[number + 1] - seams[number]
        if length <= room:
            chosen.add(number)
            room -= length
        elif scores[number] <= _NO_WORD:
            break
        if room < at_most // _FULL:
            break
    spans: list[tuple[int, int]] = []
    for number in sorted(chosen):
        begin = spans.pop()[0] if number - 1 in chosen else seams[number]
        spans.append((begin, seams[number + 1]))
    return tuple(spans)


def cut_to(text: str, spans: Spans) -> str:
    """Return these parts of a text with GAP around and between them; the text itself without spans."""
    if not spans:
        return text
    text = well_formed(text)
    parts = [text[begin:end].strip() for begin, end in spans]
    before = f"{GAP} " if spans[0][0] > 0 else ""
    after = f" {GAP}" if spans[-1][1] < len(text) else ""
    return f"{before}{f' {GAP} '.join(parts)}{after}"


def _seams(text: str, at_most: int) -> Iterator[int]:
    """Yield the ends of the text's sentences, and places in long ones."""
    start = 0
    for end in (*(match.end() for match in _END.finditer(text)), len(text)):
        while end - start > at_most:
            start = _cut_before(text, start, start + at_most)
            yield start
        if end > start:
            start = end
            yield end


def _cut_before(text: str, start: int, end: int) -> int:
    """Return a place to cut a long sentence: after a blank or a comma in the second half, else between characters."""
    half = (start + end) // 2
    blanks = [half + match.end() for match in _CUT.finditer(text[half:end])]
    place = blanks[-1] if blanks else seam_before(text, end)
    return place if place > start else end


def _scores(text: str, seams: Sequence[int], words: QuestionWords) -> list[float]:
    """Return a score for each piece of the text. It falls with the distance to the best piece if no words decide."""
    found: list[set[int | str]] = [set() for _ in range(len(seams) - 1)]
    for place, word in words.find(text):
        found[bisect_right(seams, place) - 1].add(word)
    counts = Counter(word for piece in found for word in piece)
    rarity = _rarity(counts, len(found))
    scores = [sum(rarity[word] for word in piece) for piece in found]
    best = max(range(len(scores)), key=lambda each: scores[each])
    nearest = [_NO_WORD / (1 + abs(number - best)) for number in range(len(scores))]
    for number in (best + 1, best - 1):
        if 0 <= number < len(scores):
            scores[number] = max(scores[number], _NEIGHBOUR_SHARE * scores[best])
    return [score + near for score, near in zip(scores, nearest, strict=True)]


def _rarity(counts: Mapping[int | str, int], pieces: int) -> dict[int | str, float]:
    return {word: math.log1p((pieces - count + 0.5) / (count + 0.5)) for word, count in counts.items()}


def matched_words(question: str, text: str) -> tuple[str, ...]:
    """Return the words of a text that the question has too, as the text writes them, each once and at most eight.

    Words match by their stems, as in a search, and stop words never do. There are none in languages that a search
    reads by parts of words, such as Thai. Takes about a millisecond: compute it only to show it.
    """
    _, asked = question_terms(tokenize(normal(question)))
    wanted = frozenset[int]().union(*(word.whole for word in asked))
    found: dict[str, str] = {}
    for word in find_words(normal(text), wanted):
        found.setdefault(word.casefold(), word)
    return tuple(found.values())[:_SHOWN_AT_MOST]
