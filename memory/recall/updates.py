"""Updates: later statements of the same writer about the same, to be told beside an older one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from memory.recall.lexicon.analyser import QUESTION
from memory.recall.lexicon.analysis import QuestionAnalysis
from memory.recall.ranking import RankedHit, Ranking
from memory.recall.scored_messages import Column, ScoredMessages

NEAR = 0.55
"""Nearness of two statements that are about the same. On LoCoMo it marks a quarter of the recalled lines."""
_MEANING_SHARE = 0.5
"""Weight of the cosine with the question, compared with shares of common words."""
_LONGEST_STATEMENT = 96
"""Different terms of a statement. A longer text is about many things."""
_SHORTEST_STATEMENT = 8
"""Different terms of a text with a question mark at its end that tells something as well."""


def find_newer(
    question: QuestionAnalysis, ranking: Ranking, complete: Ranking, *, first: int
) -> dict[int, list[int]]:
    """Return for each of the `first` rows of a ranking the rows of its updates, the nearest first.

    An update is a later statement of the same person that is NEAR: both share words of the question, or other words,
    or mean what the question means. Texts that only ask and long ones are no statements. `complete` has all messages
    that may be found.
    """
    messages = ranking.messages
    statements = _statements(messages)
    older = [row for row in ranking.rows[:first].tolist() if statements[row]]
    if not older:
        return {}
    later = complete.rows[statements[complete.rows]]
    nearness = _nearness(question, messages, older, later)
    senders = np.array([-1 if each is None else each for each in messages.sender_ids], np.int64)
    is_update = (messages.sequences[older][:, None] < messages.sequences[later]) & (
        senders[older][:, None] == senders[later]
    )
    near = np.where(is_update, nearness, 0.0)
    return {
        row: later[[column for column in np.argsort(-values) if values[column] >= NEAR]].tolist()
        for row, values in zip(older, near, strict=True)
        if values.max() >= NEAR
    }


def raise_newer(ranking: Ranking, complete: Ranking, newer: Mapping[int, Sequence[int]]) -> Ranking:
    """Return the ranking with the nearest update of a hit directly after it, unless another one stands before.

    `complete` has the scores of all of them.
    """
    rows: dict[int, None] = {}
    for row in ranking.rows.tolist():
        rows[row] = None
        updates = newer.get(row, ())
        if updates and rows.keys().isdisjoint(updates):
            rows[updates[0]] = None
    scores = dict(zip(complete.rows.tolist(), complete.scores.tolist(), strict=True))
    return replace(
        ranking, rows=np.array([*rows], np.intp), scores=np.array([scores[row] for row in rows], np.float64)
    )


def with_newer(
    hits: Sequence[RankedHit], ranking: Ranking, newer: Mapping[int, Sequence[int]]
) -> list[RankedHit]:
    """Return the first hits of a ranking with the sequences of their updates."""
    sequences: list[int] = ranking.messages.sequences.tolist()
    rows: list[int] = ranking.rows[: len(hits)].tolist()
    return [
        hit._replace(newer=tuple(sequences[each] for each in newer[row])) if row in newer else hit
        for hit, row in zip(hits, rows, strict=True)
    ]


def _statements(messages: ScoredMessages) -> NDArray[np.bool_]:
    """Return True for each message of a person that tells something."""
    lengths = messages.lengths
    is_person = np.array([each == "user" for each in messages.roles], np.bool_)
    only_asks = (messages.with_sign(QUESTION) > 0) & (lengths < _SHORTEST_STATEMENT)
    return is_person & ~only_asks & (lengths <= _LONGEST_STATEMENT)


def _nearness(
    question: QuestionAnalysis, messages: ScoredMessages, older: Sequence[int], later: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the nearness of each older statement (rows) to each later one (columns).

    It is the share of the question's words that both have, rare ones counting more, the share of their own words that
    both have, and a part of the smaller cosine with the question.
    """
    has = messages.terms.astype(np.float64)
    asked = _rarity(has) * np.array(question.terms.values[: has.shape[1]])
    of_question = (has[older] * asked) @ has[later].T / (asked.sum() or 1.0)
    said = _find_common(messages, older, later)
    common = said[: len(older)] @ said[len(older) :].T
    lengths = messages.lengths
    of_both = common / np.maximum(lengths[older][:, None] + lengths[later] - common, 1.0)
    meaning = np.nan_to_num(messages.dense)
    return of_question + of_both + _MEANING_SHARE * np.minimum(meaning[older][:, None], meaning[later])


def _find_common(
    messages: ScoredMessages, older: Sequence[int], later: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Return 1 where a statement, first the older ones, has a term (column) of any of the older ones."""
    terms = [messages.stored_terms[row] for row in (*older, *later.tolist())]
    columns = np.unique(np.concatenate(terms[: len(older)]))
    rows = np.repeat(np.arange(len(terms)), [len(each) for each in terms])
    every = np.concatenate(terms)
    places = np.minimum(np.searchsorted(columns, every), len(columns) - 1)
    is_column = columns[places] == every if len(columns) else np.zeros(0, np.bool_)
    has = np.zeros((len(terms), len(columns)), np.float32)
    has[rows[is_column], places[is_column]] = 1.0
    return has


def _rarity(has: NDArray[np.float64]) -> Column:
    frequency = has.sum(axis=0)
    return np.log1p((len(has) - frequency + 0.5) / (frequency + 0.5))
