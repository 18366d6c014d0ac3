"""Corrections: the earlier statement that a new one replaces, and the person of whom each word is said."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from simulator.offline_model.reminders import month_names, weekdays, with_digits
from simulator.offline_model.words import LONG, Language, fold, folded_words, unaccented

_TOKEN = re.compile(r"[^\W_]+(?:[-\u2010\u200c][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a statement.

    It is said of "me", of "other", or of nobody: of the last person named before it. The person's own name is "named".
    `owned` is the stem of what it owns: "bike" in "Tom's bike".
    """

    word: str
    stem: str
    owner: str
    owned: str


@lru_cache(4_096)
def read_words(text: str, language: Language) -> tuple[Word, ...]:
    """Return the words of a statement. Who moved to a place lives there."""
    text = language.plain(text)
    people = [(each.span(), each["of"]) for each in _people(text, language)]
    tokens = [*_TOKEN.finditer(unaccented(text))]
    words = [*((folded_words(each[0]) or [""])[0] for each in tokens), "", ""]
    read: list[Word] = []
    owner = ""
    for at, token in enumerate(tokens):
        word, owned = words[at], words[at + 2] if words[at + 1] == "s" else ""
        here = [of for (start, end), of in people if start <= token.start() < end]
        if owner == "other" and {*".!?"} & {*text[tokens[at - 1].end() : token.start()]}:
            owner = ""
        if None in here:
            owner = "other"
        elif not here and word in own_words(language) | language.words("we"):
            owner = "me"
        read.append(
            Word(
                word=word,
                stem=word if language.is_small(word) or word.isdecimal() else language.stem(word),
                owner="other" if any(here) else "named" if here else owner,
                owned="" if language.is_small(owned) else language.stem(owned),
            )
        )
    return tuple(read)


def _people(text: str, language: Language) -> list[re.Match[str]]:
    """Find other persons: relatives, pronouns, owners, and names before what they do."""
    found = language.pattern("people").finditer(unaccented(text))
    return [each for each in found if not each["name"] or not language.is_small(fold(each["name"]))]


@lru_cache(4_096)
def subjects(text: str, language: Language) -> frozenset[str]:
    """Return the stems of the relatives and names that the text is about, and "me"."""
    people = " ".join(each["kin"] or each["name"] or "" for each in _people(language.plain(text), language))
    return language.stems(people) | {"me" for each in read_words(text, language) if each.owner == "me"}


@lru_cache(4_096)
def thing_of(text: str, language: Language) -> str:
    """Return "my bike is" for "my bike is red": it replaces "my bike is blue". "" for what is told of a person."""
    found = language.search("lasting", text)
    is_thing = found and found.lastgroup == "thing" and subjects(text, language) <= {"me"}
    return fold(found[0]) if found and is_thing else ""


def own_words(language: Language) -> frozenset[str]:
    """Return the words of who speaks: "I", "my"."""
    return language.words("i") | language.words("my") | language.words("self")


def replaced(line: str, said: Sequence[str], language: Language) -> str:
    """Return the earlier text that this line corrects as a whole; "" if there is none."""
    earlier = corrected_by(line, said, language)
    # The earlier one may say more than the detail that this line corrects.
    clauses = re.split(rf"[,;] |[.!?] (?=\S)|(?<!\w)(?:{language.text('plus')})(?!\w)", earlier)
    rest = language.stems(_without_values(earlier, language)) - language.stems(line)
    is_whole = len(clauses) == 1 and len(rest) <= _DETAIL
    return earlier if is_whole and opens_correction(line, language) else ""


def corrected_by(text: str, said: Sequence[str], language: Language) -> str:
    """Return the earlier text that this one corrects: the one with the most of its words; "" if none fits.

    Of equal ones it is one with more kinds of its values, else the newest.
    """
    fitting = [each for each in said[::-1] if replaces(text, each, language, is_next=each is said[-1])]
    return max(
        fitting,
        key=lambda each: (len(_shared(text, each, language)), _kinds(text, each, language)),
        default="",
    )


_LEAST = 3
"""A correction shares at least one of so many of its words with what it corrects, if that was not the line before."""
_BARE = 7
"""Most words of a text that corrects nothing but a value."""
_DETAIL = 3
"""Most words that a corrected statement has beyond the correction."""


