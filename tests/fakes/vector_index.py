"""A vector index in memory for tests, proven by the contract suite of the one in Qdrant; rows of scored messages."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memory.errors import MissingContext, RecallUnavailable
from memory.history.message import Role
from memory.recall.scored_messages import ScoredMessages
from memory.recall.vector_index import (
    TERMS_STORED,
    Hit,
    ListedPoint,
    VectorErasure,
    VectorPoint,
    VectorQuery,
    Where,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredMessage:
    """A row of ScoredMessages."""

    message_id: str
    sequence: int
    session: int
    role: Role
    sender_id: int | None
    sent_at: float
    signs: frozenset[str]
    dense: float | None
    sparse: float
    terms: frozenset[int] = frozenset()


def tabulate(rows: Sequence[ScoredMessage], asked: Sequence[int] = ()) -> ScoredMessages:
    """Return the rows as columns. `asked` are the terms of the query."""
    return ScoredMessages(
        ids=[each.message_id for each in rows],
        sequences=np.array([each.sequence for each in rows], np.int64),
        sessions=np.array([each.session for each in rows], np.int64),
        roles=[each.role for each in rows],
        sender_ids=[each.sender_id for each in rows],
        sent_at=np.array([each.sent_at for each in rows], np.float64),
        signs=[each.signs for each in rows],
        dense=np.array([math.nan if each.dense is None else each.dense for each in rows], np.float64),
        sparse=np.array([each.sparse for each in rows], np.float64),
        terms=np.array([[term in each.terms for term in asked] for each in rows], np.bool_).reshape(
            len(rows), len(asked)
        ),
        stored_terms=[np.array(sorted(each.terms), np.uint32) for each in rows],
    )


class InMemoryIndex:
    """VectorIndex in a dict: exact cosine, and BM25 by the rarity of terms in the context.

    While `is_down`, every call raises RecallUnavailable. `others` are the indexes to copy from, by name.
    """

    def __init__(self) -> None:
        self.is_down = False
        self.losses = 0
        self.others: dict[str, InMemoryIndex] = {}
        self.points: dict[tuple[str, str], VectorPoint] = {}
        self.keys: dict[tuple[str, str, int], VectorPoint] = {}

    async def upsert(self, points: Sequence[VectorPoint]) -> None:
        """See VectorIndex."""
        self._ask()
        for point in points:
            _check(point.context_id)
        for point in points:
            if point.slot:
                self.keys[point.context_id, point.message_id, point.slot] = point
            else:
                self.points[point.context_id, point.message_id] = point

    async def search(self, query: VectorQuery) -> list[Hit]:
        """See VectorIndex."""
        self._ask()
        scope = [
            point
            for point in self._of(query.context_id)
            if point.epoch == query.epoch and _admits(query.where, point)
        ]
        dense, terms = self._score(query, scope)
        near, shared = _best(dense, query.limit), _best(terms, query.limit)
        hits: dict[int, Hit] = {}
        for at, point in enumerate(scope):
            if at in near or at in shared:
                cosine = dense[at] if at in near else None
                hit = Hit(point.sequence, cosine, terms[at] if at in shared else 0.0)
                hits[point.sequence] = _better(hits.get(point.sequence, hit), hit)
        return list(hits.values())

    async def score(self, query: VectorQuery, sequences: Collection[int]) -> ScoredMessages:
        """See VectorIndex."""
        self._ask()
        scope = [
            point
            for point in self._of(query.context_id)
            if point.epoch == query.epoch and point.sequence in sequences
        ]
        dense, terms = self._score(query, scope)
        rows: dict[str, ScoredMessage] = {}
        # Messages come first in the scope.
        for at, point in enumerate(scope):
            if not point.slot:
                rows[point.message_id] = _scored(point, dense=dense.get(at), sparse=terms.get(at, 0.0))
            elif row := rows.get(point.message_id):
                best = max((each for each in (row.dense, dense.get(at)) if each is not None), default=None)
                rows[point.message_id] = replace(row, dense=best, sparse=max(row.sparse, terms.get(at, 0.0)))
        return tabulate(list(rows.values()), query.sparse.indices if query.sparse else ())

    async def erase(self, context_id: str, *, below_epoch: int) -> VectorErasure:
        """See VectorIndex."""
        self._ask()
        return self._erase([point for point in self._of(context_id) if point.epoch < below_epoch])

    async def drop(self, context_id: str, *, epoch: int, message_ids: Collection[str]) -> VectorErasure:
        """See VectorIndex."""
        self._ask()
        scope = [point for point in self._of(context_id) if point.epoch == epoch]
        return self._erase([point for point in scope if point.message_id in message_ids])

    async def drop_keys(self, context_id: str, *, epoch: int, kept: Mapping[str, int]) -> VectorErasure:
        """See VectorIndex."""
        self._ask()
        scope = [point for point in self._of(context_id) if point.slot and point.epoch == epoch]
        return self._erase([point for point in scope if point.slot > kept.get(point.message_id, point.slot)])

    async def count(self, context_id: str) -> int:
        """See VectorIndex."""
        self._ask()
        return len(self._of(context_id))

    async def list_points(self, context_id: str) -> set[ListedPoint]:
        """See VectorIndex."""
        self._ask()
        return {
            ListedPoint(epoch=point.epoch, message_id=point.message_id, slot=point.slot)
            for point in self._of(context_id)
        }

    async def copy_from(
        self, collection: str, context_id: str, *, epoch: int, message_ids: Collection[str]
    ) -> set[str]:
        """See VectorIndex."""
        self._ask()
        _check(context_id)
        found = [
            point
            for other in [self.others[collection]]
            for point in (*other.points.values(), *other.keys.values())
            if (point.context_id, point.epoch) == (context_id, epoch) and point.message_id in message_ids
        ]
        await self.upsert(found)
        return {point.message_id for point in found if not point.slot}

    async def count_messages(self, context_id: str, *, epoch: int) -> int:
        """See VectorIndex."""
        self._ask()
        return sum(point.epoch == epoch and not point.slot for point in self._of(context_id))

    def _score(
        self, query: VectorQuery, scope: Sequence[VectorPoint]
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Return cosines and BM25 scores by the place of a point in the scope."""
        dense = {
            at: _cosine(point.dense, query.dense)
            for at, point in enumerate(scope)
            if point.dense is not None and query.dense is not None
        }
        wanted = dict(zip(query.sparse.indices, query.sparse.values, strict=True)) if query.sparse else {}
        peers = [p for p in self._of(query.context_id) if p.epoch == query.epoch and p.sparse.indices]
        having = Counter(term for peer in peers for term in peer.sparse.indices)
        kept = [dict(zip(p.sparse.indices, p.sparse.values, strict=True)) for p in scope]
        rare = {term: _rarity(having[term], len(peers)) for term in wanted}
        terms = {
            at: sum(wanted[term] * rare[term] * has[term] for term in wanted.keys() & has.keys())
            for at, has in enumerate(kept)
            if wanted.keys() & has.keys()
        }
        return dense, terms

    def _of(self, context_id: str) -> list[VectorPoint]:
        _check(context_id)
        points = [*self.points.values(), *self.keys.values()]
        return [point for point in points if point.context_id == context_id]

    def _erase(self, gone: Sequence[VectorPoint]) -> VectorErasure:
        for point in gone:
            if point.slot:
                del self.keys[point.context_id, point.message_id, point.slot]
            else:
                del self.points[point.context_id, point.message_id]
        return VectorErasure(before=len(gone), left=0)

    def _ask(self) -> None:
        if self.is_down:
            raise RecallUnavailable


