"""A vector index in memory for tests, tested by the same contract suite as the one in Qdrant."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from memory.errors import MissingContext, RecallUnavailable
from memory.recall.vector_index import (
    TERMS_STORED,
    Candidate,
    Hit,
    VectorErasure,
    VectorPoint,
    VectorQuery,
)


class InMemoryIndex:
    """VectorIndex in a dict: exact cosine, and BM25 by the rarity of terms in the context.

    While `is_down`, every call raises RecallUnavailable.
    """

    def __init__(self) -> None:
        self.is_down = False
        self.points: dict[tuple[str, str], VectorPoint] = {}

    async def upsert(self, points: Sequence[VectorPoint]) -> None:
        """See VectorIndex."""
        self._ask()
        for point in points:
            _check(point.context_id)
        self.points |= {(point.context_id, point.message_id): point for point in points}

    async def search(self, query: VectorQuery) -> list[Hit]:
        """See VectorIndex."""
        self._ask()
        scope = [
            point
            for point in self._of(query.context_id)
            if point.epoch == query.epoch and query.where.admits(point)
        ]
        dense, terms = self._score(query, scope)
        best = set(_best(dense, query.limit)) | set(_best(terms, query.limit))
        near, shared = _best(dense, query.limit), _best(terms, query.limit)
        return [
            Hit(
                sequence=point.sequence,
                dense=dense[point.message_id] if point.message_id in near else None,
                sparse=terms[point.message_id] if point.message_id in shared else 0.0,
            )
            for point in scope
            if point.message_id in best
        ]

    async def score(self, query: VectorQuery, sequences: Collection[int]) -> list[Candidate]:
        """See VectorIndex."""
        self._ask()
        scope = [
            point
            for point in self._of(query.context_id)
            if point.epoch == query.epoch and point.sequence in sequences
        ]
        dense, terms = self._score(query, scope)
        asked = frozenset(query.sparse.indices) if query.sparse else frozenset[int]()
        return [
            replace(
                _to_candidate(
                    point, dense=dense.get(point.message_id), sparse=terms.get(point.message_id, 0.0)
                ),
                terms=asked.intersection(point.sparse.indices[:TERMS_STORED]),
            )
            for point in scope
        ]

    async def erase(self, context_id: str, *, below_epoch: int) -> VectorErasure:
        """See VectorIndex."""
        self._ask()
        return self._erase([point for point in self._of(context_id) if point.epoch < below_epoch])

    async def drop(self, context_id: str, *, epoch: int, message_ids: Collection[str]) -> VectorErasure:
        """See VectorIndex."""
        self._ask()
        scope = [point for point in self._of(context_id) if point.epoch == epoch]
        return self._erase([point for point in scope if point.message_id in message_ids])

    async def count(self, context_id: str) -> int:
        """See VectorIndex."""
        self._ask()
        return len(self._of(context_id))

    def _score(
        self, query: VectorQuery, scope: Sequence[VectorPoint]
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Return cosines and BM25 scores by message id."""
        dense = {
            point.message_id: _cosine(point.dense, query.dense)
            for point in scope
            if point.dense is not None and query.dense is not None
        }
        wanted = dict(zip(query.sparse.indices, query.sparse.values, strict=True)) if query.sparse else {}
        peers = [p for p in self._of(query.context_id) if p.epoch == query.epoch and p.sparse.indices]
        having = Counter(term for peer in peers for term in peer.sparse.indices)
        kept = [dict(zip(p.sparse.indices, p.sparse.values, strict=True)) for p in scope]
        rare = {term: _rarity(having[term], len(peers)) for term in wanted}
        terms = {
            point.message_id: sum(
                wanted[term] * rare[term] * has[term] for term in wanted.keys() & has.keys()
            )
            for point, has in zip(scope, kept, strict=True)
            if wanted.keys() & has.keys()
        }
        return dense, terms

    def _of(self, context_id: str) -> list[VectorPoint]:
        _check(context_id)
        return [point for point in self.points.values() if point.context_id == context_id]

    def _erase(self, gone: Sequence[VectorPoint]) -> VectorErasure:
        for point in gone:
            del self.points[point.context_id, point.message_id]
        return VectorErasure(before=len(gone), left=0)

    def _ask(self) -> None:
        if self.is_down:
            raise RecallUnavailable


def _check(context_id: str) -> None:
    if not context_id:
        raise MissingContext


def _best(scores: Mapping[str, float], limit: int) -> list[str]:
    return sorted(scores, key=lambda message_id: -scores[message_id])[: max(limit, 0)]


def _rarity(having: int, corpus: int) -> float:
    """Return Qdrant's IDF of a term from its number of messages: 0.29 for one of one, 2.0 for one of ten."""
    return math.log((corpus - having + 0.5) / (having + 0.5) + 1)


def _to_candidate(point: VectorPoint, *, dense: float | None, sparse: float) -> Candidate:
    return Candidate(
        message_id=point.message_id,
        sequence=point.sequence,
        session=point.session,
        role=point.role,
        sender_id=point.sender_id,
        sent_at=point.sent_at,
        signs=point.signs,
        dense=dense,
        sparse=sparse,
    )


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    lengths = math.hypot(*a) * math.hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0
