"""Scored messages as columns of numpy arrays: reading 150 records of them took a sixth of a turn."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.recall.lexicon.analysis import BOT
from memory.recall.vector_index import Where

REACH = 2
"""Messages on each side that count as neighbours."""
Column = NDArray[np.float64]
Terms = NDArray[np.uint32]
"""Hashes of terms."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredMessages:
    """Messages that were scored, with the facts that the ranker weighs: a row for each, in any order."""

    ids: Sequence[str]
    sequences: NDArray[np.int64]
    sessions: NDArray[np.int64]
    """Sequence of the first message of the session."""
    roles: Sequence[str]
    sender_ids: Sequence[int | None]
    sent_at: Column
    signs: Sequence[frozenset[str]]
    dense: Column
    """Cosine; NaN without a vector."""
    sparse: Column
    """BM25 score; 0 if no term is shared."""
    terms: NDArray[np.bool_]
    """True where a message has the term of a column among its first TERMS_STORED. A column for each term of the query,
    in the query's order.
    """
    stored_terms: Sequence[Terms]
    """The first TERMS_STORED terms of each message, in the order of their hashes."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def lengths(self) -> Column:
        """Number of stored terms of each message, at most TERMS_STORED."""
        return np.array([len(each) for each in self.stored_terms], np.float64)

    def have_vectors(self) -> bool:
        """Return True if the question was compared by meaning with any of them."""
        return not bool(np.isnan(self.dense).all())

    def admitted_by(self, where: Where) -> NDArray[np.bool_]:
        """Return True for each message that may be found."""
        admitted = np.ones(len(self), np.bool_)
        if where.before_sequence is not None:
            admitted &= self.sequences < where.before_sequence
        if where.sent_from is not None:
            admitted &= self.sent_at >= where.sent_from
        if where.sent_before is not None:
            admitted &= self.sent_at < where.sent_before
        if where.sender_ids is not None:
            admitted &= np.array([each in where.sender_ids for each in self.sender_ids], np.bool_)
        if where.roles is not None:
            admitted &= np.array([each in where.roles for each in self.roles], np.bool_)
        if where.tags:
            admitted &= np.array([where.tags <= each for each in self.signs], np.bool_)
        if where.excluded:
            admitted &= np.array([each not in where.excluded for each in self.ids], np.bool_)
        return admitted

    def with_sign(self, sign: str) -> Column:
        """Return 1 for each message with this sign."""
        return np.array([sign in each for each in self.signs], np.float64)

    def by_bot(self) -> Column:
        """Return 1 for each message that the bot wrote."""
        return np.array([each == "assistant" for each in self.roles], np.float64)

    def by_author(self, author: int) -> Column:
        """Return 1 for each message of this person, or of BOT."""
        if author == BOT:
            return self.by_bot()
        return np.array([each == author for each in self.sender_ids], np.float64)

    def best_of_session(self, values: Column) -> Column:
        """Return for each message the highest value in its session."""
        starts, session_of_row = np.unique(self.sessions, return_inverse=True)
        best = np.full(len(starts), -np.inf)
        np.maximum.at(best, session_of_row, values)
        return best[session_of_row]

    def find_neighbours(self) -> dict[int, NDArray[np.intp]]:
        """Return for each offset the rows of the neighbours; -1 without one in the session."""
        in_order = np.argsort(self.sequences)
        ordered = self.sequences[in_order]
        neighbours: dict[int, NDArray[np.intp]] = {}
        for offset in (sign * distance for distance in range(1, REACH + 1) for sign in (-1, 1)):
            wanted = self.sequences + offset
            rows = in_order[np.minimum(np.searchsorted(ordered, wanted), len(self) - 1)]
            is_there = (self.sequences[rows] == wanted) & (self.sessions[rows] == self.sessions)
            neighbours[offset] = np.where(is_there, rows, -1)
        return neighbours
