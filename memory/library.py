"""Memory as a library: chats that remember, on any Redis and Qdrant or on embedded stores, without the bot."""

import asyncio
import json
import os
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, is_dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO, Unpack
from uuid import UUID, uuid4

from pydantic import TypeAdapter, ValidationError

from memory.chat_history import ChatHistory, MessageDetails, RankedMessage, SearchHints
from memory.embedded.data_dir import folder_path
from memory.erasure import ErasureReceipt, delete_provably
from memory.errors import MemoryFailure, RecallUnavailable, UnsafeStore
from memory.facts.context_facts import list_all
from memory.history.contexts import Context, find_context, get_or_create, list_contexts
from memory.history.fact import Fact
from memory.history.message import Message, MetadataValue, check_metadata, render_message
from memory.history.selectors import MessageWindowMessageSelector
from memory.keys import ContextRef, context_id, partition_key, partition_of
from memory.prompt_memory import PromptMemory, gather
from memory.recall.embedders.own import EmbedFunction, open_own_embedder
from memory.recall.indexer import Indexer
from memory.recall.vector_index import Where, metadata_tags
from memory.redis.address import parse_address
from memory.redis.client import open_redis
from memory.redis.durability import check_store, check_store_format
from memory.redis.tombstone_files import FOLDER
from memory.stores import (
    EmbedderConfig,
    MemoryStores,
    StoreConfig,
    assemble_stores,
    build_indexers,
    build_rewriter,
    open_embedder,
    open_places,
)
from memory.tokens import Tokenizer
from memory.tombstones import open_beside
from memory.transfer.exporter import write_export
from memory.transfer.file import FileMessage, Header

NAMESPACE = "library"
"""Contexts of the library have ids of their own: no key of ours is a chat of the bot."""
PARTITIONS = 8
"""Partitions of a store that nobody has used before."""
CLEAN_EVERY_S = 2.0
_LEASE_S = 30.0
_TOKENIZER = Tokenizer(encoding="o200k_base")
_FILE_MESSAGE = TypeAdapter(FileMessage)
_NOTHING: Mapping[str, MetadataValue] = {}
_HTTP = re.compile(r"\s*https?://([^\s/]*@)?(\[\S+\]|[^\s/:]+)(:\d+)?(/\S*)?\s*", re.IGNORECASE)


