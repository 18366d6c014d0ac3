"""Reads a message as the index keeps it, and a question as it is searched with."""

from collections.abc import Mapping

from memory.recall.lexicon.analysis import MessageAnalysis, QuestionAnalysis
from memory.recall.lexicon.asker import author_asked_for, mentions_with_asker
from memory.recall.lexicon.dates import named_dates
from memory.recall.lexicon.names import read_names
from memory.recall.lexicon.scripts import normal
from memory.recall.lexicon.signs import BARE, SMALL_TALK, asks_for_memory, message_signs, question_signs
from memory.recall.lexicon.small_talk import is_small_talk
from memory.recall.lexicon.sparse import message_vector, question_vector
from memory.recall.lexicon.terms import is_bare, message_terms, question_terms, question_words, read_words


def analyse_message(text: str, people: Mapping[int, str]) -> MessageAnalysis:
    """What the index keeps of a message in a chat with these people (sender id → display name).

    Any text will do: of a blank one, or of nothing but names, `masked` is empty and there are no terms. Only the
    first READ_LIMIT characters of a long one are read. About 0.3 ms for 25 words; hand many to a thread.
    """
    whole = normal(text)
    masked = read_names(whole, people).masked
    words = read_words(masked)
    return MessageAnalysis(
        masked=masked,
        terms=message_vector(message_terms(words), length=words.count),
        signs=message_signs(whole, words.likeliest),
    )


def analyse_question(
    text: str, people: Mapping[int, str], *, asker_id: int | None, now: float
) -> QuestionAnalysis:
    """What a question is searched with, asked by this participant (None: by nobody of them) at this Unix time.

    Any text will do. "Who are you?" has no terms: it is made of stop words. "I" and "my" name the asker.
    """
    whole = normal(text)
    read = read_names(whole, people)
    words = read_words(read.masked)
    signs = question_signs(whole, words.likeliest)
    mentions = mentions_with_asker(whole, read.mentions, words.likeliest, asker_id)
    author, dates = author_asked_for(whole, mentions), named_dates(whole, now=now)
    content = question_words(words)
    is_asking = asks_for_memory(
        whole, words.likeliest, has_content=bool(content), names_somebody=author is not None
    )
    if not dates and not is_asking and is_small_talk(read.masked):
        signs |= {SMALL_TALK}
    if is_bare(words):
        signs |= {BARE}
    return QuestionAnalysis(
        masked=read.masked,
        terms=question_vector(question_terms(words)),
        signs=signs,
        author=author,
        dates=dates,
        words=content,
    )
