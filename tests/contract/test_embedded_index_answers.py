"""The embedded index gives the same answers as qdrant-client's local mode. Each test asks both."""

import asyncio
import contextlib
import itertools
import math
import random
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest
import uvicorn
from qdrant_client import AsyncQdrantClient, models

from memory.embedded.index.collections import Collections
from memory.embedded.index.server import IndexApp

pytestmark = pytest.mark.slow

Ask = Callable[[AsyncQdrantClient], Awaitable[Any]]


def match(key: str, value: str | int) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def match_any(key: str, values: list[str]) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchAny(any=values))


def within(key: str, *, gte: float | None = None, lt: float | None = None) -> models.FieldCondition:
    return models.FieldCondition(key=key, range=models.Range(gte=gte, lt=lt))


CONTEXT = models.Filter(must=[match("context", "c1")])
EPOCH = models.Filter(must=[match("context", "c1"), match("epoch", 1)])
NOTHING = models.Filter(must=[match("nothing", "c1")])
FILTERS = {
    "match": CONTEXT,
    "match of an integer": models.Filter(must=[match("epoch", 2)]),
    "match in a list": models.Filter(must=[match("tags", "t3")]),
    "match of any": models.Filter(must=[match_any("context", ["c1", "c3"])]),
    "match of none": models.Filter(must=[match_any("context", [])]),
    "range of integers": models.Filter(must=[within("n", gte=10, lt=40)]),
    "range of floats": models.Filter(must=[within("w", gte=3.25)]),
    "ids": models.Filter(must=[models.HasIdCondition(has_id=[0, 2, 4, 998])]),
    "no ids": models.Filter(must=[models.HasIdCondition(has_id=[])]),
    "a vector": models.Filter(must=[models.HasVectorCondition(has_vector="dense")]),
    "all of several": EPOCH,
    "none of several": models.Filter(
        must=[within("n", gte=0)],
        must_not=[match("context", "c1"), within("n", lt=100), models.HasIdCondition(has_id=[102, 104])],
    ),
    "text for an integer": models.Filter(must=[match("epoch", "1")]),
    "integer for a keyword": models.Filter(must=[match("context", 1)]),
    "range over text": models.Filter(must=[within("context", gte=0)]),
    "unknown field": NOTHING,
}


def make_points(seed: int = 5, size: int = 200) -> list[models.PointStruct]:
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
                "tags": [f"t{n % 5}", f"t{n % 7}"],
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
RARITY = models.SearchParams(idf=models.IdfCorpusParams(corpus=CONTEXT))
SEARCHES = {
    "dense": models.QueryRequest(query=NEAR, using="dense", filter=CONTEXT),
    "dense, all": models.QueryRequest(
        query=NEAR, using="dense", filter=CONTEXT, limit=500, with_payload=True
    ),
    "dense, nothing": models.QueryRequest(query=NEAR, using="dense", filter=NOTHING),
    "sparse": models.QueryRequest(query=WORDS, using="text", filter=EPOCH, with_payload=["n"]),
    "sparse, rare in a context": models.QueryRequest(query=WORDS, using="text", filter=EPOCH, params=RARITY),
    "without": models.QueryRequest(query=NEAR, using="dense", filter=FILTERS["none of several"], limit=40),
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
    """Serve the embedded server's application in this process, on its own port."""
    collections = Collections(data_dir / "collections")
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(IndexApp(collections, "the key"), log_level="warning", lifespan="off")
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
        await collections.close()


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
            await client.upsert("messages", make_points(), wait=True)
        yield Engines(local, embedded)
    await local.close()


@pytest.fixture
async def indexed_engines(engines: Engines) -> Engines:
    """Open both engines with payload indexes, which local mode ignores."""
    schemas: dict[str, Any] = {
        "context": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
        "epoch": models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER),
        "n": models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=True),
        "w": models.FloatIndexParams(type=models.FloatIndexType.FLOAT),
    }
    for field, schema in schemas.items():
        await engines.embedded.create_payload_index("messages", field, field_schema=schema, wait=True)
    return engines


def assert_same_ranking(one: Any, other: Any) -> None:
    """Assert equal scores in the same order, and equal points except ties at the end."""
    found, found_too = points_of(one), points_of(other)
    scores = [point.score for point in found]
    assert [point.score for point in found_too] == pytest.approx(scores, abs=1e-5)
    last = scores[-1] if scores else 0.0
    above = {(point.id, round(point.score, 4)) for point in found if point.score > last + 1e-5}
    assert {(point.id, round(point.score, 4)) for point in found_too if point.score > last + 1e-5} == above
    if all(high - low > 1e-5 for high, low in itertools.pairwise(scores)):
        assert [point.id for point in found_too] == [point.id for point in found]


