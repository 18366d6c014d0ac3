"""Points of Qdrant: messages into points, questions into requests, answers into candidates."""

from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any, Self

from qdrant_client import models as q

from memory.errors import MissingContext
from memory.recall.lexicon.analysis import SparseVector
from memory.recall.qdrant.filters import point_id, scope_of, search_filter
from memory.recall.vector_index import TERMS_STORED, Candidate, VectorPoint, VectorQuery, check_finite

DENSE = "dense"
TERMS = "terms"

MAX_BATCH_POINTS = 256
MAX_BATCH_BYTES = 16_000_000
"""Half of what a Qdrant server takes in one request (32 MB, its default and the embedded one's limit)."""

_NUMBER_BYTES, _TERM_BYTES, _PAYLOAD_BYTES = 23, 46, 600
"""At most: a component with its comma, a term's index and weight, the rest of a point."""

_TOLD = ["message_id", "sequence", "session", "role", "sender_id", "sent_at", "signs"]
"""What an answer brings of a point: all but the context and the epoch, which were asked for."""
_TOLD_TO_RANK = [*_TOLD, "terms"]

_NEAREST = q.SearchParams(hnsw_ef=256)
"""For the chats that a Qdrant server keeps a graph of (above 10 MB of vectors); all others, and the embedded
server always, compare with every message of the chat.
"""
_EXACT = q.SearchParams(exact=True)


def to_batches(points: Sequence[VectorPoint]) -> Generator[list[q.PointStruct]]:
    """The points in requests that a server takes: of 256 points and 16 MB at most."""
    batch: list[q.PointStruct] = []
    size = 0
    for point in points:
        added = _bytes_of(point)
        if batch and (len(batch) == MAX_BATCH_POINTS or size + added > MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(_to_struct(point))
        size += added
    if batch:
        yield batch


def check_points(points: Sequence[VectorPoint]) -> None:
    """Raises MissingContext, and RecallUnavailable for a vector that is not finite, before anything is written."""
    for point in points:
        if not point.context_id:
            raise MissingContext
        check_finite(point.dense, point.sparse)


class _Request(q.QueryRequest):
    """A search that the client takes as it is: it would copy every number of it, and sets only its `query`."""

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self.model_copy()


def search_requests(query: VectorQuery) -> list[q.QueryRequest]:
    """One list for each vector that says something; the whole filter in each: a batch shares nothing."""
    scope = search_filter(query.context_id, query.epoch, where=query.where)
    return [
        request.model_copy(update={"limit": query.limit, "with_payload": _TOLD})
        for request in _scoring(query, scope, nearest=_NEAREST)
    ]


def score_requests(query: VectorQuery, sequences: Collection[int]) -> list[q.QueryRequest]:
    """The scores of each vector that says something, then the messages without a dense vector. Each message comes
    with its payload once: a point costs 10 µs to read, and there are hundreds.
    """
    scope = search_filter(query.context_id, query.epoch, sequences=sequences)
    scoring = _scoring(query, scope, nearest=_EXACT)
    told = {DENSE: _TOLD_TO_RANK, TERMS: False}
    rest = scope
    if query.dense is not None:
        rest = scope.model_copy(update={"must_not": [q.HasVectorCondition(has_vector=DENSE)]})
    return [
        *(
            each.model_copy(update={"limit": len(sequences), "with_payload": told[each.using or ""]})
            for each in scoring
        ),
        _Request(filter=rest, limit=len(sequences), with_payload=_TOLD_TO_RANK),
    ]


def _scoring(query: VectorQuery, scope: q.Filter, *, nearest: q.SearchParams) -> list[q.QueryRequest]:
    """How rare a word is, is counted over the messages of the same context and epoch, whatever else is filtered:
    no chat's scores tell of another chat or of what was forgotten, and they mean the same in every deployment.
    A Qdrant server before 1.19 counts over the collection.
    """
    corpus = search_filter(query.context_id, query.epoch)
    by_words = q.SearchParams(idf=q.IdfCorpusParams(corpus=corpus))
    params = {DENSE: nearest, TERMS: by_words}
    return [
        _Request(query=vector, using=name, filter=scope, params=params[name])
        for name, vector in _vectors_of(query).items()
    ]


def read_answers(query: VectorQuery, answers: Sequence[Sequence[q.ScoredPoint]]) -> list[Candidate]:
    """What `search_requests` or `score_requests` brought: each message once, with the scores that it has."""
    scores = {name: {} for name in (DENSE, TERMS)} | {
        name: {point.id: point.score for point in answer}
        for name, answer in zip(_vectors_of(query), answers, strict=False)
    }
    dense, terms = scores[DENSE], scores[TERMS]
    asked = frozenset(query.sparse.indices) if query.sparse else frozenset[int]()
    found = {point.id: point.payload for answer in answers for point in answer if point.payload}
    return [
        _to_candidate(payload, asked, dense=dense.get(each), sparse=terms.get(each, 0.0))
        for each, payload in found.items()
    ]


def _to_struct(point: VectorPoint) -> q.PointStruct:
    """A vector that says nothing is left out; a point may have none at all."""
    vectors: dict[str, Any] = {}
    if point.dense is not None:
        vectors[DENSE] = point.dense
    if point.sparse.indices:
        vectors[TERMS] = _to_sparse(point.sparse)
    payload = {
        "scope": scope_of(point.context_id, point.epoch),
        "context": point.context_id,
        "epoch": point.epoch,
        "message_id": point.message_id,
        "role": point.role,
        "sender_id": point.sender_id,
        "sent_at": point.sent_at,
        "sequence": point.sequence,
        "session": point.session,
        "signs": sorted(point.signs),
        "terms": sorted(point.sparse.indices[:TERMS_STORED]),  # not in the order of the words
    }
    return q.PointStruct(id=point_id(point.context_id, point.message_id), vector=vectors, payload=payload)


def _bytes_of(point: VectorPoint) -> int:
    """At most so many bytes of JSON."""
    return len(point.dense or ()) * _NUMBER_BYTES + len(point.sparse.indices) * _TERM_BYTES + _PAYLOAD_BYTES


def _to_sparse(sparse: SparseVector) -> q.SparseVector:
    by_index = sorted(zip(sparse.indices, sparse.values, strict=True))
    return q.SparseVector(indices=[index for index, _ in by_index], values=[value for _, value in by_index])


def _vectors_of(query: VectorQuery) -> Mapping[str, list[float] | q.SparseVector]:
    vectors: dict[str, list[float] | q.SparseVector] = {}
    if query.dense is not None:
        vectors[DENSE] = query.dense
    if query.sparse is not None and query.sparse.indices:
        vectors[TERMS] = _to_sparse(query.sparse)
    return vectors


def _to_candidate(
    payload: Mapping[str, Any], asked: frozenset[int], *, dense: float | None, sparse: float
) -> Candidate:
    return Candidate(
        message_id=payload["message_id"],
        sequence=payload["sequence"],
        session=payload["session"],
        role=payload["role"],
        sender_id=payload.get("sender_id"),
        sent_at=payload["sent_at"],
        signs=frozenset(payload["signs"]),
        terms=asked.intersection(payload.get("terms", ())),
        dense=dense,
        sparse=sparse,
    )