def _check(context_id: str) -> None:
    if not context_id:
        raise MissingContext


def _best(scores: Mapping[int, float], limit: int) -> list[int]:
    return sorted(scores, key=lambda at: -scores[at])[: max(limit, 0)]


def _better(one: Hit, other: Hit) -> Hit:
    cosines = [each.dense for each in (one, other) if each.dense is not None]
    return Hit(one.sequence, max(cosines, default=None), max(one.sparse, other.sparse))


def _rarity(having: int, corpus: int) -> float:
    """Return Qdrant's IDF of a term from its number of messages: 0.29 for one of one, 2.0 for one of ten."""
    return math.log((corpus - having + 0.5) / (having + 0.5) + 1)


def _scored(point: VectorPoint, *, dense: float | None, sparse: float) -> ScoredMessage:
    return ScoredMessage(
        message_id=point.message_id,
        sequence=point.sequence,
        session=point.session,
        role=point.role,
        sender_id=point.sender_id,
        sent_at=point.sent_at,
        signs=point.signs,
        dense=dense,
        sparse=sparse,
        terms=frozenset(point.sparse.indices[:TERMS_STORED]),
    )


def _admits(where: Where, point: VectorPoint) -> bool:
    return (
        (where.before_sequence is None or point.sequence < where.before_sequence)
        and (where.sent_from is None or point.sent_at >= where.sent_from)
        and (where.sent_before is None or point.sent_at < where.sent_before)
        and (where.sender_ids is None or point.sender_id in where.sender_ids)
        and (where.roles is None or point.role in where.roles)
        and where.tags <= point.signs
        and point.message_id not in where.excluded
    )


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    lengths = math.hypot(*a) * math.hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0
