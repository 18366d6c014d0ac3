"""Analysis of a message for the index, and of a question for a search."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from memory.recall.lexicon.analysis import MessageAnalysis, QuestionAnalysis
from memory.recall.lexicon.dates import find_dates
from memory.recall.lexicon.names import Mention, find_names
from memory.recall.lexicon.scripts import normal
from memory.recall.lexicon.signs import (
    BARE,
    SMALL_TALK,
    blank_requests,
    find_self_words,
    has_self_ending,
    is_memory_question,
    is_small_talk,
    message_signs,
    question_signs,
)
from memory.recall.lexicon.terms import (
    is_bare,
    message_terms,
    message_vector,
    question_terms,
    question_vector,
    question_words,
    tokenize,
)


def analyse_message(text: str, people: Mapping[int, str]) -> MessageAnalysis:
    """Analyse a message of a chat with these people (sender id → display name) for the index.

    Any text is accepted: a blank one, or one of names alone, has an empty `masked` and no terms. Only the first
    READ_LIMIT characters are read. Takes about 0.3 ms for 25 words: analyse many in a thread.
    """
    whole = normal(text)
    masked = find_names(whole, people).masked
    words = tokenize(masked)
    return MessageAnalysis(
        masked=masked,
        terms=message_vector(message_terms(words), length=words.count),
        signs=message_signs(whole, words.likeliest),
    )


def analyse_question(
    text: str, people: Mapping[int, str], *, asker_id: int | None, now: float
) -> QuestionAnalysis:
    """Analyse a question for a search, asked by this participant (None: by an outsider) at this Unix time.

    Any text is accepted. "Who are you?" has no terms, because it consists of stop words. "I" and "my" name the asker.
    """
    whole = normal(text)
    names = find_names(whole, people)
    words = tokenize(names.masked)
    signs = question_signs(whole, words.likeliest)
    mentions = add_asker(whole, names.mentions, words.likeliest, asker_id)
    author, dates = find_author(whole, mentions), find_dates(whole, now=now)
    content = question_words(words)
    is_asking = is_memory_question(
        whole, words.likeliest, has_content=bool(content), names_somebody=author is not None
    )
    if not dates and not is_asking and is_small_talk(names.masked):
        signs |= {SMALL_TALK}
    if is_bare(words):
        signs |= {BARE}
    return QuestionAnalysis(
        masked=names.masked,
        terms=question_vector(question_terms(words)),
        signs=signs,
        author=author,
        dates=dates,
        words=content,
    )


_CONJUNCTION_WORDS = """
    and or & , / + y e o u und oder et ou en of och i a ve
    и или та або و یا और या 和 跟 与 及 或 と や και ή
"""
_CONJUNCTIONS = frozenset(_CONJUNCTION_WORDS.split())
"""Words between two names of equal rank."""


def add_asker(
    text: str, mentions: Sequence[Mention], languages: Collection[str], asker_id: int | None
) -> tuple[Mention, ...]:
    """Return the mentions of a question in order, with the asker wherever it says "I" or "my".

    "Tell me when …", "I wonder who …", "we" and "you" do not mention the asker. A verb ending alone ("compré", "سگم")
    counts only if nobody else is mentioned.
    """
    if asker_id is None:
        return tuple(mentions)
    statement = blank_requests(text)
    ids = frozenset([asker_id])
    places = find_self_words(statement, languages)
    if not places and not mentions and has_self_ending(statement, languages):
        places = [0]
    asker = [Mention(start=place, end=place + 1, ids=ids) for place in places]
    return tuple(sorted((*mentions, *asker), key=lambda mention: mention.start))


def find_author(text: str, mentions: Sequence[Mention]) -> int | None:
    """Return the person mentioned first, whose message answers a question.

    Return None if nobody is mentioned, if the first name fits several people, or if names are joined ("Anna and
    Bob").
    """
    if not mentions or len(mentions[0].ids) > 1:
        return None
    for one, other in pairwise(mentions):
        if one.ids != other.ids and text[one.end : other.start].strip().casefold() in _CONJUNCTIONS:
            return None
    return next(iter(mentions[0].ids))
