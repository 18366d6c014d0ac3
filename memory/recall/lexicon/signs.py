"""What a message or a question is like, told by its words: the signs that the index keeps and the ranker weighs."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import re
from collections.abc import Collection
from functools import cache
from itertools import pairwise

from memory.recall.lexicon.asking_words import ASKING_WORDS, NOT_OF_ONESELF, REQUESTS, UNSPACED_SCRIPTS
from memory.recall.lexicon.chinese_dates import tells_chinese_time
from memory.recall.lexicon.self_endings import speaks_of_oneself
from memory.recall.lexicon.time_words import SINCE, WEEKEND, YEARS, Meaning, time_meanings

QUESTION, ASKS, FIRST_PERSON, TIME, NAME = "question", "asks", "first_person", "time", "name"
"""Of a message: it ends with a question mark; it has one somewhere, or requests something; it tells of the writer ("I", "our"); it tells a time
("yesterday", "in May"); it has a word with a capital within a sentence."""
WHEN, SMALL_TALK, BARE = "when", "small_talk", "bare"
"""Of a question: it asks for a time; or for no memory; or it is bare words ("bike lock?"). NAME is that it asks for a
name (where, who, which, called …)."""
OTHER, SELF, WE = "other", "self", "we"
"""Kinds of words beside WHEN and NAME: what else is asked for (who, where, how many), and how people speak of themselves."""

_QUESTION_MARKS = "?？؟"
_AFTER_A_QUESTION = " \t\n\r\"'”»)!！"
_QUESTION_ENDINGS = ("吗", "呢", "吗。", "呢。", "ですか", "ますか", "ですか。", "ますか。")
_LOWER = "a-zß-öø-ÿа-яёіїєґ"
_NAME_WITHIN = re.compile(rf"(?<=[{_LOWER},;'\"”] )[\"“«]?[A-ZÀ-ÖØ-ÞА-ЯЁІЇЄҐ]\w+")
_TIME = re.compile("[YFZWM]|L[UmwSs]|[USsw]L|[NT][USs]|UA|P[ms]|Dm|mD")
_FEW = 3
_NOT_OF_ONESELF = re.compile(NOT_OF_ONESELF)
_REQUEST = re.compile(REQUESTS)


def message_signs(text: str, languages: Collection[str]) -> frozenset[str]:
    """The signs of a normal text that is a message in these languages (Snowball's names, or scripts)."""
    meanings = time_meanings(text)
    told = {
        ASKS: any(mark in text for mark in _QUESTION_MARKS) or _REQUEST.search(text.lower()) is not None,
        QUESTION: text.rstrip(_AFTER_A_QUESTION).endswith((*_QUESTION_MARKS, *_QUESTION_ENDINGS)),
        NAME: _NAME_WITHIN.search(text) is not None,
        TIME: _tells_time(meanings) or tells_chinese_time(text),
        FIRST_PERSON: _tells_of_writer(text, languages),
    }
    return frozenset(sign for sign, holds in told.items() if holds)


def question_signs(text: str, languages: Collection[str]) -> frozenset[str]:
    """The signs of a normal text that is a question in these languages (Snowball's names, or scripts)."""
    return frozenset(sign for sign in (WHEN, NAME) if _has_words(text, languages, sign))


def asks_for_memory(
    text: str, languages: Collection[str], *, has_content: bool, names_somebody: bool
) -> bool:
    """Whether a normal text of common words alone is a question for what was said, and no small talk.

    `has_content`: not all of them are stop words; `names_somebody`: a participant, or the one who asks. "Who is
    happy?", "where is Anna?" and "what did we agree on?" are; "where?", "sorry, Anna!" and "I agree" are not.
    """
    if asks_for_something(text, languages):
        return has_content or names_somebody
    is_about_people = names_somebody or _tells_of_writer(without_requests(text), languages)
    return has_content and is_about_people and any(mark in text for mark in _QUESTION_MARKS)


def asks_for_something(text: str, languages: Collection[str]) -> bool:
    """Whether a normal text has a word such as when, who, where, which, how many."""
    return _has_words(text, languages, WHEN, NAME, OTHER)


def without_requests(text: str) -> str:
    """A question in lower case, with "tell me" and the like blanked out: these ask, and are not what is asked about."""
    return _NOT_OF_ONESELF.sub(lambda found: " " * len(found.group()), text.lower())


def self_words(text: str, languages: Collection[str]) -> list[int]:
    """Where words for "I" and "my" stand in a text in lower case."""
    patterns = [_pattern(language, SELF) for language in languages]
    return [match.start() for pattern in patterns if pattern for match in pattern.finditer(text)]


def _tells_of_writer(text: str, languages: Collection[str]) -> bool:
    return _has_words(text, languages, SELF, WE) or speaks_of_oneself(text.lower(), languages)


def _has_words(text: str, languages: Collection[str], *kinds: str) -> bool:
    """Whether a text has words of these kinds (see asking_words.py) of one of these languages."""
    lower = text.lower()
    patterns = [_pattern(language, kind) for language in languages for kind in kinds]
    return any(pattern.search(lower) for pattern in patterns if pattern)


@cache
def _pattern(language: str, kind: str) -> re.Pattern[str] | None:
    words = ASKING_WORDS.get(language, {}).get(kind)
    if words is None:
        return None
    return re.compile(words if language in UNSPACED_SCRIPTS else rf"(?<![\w'])(?:{words})(?!\w)")


def _tells_time(meanings: list[Meaning]) -> bool:
    """Whether the words of a text (see time_words.py) tell when something is."""
    if _TIME.search("".join(kind for kind, _ in meanings)):
        return True
    few = any(
        kind == "I" and value == _FEW and after[0] == "U" for (kind, value), after in pairwise(meanings)
    )
    return few or any(
        meaning in (("U", WEEKEND), ("P", SINCE), ("A", 0)) or (meaning[0] == "D" and meaning[1] in YEARS)
        for meaning in meanings
    )
