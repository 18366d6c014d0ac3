"""Languages of the offline model: the words, patterns and sentences of languages.toml, and the stems of a text."""

import re
import tomllib
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from babel import Locale

from memory.recall.lexicon.languages import plausible_languages, script_of, stem, stop_words

_DOUBLE_STOP = re.compile(r"([.!?…][”“»])\.$")
_WORD = re.compile(r"[^\W_]+")
_JOINED = re.compile(r"(?<=\w)[-\u2010\u200c](?=\w)")
LONG = 5
"""Letters of a stem that may have other forms, or a wrong letter."""
_BREVE = "\u0306"
"""Stays: й and и are different letters, é and e are the same letter in two spellings."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language by the name that Snowball gives it."""

    name: str

    def words(self, key: str) -> frozenset[str]:
        """Return the words of a list."""
        return _words(self.name, key)

    def pattern(self, key: str) -> re.Pattern[str]:
        """Return the pattern `key`, without accents. It does not regard case."""
        return _pattern(self.name, key)

    def search(self, key: str, text: str) -> re.Match[str] | None:
        """Find the pattern `key` in the text, with accents or without."""
        return self.pattern(key).search(unaccented(text))

    def fullmatch(self, key: str, text: str) -> re.Match[str] | None:
        """Match the whole text with the pattern `key`, with accents or without."""
        return self.pattern(key).fullmatch(unaccented(text))

    def text(self, key: str, **values: str) -> str:
        """Return the sentence or list `key`, with these values in their places."""
        sentence = _table()[self.name].get(key, "")
        return _DOUBLE_STOP.sub(r"\1", sentence.format(**values)) if values else sentence

    def spelled(self, text: str) -> str:
        """Return the text without accents, and without the spelling of chats: "what can you do" for "what can u do"."""
        return _reworded(self.name, "chat", text)

    def plain(self, text: str) -> str:
        """Return the text in plainer words: "I live in" for "I moved to", "hate" for "can't stand"."""
        return _reworded(self.name, "plain", self.spelled(text))

    def has(self, key: str) -> bool:
        """Return True if the language has a list or mark of this kind."""
        return bool(_table()[self.name].get(key))

    def is_small(self, word: str) -> bool:
        """Return True for a word without a meaning of its own."""
        return word in _small(self.name)

    def stems(self, text: str) -> frozenset[str]:
        """Return the stems of the words that carry meaning."""
        return _stems(text, self)

    def is_form(self, one: str, other: str) -> bool:
        """Return True for stems of one word: a long one may have three more letters, in German another word behind."""
        if not one.startswith(other) and not other.startswith(one):
            return False
        short, more = min(len(one), len(other)), abs(len(one) - len(other))
        is_near = more <= 3 or self.has("articles")
        return not more or (short >= LONG and is_near) or (more == 1 and max(one, other)[-1] == "s")

    def stem(self, word: str) -> str:
        """Return the stem of a folded word. Words of the same meaning in the list `alike` have the same one."""
        return _stem(word, self.name)


@lru_cache(4_096)
def language_of(text: str, like: Language | None = None) -> Language:
    """Return the likeliest of our languages, `like` if it may be that one, and English without any evidence."""
    words = text.casefold().replace("’", "'").split()  # noqa: RUF001 - the apostrophe of phones
    plain = [word.strip(".,;:!?«»„“”\"'()…؟،") for word in words]
    pieces = [(script_of(word), word) for word in plain if any(map(str.isalpha, word))]
    likely = plausible_languages(pieces)
    scripts = Counter(script for script, _ in pieces).most_common()
    names = [name for script, _ in scripts for name in likely.get(script, ())]
    known = [name for name in names if name in _table()] or ["english"]
    # The last name is the default of the script and no evidence, and neither are languages that we do not speak.
    meant = {*(names[:-1] if len(names) > 1 and names[-1] == "english" else names)} & {*_table()}
    folded = [*map(fold, plain)]
    told = {each: {*folded} & {*_days(each), *_words(each, "alike")} for each in meant or _table()}
    counts = {each: len(words | ({*folded[:1]} & _words(each, "asks"))) for each, words in told.items()}
    best = [each for each, count in counts.items() if count and count == max(counts.values())]
    is_sure = len(best) == 1 and (meant or not like or counts[best[0]] > 1)
    like = Language(best[0]) if is_sure else like
    return like if like and (is_sure or like.name in meant or not meant) else Language(known[0])


