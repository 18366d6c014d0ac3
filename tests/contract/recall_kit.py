"""The indexer's surroundings for tests: the real store, the embedded index, and an embedder of words."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

from memory.chat_history import ChatHistory
from memory.embedded.supervisor import IndexEndpoint
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef, partition_key
from memory.recall.indexer import GROUP, CurrentHistory, Indexer
from memory.recall.qdrant.index import QdrantIndex, open_qdrant
from memory.recall.recall import Recall
from memory.recall.spaces import Space, Spaces, collection_name
from memory.redis.client import RedisClient
from tests.fakes.embedder import FakeEmbedder
from tests.messages import WordTokenizer


@dataclass(frozen=True)
class Rig:
    redis: RedisClient
    store: RedisHistory
    embedder: FakeEmbedder
    index: QdrantIndex
    recall: Recall
    ref: ContextRef

    def indexer(self, consumer: str = "one", *, history: CurrentHistory | None = None) -> Indexer:
        return Indexer(
            redis=self.redis,
            history=history or self.store,
            recall=self.recall,
            partition=0,
            consumer=consumer,
            block_ms=1,
        )

    def history(self, *, epoch: int = 0) -> ChatHistory:
        return ChatHistory(
            ref=self.ref,
            epoch=epoch,
            store=self.store,
            recall=self.recall,
            tokenizer=WordTokenizer(),
            clock=lambda: 0.0,
            new_id=lambda: uuid4().hex,
        )

    async def queued(self) -> int:
        return int(await self.redis.call("XLEN", partition_key(0, "work")))

    async def pending(self) -> int:
        return int((await self.redis.call("XPENDING", partition_key(0, "work"), GROUP))["pending"])


@asynccontextmanager
async def open_rig(redis: RedisClient, endpoint: IndexEndpoint) -> AsyncGenerator[Rig]:
    """Open a context of its own on these stores."""
    embedder = FakeEmbedder(dimension=512)
    async with open_qdrant(endpoint.url, api_key=endpoint.api_key) as qdrant:
        index = QdrantIndex(qdrant, collection_name(embedder.identity), dimension=512)
        yield Rig(
            redis=redis,
            store=RedisHistory(redis),
            embedder=embedder,
            index=index,
            recall=Recall(Spaces(serving=Space(embedder=embedder, index=index))),
            ref=ContextRef(context_id=uuid4().hex, partition=0),
        )
