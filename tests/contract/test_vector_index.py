"""What every VectorIndex does: on the embedded index server, on qdrant-client's local mode, in memory."""

import asyncio
import warnings
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast
from uuid import uuid4

import pytest
from qdrant_client import AsyncQdrantClient, models

from memory.embedded.index_server import IndexEndpoint
from memory.embedding import EmbeddingSpace
from memory.errors import IndexMismatch, MissingContext, RecallUnavailable
from memory.qdrant_index import COLLECTION_PREFIX, QdrantIndex, open_qdrant, point_id
from memory.recall import RecallHit, VectorErasure, VectorIndex, VectorPoint, VectorQuery
from memory.testing_stores import InMemoryIndex

EAST, NORTH, NORTHEAST = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.8, 0.0]


SPACE = EmbeddingSpace(model="test-vector-index", dimension=3, version="1")


def a_space(*, dimension: int = 3) -> EmbeddingSpace:
    """A space, and so a collection, of the test's own."""
    return EmbeddingSpace(model=f"test-{uuid4()}", dimension=dimension, version="1")


def a_point(context_id: str, message_id: str, vector: list[float], *, epoch: int = 0) -> VectorPoint:
    return VectorPoint(
        context_id=context_id,
        epoch=epoch,
        message_id=message_id,
        role="user",
        sender_id=None,
        sent_at=1.5,
        vector=vector,
    )


def a_query(context_id: str, *, epoch: int = 0, limit: int = 10) -> VectorQuery:
    return VectorQuery(context_id=context_id, epoch=epoch, vector=EAST, limit=limit)


def found(hits: list[RecallHit]) -> list[str]:
    return [hit.message_id for hit in hits]


@asynccontextmanager
async def a_local_client() -> AsyncGenerator[AsyncQdrantClient]:
    client = AsyncQdrantClient(":memory:")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Payload indexes have no effect in the local Qdrant")
        yield client
    await client.close()


@pytest.fixture(params=["server", "local", "memory"])
async def index(request: pytest.FixtureRequest, index_endpoint: IndexEndpoint) -> AsyncGenerator[VectorIndex]:
    if request.param == "memory":
        yield InMemoryIndex()
    elif request.param == "local":
        async with a_local_client() as client:
            yield QdrantIndex(client, SPACE)
    else:
        async with open_qdrant(index_endpoint.url, api_key=index_endpoint.api_key) as client:
            yield QdrantIndex(client, SPACE)


@pytest.fixture
async def client(index_endpoint: IndexEndpoint) -> AsyncGenerator[AsyncQdrantClient]:
    """A client of the server; the collections of the test's own are removed after it: counting asks each."""
    async with open_qdrant(index_endpoint.url, api_key=index_endpoint.api_key) as opened:
        before = {found.name for found in (await opened.get_collections()).collections}
        yield opened
        for made in (await opened.get_collections()).collections:
            if made.name not in before:
                await opened.delete_collection(made.name)


@pytest.fixture
def chat() -> str:
    """A context id of the test's own: erasing and counting cover all collections of a shared server."""
    return uuid4().hex


async def test_the_nearest_come_first_with_their_cosine(index: VectorIndex, chat: str) -> None:
    await index.upsert([a_point(chat, "n", NORTH), a_point(chat, "ne", NORTHEAST), a_point(chat, "e", EAST)])
    hits = await index.search(a_query(chat))
    assert found(hits) == ["e", "ne", "n"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.6, 0.0], abs=1e-6)
    assert found(await index.search(a_query(chat, limit=2))) == ["e", "ne"]


async def test_an_empty_index_finds_and_erases_nothing(index: VectorIndex, chat: str) -> None:
    assert await index.search(a_query(chat)) == []
    assert await index.count(chat) == 0
    assert await index.erase(chat, below_epoch=9) == VectorErasure(found=0, left=0)
    assert await index.drop(chat, epoch=0, message_ids=["m"]) == VectorErasure(found=0, left=0)
    assert await index.drop(chat, epoch=0, message_ids=[]) == VectorErasure(found=0, left=0)


