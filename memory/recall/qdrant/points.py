"""Messages as points of Qdrant, filters and searches as its requests, and its answers as candidates.

All filters are built here, and none without a context.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal
from uuid import UUID, uuid5

from qdrant_client import models as q
from qdrant_client.conversions.common_types import QueryResponse

from memory.errors import MissingContext
from memory.recall.lexicon.analysis import SparseVector
from memory.recall.vector_index import TERMS_STORED, Candidate, VectorPoint, VectorQuery, Where

_NAMESPACE = UUID("0b0f3f4e-6c0c-4f3e-9a55-3c1f5c8e7a21")


def point_id(context_id: str, message_id: str) -> str:
    """Return the id of a message's point. It never changes, so that indexing twice is harmless."""
    return str(uuid5(_NAMESPACE, f"{context_id}\x1f{message_id}"))


def scope_of(context_id: str, epoch: int) -> str:
    """Return the scope of a search: one context in one epoch. The epoch follows the last slash."""
    return f"{context_id}/{epoch}"


def search_filter(
    context_id: str, epoch: int, *, where: Where | None = None, sequences: Collection[int] | None = None
) -> q.Filter:
    """Return a filter for the messages of this context and epoch that may be found.

    Context and epoch are one condition on one field. Two conditions take twice as long, because each is looked up for
    every message of the chat.
    """
    if not context_id:
        raise MissingContext
    scope = q.MatchValue(value=scope_of(context_id, epoch))
    must: list[q.Condition] = [q.FieldCondition(key="scope", match=scope)]
    if sequences is not None:
        must.append(_any_of("sequence", sorted(sequences)))
    if where is None:
        return q.Filter(must=must)
    if where.before_sequence is not None:
        must.append(q.FieldCondition(key="sequence", range=q.Range(lt=where.before_sequence)))
    if where.sent_from is not None or where.sent_before is not None:
        period = q.Range(gte=where.sent_from, lt=where.sent_before)
        must.append(q.FieldCondition(key="sent_at", range=period))
    if where.sender_ids is not None:
        must.append(_any_of("sender_id", sorted(where.sender_ids)))
    if where.roles is not None:
        must.append(_any_of("role", sorted(where.roles)))
    excluded = _is_message_of(context_id, where.excluded) if where.excluded else None
    return q.Filter(must=must, must_not=excluded and [excluded])


def erasure_filter(
    context_id: str,
    *,
    epoch: int | None = None,
    below_epoch: int | None = None,
    message_ids: Collection[str] | None = None,
) -> q.Filter:
    """Return a filter for points of this context, by fields of every layout: erasures cover former collections too."""
    if not context_id:
        raise MissingContext
    must: list[q.Condition] = [q.FieldCondition(key="context", match=q.MatchValue(value=context_id))]
    if epoch is not None:
        must.append(q.FieldCondition(key="epoch", range=q.Range(gte=epoch, lt=epoch + 1)))
    if below_epoch is not None:
        must.append(q.FieldCondition(key="epoch", range=q.Range(lt=below_epoch)))
    if message_ids is not None:
        must.append(_is_message_of(context_id, message_ids))
    return q.Filter(must=must)


def filter_of_contexts(context_ids: Collection[str]) -> q.Filter:
    """Return a filter for every point of these contexts. Raises MissingContext if one of them, or all, are missing."""
    if not context_ids or not all(context_ids):
        raise MissingContext
    return q.Filter(must=[_any_of("context", sorted(context_ids))])


def _any_of(key: str, values: list[int] | list[str]) -> q.FieldCondition:
    return q.FieldCondition(key=key, match=q.MatchAny(any=values))


def _is_message_of(context_id: str, message_ids: Collection[str]) -> q.HasIdCondition:
    return q.HasIdCondition(has_id=[point_id(context_id, message) for message in sorted(message_ids)])


DENSE = "dense"
TERMS = "terms"

MAX_BATCH_POINTS = 256
MAX_BATCH_BYTES = 16_000_000
"""Half of a Qdrant server's request limit: 32 MB by default, and in the embedded server."""

_NUMBER_BYTES, _TERM_BYTES, _PAYLOAD_BYTES = 23, 46, 600
"""Upper bounds: a component with its comma, a term's index and weight, and the rest of a point."""

_PAYLOAD_FIELDS = ["message_id", "sequence", "session", "role", "sender_id", "sent_at", "signs"]
"""Payload fields of an answer: all but the context and the epoch, which are part of the request."""
_RANKING_FIELDS = [*_PAYLOAD_FIELDS, "terms"]

_NEAREST = q.SearchParams(hnsw_ef=256)
"""Only matters for chats with a graph on a Qdrant server (above 10 MB of vectors). All other searches are exact."""
_EXACT = q.SearchParams(exact=True)


