"""The embedded index answers as qdrant-client's own engine does: both are asked the same, here."""

import asyncio
import contextlib
import itertools
import math
import random
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest
import uvicorn
from qdrant_client import AsyncQdrantClient, models

from memory.embedded.index.app import build_app
from memory.embedded.index.collections import Collections

pytestmark = pytest.mark.slow

Ask = Callable[[AsyncQdrantClient], Awaitable[Any]]
FILTERS = {
    "match": models.Filter(must=[models.FieldCondition(key="context", match=models.MatchValue(value="c1"))]),
    "match of an integer": models.Filter(
        must=[models.FieldCondition(key="epoch", match=models.MatchValue(value=2))]
    ),
    "match in a list": models.Filter(
        must=[models.FieldCondition(key="tags", match=models.MatchValue(value="t3"))]
    ),
    "match of any": models.Filter(
        must=[models.FieldCondition(key="context", match=models.MatchAny(any=["c1", "c3"]))]
    ),
    "match of none": models.Filter(
        must=[models.FieldCondition(key="context", match=models.MatchAny(any=[]))]
    ),
    "range of integers": models.Filter(
        must=[models.FieldCondition(key="n", range=models.Range(gt=10, lte=40))]
    ),
    "range of floats": models.Filter(
        must=[models.FieldCondition(key="w", range=models.Range(gte=3.25, lt=9.5))]
    ),
    "range of times": models.Filter(
        must=[
            models.FieldCondition(
                key="at",
                range=models.DatetimeRange(
                    gte=datetime(2024, 1, 9, tzinfo=UTC), lt=datetime(2024, 1, 20, tzinfo=UTC)
                ),
            )
        ]
    ),
    "empty": models.Filter(must=[models.IsEmptyCondition(is_empty=models.PayloadField(key="note"))]),
    "null": models.Filter(must=[models.IsNullCondition(is_null=models.PayloadField(key="note"))]),
    "ids": models.Filter(must=[models.HasIdCondition(has_id=[0, 2, 4, 998])]),
    "all of several": models.Filter(
        must=[
            models.FieldCondition(key="context", match=models.MatchValue(value="c1")),
            models.FieldCondition(key="epoch", match=models.MatchValue(value=1)),
        ]
    ),
    "any of several": models.Filter(
        should=[
            models.FieldCondition(key="context", match=models.MatchValue(value="c1")),
            models.FieldCondition(key="epoch", match=models.MatchValue(value=1)),
        ]
    ),
    "none of several": models.Filter(
        must_not=[
            models.FieldCondition(key="context", match=models.MatchValue(value="c1")),
            models.FieldCondition(key="n", range=models.Range(lt=100)),
        ]
    ),
    "two of three": models.Filter(
        min_should=models.MinShould(
            conditions=[
                models.FieldCondition(key="context", match=models.MatchValue(value="c1")),
                models.FieldCondition(key="epoch", match=models.MatchValue(value=1)),
                models.FieldCondition(key="n", range=models.Range(lt=60)),
            ],
            min_count=2,
        )
    ),
    "nested": models.Filter(
        must=[models.FieldCondition(key="context", match=models.MatchValue(value="c1"))],
        must_not=[
            models.Filter(
                must=models.FieldCondition(key="epoch", match=models.MatchValue(value=0)),
                should=[models.FieldCondition(key="n", range=models.Range(gte=50))],
            )
        ],
    ),
    "text for an integer": models.Filter(
        must=[models.FieldCondition(key="epoch", match=models.MatchValue(value="1"))]
    ),
    "integer for a keyword": models.Filter(
        must=[models.FieldCondition(key="context", match=models.MatchValue(value=1))]
    ),
    "range over text": models.Filter(must=[models.FieldCondition(key="context", range=models.Range(gte=0))]),
    "unknown field": models.Filter(
        must=[models.FieldCondition(key="nothing", match=models.MatchValue(value="c1"))]
    ),
}
CONTEXT = FILTERS["match"]
EPOCH = FILTERS["all of several"]


