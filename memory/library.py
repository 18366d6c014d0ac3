"""Memory as a library: chats that remember, on any Redis and Qdrant or on embedded stores, without the bot."""

import asyncio
import time
from collections.abc import AsyncGenerator, Collection
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Unpack
from uuid import uuid4

from memory.chat_history import ChatHistory, MessageDetails, RankedMessage, SearchOptions
from memory.embedded.data_dir import folder_path
from memory.embedded.file_rewriter import FileRewriter
from memory.erasure import ErasureReceipt, delete_provably
from memory.errors import MemoryFailure, UnsafeStore
from memory.history.contexts import get_or_create
from memory.history.message import Message
from memory.history.selectors import MessageWindowMessageSelector
from memory.keys import ContextRef, context_id, partition_key, partition_of
from memory.recall.indexer import Indexer
from memory.recall.qdrant.index import open_qdrant
from memory.redis.client import open_redis
from memory.redis.durability import check_store
from memory.redis.server_files import ServerFiles
from memory.redis.store_format import check_store_format
from memory.redis.tombstone_files import FOLDER
from memory.stores import (
    EmbedderConfig,
    MemoryStores,
    StoreConfig,
    build_indexers,
    build_rewriter,
    open_memory_stores,
    open_places,
)
from memory.tokens import Tokenizer
from memory.tombstones import open_beside

NAMESPACE = "library"
"""Contexts of the library have ids of their own: no key of ours is a chat of the bot."""
PARTITIONS = 8
"""Partitions of a store that nobody has used before."""
CLEAN_EVERY_S = 2.0
_LEASE_S = 30.0
_BLANK_MESSAGE = (
    "The text of a message must not be empty: nobody could find it. A `note` may stand for a file."
)


class Memory:
    """The memory of many chats. Open it with `Memory.open`; it belongs to one event loop."""

    def __init__(self, stores: MemoryStores, indexers: list[Indexer]) -> None:
        self.stores = stores
        self._indexers = indexers
        self._indexing = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        redis_url: str | None = None,
        *,
        qdrant_url: str | None = None,
        qdrant_api_key: str | None = None,
        data_dir: str | Path = "data",
    ) -> AsyncGenerator["Memory"]:
        """Open the stores until the block ends; without a URL the embedded ones under `data_dir`.

        Recall uses the embedded embedder if it is installed (`mnemogram[embedded]`), and words alone otherwise.
        Raises StoreUnavailable, RecallUnavailable, StoreMismatch, and UnsafeStore for a server that would lose data.
        """
        config = StoreConfig(
            data_dir=Path(data_dir), redis_url=redis_url, qdrant_url=qdrant_url, qdrant_api_key=qdrant_api_key
        )
        async with AsyncExitStack() as stack:
            redis_place, (index_url, index_key) = await open_places(config, stack)
            redis = await stack.enter_async_context(open_redis(redis_place))
            durability = await check_store(redis, is_external=redis_url is not None)
            if durability.problems and redis_url is not None:
                raise UnsafeStore("\n".join(durability.problems))
            partitions = await check_store_format(redis, partitions=PARTITIONS)
            await open_beside(redis, folder_path(config.data_dir, FOLDER))
            qdrant = await stack.enter_async_context(
                open_qdrant(index_url, api_key=index_key, is_embedded=qdrant_url is None)
            )
            embedder = EmbedderConfig()
            stores = await open_memory_stores(redis, qdrant, embedder, stack, partitions=partitions)
            await stores.reindexer.claim()
            indexers = build_indexers(stores, consumer=f"library-{uuid4().hex}", lease_s=_LEASE_S, block_ms=1)
            await stack.enter_async_context(_cleaning(build_rewriter(redis, config, partitions=partitions)))
            memory = cls(stores, indexers)
            stack.push_async_callback(memory._leave)
            yield memory

    def chat(self, key: str) -> "Chat":
        """Return the chat of this name; it is created by its first message. Raises ValueError for an empty name."""
        _refuse_blank(
            key, "The key of a chat must not be empty: it is the name by which you find the chat again."
        )
        ref = ContextRef(
            context_id=context_id(NAMESPACE, {"chat": key}),
            partition=partition_of(key, self.stores.partitions),
        )
        return Chat(self, ref, key)

    async def index(self) -> int:
        """Make everything that was added findable; return how many messages were indexed. `Chat.search` does it too.

        After a change of the embedder this also brings all older messages into its vectors. Raises RecallUnavailable.
        """
        indexed = 0
        async with self._indexing:
            while True:
                state = await self.stores.reindexer.step()
                done = [await indexer.step() for indexer in await self._indexers_with_work()]
                indexed += sum(result.indexed for result in done)
                if state == "idle" and not any(r.indexed or r.erased or r.skipped for r in done):
                    return indexed

    async def _indexers_with_work(self) -> list[Indexer]:
        """Ask for the length of each partition's work: a step without work takes up to 100 ms."""
        redis, partitions = self.stores.redis, range(self.stores.partitions)
        lengths = await asyncio.gather(
            *(redis.call("XLEN", partition_key(each, "work")) for each in partitions)
        )
        return [indexer for indexer, length in zip(self._indexers, lengths, strict=True) if length]

    async def _leave(self) -> None:
        for indexer in self._indexers:
            with suppress(MemoryFailure):
                await indexer.leave()