async def test_a_message_indexed_twice_is_kept_once_as_it_was_last(index: VectorIndex, chat: str) -> None:
    await index.upsert([a_point(chat, "m", EAST)])
    await index.upsert([a_point(chat, "m", NORTH)])
    assert await index.count(chat) == 1
    (hit,) = await index.search(a_query(chat))
    assert hit.score == pytest.approx(0.0, abs=1e-6)


async def test_a_search_sees_its_own_context_only(index: VectorIndex, chat: str) -> None:
    other = uuid4().hex
    await index.upsert([a_point(chat, "mine", NORTH), a_point(other, "theirs", EAST)])
    assert found(await index.search(a_query(chat))) == ["mine"]
    await index.erase(other, below_epoch=1)
    assert (await index.count(chat), await index.count(other)) == (1, 0)


async def test_a_late_vector_of_a_forgotten_epoch_is_never_found(index: VectorIndex, chat: str) -> None:
    await index.upsert([a_point(chat, "old", EAST, epoch=1), a_point(chat, "new", NORTH, epoch=2)])
    assert found(await index.search(a_query(chat, epoch=2))) == ["new"]
    assert found(await index.search(a_query(chat, epoch=1))) == ["old"]
    assert await index.search(a_query(chat, epoch=3)) == []


async def test_excluded_messages_make_room_for_others(index: VectorIndex, chat: str) -> None:
    await index.upsert([a_point(chat, "e", EAST), a_point(chat, "ne", NORTHEAST), a_point(chat, "n", NORTH)])
    query = replace(a_query(chat, limit=2), excluded=frozenset({"e"}))
    assert found(await index.search(query)) == ["ne", "n"]


async def test_an_erasure_takes_the_older_epochs_only_and_counts_them(index: VectorIndex, chat: str) -> None:
    await index.upsert([a_point(chat, f"m{epoch}", EAST, epoch=epoch) for epoch in range(4)])
    assert await index.erase(chat, below_epoch=3) == VectorErasure(found=3, left=0)
    assert await index.erase(chat, below_epoch=3) == VectorErasure(found=0, left=0)
    assert found(await index.search(a_query(chat, epoch=3))) == ["m3"]


async def test_dropping_takes_the_named_messages_of_the_named_epoch(index: VectorIndex, chat: str) -> None:
    await index.upsert(
        [a_point(chat, "a", EAST), a_point(chat, "b", EAST), a_point(chat, "c", EAST, epoch=1)]
    )
    assert await index.drop(chat, epoch=0, message_ids={"a", "c", "nothing"}) == VectorErasure(
        found=1, left=0
    )
    assert await index.count(chat) == 2


async def test_nothing_is_done_without_a_context(index: VectorIndex) -> None:
    for attempt in (
        index.search(a_query("")),
        index.upsert([a_point("", "m", EAST)]),
        index.erase("", below_epoch=9),
        index.drop("", epoch=0, message_ids=["m"]),
        index.count(""),
    ):
        with pytest.raises(MissingContext):
            await attempt


async def test_the_collection_carries_the_space_and_its_points_carry_no_text(
    client: AsyncQdrantClient, chat: str
) -> None:
    space = a_space()
    index = QdrantIndex(client, space)
    await index.upsert([replace(a_point(chat, "m", EAST, epoch=4), sender_id=5)])
    assert index.collection == COLLECTION_PREFIX + space.collection_slug
    (record,) = await client.retrieve(index.collection, [point_id(chat, "m")])
    assert record.payload == {
        "context": chat,
        "epoch": 4,
        "message_id": "m",
        "role": "user",
        "sender_id": 5,
        "sent_at": 1.5,
    }
    info = await client.get_collection(index.collection)
    assert set(info.payload_schema) == {"context", "epoch", "role", "sent_at"}