def a_collection(seed: int = 5, size: int = 200) -> list[models.PointStruct]:
    """Points with integer and UUID ids, a dense and a sparse vector, and one field of each type."""
    chance = random.Random(seed)
    return [
        models.PointStruct(
            id=str(UUID(int=chance.getrandbits(128))) if n % 2 else n,
            vector={"dense": dense_vector(chance), "text": sparse_vector(chance)},
            payload={
                "context": f"c{n % 4}",
                "epoch": n % 3,
                "n": n,
                "w": n / 8,
                "at": f"2024-01-{n % 28 + 1:02d}T10:00:00Z",
                "tags": [f"t{n % 5}", f"t{n % 7}"],
                **({"note": None} if n % 3 == 0 else {"note": "x"} if n % 3 == 1 else {}),
            },
        )
        for n in range(size)
    ]


def dense_vector(chance: random.Random) -> list[float]:
    return [chance.gauss(0, 1) for _ in range(8)]


def sparse_vector(chance: random.Random) -> models.SparseVector:
    indices = chance.sample(range(40), 6)
    return models.SparseVector(indices=indices, values=[chance.uniform(0.2, 2) for _ in indices])


NEAR = dense_vector(random.Random(77))
WORDS = sparse_vector(random.Random(78))
PREFETCH = [
    models.Prefetch(query=NEAR, using="dense", limit=20),
    models.Prefetch(query=WORDS, using="text", limit=20),
]
PREFETCH_IN_CONTEXT = [
    models.Prefetch(query=NEAR, using="dense", limit=20, filter=CONTEXT),
    models.Prefetch(query=WORDS, using="text", limit=20, filter=CONTEXT),
]
RRF = models.FusionQuery(fusion=models.Fusion.RRF)
SEARCHES: dict[str, dict[str, Any]] = {
    "dense": {"query": NEAR, "using": "dense"},
    "dense, nested form": {"query": models.NearestQuery(nearest=NEAR), "using": "dense"},
    "dense in a context": {"query": NEAR, "using": "dense", "query_filter": CONTEXT},
    "dense above a score": {"query": NEAR, "using": "dense", "score_threshold": 0.3, "limit": 100},
    "dense from the sixth": {"query": NEAR, "using": "dense", "offset": 5, "limit": 5},
    "dense, all": {"query": NEAR, "using": "dense", "limit": 500},
    "dense of an empty context": {"query": NEAR, "using": "dense", "query_filter": FILTERS["unknown field"]},
    "sparse": {"query": WORDS, "using": "text"},
    "sparse in a context": {"query": WORDS, "using": "text", "query_filter": EPOCH},
    "sparse above a score": {"query": WORDS, "using": "text", "score_threshold": 1.5, "limit": 50},
    "sparse, rare within a context": {
        "query": WORDS,
        "using": "text",
        "query_filter": CONTEXT,
        "search_params": models.SearchParams(idf=models.IdfCorpusParams(corpus=CONTEXT)),
    },
    "fused": {"prefetch": PREFETCH, "query": RRF},
    "fused in a context": {"prefetch": PREFETCH_IN_CONTEXT, "query": RRF, "query_filter": EPOCH},
    "fused, filtered above only": {"prefetch": PREFETCH, "query": RRF, "query_filter": EPOCH},
    "fused above a score": {"prefetch": PREFETCH, "query": RRF, "score_threshold": 0.2, "limit": 50},
    "fused with k": {"prefetch": PREFETCH, "query": models.RrfQuery(rrf=models.Rrf(k=60))},
    "fused with weights": {
        "prefetch": PREFETCH,
        "query": models.RrfQuery(rrf=models.Rrf(k=3, weights=[3.0, 1.0])),
    },
    "fused by scores": {"prefetch": PREFETCH, "query": models.FusionQuery(fusion=models.Fusion.DBSF)},
    "rescored": {"prefetch": PREFETCH[1], "query": NEAR, "using": "dense"},
}


