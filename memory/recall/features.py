"""Features of candidate messages, which the ranker weighs."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memory.recall.lexicon.analyser import ASKS, FIRST_PERSON, NAME, QUESTION, TIME, WHEN
from memory.recall.lexicon.analysis import DateSpan, QuestionAnalysis, QuestionWord
from memory.recall.scored_messages import Column, ScoredMessages

FEATURES = (
    "words",  # BM25 score, as a share of the best one
    "words_log",  # ln(1 + BM25 score)
    "meaning",  # cosine
    "words_and_meaning",  # product of "words" and "meaning"
    "window",  # overlap of the question with the message and people's messages next to it
    "session_words",  # best "words" in its session
    "session_meaning",  # best cosine in its session
    "answers_words",  # "words" of the message before it, if another person asks a question there
    "answers_meaning",  # cosine of that message, if a person answers
    "reply_meaning",  # cosine of that message, if the bot answers
    "author",  # written by the person that the question is about
    "author_of_self",  # … in the first person
    "date",  # written in the period that the question names
    "tells_time",  # names a time, and the question asks for one
    "tells_name",  # contains a name, and the question asks for one
    "question",  # ends with a question mark
    "bot",  # written by the bot
    "length",  # ln(number of its terms / USUAL_TERMS)
)
"""Columns of `compute_features`, in order. Unknown values (no neighbour, no vector) are 0."""
_OF_WORDS_ALONE = ("session_words", "answers_words")
HYBRID_FEATURES = tuple(name for name in FEATURES if name not in _OF_WORDS_ALONE)
"""Features used with vectors. "session_meaning" and "answers_meaning" make the two others redundant."""
LEXICAL_FEATURES = tuple(name for name in FEATURES if "meaning" not in name and name not in ("bot", "length"))
"""Features used without vectors. The length in terms differs between languages."""
USUAL_TERMS = 10.0
"""Terms of a message of 23 words, the mean of LoCoMo's. Points have no number of words."""
_LONGEST_TALK = 2.5
_COVERED_WORDS = 100
_RELATED_SHARE = 0.4
"""Words that share a smaller part of their n-grams are unrelated."""


_WINDOW_TERMS = 256
"""Terms of a question that count. A text of pages has more, and they would take as long as everything else."""
_DISTANCE_DECAY = 0.9
_WINDOW_SCALE = 10.0
_DAY_S = 86_400.0
_WEEK_S = 7 * _DAY_S
_LONGEST_DATE_S = 100 * _DAY_S
"""A season. A whole year does not say which of its messages is meant."""


def compute_features(
    question: QuestionAnalysis, messages: ScoredMessages, *, listed: Collection[int]
) -> NDArray[np.float64]:
    """Return a row of FEATURES for each message: the shortlist and its neighbours, each once.

    `listed` are the sequences of the shortlist, among which the rarity of terms is counted.
    """
    neighbours = messages.find_neighbours()
    by_bot = messages.by_bot()
    words = messages.sparse
    best = words.max(initial=0.0)
    share = words / best if best > 0 else words
    meaning = np.nan_to_num(messages.dense)
    similarity = np.maximum(meaning, 0.0)
    none = np.zeros(len(messages))
    author, of_self = none, none
    if question.author is not None:
        author = np.array([each == question.author for each in messages.sender_ids], np.float64)
        of_self = author * messages.with_sign(FIRST_PERSON)
    follows_question = _follows_question(messages, neighbours[-1])
    answered = follows_question * _of_neighbours(similarity, neighbours[-1])
    columns: dict[str, Column] = {
        "words": share,
        "words_log": np.log1p(words),
        "meaning": meaning,
        "words_and_meaning": share * similarity,
        "window": _window(question, messages, _people_among(neighbours, by_bot), listed),
        "session_words": messages.best_of_session(share),
        "session_meaning": messages.best_of_session(meaning),
        "answers_words": follows_question * _of_neighbours(share, neighbours[-1]),
        "answers_meaning": answered * (1 - by_bot),
        "reply_meaning": answered * by_bot,
        "author": author,
        "author_of_self": of_self,
        "date": _date_nearness(messages.sent_at, question.dates) if question.dates else none,
        "tells_time": messages.with_sign(TIME) if WHEN in question.signs else none,
        "tells_name": messages.with_sign(NAME) if NAME in question.signs else none,
        "question": messages.with_sign(QUESTION),
        "bot": by_bot,
        "length": measure_lengths(question, messages),
    }
    return np.stack([columns[name] for name in FEATURES], axis=1)


def measure_lengths(question: QuestionAnalysis, messages: ScoredMessages) -> Column:
    """Return for each message the logarithm of its length: 0 for 23 words, 1 for 63.

    In most languages parts of words are terms too. The question shows how many terms a word has there.
    """
    terms_of_word = len(question.terms.indices) / len(question.words) if question.words else 1.0
    usual = USUAL_TERMS * max(1.0, terms_of_word)
    return np.log(np.maximum(messages.lengths, 1.0) / usual)


