"""Bodies of the requests that the index server answers, and their form for the engine.

A field that is not listed here is refused, never ignored, except for options of payload indexes.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self
from uuid import UUID

import qdrant_edge as edge
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

# Vectors are stored as 32-bit floats. A larger number would become infinite.
_MAX = 3.4028234e38
Number = Annotated[float, Field(ge=-_MAX, le=_MAX, allow_inf_nan=False, strict=True)]
Integer = Annotated[StrictInt, Field(ge=-(2**63), lt=2**63)]
Limit = Annotated[StrictInt, Field(ge=1, lt=2**31)]
PointId = Annotated[StrictInt, Field(ge=0, lt=2**64)] | UUID
# Affects only the speed of a Qdrant server. This one compares a query with every point of its chat.
Ignored = Any


class Body(BaseModel):
    """Base of everything in a request."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Sparse(Body):
    """Indices and their weights. The engine accepts a repeated index, so it is refused here."""

    indices: list[Annotated[StrictInt, Field(ge=0, lt=2**32)]]
    values: list[Number]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.indices) != len(self.values) or len(set(self.indices)) != len(self.indices):
            raise ValueError("a sparse vector has one value for each index, and each index once")
        return self


Dense = Annotated[list[Number], Field(min_length=1)]
Vector = Dense | Sparse


class MatchValue(Body):
    """Equality with one value. Booleans are refused: the engine takes `true` for 1."""

    value: StrictStr | Integer


class MatchAny(Body):
    """Equality with one of several values of one type."""

    any: list[StrictStr] | list[Integer]


class FieldMatch(Body):
    """A payload field with one of these values."""

    key: StrictStr
    match: MatchValue | MatchAny

    def to_engine(self) -> edge.FieldCondition:
        """Return the engine's form of this condition."""
        match self.match:
            case MatchValue(value=value):
                return edge.FieldCondition(self.key, match=edge.MatchValue(value))
            case MatchAny(any=values):
                return edge.FieldCondition(self.key, match=edge.MatchAny(values))


class FieldRange(Body):
    """A payload field with a number from `gte` up to, but not including, `lt`. One of them may be absent."""

    key: StrictStr
    range: dict[Literal["gte", "lt"], Number] = Field(min_length=1)

    def to_engine(self) -> edge.FieldCondition:
        """Return the engine's form of this condition."""
        return edge.FieldCondition(self.key, range=edge.RangeFloat(**self.range))


class HasId(Body):
    """One of these points; no point if the list is empty."""

    has_id: list[PointId]

    def to_engine(self) -> edge.HasIdCondition:
        """Return the engine's form of this condition."""
        return edge.HasIdCondition(set(self.has_id))


class HasVector(Body):
    """A point with a vector of this name."""

    has_vector: StrictStr

    def to_engine(self) -> edge.HasVectorCondition:
        """Return the engine's form of this condition."""
        return edge.HasVectorCondition(self.has_vector)


Condition = FieldMatch | FieldRange | HasId | HasVector


class Filter(Body):
    """All conditions of `must` and none of `must_not`. Without `must` it could match every point: it is refused."""

    must: list[Condition] = Field(min_length=1)
    must_not: list[Condition] = []

    def to_engine(self) -> edge.Filter:
        """Return the engine's form of this filter."""
        return edge.Filter(
            must=[condition.to_engine() for condition in self.must],
            must_not=[condition.to_engine() for condition in self.must_not],
        )


class DenseParams(Body):
    """A dense vector of a collection."""

    size: int = Field(ge=1, le=65536)
    distance: Literal["Cosine"]


class SparseParams(Body):
    """A sparse vector of a collection. `idf` weighs a term of a query by its rarity."""

    modifier: Literal["idf"] | None = None