@dataclass(frozen=True, slots=True)
class Engines:
    """The same points in qdrant-client's local mode and behind the embedded server."""

    local: AsyncQdrantClient
    embedded: AsyncQdrantClient

    async def ask_both(self, ask: Ask) -> tuple[Any, Any]:
        return await ask(self.local), await ask(self.embedded)


@contextlib.asynccontextmanager
async def serving(data_dir: Path) -> AsyncGenerator[AsyncQdrantClient]:
    """The embedded server's application, in this process, on a port of its own."""
    collections = Collections.open(data_dir / "collections")
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(build_app(collections, "the key"), log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    client = AsyncQdrantClient(url=url, headers={"api-key": "the key"}, check_compatibility=False)
    try:
        yield client
    finally:
        await client.close()
        server.should_exit = True
        await running
        collections.close()


@pytest.fixture
async def engines(tmp_path: Path) -> AsyncGenerator[Engines]:
    local = AsyncQdrantClient(":memory:")
    async with serving(tmp_path) as embedded:
        for client in (local, embedded):
            await client.create_collection(
                "messages",
                vectors_config={"dense": models.VectorParams(size=8, distance=models.Distance.COSINE)},
                sparse_vectors_config={"text": models.SparseVectorParams(modifier=models.Modifier.IDF)},
            )
            await client.upsert("messages", a_collection(), wait=True)
        yield Engines(local, embedded)
    await local.close()


@pytest.fixture
async def indexed_engines(engines: Engines) -> Engines:
    """Local mode has no payload indexes, and needs none."""
    schemas: dict[str, Any] = {
        "context": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
        "epoch": models.PayloadSchemaType.INTEGER,
        "n": models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=True),
        "w": models.PayloadSchemaType.FLOAT,
        "at": models.PayloadSchemaType.DATETIME,
        "note": models.PayloadSchemaType.KEYWORD,
    }
    for field, schema in schemas.items():
        await engines.embedded.create_payload_index("messages", field, field_schema=schema, wait=True)
    return engines


def assert_same_ranking(one: Any, other: Any) -> None:
    """The same scores in the same order; the same points, but for those that tie with the last one."""
    found, found_too = points_of(one), points_of(other)
    scores = [point.score for point in found]
    assert [point.score for point in found_too] == pytest.approx(scores, abs=1e-5)
    last = scores[-1] if scores else 0.0
    above = {(point.id, round(point.score, 4)) for point in found if point.score > last + 1e-5}
    assert {(point.id, round(point.score, 4)) for point in found_too if point.score > last + 1e-5} == above
    if all(high - low > 1e-5 for high, low in itertools.pairwise(scores)):
        assert [point.id for point in found_too] == [point.id for point in found]


def points_of(answer: Any) -> list[models.ScoredPoint]:
    """The type checker does not see through the client's alias of its query response."""
    return answer.points


async def test_searches_rank_alike(engines: Engines) -> None:
    for name, search in SEARCHES.items():
        found = await engines.ask_both(
            lambda client, search=search: client.query_points("messages", **search)
        )
        assert found[0].points or name == "dense of an empty context", name
        assert_same_ranking(*found)


async def test_searches_rank_alike_with_payload_indexes(indexed_engines: Engines) -> None:
    for search in SEARCHES.values():
        assert_same_ranking(
            *await indexed_engines.ask_both(
                lambda client, search=search: client.query_points("messages", **search)
            )
        )


async def test_a_batch_of_searches_is_each_search_alone(engines: Engines) -> None:
    requests = [
        models.QueryRequest(query=NEAR, using="dense", limit=5, filter=CONTEXT),
        models.QueryRequest(query=WORDS, using="text", limit=3, with_payload=True),
    ]
    local, embedded = await engines.ask_both(lambda client: client.query_batch_points("messages", requests))
    for one, other in zip(local, embedded, strict=True):
        assert_same_ranking(one, other)
    assert [point.payload for point in embedded[1].points] == [point.payload for point in local[1].points]


