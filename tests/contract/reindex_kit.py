"""Processes with different embedders on one store and one index, for the suites of re-indexing."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import uuid4

from qdrant_client import models as q

from memory.embedded.supervisor import IndexEndpoint
from memory.history.contexts import get_or_create
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef, partition_key
from memory.recall.audit import IndexAudit
from memory.recall.embedders.embedder import Embedder, EmbeddingSpace
from memory.recall.indexer import Indexer
from memory.recall.lexicon.analysis import RECIPE
from memory.recall.qdrant.index import FormerCollections, Qdrant, QdrantIndex, open_qdrant
from memory.recall.recall import Recall, RecallQuestion
from memory.recall.reindex import Reindexer
from memory.recall.space_follower import SpaceFollower, SpaceRegister
from memory.recall.spaces import LAYOUT, Space, SpaceDescription, SpacesRecord, collection_name
from memory.redis.client import RedisClient
from tests.contract.vector_kit import client_of
from tests.fakes.embedder import FakeEmbedder
from tests.story.index_points import message_id_of

MOST_STEPS = 200


class Clock:
    """A time that the test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def make_embedder(*, dimension: int = 64) -> FakeEmbedder:
    """Return an embedder with a space, and so a collection, of its own."""
    embedder = FakeEmbedder(dimension=dimension)
    embedder.identity = EmbeddingSpace(model=f"fake-{uuid4().hex}", dimension=dimension, version="1")
    return embedder


def describe(embedder: Embedder, *, recipe: str = RECIPE, layout: str = LAYOUT) -> SpaceDescription:
    """Return the space of this embedder."""
    identity = embedder.identity
    return SpaceDescription(
        collection=collection_name(identity, recipe=recipe, layout=layout),
        model=identity.model,
        dimension=identity.dimension,
        version=identity.version,
        recipe=recipe,
        layout=layout,
        source="embedded",
    )


@dataclass(slots=True, kw_only=True)
class Process:
    """A worker: an indexer for each partition and a reindexer. It searches `follower.spaces`."""

    register: SpaceRegister
    follower: SpaceFollower
    recall: Recall
    indexers: list[Indexer]
    reindexer: Reindexer

    async def work(self) -> None:
        """Do one step of everything."""
        await self.reindexer.step()
        for indexer in self.indexers:
            await indexer.step()

    async def work_until_it_serves(self) -> None:
        """Repeat steps until nothing is being built; fail if that does not end."""
        for _ in range(MOST_STEPS):
            await self.work()
            if (await self.reindexer.progress()).target is None:
                return
        raise AssertionError("the space is never whole")

    async def best(self, ref: ContextRef, text: str) -> str | None:
        """Return the id of the best hit."""
        question = RecallQuestion(text=text, now=0.0)
        hits = await self.recall.search(ref, 0, question, k=1)
        return hits[0].message_id if hits else None