def points_of(answer: Any) -> list[models.ScoredPoint]:
    """Return the points of a response. The type checker does not know the client's alias."""
    return answer.points


async def test_searches_rank_alike(engines: Engines) -> None:
    await assert_same_answers(engines)


async def test_searches_rank_alike_with_payload_indexes(indexed_engines: Engines) -> None:
    await assert_same_answers(indexed_engines)


async def assert_same_answers(engines: Engines) -> None:
    requests = list(SEARCHES.values())
    local, embedded = await engines.ask_both(lambda client: client.query_batch_points("messages", requests))
    for name, one, other in zip(SEARCHES, local, embedded, strict=True):
        assert bool(points_of(one)) == (name != "dense, nothing"), name
        assert_same_ranking(one, other)
        payloads = {point.id: point.payload for point in points_of(one)}
        assert all(point.payload == payloads.get(point.id, point.payload) for point in points_of(other))


@pytest.mark.parametrize("name", ["match", "ids", "range of integers", "unknown field"])
async def test_a_search_without_a_query_returns_the_filtered_points_by_id(
    engines: Engines, name: str
) -> None:
    requests = [
        models.QueryRequest(filter=FILTERS[name], limit=40, with_payload=["n"]),
        models.QueryRequest(filter=FILTERS[name], limit=3),
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
    those = models.Filter(must=[models.HasIdCondition(has_id=list(range(4)))])
    repeated, _ = await engines.embedded.scroll("messages", scroll_filter=those, with_vectors=True)
    assert [rounded(point.vector) for point in repeated] == [rounded(point.vector) for point in kept]


async def test_filters_match_the_same_points(engines: Engines) -> None:
    await assert_same_filtering(engines)


async def test_filters_match_the_same_points_with_payload_indexes(indexed_engines: Engines) -> None:
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


async def test_scrolling_returns_the_same_pages(engines: Engines) -> None:
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


async def test_points_are_returned_as_they_were_stored(engines: Engines) -> None:
    wanted: list[dict[str, Any]] = [
        {"with_payload": True, "with_vectors": True},
        {"with_payload": ["context", "n"], "with_vectors": False},
        {"with_payload": False},
    ]
    for options in wanted:
        (local, _), (embedded, _) = await engines.ask_both(
            lambda client, options=options: client.scroll("messages", limit=500, **options)
        )
        assert [(point.id, point.payload or {}) for point in embedded] == [
            (point.id, point.payload or {}) for point in local
        ]
        assert [rounded(point.vector) for point in embedded] == [rounded(point.vector) for point in local]


async def test_an_upsert_replaces_vectors_and_payload(engines: Engines) -> None:
    fresh = models.PointStruct(id=4, vector={"dense": NEAR}, payload={"only": "this"})
    for client in (engines.local, engines.embedded):
        await client.upsert("messages", [fresh], wait=True)
    that = models.Filter(must=[models.HasIdCondition(has_id=[4])])
    (local, _), (embedded, _) = await engines.ask_both(
        lambda client: client.scroll("messages", scroll_filter=that, with_vectors=True)
    )
    assert embedded[0].payload == local[0].payload == {"only": "this"}
    assert rounded(embedded[0].vector) == rounded(local[0].vector)


async def test_a_deletion_by_filter_deletes_only_the_matches(indexed_engines: Engines) -> None:
    for name, wanted in FILTERS.items():
        for client in (indexed_engines.local, indexed_engines.embedded):
            await client.upsert("messages", make_points(), wait=True)
            await client.delete("messages", models.FilterSelector(filter=wanted), wait=True)
        (local, _), (embedded, _) = await indexed_engines.ask_both(
            lambda client: client.scroll("messages", limit=500)
        )
        assert [point.id for point in embedded] == [point.id for point in local], name


def rounded(vector: Any) -> Any:
    """Round scores: local mode keeps more digits than the engine's 32 bits."""
    if isinstance(vector, models.SparseVector):
        return {index: round(value, 4) for index, value in zip(vector.indices, vector.values, strict=True)}
    if isinstance(vector, dict):
        return {name: rounded(part) for name, part in cast("dict[str, Any]", vector).items()}
    return vector and [round(number, 4) for number in cast("list[float]", vector)]