@pytest.mark.parametrize("name", ["match", "ids", "range of integers", "unknown field"])
async def test_without_a_query_the_points_of_the_filter_come_by_their_ids(
    engines: Engines, name: str
) -> None:
    requests = [
        models.QueryRequest(filter=FILTERS[name], limit=40, with_payload=["n"]),
        models.QueryRequest(filter=FILTERS[name], limit=3, offset=2),
    ]
    local, embedded = await engines.ask_both(lambda client: client.query_batch_points("messages", requests))
    for one, other in zip(local, embedded, strict=True):
        assert [(point.id, point.payload) for point in points_of(other)] == [
            (point.id, point.payload) for point in points_of(one)
        ]
    assert bool(points_of(local[0])) == (name != "unknown field")


async def test_a_point_may_lack_either_vector_or_both(engines: Engines) -> None:
    # The engine keeps vectors that it compares by cosine at length 1.
    unit = [number / math.hypot(*NEAR) for number in NEAR]
    partial: list[dict[str, Any]] = [{}, {"dense": unit}, {"text": WORDS}, {"dense": unit, "text": WORDS}]
    points = [
        models.PointStruct(id=n, vector=vector, payload={"context": "partial"})
        for n, vector in enumerate(partial)
    ]
    scope = models.Filter(
        must=[models.FieldCondition(key="context", match=models.MatchValue(value="partial"))]
    )
    mute = models.Filter(must=scope.must, must_not=[models.HasVectorCondition(has_vector="dense")])
    for client in (engines.local, engines.embedded):
        await client.upsert("messages", points, wait=True)
    requests = [
        models.QueryRequest(query=query, using=using, filter=scope)
        for query, using in ((NEAR, "dense"), (WORDS, "text"))
    ]
    requests += [models.QueryRequest(filter=mute)]
    local, embedded = await engines.ask_both(lambda client: client.query_batch_points("messages", requests))
    for one, other in zip(local, embedded, strict=True):
        assert_same_ranking(one, other)
        assert len(points_of(other)) == 2
    kept, _ = await engines.embedded.scroll("messages", scroll_filter=scope, with_vectors=True)
    assert [rounded(point.vector) for point in kept] == [rounded(vectors) for vectors in partial]
    again = [models.PointStruct(id=point.id, vector=cast(Any, point.vector), payload={}) for point in kept]
    await engines.embedded.upsert("messages", again, wait=True)
    repeated = await engines.embedded.retrieve("messages", list(range(4)), with_vectors=True)
    assert [rounded(point.vector) for point in repeated] == [rounded(point.vector) for point in kept]


async def test_filters_let_the_same_points_through(engines: Engines) -> None:
    await assert_same_filtering(engines)


async def test_filters_let_the_same_points_through_with_payload_indexes(indexed_engines: Engines) -> None:
    await assert_same_filtering(indexed_engines)


async def assert_same_filtering(engines: Engines) -> None:
    for name, wanted in FILTERS.items():
        (local, _), (embedded, _) = await engines.ask_both(
            lambda client, wanted=wanted: client.scroll("messages", scroll_filter=wanted, limit=500)
        )
        assert [point.id for point in embedded] == [point.id for point in local], name
        counts = await engines.ask_both(
            lambda client, wanted=wanted: client.count("messages", count_filter=wanted, exact=True)
        )
        assert counts[1] == counts[0] == models.CountResult(count=len(local)), name


async def test_scrolling_turns_the_same_pages(engines: Engines) -> None:
    async def pages(client: AsyncQdrantClient) -> list[list[models.ExtendedPointId]]:
        turned: list[list[models.ExtendedPointId]] = []
        offset = None
        while True:
            page, offset = await client.scroll(
                "messages", scroll_filter=FILTERS["none of several"], limit=7, offset=offset
            )
            turned.append([point.id for point in page])
            if offset is None:
                return turned

    local, embedded = await engines.ask_both(pages)
    assert len(local) > 3
    assert embedded == local


