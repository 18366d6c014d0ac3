"""The bodies of the requests that the index server understands."""

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, StrictBool, StrictInt, StrictStr, Tag, model_validator

from memory.embedded.index.filters import Filter, PointId, Wire

# A vector's numbers are kept as 32-bit floats: what does not fit would become infinite.
_FLOAT32_MAX = 3.4028234e38
Number = Annotated[float, Field(ge=-_FLOAT32_MAX, le=_FLOAT32_MAX, allow_inf_nan=False, strict=True)]
Dense = Annotated[list[Number], Field(min_length=1)]

# How fast a server answers, never what: this one compares with every point and ignores them.
Hint = Any


class DenseParams(Wire):
    """One dense vector of a collection."""

    size: int = Field(ge=1, le=65536)
    distance: Literal["Cosine", "Dot", "Euclid", "Manhattan"]
    hnsw_config: Hint = None
    on_disk: Hint = None
    memory: Hint = None


class SparseIndexHints(Wire):
    """Where a sparse index is kept."""

    full_scan_threshold: Hint = None
    on_disk: Hint = None
    memory: Hint = None


class SparseParams(Wire):
    """One sparse vector of a collection; `idf` weighs a query by how rare its terms are."""

    index: SparseIndexHints | None = None
    modifier: Literal["idf", "none"] | None = None


class CreateCollection(Wire):
    """A collection's vectors; an unnamed dense one has the name ''."""

    vectors: DenseParams | dict[str, DenseParams] | None = None
    sparse_vectors: dict[str, SparseParams] | None = None
    hnsw_config: Hint = None
    optimizers_config: Hint = None
    wal_config: Hint = None
    on_disk_payload: Hint = None
    shard_number: Hint = None
    replication_factor: Hint = None
    write_consistency_factor: Hint = None

    @model_validator(mode="after")
    def _has_vectors(self) -> Self:
        if not self.vectors and not self.sparse_vectors:
            raise ValueError("a collection has at least one vector")
        return self


class IndexParams(Wire):
    """How a payload field is indexed."""

    type: Literal["keyword", "integer", "float", "datetime", "uuid"]
    is_tenant: StrictBool | None = None
    is_principal: Hint = None
    lookup: Hint = None
    range: Hint = None
    on_disk: Hint = None
    memory: Hint = None
    enable_hnsw: Hint = None


class CreateFieldIndex(Wire):
    """A payload field to index."""

    field_name: str
    field_schema: Literal["keyword", "integer", "float", "datetime", "uuid"] | IndexParams


class SparseVector(Wire):
    """Positions and their weights, each position once."""

    indices: list[Annotated[StrictInt, Field(ge=0, lt=2**32)]]
    values: list[Number]

    @model_validator(mode="after")
    def _is_well_formed(self) -> Self:
        if len(self.indices) != len(self.values):
            raise ValueError("a sparse vector has as many values as indices")
        if len(set(self.indices)) != len(self.indices):
            raise ValueError("a sparse vector has each index once")
        return self


def kind_of_vector(given: Any) -> str | None:
    """Tells a dense from a sparse vector by its shape."""
    if isinstance(given, list):
        return "dense"
    return (
        "sparse"
        if isinstance(given, SparseVector) or (isinstance(given, dict) and "indices" in given)
        else None
    )


Vector = Annotated[
    Annotated[Dense, Tag("dense")] | Annotated[SparseVector, Tag("sparse")],
    Discriminator(
        kind_of_vector,
        custom_error_type="unsupported",
        custom_error_message="the embedded index takes a vector's numbers or a sparse vector",
    ),
]


class Point(Wire):
    """A point to keep; its vectors and payload replace those it had."""

    id: PointId
    vector: Dense | dict[str, Vector]
    payload: dict[str, Any] | None = None


class UpsertPoints(Wire):
    """Points to add or replace, all or none."""

    points: list[Point]


