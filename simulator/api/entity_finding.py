"""The entities that Telegram finds in a text by itself: addresses, mentions, commands and hashtags."""

import re
from collections.abc import Iterable, Iterator

from simulator.api.entities import Entity, in_order
from simulator.api.utf16 import utf16_length

# tdlib takes every top-level domain; these are enough to tell a bare address from a file name.
_DOMAINS = "com|org|net|io|dev|app|info|edu|gov|me|ai|co|uk|us|de|fr|es|it|nl|eu|ru|ua|pl|pt|br|in|jp|cn|xyz"
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_EMAIL = re.compile(
    rf"(?<![\w.+-])[A-Za-z0-9][A-Za-z0-9._%+-]{{0,63}}@(?:{_LABEL}\.)+[A-Za-z]{{2,24}}(?![\w@])"
)
_URL = re.compile(
    rf"(?:(?<!\w)(?:https?|ftp)://(?:[^\s@/?#<>\"]+@)?(?:{_LABEL}\.)+\w{{2,}}|"
    rf"(?<![\w@.#/$])(?:{_LABEL}\.)+(?:{_DOMAINS})(?![\w@-]|\.\w))"
    r"(?::\d{1,5})?(?:[/?#][^\s<>\"]*)?",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"(?<![\w/<>@#])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w/<>@])")
_MENTION = re.compile(r"(?<![\w/@])@[A-Za-z0-9_]{3,32}(?!\w)")
_HASHTAG = re.compile(r"(?<![\w#&/])#(?=\w*[^\W\d])\w{1,256}(?![\w#])")

# The first to claim a place keeps it.
_FINDERS = (
    ("email", _EMAIL),
    ("url", _URL),
    ("bot_command", _COMMAND),
    ("mention", _MENTION),
    ("hashtag", _HASHTAG),
)


def find_entities(text: str) -> list[Entity]:
    """What Telegram marks in a text, in order and without overlap; offsets in UTF-16 units."""
    spans: list[tuple[int, int, str]] = []
    for kind, pattern in _FINDERS:
        for start, end in _matches(kind, pattern, text):
            if all(end <= other or start >= other_end for other, other_end, _ in spans):
                spans.append((start, end, kind))
    return in_order(_as_entities(text, spans))


def _matches(kind: str, pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(text):
        end = match.end()
        if kind == "url":
            end = match.start() + len(_without_punctuation(match.group()))
        yield match.start(), end


def _without_punctuation(url: str) -> str:
    """An address in a sentence ends before the full stop, and before a bracket that it did not open."""
    while url and (url[-1] in ".,:;!?'" or (url[-1] in ")]" and url.count(url[-1]) > _opened(url))):
        url = url[:-1]
    return url


def _opened(url: str) -> int:
    return url.count("(" if url[-1] == ")" else "[")


def _as_entities(text: str, spans: Iterable[tuple[int, int, str]]) -> list[Entity]:
    return [
        Entity(type=kind, offset=utf16_length(text[:start]), length=utf16_length(text[start:end]))
        for start, end, kind in spans
    ]