@cache
def _days(language: str, width: str = "wide") -> tuple[str, ...]:
    """Return the weekdays, Monday first."""
    names = Locale.parse(_table()[language]["locale"]).days["format"][width]
    return tuple(folded_words(names[at])[0] for at in range(7))


def languages() -> list[Language]:
    """Return all our languages."""
    return [Language(name) for name in _table()]


def fold(text: str) -> str:
    """Return the text without case and accents: "Él vive" and "EL VIVE" are equal."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    letters = (mark for mark in decomposed if mark == _BREVE or not unicodedata.combining(mark))
    return unicodedata.normalize("NFC", "".join(letters))


@lru_cache(4_096)
def unaccented(text: str) -> str:
    """Return the text without accents and with straight apostrophes, as long as it was, so that places stay."""
    return text if text.isascii() else "".join(map(_bare, text))


@lru_cache(1_024)
def _bare(letter: str) -> str:
    if letter in "’‘":  # noqa: RUF001 - the apostrophes of phones
        return "'"
    upper, bare = letter.isupper(), fold(letter)
    return (bare.upper() if upper else bare) if len(bare) == 1 else letter


def folded_words(text: str) -> list[str]:
    """Return every word in order; an apostrophe ends a word, a hyphen does not."""
    return _WORD.findall(_JOINED.sub("", fold(text)))


@cache
def _table() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("languages.toml").read_text("utf-8"))


@cache
def _words(language: str, key: str) -> frozenset[str]:
    return frozenset(fold(_table()[language].get(key, "")).split())


@cache
def _pattern(language: str, key: str) -> re.Pattern[str]:
    return re.compile(unaccented(_table()[language].get(key, "(?!)")), re.IGNORECASE | re.DOTALL)


@lru_cache(8_192)
def _reworded(language: str, key: str, text: str) -> str:
    text = unaccented(text)
    for row in _table()[language][key].splitlines():
        pattern, _, plain = unaccented(row).partition(" => ")
        pattern = rf"(?<!\w)(?:{pattern})(?!\w)" if key == "chat" else pattern
        text = re.sub(pattern, plain, text, flags=re.IGNORECASE)
    return text


@cache
def _small(language: str) -> frozenset[str]:
    return (
        frozenset(folded_words(" ".join(stop_words(language))))
        | _words(language, "asks")
        | _words(language, "does")
        | _words(language, "fillers")
    )


@lru_cache(4_096)
def _stems(text: str, language: Language) -> frozenset[str]:
    words = (
        word
        for word in folded_words(language.plain(text))
        if not language.is_small(word) and not word.isdecimal()
    )
    return frozenset(map(language.stem, words))


@lru_cache(8_192)
def _stem(word: str, language: str) -> str:
    bare = _snowball(word, language)
    return _alike(language).get(word) or _alike(language).get(bare, bare)


def _snowball(word: str, language: str) -> str:
    # Memory's stems of English have "life" for "lives" and "leaf" for "leaves", which here are verbs.
    found = stem(word, "porter" if language == "english" else language)
    if language == "german" and found.endswith(("ei", "au", "eu")):  # "Feier" has no ending
        return word.removesuffix("n")
    # "kocht" is a form of "koche".
    is_verb = language == "german" and len(found) >= LONG and found[-2] not in "aeiou"
    return found.removesuffix("t") if is_verb else found


@cache
def _alike(language: str) -> dict[str, str]:
    """Return the common stem of words that mean the same: of the list `alike`, and weekdays in all languages."""
    groups = [fold(group).split() for group in _table()[language]["alike"].split("|")]
    return {
        form: group[0]
        for group in [*groups, *zip(*map(_days, _table()), _days(language, "abbreviated"), strict=True)]
        for word in group
        for form in (word, _snowball(word, language))
    }
