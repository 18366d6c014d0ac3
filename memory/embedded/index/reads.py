"""What asks a collection: count, retrieve, scroll and searches."""

from typing import Any, cast
from uuid import UUID

import qdrant_edge as edge

from memory.embedded.index.collections import Collection
from memory.embedded.index.engine import asking_engine
from memory.embedded.index.failures import BadRequest
from memory.embedded.index.filters import (
    FieldCondition,
    Filter,
    NumberRange,
    TimeRange,
    leaves,
    to_engine_filter,
)
from memory.embedded.index.requests import (
    CountPoints,
    FusionQuery,
    IdfCorpus,
    Nearest,
    PayloadExclude,
    PayloadInclude,
    Prefetch,
    Query,
    QueryPoints,
    RetrievePoints,
    RrfQuery,
    ScrollPoints,
    SearchParams,
    SparseVector,
    WithPayload,
)

# Qdrant's own constant of reciprocal rank fusion.
_RRF_K = 2


def count_points(collection: Collection, wanted: CountPoints) -> int:
    """How many points match; all without a filter."""
    with asking_engine():
        return collection.shard.count(
            edge.CountRequest(filter=_engine_filter(collection, wanted.filter), exact=True)
        )


def retrieve_points(collection: Collection, wanted: RetrievePoints) -> list[dict[str, Any]]:
    """The points that exist, in the order asked for."""
    with asking_engine():
        with_payload = _to_engine_payload(wanted.with_payload, default=True)
        found = collection.shard.retrieve(list(wanted.ids), with_payload, wanted.with_vector or False)
    return [_tell_record(record) for record in found]


def scroll_points(collection: Collection, wanted: ScrollPoints) -> dict[str, Any]:
    """A page and where the next one begins; None at the end."""
    with asking_engine():
        request = edge.ScrollRequest(
            offset=wanted.offset,
            limit=wanted.limit,
            filter=_engine_filter(collection, wanted.filter),
            with_payload=_to_engine_payload(wanted.with_payload, default=True),
            with_vector=wanted.with_vector or False,
        )
        page, following = collection.shard.scroll(request)
    return {"points": [_tell_record(record) for record in page], "next_page_offset": _tell_id(following)}


def query_points(collection: Collection, wanted: list[QueryPoints]) -> list[dict[str, Any]]:
    """The answers to several searches, each best first."""
    with asking_engine():
        requests = [_to_engine_request(collection, search) for search in wanted]
        answers = collection.shard.query_batch(edge.QueryBatchRequest(requests))
    return [{"points": [_tell_scored(point) for point in answer]} for answer in answers]


def engine_filter(collection: Collection, wanted: Filter) -> edge.Filter:
    """The filter for the engine, to be made while asking it. Refuses a range that does not fit the index of its field: the engine keeps
    times as microseconds, so that numbers over times, or times over numbers, let nearly everything through.
    """
    ranges = [leaf for leaf in leaves(wanted) if isinstance(leaf, FieldCondition) and leaf.range is not None]
    schema = collection.shard.info().payload_schema if ranges else {}
    for condition in ranges:
        index = schema.get(condition.key)
        if index and not _fits(condition.range, index.data_type):
            raise BadRequest(
                f"Wrong input: the range does not fit the type of the index of `{condition.key}`"
            )
    return to_engine_filter(wanted)


def _engine_filter(collection: Collection, wanted: Filter | None) -> edge.Filter | None:
    return None if wanted is None else engine_filter(collection, wanted)


def _fits(given: NumberRange | TimeRange | None, kind: edge.PayloadSchemaType) -> bool:
    if kind == edge.PayloadSchemaType.Datetime:
        return isinstance(given, TimeRange)
    is_number = kind in {edge.PayloadSchemaType.Integer, edge.PayloadSchemaType.Float}
    return not (is_number and isinstance(given, TimeRange))


def _to_engine_request(collection: Collection, wanted: QueryPoints) -> edge.QueryRequest:
    return edge.QueryRequest(
        limit=wanted.limit,
        offset=wanted.offset,
        query=None if wanted.query is None else _to_engine_query(wanted.query, wanted.using),
        prefetches=_to_engine_prefetches(collection, wanted.prefetch),
        with_vector=wanted.with_vector or False,
        with_payload=_to_engine_payload(wanted.with_payload, default=False),
        filter=_engine_filter(collection, wanted.filter),
        score_threshold=wanted.score_threshold,
        params=_to_engine_params(collection, wanted.params),
    )


def _to_engine_prefetches(
    collection: Collection, wanted: list[Prefetch] | Prefetch | None
) -> list[edge.Prefetch]:
    return [
        edge.Prefetch(
            limit=stage.limit,
            query=_to_engine_query(stage.query, stage.using),
            prefetches=_to_engine_prefetches(collection, stage.prefetch),
            params=_to_engine_params(collection, stage.params),
            filter=_engine_filter(collection, stage.filter),
            score_threshold=stage.score_threshold,
        )
        for stage in ([wanted] if isinstance(wanted, Prefetch) else wanted or [])
    ]


def _to_engine_query(wanted: Query, using: str | None) -> "edge.ScoringQueryType":
    match wanted:
        case FusionQuery(fusion="dbsf"):
            return _as_fusion(edge.Fusion.Dbsf())
        case FusionQuery():
            return _as_fusion(edge.Fusion.Rrf(k=_RRF_K))
        case RrfQuery():
            return _as_fusion(edge.Fusion.Rrf(k=wanted.rrf.k, weights=wanted.rrf.weights))
        case Nearest():
            return _to_engine_query(wanted.nearest, using)
        case SparseVector():
            return edge.Query.Nearest(edge.SparseVector(wanted.indices, wanted.values), using)
        case numbers:
            return edge.Query.Nearest(numbers, using)


def _as_fusion(fusion: object) -> edge.Fusion:
    """The engine's stubs nest the kinds in Fusion without deriving them from it (qdrant-edge-py 0.9.0)."""
    return cast("edge.Fusion", fusion)


def _to_engine_params(collection: Collection, wanted: SearchParams | None) -> edge.SearchParams:
    if wanted is None or not isinstance(wanted.idf, IdfCorpus):
        return edge.SearchParams(exact=True)
    corpus = engine_filter(collection, wanted.idf.corpus)
    return edge.SearchParams(exact=True, idf=edge.IdfParams(corpus))


def _to_engine_payload(wanted: WithPayload | None, *, default: bool) -> "edge.WithPayloadType":
    match wanted:
        case None:
            return default
        case PayloadInclude():
            return edge.PayloadSelector.Include(wanted.include)
        case PayloadExclude():
            return edge.PayloadSelector.Exclude(wanted.exclude)
        case flag_or_names:
            return flag_or_names


def _tell_id(point_id: "edge.PointId | None") -> int | str | None:
    return str(point_id) if isinstance(point_id, UUID) else point_id


def _tell_record(record: edge.Record) -> dict[str, Any]:
    return {"id": _tell_id(record.id), "payload": record.payload, "vector": _tell_vector(record.vector)}


def _tell_scored(point: edge.ScoredPoint) -> dict[str, Any]:
    return {
        "id": _tell_id(point.id),
        "version": point.version,
        "score": point.score,
        "payload": point.payload,
        "vector": _tell_vector(point.vector),
    }


def _tell_vector(vector: "edge.Vector | None") -> Any:
    if isinstance(vector, dict):
        return {name: _tell_named(part) for name, part in vector.items()}
    return vector


def _tell_named(vector: "edge.NamedVector") -> Any:
    if isinstance(vector, edge.SparseVector):
        return {"indices": vector.indices, "values": vector.values}
    return vector