class PointsSelection(Wire):
    """Points by id or by filter; a filter that lets everything through is refused."""

    points: list[PointId] | None = None
    filter: Filter | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.points is None) == (self.filter is None):
            raise ValueError("select either by `points` or by `filter`")
        return self


class SetPayload(PointsSelection):
    """Fields to write into the payload of points that exist."""

    payload: dict[str, Any]
    key: str | None = None


class PayloadInclude(Wire):
    """Only these fields."""

    include: list[StrictStr]


class PayloadExclude(Wire):
    """All but these fields."""

    exclude: list[StrictStr]


WithPayload = StrictBool | list[StrictStr] | PayloadInclude | PayloadExclude
WithVector = StrictBool | list[StrictStr]


class CountPoints(Wire):
    """How many points match; always counted exactly."""

    filter: Filter | None = None
    exact: Hint = None


class RetrievePoints(Wire):
    """Points by id; those that do not exist are left out."""

    ids: list[PointId]
    with_payload: WithPayload | None = None
    with_vector: WithVector | None = None


class ScrollPoints(Wire):
    """A page of points in the order of their ids."""

    offset: PointId | None = None
    limit: Annotated[int, Field(ge=1, lt=2**31)] = 10
    filter: Filter | None = None
    with_payload: WithPayload | None = None
    with_vector: WithVector | None = None


class Nearest(Wire):
    """Points near a vector."""

    nearest: Vector


class FusionQuery(Wire):
    """Points by their ranks (rrf) or scores (dbsf) in several prefetches."""

    fusion: Literal["rrf", "dbsf"]


class RrfParams(Wire):
    """How much the first ranks count more, and each prefetch."""

    k: Annotated[int, Field(ge=1, lt=2**31)] = 2
    weights: list[Number] | None = None


class RrfQuery(Wire):
    """Points by their ranks in several prefetches."""

    rrf: RrfParams


def _kind_of_query(given: Any) -> str | None:
    if isinstance(given, dict):
        known = [kind for kind in ("indices", "nearest", "fusion", "rrf") if kind in given]
        return known[0].replace("indices", "sparse") if known else None
    return kind_of_vector(given)


Query = Annotated[
    Annotated[Dense, Tag("dense")]
    | Annotated[SparseVector, Tag("sparse")]
    | Annotated[Nearest, Tag("nearest")]
    | Annotated[FusionQuery, Tag("fusion")]
    | Annotated[RrfQuery, Tag("rrf")],
    Discriminator(
        _kind_of_query,
        custom_error_type="unsupported",
        custom_error_message="the embedded index answers nearest, fusion and rrf queries",
    ),
]


class IdfCorpus(Wire):
    """Rarity of terms counted over the points of a filter only."""

    corpus: Filter


class SearchParams(Wire):
    """The search is always exact, so that most of these change nothing."""

    hnsw_ef: Hint = None
    exact: Hint = None
    indexed_only: Hint = None
    idf: Literal["global"] | IdfCorpus | None = None


class _Searching(Wire):
    prefetch: "list[Prefetch] | Prefetch | None" = None
    using: str | None = None
    filter: Filter | None = None
    params: SearchParams | None = None
    score_threshold: Number | None = None
    limit: Annotated[int, Field(ge=1, lt=2**31)] = 10


class Prefetch(_Searching):
    """A search whose result the one above it works on."""

    query: Query


class QueryPoints(_Searching):
    """A search and what to tell of the points it finds; without a query, those of the filter by their ids."""

    query: Query | None = None
    offset: Annotated[int, Field(ge=0, lt=2**31)] = 0
    with_payload: WithPayload | None = None
    with_vector: WithVector | None = None

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if self.query is None and (
            self.prefetch or self.using is not None or self.score_threshold is not None
        ):
            raise ValueError("without a query there is neither a prefetch nor a vector nor a score")
        return self


class QueryBatch(Wire):
    """Several searches; each answer as if asked alone."""

    searches: list[QueryPoints]
