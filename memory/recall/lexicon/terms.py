"""The terms of a text: stems and parts of words, numbers, addresses, tags, emoji."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice, pairwise

from memory.recall.lexicon.analysis import QuestionWord
from memory.recall.lexicon.languages import plausible_languages, stop_words
from memory.recall.lexicon.scripts import CONTINUOUS, HAN, HANGUL, MARKS, script_of
from memory.recall.lexicon.spelling import Weighted, other_terms, word_terms

WORD_LIMIT = 2_000
"""Words that are read of a text, from its beginning."""
TERM_LIMIT = 4_096
"""Different terms that are kept of a message."""
_LONGEST_WORD = 48
"""Characters of a word that count; what is longer is a key, a hash or noise."""
_LONGEST_RUN = 2_000
"""The same for a run of text without spaces."""

_LETTERS = rf"[\w{MARKS}]"
_PICTURE = "\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_STYLE = "\ufe0e\ufe0f\U0001f3fb-\U0001f3ff"
_TOKEN = re.compile(
    rf"(?P<url>(?:https?://|\bwww\.)[^\s<>\"']{{1,2000}})"
    rf"|(?P<mail>(?<![\w.+-])[\w.+-]{{1,64}}@[\w-]{{1,64}}(?:\.[\w-]{{1,64}}){{1,8}})"
    rf"|(?P<mention>@\w+)"
    rf"|(?P<tag>\#{_LETTERS}+)"
    rf"|(?P<number>\d+(?:[.:]\d+|,\d{{1,3}}(?!\d))*(?!{_LETTERS}))"
    rf"|(?P<dotted>(?<!\w)(?:[^\W\d_]\.){{2,6}})"
    rf"|(?P<word>{_LETTERS}+(?:'{_LETTERS}+)*)"
    rf"|(?P<emoji>[\U0001f1e6-\U0001f1ff]{{2}}|[{_PICTURE}][{_STYLE}]*(?:\u200d[{_PICTURE}][{_STYLE}]*){{0,8}})"
)
_RUN = re.compile(f"[{HAN}]+|[{CONTINUOUS}]+|[{HANGUL}]+|[^{HAN}{CONTINUOUS}{HANGUL}_]+")
_CHARACTERS_OF_A_WORD = {"han": 2, "continuous": 4}
"""On average, where words are written without spaces."""
_NOTHING = ("", "")
_NOUNS = {"will": "wills", "can": "cans"}
_DETERMINERS = frozenset(["the", "a", "my", "your", "his", "her", "our", "their", "this", "that", "last"])
_CAPITALS = {"US": "usa", "IT": "i.t."}
"""Words that would be stop words, were it not for their capitals."""

Token = tuple[str, str]
"""The kind of a piece of a text ("word", "number", "url", "mail", "tag", "emoji"), and the piece, casefolded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The pieces of a text, and by script the languages that they may be in, the likeliest first."""

    pieces: tuple[Token, ...]
    languages: Mapping[str, tuple[str, ...]]

    @property
    def count(self) -> int:
        """How many words there are, stop words too; numbers and addresses are words, tags and emoji none.

        What is written without spaces counts by its characters.
        """
        return sum(_count(kind, piece) for kind, piece in self.pieces)

    @property
    def likeliest(self) -> tuple[str, ...]:
        """The likeliest language of each script; of one without languages that we tell apart, the script."""
        return tuple(languages[0] or script for script, languages in self.languages.items())


def read_words(text: str) -> Words:
    """The words of a normal text (see scripts.normal)."""
    pieces = tuple(tokens(text))
    return Words(
        pieces=pieces, languages=plausible_languages(piece for kind, piece in pieces if kind == "word")
    )


def tokens(text: str) -> list[Token]:
    """The pieces of a normal text (see scripts.normal), the first WORD_LIMIT. Mentions (@name) are none."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "word":
            found += _words(match.group())
        elif kind == "dotted":
            found += _words(match.group().replace(".", ""))
        elif kind == "tag":
            found.append((kind, match.group().casefold()[:_LONGEST_WORD]))
            found += _words(match.group()[1:])
        elif kind != "mention":
            found.append((kind, match.group().casefold()))
        if len(found) >= WORD_LIMIT:
            break
    return [_as_noun(piece, before) for before, piece in pairwise([_NOTHING, *found[:WORD_LIMIT]])]