async def test_points_are_told_as_they_were_stored(engines: Engines) -> None:
    ids = [point.id for point in a_collection()[:6]]
    wanted: list[dict[str, Any]] = [
        {"with_payload": True, "with_vectors": True},
        {"with_payload": ["context", "n"], "with_vectors": ["dense"]},
        {"with_payload": models.PayloadSelectorExclude(exclude=["tags"]), "with_vectors": False},
        {"with_payload": False},
    ]
    for options in wanted:
        local, embedded = await engines.ask_both(
            lambda client, options=options: client.retrieve("messages", [*reversed(ids), 998], **options)
        )
        assert [(point.id, point.payload or {}) for point in embedded] == [
            (point.id, point.payload or {}) for point in local
        ]
        assert [rounded(point.vector) for point in embedded] == [rounded(point.vector) for point in local]


async def test_an_upsert_replaces_vectors_and_payload(engines: Engines) -> None:
    fresh = models.PointStruct(id=4, vector={"dense": NEAR}, payload={"only": "this"})
    for client in (engines.local, engines.embedded):
        await client.upsert("messages", [fresh], wait=True)
    local, embedded = await engines.ask_both(
        lambda client: client.retrieve("messages", [4], with_payload=True, with_vectors=True)
    )
    assert embedded[0].payload == local[0].payload == {"only": "this"}
    assert rounded(embedded[0].vector) == rounded(local[0].vector)


async def test_payload_is_set_by_ids_and_by_filter(engines: Engines) -> None:
    for client in (engines.local, engines.embedded):
        await client.set_payload("messages", {"epoch": 9, "new": [1, {"a": None}]}, points=[2, 4], wait=True)
        await client.set_payload("messages", {"seen": "yes"}, points=CONTEXT, wait=True)
    (local, _), (embedded, _) = await engines.ask_both(lambda client: client.scroll("messages", limit=500))
    assert [point.payload for point in embedded] == [point.payload for point in local]


async def test_a_filter_deletes_what_it_finds_and_nothing_else(indexed_engines: Engines) -> None:
    for name, wanted in FILTERS.items():
        for client in (indexed_engines.local, indexed_engines.embedded):
            await client.upsert("messages", a_collection(), wait=True)
            await client.delete("messages", models.FilterSelector(filter=wanted), wait=True)
        (local, _), (embedded, _) = await indexed_engines.ask_both(
            lambda client: client.scroll("messages", limit=500)
        )
        assert [point.id for point in embedded] == [point.id for point in local], name


async def test_points_are_deleted_by_id(engines: Engines) -> None:
    gone = models.PointIdsList(points=[a_collection()[1].id, 2, 998])
    for client in (engines.local, engines.embedded):
        await client.delete("messages", gone, wait=True)
    counts = await engines.ask_both(lambda client: client.count("messages"))
    assert counts[0] == counts[1] == models.CountResult(count=198)


@pytest.mark.parametrize("distance", list(models.Distance))
async def test_every_distance_ranks_alike(tmp_path: Path, distance: models.Distance) -> None:
    chance = random.Random(3)
    points = [models.PointStruct(id=n, vector=dense_vector(chance), payload={}) for n in range(50)]
    local = AsyncQdrantClient(":memory:")
    async with serving(tmp_path) as embedded:
        for client in (local, embedded):
            await client.create_collection("unnamed", models.VectorParams(size=8, distance=distance))
            await client.upsert("unnamed", points, wait=True)
        one, other = [await client.query_points("unnamed", query=NEAR) for client in (local, embedded)]
        assert [point.id for point in other.points] == [point.id for point in one.points]
        assert [point.score for point in other.points] == pytest.approx(
            [point.score for point in one.points], abs=1e-4
        )
        kept = [await client.retrieve("unnamed", [7], with_vectors=True) for client in (local, embedded)]
        assert rounded(kept[1][0].vector) == rounded(kept[0][0].vector)
    await local.close()


def rounded(vector: Any) -> Any:
    """Local mode keeps more digits than the engine's 32 bits."""
    if isinstance(vector, models.SparseVector):
        return {index: round(value, 4) for index, value in zip(vector.indices, vector.values, strict=True)}
    if isinstance(vector, dict):
        return {name: rounded(part) for name, part in cast("dict[str, Any]", vector).items()}
    return vector and [round(number, 4) for number in cast("list[float]", vector)]