def replaces(text: str, earlier: str, language: Language, *, is_next: bool = True) -> bool:
    """Return True if the text begins like a correction, and is about the same person and thing as the earlier one.

    The next text may also be about nothing but a value of the same kind ("no, on Tuesday"), or about "it". A text that
    tells of a change has two words of the earlier one ("Anna quit chemistry"). "Also" replaces nothing.
    """
    if not may_correct(text, language):
        return False
    bare = language.pattern("corrects").sub(" ", unaccented(text))
    people, others = subjects(bare, language), subjects(earlier, language)
    is_same = _forms(people | language.stems(bare), others, language) or people & language.stems(earlier)
    if language.search("also", text) or (people and others and not is_same):
        return False
    if not opens_correction(text, language):
        same = language.stems(text) & language.stems(earlier)
        things = same - people - others - language.stems(language.text("kinds"))
        is_gone = bool(language.words("gone") & {*folded_words(text)})
        return len(same) > 1 or (is_gone and max(map(len, things), default=0) >= LONG)
    topic, shared = topic_of(text, language), _shared(text, earlier, language)
    if exchange := language.search("exchange", text):
        old = fold(exchange["old"])
        is_held = language.stem(old) in language.stems(earlier) or old in re.findall(
            r"\d+|\w+", fold(earlier)
        )
        is_plain = old.isdecimal() or any(language.search(each, text) for each in ("corrects", "is_it"))
        is_plain = is_plain or bool(language.words("changes") & {*folded_words(text)})
        return is_held and (is_plain or bool(shared - {language.stem(old)}))  # "I drink tea, not coffee"
    is_bare = _kinds(text, earlier, language) > 0 and len(text.split()) <= _BARE
    is_value = len(topic) <= 1 and (is_bare or language.search("is_it", text) is not None)
    is_about = bool(shared) and (is_next or len(shared) * _LEAST >= len(topic))
    return is_about or (is_next and is_value)


def _kinds(text: str, earlier: str, language: Language) -> int:
    """Return how many kinds of values both texts have: a weekday, a number, a month."""
    said = with_digits(text, language)
    return sum(_finds(each, said) and _finds(each, earlier) for each in _value_patterns(language))


def _shared(text: str, earlier: str, language: Language) -> set[str]:
    """Return the words of a correction that the earlier text has too. "Anna's teacher" is not about Anna."""
    held = language.stems(earlier)
    owners = {word.stem for word in read_words(text, language) if word.owned and word.owned not in held}
    return _forms(topic_of(text, language) - owners, held, language)


def _forms(stems: frozenset[str], others: frozenset[str], language: Language) -> set[str]:
    """Return the stems that the others have too. In German "Kontrolle" is the end of "Zahnkontrolle"."""
    least = LONG if language.has("articles") else 99
    return {
        each
        for each in stems
        if any(language.is_form(each, one) or (len(each) >= least and one.endswith(each)) for one in others)
    }


@lru_cache(4_096)
def opens_correction(text: str, language: Language) -> bool:
    """Return True if the text begins or ends like a correction, or puts one word in the place of another."""
    words = folded_words(text)
    corrects = any(language.search(each, text) for each in ("corrects", "exchange"))
    return corrects or bool(language.words("changes") & {*words[:3], *words[-1:]})


@lru_cache(4_096)
def may_correct(text: str, language: Language) -> bool:
    """Return True if the text begins or ends like a correction, or tells of a change."""
    changes = language.words("turns") | language.words("changes") | language.words("gone")
    return opens_correction(text, language) or bool(changes & {*folded_words(text)})


@lru_cache(4_096)
def topic_of(text: str, language: Language) -> frozenset[str]:
    """Return the stems of a correction without its value: a weekday, a number, a month."""
    bare = language.pattern("corrects").sub(" ", _without_values(with_digits(text, language), language))
    return language.stems(bare) - language.stems(language.text("changes"))


def says_value(text: str, language: Language) -> bool:
    """Return True if the text has a weekday, a number or a month: "no, 98" is no small talk."""
    return any(_finds(each, text) for each in _value_patterns(language))


def _without_values(text: str, language: Language) -> str:
    return re.sub("|".join(_value_patterns(language)), " ", unaccented(text), flags=re.IGNORECASE)


def _finds(pattern: str, text: str) -> bool:
    return re.search(pattern, unaccented(text), re.IGNORECASE) is not None


@cache
def _value_patterns(language: Language) -> tuple[str, str, str]:
    """Return the patterns of a weekday, of a number ("24th", "3pm", "30 minutes"), and of a month, without accents."""
    days, months = "|".join(weekdays(language)), "|".join(month_names(language))
    number = rf"\d[\d:.]*(?:st|nd|rd|th|am|pm|h)?\b(?: (?:{unaccented(language.text('unit'))})\b)?"
    return rf"\b(?:{days})\b", number, rf"\b(?:{months})\b"