def to_batches(points: Sequence[VectorPoint]) -> list[list[q.PointStruct]]:
    """Return the points in requests of at most 256 points and 16 MB. Raises MissingContext."""
    batches: list[list[q.PointStruct]] = []
    size = 0
    for point in points:
        if not point.context_id:
            raise MissingContext
        # An upper bound of the point's size as JSON.
        added = (
            len(point.dense or ()) * _NUMBER_BYTES + len(point.sparse.indices) * _TERM_BYTES + _PAYLOAD_BYTES
        )
        if not batches or len(batches[-1]) == MAX_BATCH_POINTS or size + added > MAX_BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(_to_point(point))
        size += added
    return batches


def search_requests(query: VectorQuery) -> list[q.QueryRequest]:
    """Return one request for each usable vector, with the whole filter in each: a batch shares nothing."""
    scope = search_filter(query.context_id, query.epoch, where=query.where)
    fields = _PAYLOAD_FIELDS
    return _vector_requests(
        query, scope, _NEAREST, limit=query.limit, dense_fields=fields, terms_fields=fields
    )


def score_requests(query: VectorQuery, sequences: Collection[int]) -> list[q.QueryRequest]:
    """Return one request for the scores of each usable vector, and one for messages without a dense vector.

    Each message comes with its payload once: a point takes 10 µs to parse, and there are hundreds.
    """
    scope = search_filter(query.context_id, query.epoch, sequences=sequences)
    fields, limit = _RANKING_FIELDS, len(sequences)
    requests = _vector_requests(query, scope, _EXACT, limit=limit, dense_fields=fields, terms_fields=False)
    rest = scope
    if query.dense is not None:
        rest = scope.model_copy(update={"must_not": [q.HasVectorCondition(has_vector=DENSE)]})
    return [*requests, q.QueryRequest(filter=rest, limit=limit, with_payload=fields)]


def _vector_requests(
    query: VectorQuery,
    scope: q.Filter,
    nearest: q.SearchParams,
    *,
    limit: int,
    dense_fields: list[str],
    terms_fields: list[str] | Literal[False],
) -> list[q.QueryRequest]:
    """Return a request for each usable vector, with these payload fields.

    The IDF counts the messages of the same context and epoch, whatever else is filtered. So no score depends on
    another chat or on forgotten messages, and scores mean the same in every deployment. A Qdrant server before 1.19
    counts the whole collection.
    """
    requests: list[q.QueryRequest] = []
    if query.dense is not None:
        by_meaning = q.QueryRequest(
            query=query.dense,
            using=DENSE,
            filter=scope,
            params=nearest,
            limit=limit,
            with_payload=dense_fields,
        )
        requests.append(by_meaning)
    if query.sparse is not None and query.sparse.indices:
        corpus = q.IdfCorpusParams(corpus=search_filter(query.context_id, query.epoch))
        by_words = q.QueryRequest(
            query=_to_sparse(query.sparse),
            using=TERMS,
            filter=scope,
            params=q.SearchParams(idf=corpus),
            limit=limit,
            with_payload=terms_fields,
        )
        requests.append(by_words)
    return requests


def parse_answers(query: VectorQuery, answers: Sequence[QueryResponse]) -> list[Candidate]:
    """Return the candidates in the answers to `search_requests` or `score_requests`, each message once."""
    by_meaning: dict[q.ExtendedPointId, float] = {}
    by_words: dict[q.ExtendedPointId, float] = {}
    has_terms = query.sparse is not None and bool(query.sparse.indices)
    scores = [*([by_meaning] if query.dense is not None else ()), *([by_words] if has_terms else ())]
    payloads: dict[q.ExtendedPointId, Mapping[str, Any]] = {}
    for number, answer in enumerate(answers):
        for point in answer.points:
            if number < len(scores):
                scores[number][point.id] = point.score
            if point.payload:
                payloads[point.id] = point.payload
    query_terms = frozenset(query.sparse.indices) if query.sparse else frozenset[int]()
    candidates: list[Candidate] = []
    for each, payload in payloads.items():
        dense, sparse = by_meaning.get(each), by_words.get(each, 0.0)
        candidates.append(_to_candidate(payload, query_terms, dense=dense, sparse=sparse))
    return candidates


def _to_point(point: VectorPoint) -> q.PointStruct:
    """Return a Qdrant point. It may have no vectors: unusable ones are left out."""
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
        "terms": sorted(point.sparse.indices[:TERMS_STORED]),  # sorted, to hide the order of the words
    }
    return q.PointStruct(id=point_id(point.context_id, point.message_id), vector=vectors, payload=payload)


def _to_sparse(sparse: SparseVector) -> q.SparseVector:
    """Return a vector with at least one term in Qdrant's order."""
    indices, values = zip(*sorted(zip(sparse.indices, sparse.values, strict=True)), strict=True)
    return q.SparseVector(indices=list(indices), values=list(values))


def _to_candidate(
    payload: Mapping[str, Any], query_terms: frozenset[int], *, dense: float | None, sparse: float
) -> Candidate:
    return Candidate(
        message_id=payload["message_id"],
        sequence=payload["sequence"],
        session=payload["session"],
        role=payload["role"],
        sender_id=payload.get("sender_id"),
        sent_at=payload["sent_at"],
        signs=frozenset(payload["signs"]),
        terms=query_terms.intersection(payload.get("terms", ())),
        dense=dense,
        sparse=sparse,
    )