class CollectionSettings(Body):
    """The named vectors of a collection; the engine refuses one without any."""

    vectors: dict[str, DenseParams] = {}
    sparse_vectors: dict[str, SparseParams] = {}
    hnsw_config: Ignored = None
    optimizers_config: Ignored = None

    def to_engine(self) -> edge.EdgeConfig:
        """Return the engine's form. It names no optimizer, because none ever runs: a vacuum removes garbage."""
        return edge.EdgeConfig(
            vectors={
                name: edge.EdgeVectorParams(size=params.size, distance=edge.Distance.Cosine)
                for name, params in self.vectors.items()
            },
            sparse_vectors={
                name: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf if params.modifier else None)
                for name, params in self.sparse_vectors.items()
            },
            # A shard has one segment: more threads only look for work, 0.6 ms of CPU a turn.
            max_search_threads=1,
        )

    def accepts(self, name: str, vector: Vector) -> bool:
        """Return True if a point of this collection may have this vector under this name."""
        if isinstance(vector, Sparse):
            return name in self.sparse_vectors
        return name in self.vectors and len(vector) == self.vectors[name].size


class FieldSchema(Body, extra="ignore"):
    """The index of a payload field. Its other options affect only the speed of a Qdrant server."""

    type: Literal["keyword", "integer", "float"]


class CreateIndex(Body):
    """A payload field to index. A repeat with the same type changes nothing."""

    field_name: StrictStr
    field_schema: FieldSchema

    def to_engine(self) -> edge.UpdateOperation:
        """Return the operation for the engine."""
        kinds = {"keyword": edge.KeywordIndexParams, "integer": edge.IntegerIndexParams}
        params = kinds.get(self.field_schema.type, edge.FloatIndexParams)()
        return edge.UpdateOperation.create_field_index(self.field_name, params)


class Point(Body):
    """A point. Its vectors and payload replace those it had."""

    id: PointId
    vector: dict[str, Vector]
    payload: dict[str, Any] | None = None

    def to_engine(self) -> edge.Point:
        """Return the engine's form of this point."""
        vectors: edge.Vector = {name: _vector_to_engine(vector) for name, vector in self.vector.items()}
        return edge.Point(self.id, vectors, self.payload or {})


class UpsertPoints(Body):
    """Points to add or replace, all or none."""

    points: list[Point]


class DeletePoints(Body):
    """Points to delete."""

    filter: Filter


class CountPoints(Body):
    """Points to count, always exactly; all of them without a filter."""

    filter: Filter | None = None
    exact: Ignored = None


class ScrollPoints(Body):
    """A page of points in the order of their ids, from `offset` on."""

    offset: PointId | None = None
    limit: Limit = 10
    filter: Filter | None = None
    with_payload: StrictBool | list[StrictStr] = True
    with_vector: StrictBool = False

    def to_engine(self) -> edge.ScrollRequest:
        """Return the engine's form of this request."""
        scope = self.filter and self.filter.to_engine()
        return edge.ScrollRequest(self.offset, self.limit, scope, self.with_payload, self.with_vector)


class Nearest(Body):
    """The vector to compare points with."""

    nearest: Vector


class IdfCorpus(Body):
    """The points over which the rarity of terms is counted."""

    corpus: Filter


class SearchParams(Body):
    """Parameters of a search, which is always exact."""

    idf: IdfCorpus | None = None
    hnsw_ef: Ignored = None
    exact: Ignored = None


class Search(Body):
    """A search: the best points of a filter, or without a query the first ones by id. No search goes unfiltered."""

    filter: Filter
    query: Nearest | None = None
    using: StrictStr | None = None
    params: SearchParams | None = None
    limit: Limit = 10
    with_payload: StrictBool | list[StrictStr] = False

    def to_engine(self) -> edge.QueryRequest:
        """Return the engine's form of this search."""
        idf = self.params and self.params.idf
        return edge.QueryRequest(
            self.limit,
            query=self.query and edge.Query.Nearest(_vector_to_engine(self.query.nearest), self.using),
            with_payload=self.with_payload,
            filter=self.filter.to_engine(),
            params=edge.SearchParams(exact=True, idf=idf and edge.IdfParams(idf.corpus.to_engine())),
        )


class SearchBatch(Body):
    """Searches to answer one by one."""

    searches: Sequence[Search]


def _vector_to_engine(vector: Vector) -> "edge.NamedVector":
    return edge.SparseVector(vector.indices, vector.values) if isinstance(vector, Sparse) else vector