def measure_talk(question: QuestionAnalysis, messages: ScoredMessages) -> float:
    """Return the mean length of the messages as in `measure_lengths`: from 0 for usual ones up to 2.5."""
    if not len(messages):
        return 0.0
    return float(np.clip(measure_lengths(question, messages).mean(), 0.0, _LONGEST_TALK))


def cover_words(
    question: QuestionAnalysis, messages: ScoredMessages, rows: "NDArray[np.intp] | None" = None
) -> float:
    """Return the largest share of the question's words that one of these rows has, by default one of all.

    It is 0 if there are no words. Of a text of pages the first words count.
    """
    terms = messages.terms if rows is None else messages.terms[rows]
    if not question.words or not len(terms):
        return 0.0
    columns = columns_of(question, messages)
    shares = [_shares_of_word(word, terms, columns) for word in question.words[:_COVERED_WORDS]]
    return float(np.mean(shares, axis=0).max())


def _shares_of_word(word: QuestionWord, terms: NDArray[np.bool_], columns: Mapping[int, int]) -> Column:
    """Return the share of a word that each row of terms has. A related word counts by its common n-grams."""
    has_whole = having(word.whole, terms, columns).any(axis=1)
    shares = having(word.parts, terms, columns).sum(axis=1) / max(1, len(word.parts))
    return np.where(has_whole, 1.0, np.where(shares >= _RELATED_SHARE, shares, 0.0))


def columns_of(question: QuestionAnalysis, messages: ScoredMessages) -> dict[int, int]:
    """Return the column of each term. There are none if the index was searched by meaning alone."""
    return dict(zip(question.terms.indices, range(messages.terms.shape[1]), strict=False))


def having(wanted: frozenset[int], terms: NDArray[np.bool_], columns: Mapping[int, int]) -> NDArray[np.bool_]:
    """Return the columns of these terms."""
    return terms[:, [columns[each] for each in wanted if each in columns]]


def _people_among(neighbours: Mapping[int, NDArray[np.intp]], by_bot: Column) -> dict[int, NDArray[np.intp]]:
    """Return the neighbours that people wrote: the bot's replies have hundreds of words."""
    return {
        offset: np.where((rows >= 0) & (by_bot[rows] > 0), -1, rows) for offset, rows in neighbours.items()
    }


def _of_neighbours(values: NDArray[np.float64], rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the values (or rows of values) of these neighbours, 0 without one."""
    taken = values[rows]
    taken[rows < 0] = 0.0
    return taken


def _window(
    question: QuestionAnalysis,
    messages: ScoredMessages,
    neighbours: Mapping[int, NDArray[np.intp]],
    listed: Collection[int],
) -> Column:
    """Sum the rarity of the question's terms that the message has. Terms of its neighbours count less."""
    has = messages.terms[:, :_WINDOW_TERMS].astype(np.float64)
    reached = has.copy()
    for offset, rows in neighbours.items():
        np.maximum(reached, _DISTANCE_DECAY ** abs(offset) * _of_neighbours(has, rows), out=reached)
    sequences: list[int] = messages.sequences.tolist()
    shortlisted = has[[each in listed for each in sequences]]
    frequency = shortlisted.sum(axis=0)
    rarity = np.log1p((len(shortlisted) - frequency + 0.5) / (frequency + 0.5))
    return reached @ (rarity * np.array(question.terms.values[: has.shape[1]])) / _WINDOW_SCALE


def _follows_question(messages: ScoredMessages, before: NDArray[np.intp]) -> Column:
    """Return 1 for messages after another person's question. `before` has the row of the message before each."""
    follows = np.zeros(len(messages))
    after = np.flatnonzero((before >= 0) & (messages.with_sign(ASKS)[before] > 0))
    for row, row_before in zip(after.tolist(), before[after].tolist(), strict=True):
        follows[row] = _author(messages, row) != _author(messages, row_before)
    return follows


def _author(messages: ScoredMessages, row: int) -> tuple[str, int | None]:
    return messages.roles[row], messages.sender_ids[row]


def _date_nearness(sent_at: Column, dates: Sequence[DateSpan]) -> Column:
    """Return 1 within a period of the question, less on days around a short one, 0 without any."""
    nearness = np.zeros(len(sent_at))
    for date in dates:
        length = date.end - date.start
        if length > _LONGEST_DATE_S:
            continue
        away = np.maximum(np.maximum(date.start - sent_at, sent_at - date.end), 0.0)
        near = np.exp(-away / _WEEK_S) if length <= _WEEK_S else away == 0
        np.maximum(nearness, near, out=nearness)
    return nearness