async def test_erasing_covers_the_collections_of_former_embedders(
    client: AsyncQdrantClient, chat: str
) -> None:
    former, present = QdrantIndex(client, a_space()), QdrantIndex(client, a_space(dimension=4))
    await former.upsert([a_point(chat, "m", EAST)])
    await present.upsert([a_point(chat, "m", [*EAST, 0.0])])
    assert await present.count(chat) == 2
    assert await present.erase(chat, below_epoch=1) == VectorErasure(found=2, left=0)
    assert await former.count(chat) == 0


async def test_a_collection_of_another_size_is_named_with_both_sizes(
    client: AsyncQdrantClient, chat: str
) -> None:
    space = a_space()
    await QdrantIndex(client, space).search(a_query(chat))
    other = QdrantIndex(client, replace(space, dimension=4))
    other.collection = COLLECTION_PREFIX + space.collection_slug
    with pytest.raises(IndexMismatch, match=r"3 dimensions, but .* makes 4"):
        await other.search(a_query(chat))


async def test_a_collection_without_our_vector_is_not_used(client: AsyncQdrantClient, chat: str) -> None:
    index = QdrantIndex(client, a_space())
    plain = models.VectorParams(size=3, distance=models.Distance.COSINE)
    await client.create_collection(index.collection, vectors_config=plain)
    with pytest.raises(IndexMismatch, match="dense"):
        await index.search(a_query(chat))


async def test_several_openers_at_once_make_one_collection(client: AsyncQdrantClient, chat: str) -> None:
    space = a_space()
    openers = [QdrantIndex(client, space) for _ in range(6)]
    await asyncio.gather(
        *(index.upsert([a_point(chat, f"m{number}", EAST)]) for number, index in enumerate(openers))
    )
    assert await openers[0].count(chat) == 6


async def test_a_collection_that_was_removed_is_made_again(client: AsyncQdrantClient, chat: str) -> None:
    index = QdrantIndex(client, a_space())
    await index.upsert([a_point(chat, "m", EAST)])
    await client.delete_collection(index.collection)
    with pytest.raises(RecallUnavailable):
        await index.search(a_query(chat))
    assert await index.search(a_query(chat)) == []


async def test_a_server_that_is_not_there_is_unavailable_with_its_cause_kept(chat: str) -> None:
    async with open_qdrant("http://127.0.0.1:9", timeout_s=1.0) as nowhere:
        index = QdrantIndex(nowhere, SPACE)
        for attempt in (index.search(a_query(chat)), index.count(chat), index.erase(chat, below_epoch=1)):
            with pytest.raises(RecallUnavailable, match="cannot be reached") as raised:
                await attempt
            assert raised.value.__cause__ is not None


async def test_a_wrong_key_is_said_without_the_key(index_endpoint: IndexEndpoint, chat: str) -> None:
    async with open_qdrant(index_endpoint.url, api_key="canary-key") as stranger:
        with pytest.raises(RecallUnavailable, match=r"40[13]") as raised:
            await QdrantIndex(stranger, SPACE).search(a_query(chat))
    assert "canary-key" not in str(raised.value)


async def test_a_vector_of_a_wrong_size_is_refused_and_nothing_kept(
    client: AsyncQdrantClient, chat: str
) -> None:
    index = QdrantIndex(client, SPACE)
    with pytest.raises(RecallUnavailable, match="400"):
        await index.upsert([a_point(chat, "m", [1.0, 0.0])])
    assert await index.count(chat) == 0


class Hasty:
    """A server that takes a write without finishing it, as Qdrant does when its `timeout` runs out."""

    def __init__(self, client: AsyncQdrantClient) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def upsert(self, *args: Any, **kwargs: Any) -> models.UpdateResult:
        done = await self._client.upsert(*args, **kwargs)
        return done.model_copy(update={"status": models.UpdateStatus.ACKNOWLEDGED})


async def test_a_write_that_is_only_acknowledged_is_not_done(client: AsyncQdrantClient, chat: str) -> None:
    index = QdrantIndex(cast(AsyncQdrantClient, Hasty(client)), SPACE)
    with pytest.raises(RecallUnavailable, match="did not finish"):
        await index.upsert([a_point(chat, "m", EAST)])
