"""Turns private chats of short lines into talk with a bot that answers at length.

Each reply goes on with the sentences of other conversations that share most words with the exchange. So replies stay
near the topic and repeat the person's words, as those of models do, and no sentence is evidence elsewhere.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log

from rig.locomo import Conversation, Turn

REPLY_WORDS = (400, 150, 300, 80, 450)
"""Words of a usual reply, one number for each conversation in turns."""
_SENTENCE = re.compile(r"[^.!?]+[.!?]+")
_WORD = re.compile(r"\w{3,}")
_CHOICES = 3
"""Of the best sentences, one in so many is said, so that replies about one topic differ."""


def with_long_replies(conversations: Sequence[Conversation]) -> list[Conversation]:
    """Return private chats with longer replies, always the same."""
    return [
        _lengthen(
            each,
            [
                sentence
                for other in conversations
                if other.name != each.name
                for sentence in _sentences(other)
            ],
            words=REPLY_WORDS[number % len(REPLY_WORDS)],
        )
        for number, each in enumerate(conversations)
    ]


def _sentences(conversation: Conversation) -> Iterator[str]:
    for turn in conversation.turns:
        yield from (each.strip() for each in _SENTENCE.findall(turn.text) if len(each.split()) > 4)


def _lengthen(conversation: Conversation, sentences: Sequence[str], *, words: int) -> Conversation:
    chance = random.Random(conversation.name)
    places: dict[str, list[int]] = {}
    for place, sentence in enumerate(sentences):
        for word in _words_of(sentence):
            places.setdefault(word, []).append(place)
    turns: list[Turn] = []
    before = ""
    for turn in conversation.turns:
        if turn.speaker == conversation.bot:
            scores: Counter[int] = Counter()
            for word in _words_of(f"{before} {turn.text}"):
                for place in places.get(word, ()):
                    scores[place] += log(len(sentences) / len(places[word]))
            wanted = int(words * chance.uniform(0.5, 1.5))
            best = [sentences[place] for place, _ in scores.most_common(_CHOICES * wanted // 10)]
            turn = replace(turn, text=_fill(turn.text, best, wanted, chance))
        before = turn.text
        turns.append(turn)
    return replace(conversation, turns=tuple(turns))


def _fill(text: str, sentences: Sequence[str], wanted: int, chance: random.Random) -> str:
    """Append sentences until the text has this many words."""
    pieces = [text]
    length = len(text.split())
    for sentence in chance.sample(sentences, len(sentences)):
        if length >= wanted:
            break
        pieces.append(sentence)
        length += len(sentence.split())
    return " ".join(pieces)


def _words_of(text: str) -> set[str]:
    return {each.lower() for each in _WORD.findall(text)}