class Memory:
    """The memory of many chats. `Memory.open` returns one; it belongs to the event loop in which it is opened."""

    def __init__(self, config: StoreConfig, *, embed: EmbedFunction | None, embed_name: str) -> None:
        self._config = config
        self._embed = embed
        self._embed_name = embed_name
        self._opened: tuple[MemoryStores, list[Indexer]] | None = None
        self._stack = AsyncExitStack()
        self._changing = asyncio.Lock()
        self._indexing = asyncio.Lock()

    @classmethod
    def open(
        cls,
        redis_url: str | None = None,
        *,
        qdrant_url: str | None = None,
        qdrant_api_key: str | None = None,
        data_dir: str | Path = "data",
        embed: EmbedFunction | None = None,
        embed_name: str = "",
    ) -> "Memory":
        """Return a memory to open: `memory = await Memory.open()`, or `async with Memory.open() as memory`.

        Without a URL the stores are embedded ones under `data_dir`. `embed` replaces the embedded embedder: it gets a
        list of texts and returns a vector for each, or an awaitable of them. `embed_name` names its model.

        Raises ValueError. Opening raises StoreUnavailable, RecallUnavailable, StoreMismatch, and UnsafeStore for a
        server that would lose data.
        """
        if embed is not None:
            if not callable(embed):
                raise ValueError("`embed` must be a function from texts to vectors.")
            _refuse_blank(
                embed_name,
                "`embed_name` must name the model of `embed`: vectors of two models are never mixed.",
            )
        try:
            if redis_url is not None:
                parse_address(redis_url)
        except ValueError as error:
            raise ValueError(f"`redis_url` {error}.") from None
        if qdrant_url is not None and not all(map(_HTTP.fullmatch, qdrant_url.split(","))):
            raise ValueError("`qdrant_url` must be an http:// or https:// address.")
        config = StoreConfig(
            data_dir=Path(data_dir), redis_url=redis_url, qdrant_url=qdrant_url, qdrant_api_key=qdrant_api_key
        )
        return cls(config, embed=embed, embed_name=embed_name)

    def __await__(self) -> Generator[Any, Any, Self]:
        return self._open().__await__()

    async def __aenter__(self) -> Self:
        return await self._open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the stores. Embedded ones end soon after their last user. Repeating does nothing."""
        async with self._changing:
            self._opened = None
            await self._stack.aclose()

    @property
    def stores(self) -> MemoryStores:
        """The open stores. Raises RuntimeError if the memory is not open."""
        return self._open_parts()[0]

    def chat(self, key: str) -> "Chat":
        """Return the chat of this name; it is created by its first message. Raises ValueError for an empty name."""
        _refuse_blank(
            key, "The key of a chat must not be empty: it is the name by which you find the chat again."
        )
        return Chat(self, key)

    async def chats(self) -> "list[Chat]":
        """Return all chats that have been written to since they were made or reset, the oldest first."""
        stores = self.stores
        contexts = await list_contexts(stores.redis, range(stores.partitions))
        return [Chat(self, key) for context in contexts if (key := _key_of(context)) is not None]

    async def index(self) -> int:
        """Make everything that was added findable; return how many new or changed messages were indexed.

        `Chat.search` does it too. After a change of the embedder this also brings all older messages into its vectors;
        they are not counted. Raises RecallUnavailable.
        """
        stores, indexers = self._open_parts()
        indexed = 0
        async with self._indexing:
            while True:
                state = await stores.reindexer.step()
                done = [await indexer.step() for indexer in await _with_work(stores, indexers)]
                indexed += sum(result.indexed - result.reindexed for result in done)
                if state == "idle" and not any(r.indexed or r.erased or r.skipped for r in done):
                    return indexed

    def _open_parts(self) -> tuple[MemoryStores, list[Indexer]]:
        if self._opened is None:
            raise RuntimeError(
                "The memory is not open: `memory = await Memory.open()`, or `async with Memory.open() as memory`."
            )
        return self._opened

    async def _open(self) -> Self:
        async with self._changing, AsyncExitStack() as stack:
            if self._opened is None:
                self._opened = await self._open_stores(stack)
                self._stack = stack.pop_all()
        return self

    async def _open_stores(self, stack: AsyncExitStack) -> tuple[MemoryStores, list[Indexer]]:
        # Imported here: numpy takes longer than all the rest.
        from memory.recall.qdrant.index import open_qdrant

        config = self._config
        redis_place, (index_url, index_key) = await open_places(config, stack)
        redis = await stack.enter_async_context(open_redis(redis_place))
        durability = await check_store(redis, is_external=config.redis_url is not None)
        if durability.problems and config.redis_url is not None:
            raise UnsafeStore("\n".join(durability.problems))
        partitions = await check_store_format(redis, partitions=PARTITIONS)
        await open_beside(redis, folder_path(config.data_dir, FOLDER))
        qdrant = await stack.enter_async_context(
            open_qdrant(index_url, api_key=index_key, is_embedded=config.qdrant_url is None)
        )
        embedded = EmbedderConfig()
        if self._embed is None:
            embedder = await open_embedder(embedded, stack)
        else:
            embedder = await open_own_embedder(self._embed, name=self._embed_name)
        stores = assemble_stores(redis, qdrant, embedded, stack, embedder=embedder, partitions=partitions)
        await stores.reindexer.claim()
        indexers = build_indexers(stores, consumer=f"library-{uuid4().hex}", lease_s=_LEASE_S, block_ms=1)
        await stack.enter_async_context(_cleaning(build_rewriter(redis, config, partitions=partitions)))
        stack.push_async_callback(_leave, indexers)
        return stores, indexers


class Chat:
    """One chat: a conversation that grows, can be searched, and can be forgotten."""

    def __init__(self, memory: Memory, key: str) -> None:
        partition = partition_of(key, memory.stores.partitions)
        self.ref = ContextRef(context_id=context_id(NAMESPACE, {"chat": key}), partition=partition)
        self.key = key
        self._memory = memory

    async def add_user(self, text: str, **details: Unpack[MessageDetails]) -> Message:
        """Add what a person wrote; return the message with its id and sequence. A known id adds nothing.

        Raises ValueError for an empty text, unless a `note` tells what was sent, and for wrong `metadata`.
        """
        _check_message(text, details)
        appended = await (await self._history(is_written=True)).append_user_message(text, **details)
        return await self._stored(appended, details)

    async def add_assistant(self, text: str, **details: Unpack[MessageDetails]) -> Message:
        """Add a reply; return the message with its id and sequence. Raises ValueError as `add_user` does."""
        _check_message(text, details)
        appended = await (await self._history(is_written=True)).append_assistant_message(text, **details)
        return await self._stored(appended, details)

    async def get(self, message_id: str) -> Message | None:
        """Return the message with this id; None if this chat has none."""
        wanted = _canonical(message_id)
        return (await self._memory.stores.history.get(self.ref, [wanted])).get(wanted)

    async def update(self, message_id: str, text: str) -> Message:
        """Replace the text of a message, and its vector. Summaries and facts that rest on it are dropped.

        Return the message as it is now. Raises LookupError if this chat has none with this id, and ValueError for an
        empty text.
        """
        _refuse_blank(text, "The text of a message must not be empty: `forget` erases a message.")
        history, now = self._memory.stores.history, time.time()
        epoch = (await history.load(self.ref, limit=0)).epoch
        found = await self.get(message_id)
        if found is not None:
            tokens = await asyncio.to_thread(_TOKENIZER.count, render_message(replace(found, text=text)))
            await history.replace(self.ref, found.id, text=text, tokens=tokens, edited_at=now, epoch=epoch)
            found = await self.get(message_id)
        if found is None:
            raise LookupError(f"`message_id`: the chat {self.key!r} has no message {message_id!r}.")
        return found

    async def recent(self, n: int = 20) -> list[Message]:
        """Return the newest `n` messages, oldest first. Raises ValueError for a negative `n`."""
        _refuse_below(n, 0, "n")
        return await (await self._history()).select_messages(MessageWindowMessageSelector(n))

    async def count(self) -> int:
        """Return the number of messages."""
        return (await self._memory.stores.history.load(self.ref, limit=0)).count

    async def search(
        self,
        text: str,
        k: int = 3,
        *,
        where: Mapping[str, MetadataValue] | Where = _NOTHING,
        **hints: Unpack[SearchHints],
    ) -> list[RankedMessage]:
        """Return up to `k` messages that match `text`, best first; messages added before are indexed first.

        With `where` only messages whose metadata have all its entries are found. Raises RecallUnavailable, and
        ValueError for an empty text, a negative `k` or a wrong `where`.
        """
        _refuse_blank(text, "The text to search for must not be empty.")
        _refuse_below(k, 0, "k")
        chosen = _filter_of(where)
        await self._memory.index()
        return await (await self._history()).search(text, k, where=chosen, **hints)

    async def context(
        self,
        question: str,
        *,
        tokens: int = 4_000,
        k: int = 8,
        where: Mapping[str, MetadataValue] | Where = _NOTHING,
    ) -> PromptMemory:
        """Return the memory for a prompt that answers `question`: summary, up to `k` memories, newest messages.

        Its `text`, or its `messages`, have at most this many tokens (of o200k_base). Without the index there are no
        memories, and it `is_incomplete`. Raises ValueError for an empty question and for wrong numbers.
        """
        _refuse_blank(question, "The question must not be empty.")
        _refuse_below(tokens, 1, "tokens")
        _refuse_below(k, 0, "k")
        chosen = _filter_of(where)
        with suppress(RecallUnavailable):
            await self._memory.index()
        summary = (await self._memory.stores.history.load(self.ref, limit=0)).summary
        return await gather(await self._history(), summary, question, tokens=tokens, k=k, where=chosen)

    async def facts(self) -> list[Fact]:
        """Return the facts that are kept of this chat. Those that still hold come first."""
        return await list_all(self._memory.stores.facts, self.ref)

    async def export(self, path: str | Path) -> Mapping[str, int]:
        """Write the chat as a file of `mnemogram export`; return its number of lines by kind.

        Only its owner may read the file. Raises FileExistsError, and OSError if the file cannot be written.
        """
        redis = self._memory.stores.redis
        context = await find_context(redis, self.ref)
        header = Header(
            format=2,
            version=version("mnemogram"),
            exported_at=datetime.now(UTC).isoformat(timespec="seconds"),
            chat=self.key,
            title=self.key,
            context=self.ref.context_id,
            registered_at=context.created_at if context else None,
        )
        with _new_file(Path(path)) as stream:
            seal = await write_export(redis, self.ref, stream, header=header, clock=time.time)
        return dict(seal.counts)

    async def forget(self, ids: str | Collection[str]) -> ErasureReceipt:
        """Erase the message with this id, or with these, from history and index; return the receipt.

        The receipt tells what reading both back found. An id that this chat does not have is in its `missing`, and
        then it is not proven. Raises ValueError without ids and for an empty one.
        """
        wanted = [ids] if isinstance(ids, str) else list(ids)
        for each in wanted or [""]:
            _refuse_blank(each, "Name the messages to forget by their ids: `Message.id` of each.")
        wanted = list(dict.fromkeys(map(_canonical, wanted)))
        stores, ref = self._memory.stores, self.ref
        epoch = (await stores.history.load(ref, limit=0)).epoch
        found = await stores.history.get(ref, wanted)
        receipt = await delete_provably(ref, wanted, epoch=epoch, store=stores.history, recall=stores.recall)
        return replace(receipt, missing=tuple(each for each in wanted if each not in found))

    async def reset(self) -> ErasureReceipt:
        """Erase the whole chat from history and index; return the receipt of reading both back."""
        return await (await self._history()).clear()

    async def _stored(self, appended: Message, details: MessageDetails) -> Message:
        """Return the stored message. If the id existed already, it is the older message."""
        return (await self.get(appended.id) if details.get("id") else None) or appended

    async def _history(self, *, is_written: bool = False) -> ChatHistory:
        """Return the history in its present epoch, which another process may have changed.

        A chat that is written to is registered, so that it is listed and a re-indexing finds it.
        """
        stores, ref = self._memory.stores, self.ref
        if is_written:
            names = {"chat": self.key}
            await get_or_create(stores.redis, ref, context_keys=names, title=self.key, now=time.time())
        snapshot = await stores.history.load(ref, limit=0)
        return ChatHistory(
            ref=ref,
            epoch=snapshot.epoch,
            store=stores.history,
            recall=stores.recall,
            tokenizer=_TOKENIZER,
            clock=time.time,
            new_id=lambda: str(uuid4()),
        )


def _key_of(context: Context) -> str | None:
    """Return the key of a chat of the library; None for a chat of the bot."""
    key = context.keys.get("chat")
    is_ours = isinstance(key, str) and context_id(NAMESPACE, {"chat": key}) == context.ref.context_id
    return key if is_ours else None


def _check_message(text: str, details: MessageDetails) -> None:
    """Raise ValueError for a message that could not be found, read again or exported. Make its id canonical."""
    if not (isinstance(note := details.get("note", ""), str) and note.strip()):
        _refuse_blank(
            text,
            "The text of a message must not be empty: nobody could find it. A `note` may stand for a file.",
        )
    check_metadata(details.get("metadata", _NOTHING), "metadata")
    if own_id := details.get("id"):
        details["id"] = _canonical(own_id)
    if unknown := details.keys() - MessageDetails.__annotations__.keys():
        raise TypeError(f"A message has no `{min(unknown)}`.")
    given = {name: value for name, value in details.items() if value or name not in ("id", "sent_at")}
    if given:
        _check_details(given)


def _check_details(given: Mapping[str, object]) -> None:
    empty = {"id": str(uuid4()), "role": "user", "text": "", "sent_at": 0, "tokens": 0}
    line = json.dumps(empty | dict(given), default=_fields_of, ensure_ascii=False)
    try:
        _FILE_MESSAGE.validate_json(line.encode("utf-8", "replace"), strict=True)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        if first["loc"] == ("id",):
            raise ValueError("The `id` of a message must be a UUID, such as `str(uuid.uuid4())`.") from None
        raise ValueError(f"`{'.'.join(map(str, first['loc']))}`: {first['msg']}.") from None


def _fields_of(value: object) -> object:
    """Return the fields of a record; a list for anything else, so that the check of types refuses it."""
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else []


def _canonical(message_id: str) -> str:
    """Return the usual form of a UUID; any other id as it is."""
    try:
        return str(UUID(message_id))
    except (ValueError, TypeError, AttributeError):
        return message_id


def _filter_of(where: Mapping[str, MetadataValue] | Where) -> Where:
    return where if isinstance(where, Where) else Where(tags=metadata_tags(check_metadata(where, "where")))


def _refuse_blank(text: object, sentence: str) -> None:
    """Raise ValueError with this sentence for anything else than a text with more than blanks."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError(sentence)