class Chat:
    """One chat: a conversation that grows, can be searched, and can be forgotten."""

    def __init__(self, memory: Memory, ref: ContextRef, key: str) -> None:
        self.ref = ref
        self.key = key
        self._memory = memory
        self._stores = memory.stores

    async def add_user(self, text: str, **details: Unpack[MessageDetails]) -> Message:
        """Add what a person wrote; return the message with its id and sequence.

        Raises ValueError for an empty text, unless a `note` tells what was sent.
        """
        _refuse_blank(text + details.get("note", ""), _BLANK_MESSAGE)
        return await (await self._registered()).append_user_message(text, **details)

    async def add_assistant(self, text: str, **details: Unpack[MessageDetails]) -> Message:
        """Add a reply; return the message with its id and sequence. Raises ValueError as `add_user` does."""
        _refuse_blank(text + details.get("note", ""), _BLANK_MESSAGE)
        return await (await self._registered()).append_assistant_message(text, **details)

    async def recent(self, n: int = 20) -> list[Message]:
        """Return the newest `n` messages, oldest first."""
        history = await self._history()
        return await history.select_messages(MessageWindowMessageSelector(n))

    async def search(self, text: str, k: int = 3, **options: Unpack[SearchOptions]) -> list[RankedMessage]:
        """Return up to `k` messages that match `text`, best first; messages added before are indexed first.

        Raises RecallUnavailable, and ValueError for an empty text.
        """
        _refuse_blank(text, "The text to search for must not be empty.")
        await self._memory.index()
        return await (await self._history()).search(text, k, **options)

    async def forget(self, ids: str | Collection[str]) -> ErasureReceipt:
        """Erase the message with this id, or with these, from history and index; return the receipt.

        The receipt tells what reading both back found. An id that this chat does not have is in its `missing`, and
        then it is not proven. Raises ValueError without ids and for an empty one.
        """
        wanted = [ids] if isinstance(ids, str) else list(dict.fromkeys(ids))
        if not wanted or not all(each.strip() for each in wanted):
            raise ValueError("Name the messages to forget by their ids: `Message.id` of each.")
        stores = self._stores
        epoch = (await stores.history.load(self.ref, limit=0)).epoch
        found = await stores.history.get(self.ref, wanted)
        receipt = await delete_provably(
            self.ref, wanted, epoch=epoch, store=stores.history, recall=stores.recall
        )
        return replace(receipt, missing=tuple(each for each in wanted if each not in found))

    async def reset(self) -> ErasureReceipt:
        """Erase the whole chat from history and index; return the receipt of reading both back."""
        return await (await self._history()).clear()

    async def _registered(self) -> ChatHistory:
        """Register the chat, so that `mnemogram` lists it and a re-indexing finds it."""
        names = {"chat": self.key}
        await get_or_create(self._stores.redis, self.ref, context_keys=names, title=self.key, now=time.time())
        return await self._history()

    async def _history(self) -> ChatHistory:
        """Return the history in its present epoch, which another process may have changed."""
        snapshot = await self._stores.history.load(self.ref, limit=0)
        return ChatHistory(
            ref=self.ref,
            epoch=snapshot.epoch,
            store=self._stores.history,
            recall=self._stores.recall,
            tokenizer=Tokenizer(encoding="o200k_base"),
            clock=time.time,
            new_id=lambda: str(uuid4()),
        )


def _refuse_blank(text: str, sentence: str) -> None:
    """Raise ValueError with this sentence if the text has nothing but blanks."""
    if not text.strip():
        raise ValueError(sentence)


@asynccontextmanager
async def _cleaning(rewriter: FileRewriter | ServerFiles) -> AsyncGenerator[None]:
    """Rewrite the files of the store soon after an erasure, so that the words leave the disk too."""

    async def clean() -> None:
        while True:
            with suppress(MemoryFailure, TimeoutError):
                await rewriter.step()
            await asyncio.sleep(CLEAN_EVERY_S)

    task = asyncio.create_task(clean(), name="clean-store-file")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
