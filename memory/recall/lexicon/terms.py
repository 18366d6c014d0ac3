"""Terms of a text and their BM25 weights: stems and parts of words, numbers, addresses, tags, emoji."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import islice

from memory.recall.lexicon.analysis import QuestionWord, SparseVector
from memory.recall.lexicon.languages import (
    CONTINUOUS,
    HAN,
    HANGUL,
    MARKS,
    UNSPACED_SCRIPTS,
    load_words,
    plausible_languages,
    script_of,
    stem,
    stop_words,
)

WORD_LIMIT = 2_000
"""Words of a text that are read, from its beginning."""
TERM_LIMIT = 4_096
"""Different terms that are kept of a message."""
K1 = 1.2
B = 0.4
"""BM25's weight of text length. Short messages differ in length by chance: 0.4 was best on conversations."""
AVERAGE_LENGTH = 23.0
"""Words of an average message: LoCoMo's have 22.6. A constant, so that the weights of a message never change. Values
from 16 to 30 find the same.
"""
Token = tuple[str, str]
"""Kind of a piece of text, and the piece, casefolded. A word's kind is its script (see languages.script_of), the other
kinds are "number", "url", "mail", "tag" and "emoji".
"""
WeightedHashes = Sequence[tuple[int, float]]
"""Hashes of terms, each with its weight in a question."""
_WeightedTerms = list[tuple[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizedText:
    """The pieces of a text and its languages."""

    pieces: Sequence[Token]
    languages: Mapping[str, tuple[str, ...]]
    """Likely languages of each script, the likeliest first."""
    likeliest: Sequence[str]
    """The likeliest language of each script, or the script itself if we tell no languages of it apart."""

    @property
    def count(self) -> int:
        """Number of words, stop words included. Numbers and addresses are words; tags and emoji are not.

        Text without spaces counts by its characters.
        """
        return sum(_count_words(kind, piece) for kind, piece in self.pieces)


def tokenize(text: str) -> TokenizedText:
    """Split a normal text (see languages.normal) into its first WORD_LIMIT pieces and guess its languages.

    Mentions (@name) are left out.
    """
    pieces: list[Token] = []
    for match in _TOKEN.finditer(text):
        pieces += _pieces_of(match)
        if len(pieces) >= WORD_LIMIT:
            break
    del pieces[WORD_LIMIT:]
    for place in range(len(pieces) - 1, 0, -1):
        kind, piece = pieces[place]
        # Plurals are no stop words and have the same stem: "the will", "my can".
        if piece in _MODAL_PLURALS and pieces[place - 1][1] in _DETERMINERS:
            pieces[place] = kind, _MODAL_PLURALS[piece]
    languages = plausible_languages(pieces)
    likeliest = [languages[script][0] or script for script in languages]
    return TokenizedText(pieces=pieces, languages=languages, likeliest=likeliest)


def find_words(text: str, wanted: Collection[int]) -> Iterator[str]:
    """Yield the words of a normal text, as they are written, that have one of these whole terms.

    Of a run of Chinese characters the parts are yielded whose pairs have one.
    """
    languages = tokenize(text).languages
    for match in _TOKEN.finditer(text):
        for kind, piece in _pieces_of(match):
            spoken = languages.get(kind)
            if kind == "han":
                yield from _find_pairs(piece, wanted)
            elif _has_whole(word_terms(piece, spoken[0]) if spoken else other_terms(kind, piece), wanted):
                yield match.group()


def _find_pairs(run: str, wanted: Collection[int]) -> list[str]:
    marks = [" "] * len(run)
    for at, pair in enumerate(_pairs(run) or [run]):
        if _has_whole(word_terms(pair, "han"), wanted):
            marks[at : at + 2] = pair
    return "".join(marks).split()


def _has_whole(terms: WeightedHashes, wanted: Collection[int]) -> bool:
    return any(weight == 1.0 and index in wanted for index, weight in terms)


def message_terms(words: TokenizedText) -> dict[int, int]:
    """Count the terms of a message by their hashes. Words are stemmed in the likeliest language.

    Whole terms come before parts of words; at most TERM_LIMIT in all.
    """
    whole: dict[int, int] = {}
    parts: dict[int, int] = {}
    for kind, piece in words.pieces:
        languages = words.languages.get(kind)
        for index, weight in word_terms(piece, languages[0]) if languages else other_terms(kind, piece):
            counts = whole if weight == 1.0 else parts
            counts[index] = counts.get(index, 0) + 1
    for index, count in parts.items():
        whole[index] = whole.get(index, 0) + count
    return dict(islice(whole.items(), TERM_LIMIT))


def message_vector(counts: Mapping[int, int], *, length: int) -> SparseVector:
    """Return the BM25 weight of each term in a message of `length` words. The index multiplies by the IDF."""
    saturation = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    indices = tuple(counts)
    return SparseVector(
        indices=indices,
        values=tuple(counts[each] * (K1 + 1) / (counts[each] + saturation) for each in indices),
    )


def question_terms(words: TokenizedText) -> tuple[SparseVector, tuple[QuestionWord, ...]]:
    """Return the search terms of a question with their weights (1 for a word), and its search words, each once.

    Each word is stemmed in every language that it may be in, because a message may have been guessed otherwise. Stop
    words have no terms. Emoji, tags and text in hiragana alone are no search words. A script without spaces gives
    pairs of characters, or the run.
    """
    weights: dict[int, float] = {}
    parts_of: dict[frozenset[int], frozenset[int]] = {}
    for kind, terms in _piece_terms(words):
        whole: list[int] = []
        others: list[int] = []
        for index, weight in terms:
            weights[index] = max(weight, weights.get(index, 0.0))
            (whole if weight == 1.0 else others).append(index)
        parts = frozenset(others)
        if kind == "han":
            for index in whole:
                parts_of[frozenset([index])] = parts
        elif kind not in ("emoji", "tag") and terms:
            parts_of[frozenset(whole) or parts] = parts
    question: list[QuestionWord] = []
    for key, parts in parts_of.items():
        question.append(QuestionWord(whole=key if key != parts else frozenset(), parts=parts))
    return SparseVector(indices=tuple(weights), values=tuple(weights.values())), tuple(question)


def is_bare(words: TokenizedText) -> bool:
    """Return True if a question has search words only: "4711", "bike lock?". False for scripts without spaces."""
    for kind, piece in words.pieces:
        languages = words.languages.get(kind)
        if kind in ("emoji", "tag", *_CHARACTERS_OF_A_WORD) or (
            languages and piece in stop_words(languages[0])
        ):
            return False
    return bool(words.pieces)


def _piece_terms(words: TokenizedText) -> Iterator[tuple[str, WeightedHashes]]:
    """Yield the kind of each piece and its terms in all languages, without stop words."""
    for kind, piece in words.pieces:
        languages = words.languages.get(kind)
        if languages is None:
            yield kind, other_terms(kind, piece)
        elif piece not in stop_words(languages[0]):
            terms: list[tuple[int, float]] = []
            for language in languages:
                terms += word_terms(piece, language)
            yield kind, terms


LONGEST_WORD = 48
"""Characters of a word that count. Longer ones are keys, hashes or noise."""
_LONGEST_RUN = 2_000
"""Characters that count in a run of text without spaces."""
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
"""Average length of a word in scripts without spaces."""
_MODAL_PLURALS = {"will": "wills", "can": "cans"}
_DETERMINERS = frozenset(["the", "a", "my", "your", "his", "her", "our", "their", "this", "that", "last"])
_CAPITALS = {"US": "usa", "IT": "i.t."}
"""Words that would be stop words without their capitals."""


def _pieces_of(match: re.Match[str]) -> list[Token]:
    kind, text = match.lastgroup or "", match.group()
    if kind == "word":
        return list(_split_words(text))
    if kind == "dotted":
        return list(_split_words(text.replace(".", "")))
    if kind == "tag":
        return [(kind, text.casefold()[:LONGEST_WORD]), *_split_words(text[1:])]
    return [] if kind == "mention" else [(kind, text.casefold())]


def _split_words(text: str) -> Iterator[Token]:
    """Split a run of letters and digits at changes of script and at underscores."""
    if text in _CAPITALS:
        yield "latin", _CAPITALS[text]
    elif text.isascii() and "_" not in text:
        yield "latin", text[:LONGEST_WORD].casefold()
    else:
        for run in islice(_RUN.findall(text), WORD_LIMIT):
            word = str(run[:_LONGEST_RUN]).casefold().strip("\u200c\u200d'")
            if not any(map(str.isalnum, word)):
                continue
            if script_of(word) not in _CHARACTERS_OF_A_WORD:
                word = word[:LONGEST_WORD]
            yield script_of(word), word


def _count_words(kind: str, piece: str) -> int:
    if kind in ("emoji", "tag"):
        return 0
    return -(-len(piece) // _CHARACTERS_OF_A_WORD.get(kind, len(piece)))


_PARTS_WEIGHT = 0.25
_CHARACTER_WEIGHT = 0.3
_HIRAGANA_WEIGHT = 0.3
_UNSPACED_WEIGHTS = {2: 0.05, 3: 0.15, 4: 0.25}
_SYLLABLES_WEIGHT = 1.0
"""Weights of parts of a word in a question, compared with 1 for the word.

Set by benchmarks/sanity_pairs.json and checked on LoCoMo, which loses nothing up to 0.3.
"""
_DIGIT_ZEROS = "\u0660\u06f0\u0966\u09e6\u0e50"
_DIGITS = str.maketrans({chr(ord(zero) + n): str(n) for zero in _DIGIT_ZEROS for n in range(10)})
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_EMOJI_STYLE = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
_ADDRESS_FILLERS = frozenset(("http", "https", "www", "com", "org", "net", "html", "htm", "php", "index"))
_ADDRESS_CHARACTERS = 500
_ADDRESS_WORDS = 12
_LONGEST_CACHED = 24
"""Longest word whose terms are cached (some 20 MB at most). Longer words rarely come again."""


def word_terms(word: str, language: str) -> WeightedHashes:
    """Return the terms of a casefolded word in this language, none for a stop word. A run without spaces is a word."""
    return (
        _cached_word_terms(word, language)
        if len(word) <= _LONGEST_CACHED
        else hash_terms(spell_word(word, language))
    )


def other_terms(kind: str, text: str) -> WeightedHashes:
    """Return the terms of a piece (see Token) that is no word."""
    return hash_terms(spell_other(kind, text))


@lru_cache(maxsize=2_048)
def _cached_word_terms(word: str, language: str) -> WeightedHashes:
    """Return the terms of a word. The cache takes up to 2 MB: a Russian word 1.1 kB, an English one 0.5 kB."""
    return hash_terms(spell_word(word, language))


def hash_terms(terms: _WeightedTerms) -> WeightedHashes:
    """Replace terms by their 32-bit hashes, the same in every process. Colliding terms count as the same."""
    hashes: list[tuple[int, float]] = []
    for term, weight in terms:
        digest = blake2b(term.encode("utf-8", "replace"), digest_size=4).digest()
        hashes.append((int.from_bytes(digest, "big"), weight))
    return tuple(hashes)


def spell_word(word: str, language: str) -> _WeightedTerms:
    """Return the terms of a casefolded word as text, each with its weight in a question."""
    if not word.isascii() and (script := script_of(word)) in UNSPACED_SCRIPTS:
        return _unspaced_terms(word, script)
    stops = stop_words(language)
    terms: _WeightedTerms = []
    for part in () if word in stops else word.split("'"):
        if part and part not in stops:
            stemmed = stem(part, language).translate(_DIGITS)
            terms.append((stemmed, 1.0))
            if language != "english":
                terms += _parts("^" + stemmed, 3, _PARTS_WEIGHT)
    return terms


def _unspaced_terms(run: str, script: str) -> _WeightedTerms:
    if script == "han":
        return _han_terms(run)
    if script == "hangul":
        return [(run, 1.0), *_parts(run, 2, _SYLLABLES_WEIGHT)]
    return [
        ("~" + run[at : at + size], weight)
        for size, weight in _UNSPACED_WEIGHTS.items()
        for at in range(len(run) - size + 1)
    ]


def _parts(word: str, size: int, weight: float) -> _WeightedTerms:
    """Return the n-grams of a word. Their weight falls with the square root of their number."""
    grams = {word[at : at + size] for at in range(len(word) - size + 1)}
    return [("~" + gram, weight / len(grams) ** 0.5) for gram in sorted(grams)]


def _han_terms(run: str) -> _WeightedTerms:
    """Return the pairs of characters between function words, and single characters with a small weight."""
    terms: _WeightedTerms = []
    characters = load_words("stop_words")["unspaced"]["characters"]
    for piece in "".join(" " if each in characters else each for each in blank_phrases(run)).split():
        terms += [
            (each, 1.0 if len(piece) == 1 else _CHARACTER_WEIGHT) for each in piece if not _is_hiragana(each)
        ]
        terms += [(pair, _HIRAGANA_WEIGHT if _is_hiragana(pair) else 1.0) for pair in _pairs(piece)]
    return terms


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def blank_phrases(run: str) -> str:
    """Replace Chinese and Japanese function words of several characters by spaces."""
    for phrase in _unspaced_phrases():
        run = run.replace(phrase, " ")
    return run


@cache
def _unspaced_phrases() -> tuple[str, ...]:
    return tuple(load_words("stop_words")["unspaced"]["phrases"].split())


def _is_hiragana(text: str) -> bool:
    return all("\u3040" <= each <= "\u309f" for each in text)


def spell_other(kind: str, text: str) -> _WeightedTerms:
    """Return the terms of a number, an address, a tag or an emoji as text."""
    if kind == "number":
        return [(_normalise_number(text.translate(_DIGITS)), 1.0)]
    if kind == "emoji":
        return [(_EMOJI_STYLE.sub("", text), 1.0)]
    if kind == "tag":
        return [(text, 1.0)]
    parts = [part for part in re.split(r"[\W_]+", text[:_ADDRESS_CHARACTERS]) if part not in _ADDRESS_FILLERS]
    words = [stem(part, "english") for part in parts if part][:_ADDRESS_WORDS]
    return [(text, 1.0), *((word, 0.5) for word in words)]


def _normalise_number(text: str) -> str:
    """Make 1,000 and 1000 one term, and 3,5 and 3.5."""
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text.replace(",", ".")