def _as_noun(piece: Token, before: Token) -> Token:
    """ "The will" and "my can" are things: their plurals are no stop words, and have the same stems."""
    is_noun = piece[1] in _NOUNS and before[1] in _DETERMINERS
    return (piece[0], _NOUNS[piece[1]]) if is_noun else piece


def _words(raw: str) -> Iterator[Token]:
    """A run of letters and digits, cut where the script or an underscore cuts it."""
    if raw in _CAPITALS:
        yield "word", _CAPITALS[raw]
    elif raw.isascii() and "_" not in raw:
        yield "word", raw[:_LONGEST_WORD].casefold()
    else:
        for run in islice(_RUN.findall(raw), WORD_LIMIT):
            word = str(run[:_LONGEST_RUN]).casefold().strip("\u200c\u200d'")
            if any(map(str.isalnum, word)):
                yield "word", word if script_of(word) in _CHARACTERS_OF_A_WORD else word[:_LONGEST_WORD]


def _count(kind: str, piece: str) -> int:
    if kind in ("emoji", "tag"):
        return 0
    if kind == "word" and not piece.isascii():
        return -(-len(piece) // _CHARACTERS_OF_A_WORD.get(script_of(piece), len(piece)))
    return 1


def message_terms(words: Words) -> dict[int, int]:
    """How often each term (by its hash) is there, words being stemmed in the likeliest language.

    Stems and the like come first, then the parts of words, at most TERM_LIMIT in all.
    """
    whole: dict[int, int] = {}
    parts: dict[int, int] = {}
    for kind, piece in words.pieces:
        if kind == "word":
            terms = word_terms(piece, words.languages[script_of(piece)][0])
        else:
            terms = other_terms(kind, piece)
        for index, weight in terms:
            counts = whole if weight == 1.0 else parts
            counts[index] = counts.get(index, 0) + 1
    for index, count in parts.items():
        whole[index] = whole.get(index, 0) + count
    return dict(islice(whole.items(), TERM_LIMIT))


def question_terms(words: Words) -> dict[int, float]:
    """The terms that are searched by, each with its weight (1 for a word); none of stop words alone.

    Each word is stemmed in every language that it may be in, for a message's may have been guessed otherwise.
    """
    weights: dict[int, float] = {}
    for _, terms in _spelt_pieces(words):
        for index, weight in terms:
            weights[index] = max(weight, weights.get(index, 0.0))
    return weights


def question_words(words: Words) -> tuple[QuestionWord, ...]:
    """The words that are searched by, each once; of a script without spaces the pairs of characters, or the run.

    None of stop words, emoji and what is written in hiragana alone.
    """
    found: dict[frozenset[int], frozenset[int]] = {}
    for kind, terms in _spelt_pieces(words):
        whole = [index for index, weight in terms if weight == 1.0]
        parts = frozenset(index for index, weight in terms if weight != 1.0)
        if kind == "han":
            found |= {frozenset([index]): parts for index in whole}
        elif kind not in ("emoji", "tag") and terms:
            found[frozenset(whole) or parts] = parts
    return tuple(
        QuestionWord(whole=key if key != parts else frozenset(), parts=parts) for key, parts in found.items()
    )


def is_bare(words: Words) -> bool:
    """Whether a question is nothing but what it searches by: "4711", "bike lock?". Never of scripts without spaces."""
    return bool(words.pieces) and all(
        kind not in ("emoji", "tag")
        if kind != "word"
        else script_of(piece) not in _CHARACTERS_OF_A_WORD
        and piece not in stop_words(words.languages[script_of(piece)][0])
        for kind, piece in words.pieces
    )


def _spelt_pieces(words: Words) -> Iterator[tuple[str, Weighted]]:
    """Each piece of a question that is no stop word: its kind (of a word its script), and its terms in all languages."""
    for kind, piece in words.pieces:
        if kind != "word":
            yield kind, other_terms(kind, piece)
            continue
        script = script_of(piece)
        languages = words.languages[script]
        if piece not in stop_words(languages[0]):
            yield script, tuple(chain.from_iterable(word_terms(piece, language) for language in languages))