def _refuse_below(number: int, least: int, argument: str) -> None:
    if number < least:
        raise ValueError(f"`{argument}` must be {least} or more.")


@contextmanager
def _new_file(path: Path) -> Generator[TextIO]:
    """Yield a new file that only its owner may read. After an error nothing is left of it."""
    with os.fdopen(
        os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+", encoding="ascii"
    ) as stream:
        try:
            yield stream
        except BaseException:
            path.unlink(missing_ok=True)
            raise


async def _with_work(stores: MemoryStores, indexers: Sequence[Indexer]) -> list[Indexer]:
    """Return the indexers whose partitions have work: a step without work takes up to 100 ms."""
    partitions = range(stores.partitions)
    lengths = await asyncio.gather(
        *(stores.redis.call("XLEN", partition_key(each, "work")) for each in partitions)
    )
    return [indexer for indexer, length in zip(indexers, lengths, strict=True) if length]


async def _leave(indexers: Sequence[Indexer]) -> None:
    for indexer in indexers:
        with suppress(MemoryFailure):
            await indexer.leave()


@asynccontextmanager
async def _cleaning(rewrite: Callable[[], Awaitable[bool]]) -> AsyncGenerator[None]:
    """Rewrite the files of the store soon after an erasure, so that the words leave the disk too."""

    async def clean() -> None:
        while True:
            with suppress(MemoryFailure, TimeoutError):
                await rewrite()
            await asyncio.sleep(CLEAN_EVERY_S)

    task = asyncio.create_task(clean(), name="clean-store-file")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
