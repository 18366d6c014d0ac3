"""Whom a question means by "I", and whose message it asks for."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

from collections.abc import Collection, Sequence
from itertools import pairwise

from memory.recall.lexicon.names import Mention
from memory.recall.lexicon.self_endings import speaks_of_oneself
from memory.recall.lexicon.signs import self_words, without_requests

_JOINTS = "and or & , / + y e o u und oder et ou en of och i a ve и или та або و یا और या 和 跟 与 及 或 と や και ή"
_AND = frozenset(_JOINTS.split())
"""What joins two names of equal rank."""


def mentions_with_asker(
    text: str, mentions: Sequence[Mention], languages: Collection[str], asker_id: int | None
) -> tuple[Mention, ...]:
    """Whom a normal question in these languages names, in order: these people, and the asker where it says "I" or "my".

    Not in "tell me when …" or "I wonder who …", which say nothing about the one who asks; not in "we" or "you". Where
    an ending alone says it ("compré", "سگم"), it counts if nobody else is named.
    """
    if asker_id is None:
        return tuple(mentions)
    asked = without_requests(text)
    ids = frozenset([asker_id])
    places = self_words(asked, languages)
    if not places and not mentions and speaks_of_oneself(asked, languages):
        places = [0]
    asker = [Mention(start=place, end=place + 1, ids=ids) for place in places]
    return tuple(sorted((*mentions, *asker), key=lambda mention: mention.start))


def author_asked_for(text: str, mentions: Sequence[Mention]) -> int | None:
    """Whose message answers a normal question: that of the one named first.

    None where nobody is named, where the first name is that of several people, and where names are joined
    ("Anna and Bob"), for then it may be anybody's.
    """
    if not mentions or len(mentions[0].ids) > 1:
        return None
    for one, other in pairwise(mentions):
        if one.ids != other.ids and text[one.end : other.start].strip().casefold() in _AND:
            return None
    return next(iter(mentions[0].ids))