@dataclass(slots=True, kw_only=True)
class Rig:
    """The stores, and the processes on them."""

    redis: RedisClient
    qdrant: Qdrant
    clock: Clock
    partitions: int = 1
    collections: set[str] = field(default_factory=set[str])

    @property
    def history(self) -> RedisHistory:
        """The history in Redis."""
        return RedisHistory(self.redis)

    @property
    def register(self) -> SpaceRegister:
        """The record of the spaces."""
        return SpaceRegister(self.redis, partitions=self.partitions, clock=self.clock)

    async def record(self) -> SpacesRecord:
        """Return the present record."""
        record = await self.register.load()
        assert record is not None
        return record

    def process(
        self, embedder: Embedder, *, described: SpaceDescription | None = None, consumer: str = ""
    ) -> Process:
        """Return a process that has not claimed its space."""
        ours = described or describe(embedder)
        self.collections.add(ours.collection)
        follower = SpaceFollower(
            self.register, ours=ours, embedder=embedder, open_space=self.space, clock=self.clock
        )
        recall = Recall(follower.spaces)
        return Process(
            register=self.register,
            follower=follower,
            recall=recall,
            indexers=[
                self.indexer(recall, partition, consumer or uuid4().hex)
                for partition in range(self.partitions)
            ],
            reindexer=Reindexer(
                self.redis,
                follower=follower,
                collections=FormerCollections(self.qdrant),
                audit=IndexAudit(self.redis, self.history, partitions=self.partitions),
                partitions=self.partitions,
                clock=self.clock,
                is_renewed=True,
            ),
        )

    async def started(self, embedder: Embedder, **details: Any) -> Process:
        """Return a process that has claimed its space, as a worker does at its start."""
        process = self.process(embedder, **details)
        await process.reindexer.claim()
        return process

    def indexer(self, recall: Recall, partition: int, consumer: str) -> Indexer:
        return Indexer(
            redis=self.redis,
            history=self.history,
            recall=recall,
            partition=partition,
            consumer=consumer,
            block_ms=1,
        )

    def space(self, described: SpaceDescription, embedder: Embedder | None) -> Space:
        return Space(
            embedder=embedder,
            index=QdrantIndex(self.qdrant, described.collection, dimension=described.dimension),
            name=described.collection,
        )

    async def chat(self, messages: Sequence[Message] = (), *, partition: int = 0) -> ContextRef:
        """Create a registered chat with these messages."""
        ref = ContextRef(context_id=uuid4().hex, partition=partition)
        await self.register_chat(ref)
        await self.history.append(ref, messages, epoch=0)
        return ref

    async def register_chat(self, ref: ContextRef) -> None:
        await get_or_create(self.redis, ref, context_keys={"id": ref.context_id}, title="", now=0.0)

    async def queued(self, partition: int = 0) -> int:
        """Return the number of entries in the work stream."""
        return int(await self.redis.call("XLEN", partition_key(partition, "work")))

    async def points(self, described: SpaceDescription) -> dict[str, Any]:
        """Return all points of the collection by id, with payload and vectors; empty if there is none."""
        if not await self.has_collection(described.collection):
            return {}
        found, _ = await client_of(self.qdrant).scroll(
            described.collection, limit=10_000, with_payload=True, with_vectors=True
        )
        return {str(point.id): (point.payload, _rounded(point.vector)) for point in found}

    async def lose_points(self, described: SpaceDescription) -> None:
        """Delete all points, as if the index had lost its data."""
        every = q.Filter(must=[q.FieldCondition(key="epoch", range=q.Range(gte=0))])
        await client_of(self.qdrant).delete(described.collection, q.FilterSelector(filter=every))

    async def has_collection(self, name: str) -> bool:
        return name in [each.name for each in (await client_of(self.qdrant).get_collections()).collections]

    async def message_ids(self, described: SpaceDescription, ref: ContextRef) -> set[str]:
        """Return the ids of the chat's messages in the collection."""
        points = await self.points(described)
        return {
            message_id_of(payload) for payload, _ in points.values() if payload["context"] == ref.context_id
        }


@asynccontextmanager
async def rig_on_server(redis: RedisClient, endpoint: IndexEndpoint) -> AsyncGenerator[Rig]:
    """Use the index server. New collections go with the rig: erasing covers all of them."""
    async with open_qdrant(endpoint.url, api_key=endpoint.api_key) as qdrant:
        before = await collection_names(qdrant)
        yield Rig(redis=redis, qdrant=qdrant, clock=Clock())
        for name in await collection_names(qdrant) - before:
            await client_of(qdrant).delete_collection(name)


async def collection_names(qdrant: Qdrant) -> set[str]:
    """Return the names of all collections."""
    return {each.name for each in (await client_of(qdrant).get_collections()).collections}


def _rounded(vectors: Any) -> dict[str, Any]:
    """Round dense numbers to the precision of a 32-bit float."""
    told = cast("dict[str, Any]", vectors)
    return {name: _rounded_numbers(vector) for name, vector in told.items()}


def _rounded_numbers(vector: Any) -> Any:
    if not isinstance(vector, list):
        return vector
    return [round(number, 5) for number in cast("list[float]", vector)]
