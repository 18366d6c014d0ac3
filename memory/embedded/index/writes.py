"""What changes a collection: points in, points out, payload, payload indexes."""

import qdrant_edge as edge

from memory.embedded.index.collections import Collection
from memory.embedded.index.engine import asking_engine
from memory.embedded.index.failures import BadRequest
from memory.embedded.index.filters import Filter, leaves
from memory.embedded.index.reads import engine_filter
from memory.embedded.index.requests import (
    CreateFieldIndex,
    DenseParams,
    IndexParams,
    Point,
    PointsSelection,
    SetPayload,
    SparseVector,
    UpsertPoints,
)

UpdateOperation = edge.UpdateOperation


def upsert_points(collection: Collection, wanted: UpsertPoints) -> int:
    """Add or replace points. They are checked before the first is written: all or none."""
    for point in wanted.points:
        _check_vectors(collection, point)
    return _apply(
        collection,
        UpdateOperation.upsert_points([_to_engine_point(point) for point in wanted.points]),
        added=len(wanted.points),
    )


def delete_points(collection: Collection, wanted: PointsSelection) -> int:
    """Delete by ids (unknown ones are passed over) or by a filter that says something."""
    with asking_engine():
        if wanted.filter is not None:
            operation = UpdateOperation.delete_points_by_filter(_restrictive(collection, wanted.filter))
        else:
            operation = UpdateOperation.delete_points(list(wanted.points or ()))
    collection.expect_garbage()
    return _apply(collection, operation, added=0)


def set_payload(collection: Collection, wanted: SetPayload) -> int:
    """Write some fields of the payload; NotFound for an id that is not there."""
    with asking_engine():
        if wanted.filter is not None:
            selected = _restrictive(collection, wanted.filter)
            operation = UpdateOperation.set_payload_by_filter(selected, wanted.payload, wanted.key)
        else:
            operation = UpdateOperation.set_payload(list(wanted.points or ()), wanted.payload, wanted.key)
    collection.expect_garbage()
    return _apply(collection, operation, added=None)


def create_index(collection: Collection, wanted: CreateFieldIndex) -> int:
    """Index a payload field, now and for points to come; again with the same type changes nothing."""
    schema = wanted.field_schema
    params = schema if isinstance(schema, IndexParams) else IndexParams(type=schema)
    with asking_engine():
        operation = UpdateOperation.create_field_index(wanted.field_name, _to_engine_index(params))
    return _apply(collection, operation, added=0)


def delete_index(collection: Collection, field_name: str) -> int:
    """Search a payload field without an index again."""
    with asking_engine():
        operation = UpdateOperation.delete_field_index(field_name)
    return _apply(collection, operation, added=0)


def _apply(collection: Collection, operation: edge.UpdateOperation, *, added: int | None) -> int:
    """Garbage is what was deleted or replaced, seen by how few points there are more than before; None where the
    number does not tell. An operation that fails may have changed some of its points.
    """
    before, failed = collection.points, True
    try:
        with asking_engine():
            collection.shard.update(operation)
        failed = False
    finally:
        leaves_garbage = failed or added is None or collection.points < before + added
        operation_id = collection.note_write(points=added or 1, leaves_garbage=leaves_garbage)
    return operation_id


def _restrictive(collection: Collection, wanted: Filter) -> edge.Filter:
    if not leaves(wanted):
        raise BadRequest("Wrong input: a filter without a condition would change every point; name one")
    return engine_filter(collection, wanted)


def _check_vectors(collection: Collection, point: Point) -> None:
    dense = collection.settings.vectors or {}
    sizes = {"": dense.size} if isinstance(dense, DenseParams) else {name: dense[name].size for name in dense}
    sparse = collection.settings.sparse_vectors or {}
    for name, vector in (point.vector if isinstance(point.vector, dict) else {"": point.vector}).items():
        if isinstance(vector, SparseVector):
            if name not in sparse:
                raise BadRequest(f"Wrong input: Not existing vector name error: {name}")
        elif name not in sizes:
            raise BadRequest(f"Wrong input: Not existing vector name error: {name}")
        elif len(vector) != sizes[name]:
            raise BadRequest(
                f"Wrong input: Vector dimension error: expected dim: {sizes[name]}, got {len(vector)}"
            )


def _to_engine_point(point: Point) -> edge.Point:
    if isinstance(point.vector, dict):
        vector: edge.Vector = {
            name: edge.SparseVector(part.indices, part.values) if isinstance(part, SparseVector) else part
            for name, part in point.vector.items()
        }
    else:
        vector = point.vector
    with asking_engine():
        return edge.Point(point.id, vector, point.payload or {})


def _to_engine_index(params: IndexParams) -> "edge.PayloadSchemaParams":
    match params.type:
        case "keyword":
            return edge.KeywordIndexParams(is_tenant=params.is_tenant)
        case "uuid":
            return edge.UuidIndexParams(is_tenant=params.is_tenant)
        case "integer":
            return edge.IntegerIndexParams()
        case "float":
            return edge.FloatIndexParams()
        case "datetime":
            return edge.DatetimeIndexParams()
