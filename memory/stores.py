"""Opens Redis, Qdrant and the embedder: servers by URL, or the embedded ones under a data directory."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from memory.embedded.supervisor import open_index_server
from memory.embedded.valkey import FileRewriter, open_valkey, remove_unfinished_rewrites
from memory.facts.redis_facts import RedisFacts
from memory.history.redis_history import RedisHistory
from memory.recall.audit import IndexAudit
from memory.recall.embedders.embedder import WORDS_ALONE, Embedder, EmbeddingError
from memory.recall.indexer import BLOCK_MS, Indexer
from memory.recall.lexicon.analyser import analyse_question
from memory.recall.lexicon.analysis import RECIPE
from memory.recall.recall import Recall
from memory.recall.reindex import Reindexer
from memory.recall.space_follower import AskSpace, SpaceFollower, SpaceRegister
from memory.recall.spaces import (
    LAYOUT,
    Source,
    Space,
    SpaceDescription,
    SpacesRecord,
    collection_name,
    first_name,
)
from memory.redis.client import RedisClient
from memory.redis.server_files import ServerFiles

if TYPE_CHECKING:
    from memory.recall.qdrant.index import Qdrant

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreConfig:
    """Addresses of the stores; without an address the embedded store under `data_dir` is used."""

    data_dir: Path
    redis_url: str | None = None
    qdrant_url: str | None = None
    qdrant_api_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderConfig:
    """The embedder: a model of an OpenAI-compatible endpoint, or the embedded model if `model` is empty."""

    model: str = ""
    api_key: str | None = None
    base_url: str | None = None
    has_endpoint: bool = True
    """False if no endpoint may be asked, also not for vectors of earlier settings."""

    @property
    def is_embedded(self) -> bool:
        """Return True for the model that runs in this process."""
        return not self.model


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStores:
    """Open stores with recall."""

    redis: RedisClient
    history: RedisHistory
    facts: RedisFacts
    recall: Recall
    reindexer: Reindexer
    partitions: int


async def redis_place(config: StoreConfig, stack: AsyncExitStack) -> str:
    """Return the URL of Redis; the stack keeps an embedded server open. Raises EmbeddedStoreFailure."""
    return config.redis_url or await stack.enter_async_context(open_valkey(config.data_dir))


async def qdrant_place(config: StoreConfig, stack: AsyncExitStack) -> tuple[str, str | None]:
    """Return the URL and the API key of Qdrant; the stack keeps an embedded index open. Raises EmbeddedStoreFailure."""
    if config.qdrant_url is not None:
        return config.qdrant_url, config.qdrant_api_key
    endpoint = await stack.enter_async_context(open_index_server(config.data_dir))
    return endpoint.url, endpoint.api_key


async def open_places(config: StoreConfig, stack: AsyncExitStack) -> tuple[str, tuple[str, str | None]]:
    """Open both places at the same time; return what `redis_place` and `qdrant_place` return."""
    try:
        async with asyncio.TaskGroup() as opening:
            redis = opening.create_task(redis_place(config, stack), name="open-redis")
            qdrant = opening.create_task(qdrant_place(config, stack), name="open-qdrant")
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return redis.result(), qdrant.result()


async def open_memory_stores(
    redis: RedisClient, qdrant: "Qdrant", config: EmbedderConfig, stack: AsyncExitStack, *, partitions: int
) -> MemoryStores:
    """Put the open clients together with recall. No endpoint is asked: the reindexer does that, see SpaceFollower."""
    record = await _register(redis, partitions).load()
    first = await _stand_in(config, stack, record)
    ask_space = partial(_ask_space, config, stack)
    stores = _assemble(redis, qdrant, config, stack, first=first, ask_space=ask_space, partitions=partitions)
    await stores.reindexer.follow()
    return stores


def assemble_stores(
    redis: RedisClient,
    qdrant: "Qdrant",
    config: EmbedderConfig,
    stack: AsyncExitStack,
    *,
    embedder: Embedder | None,
    partitions: int,
) -> MemoryStores:
    """Put open clients and an open embedder together; the stack closes embedders of former spaces."""
    first = (_describe_space(embedder, "embedded" if config.is_embedded else "endpoint"), embedder)
    return _assemble(redis, qdrant, config, stack, first=first, ask_space=None, partitions=partitions)


def build_rewriter(
    redis: RedisClient, config: StoreConfig, *, partitions: int
) -> Callable[[], Awaitable[bool]]:
    """Return the step that has the files of the store rewritten after erasures: of the embedded one, or of servers."""
    if config.redis_url is not None:
        return ServerFiles(redis, url=config.redis_url, partitions=partitions, clock=time.monotonic).step
    clear_away = partial(remove_unfinished_rewrites, config.data_dir)
    return FileRewriter(redis, partitions=partitions, clock=time.monotonic, clear_away=clear_away).step


def build_indexers(
    stores: MemoryStores, *, consumer: str, lease_s: float, block_ms: int = BLOCK_MS
) -> list[Indexer]:
    """Return one indexer for each partition; it takes over the work of another that is silent for `lease_s`."""
    return [
        Indexer(
            redis=stores.redis,
            history=stores.history,
            recall=stores.recall,
            partition=partition,
            consumer=consumer,
            block_ms=block_ms,
            abandoned_after_ms=int(lease_s * 1000),
        )
        for partition in range(stores.partitions)
    ]


async def open_embedder(config: EmbedderConfig, stack: AsyncExitStack) -> Embedder | None:
    """Open the embedder until the stack closes; None if the embedded one has no engine: recall goes by words.

    An endpoint is asked for the size of its vectors. Raises EmbeddingError if it does not answer.
    """
    if config.is_embedded:
        return _open_embedded()
    return await _open_endpoint(config, config.model, stack)


async def warm_up(config: EmbedderConfig) -> None:
    """Load stemmers and the embedded model, so that the first question does not wait for them (0.5 s)."""
    # Imported here: numpy is for processes that search.
    from memory.recall.ranking import load_weights

    load_weights()
    await asyncio.to_thread(analyse_question, "hello", {}, asker_id=None, now=0.0)
    if config.is_embedded:
        from memory.recall.embedders.minilm import MiniLMEmbedder

        try:
            await MiniLMEmbedder().load()
        except EmbeddingError as failure:
            log.warning("embedder_not_loaded", error=str(failure), hint="recall goes by words alone")


def _open_embedded() -> Embedder | None:
    # Imported here: numpy and tokenizers are for processes with an embedder.
    from memory.recall.embedders.minilm import MiniLMEmbedder, is_installed

    return MiniLMEmbedder() if is_installed() else None


def _register(redis: RedisClient, partitions: int) -> SpaceRegister:
    return SpaceRegister(redis, partitions=partitions, clock=time.time)


def _assemble(
    redis: RedisClient,
    qdrant: "Qdrant",
    config: EmbedderConfig,
    stack: AsyncExitStack,
    *,
    first: tuple[SpaceDescription, Embedder | None],
    ask_space: AskSpace | None,
    partitions: int,
) -> MemoryStores:
    from memory.recall.qdrant.index import FormerCollections

    ours, embedder = first
    follower = SpaceFollower(
        _register(redis, partitions),
        ours=ours,
        embedder=embedder,
        open_space=partial(_open_space, qdrant),
        clock=time.monotonic,
        ask_space=ask_space,
    )
    history = RedisHistory(redis)
    recall = Recall(follower.spaces)
    stack.callback(recall.close)
    return MemoryStores(
        redis=redis,
        history=history,
        facts=RedisFacts(redis, clock=time.time),
        recall=recall,
        reindexer=Reindexer(
            redis,
            follower=follower,
            collections=FormerCollections(qdrant),
            audit=IndexAudit(redis, history, partitions=partitions),
            partitions=partitions,
            clock=time.time,
            is_renewed=not qdrant.is_embedded,
        ),
        partitions=partitions,
    )


async def _stand_in(
    config: EmbedderConfig, stack: AsyncExitStack, record: SpacesRecord | None
) -> tuple[SpaceDescription, Embedder | None]:
    """Return the space of this process until it claims its own and an endpoint has answered.

    That is the last known space, for a first start that of the model if its name tells the size, or words alone.
    """
    last = record.destination if record else None
    if last is None and config.is_embedded:
        return await _ask_space(config, stack)
    if last is None:
        from memory.recall.embedders.openai import known_dimension

        dimension = known_dimension(config.model)
        embedder = (
            await _open_endpoint(config, config.model, stack, dimension=dimension) if dimension else None
        )
        return _describe_space(embedder, "endpoint"), embedder
    if last.layout != LAYOUT or last.recipe != RECIPE:
        return _describe_space(None, "endpoint"), None
    if last.source == "embedded":
        embedder = _open_embedded()
    elif config.has_endpoint:
        embedder = await _open_endpoint(config, last.model, stack, dimension=last.dimension)
    else:
        embedder = None
    # Another version of the model makes other vectors.
    is_able = embedder is not None and collection_name(embedder.identity) == first_name(last)
    return last, embedder if is_able else None


async def _ask_space(
    config: EmbedderConfig, stack: AsyncExitStack
) -> tuple[SpaceDescription, Embedder | None]:
    embedder = await open_embedder(config, stack)
    return _describe_space(embedder, "embedded" if config.is_embedded else "endpoint"), embedder


def _describe_space(embedder: Embedder | None, source: Source) -> SpaceDescription:
    identity = embedder.identity if embedder else WORDS_ALONE
    return SpaceDescription(
        collection=collection_name(identity),
        model=identity.model,
        dimension=identity.dimension,
        version=identity.version,
        recipe=RECIPE,
        layout=LAYOUT,
        source=source if embedder else "embedded",
    )


def _open_space(qdrant: "Qdrant", description: SpaceDescription, embedder: Embedder | None) -> Space:
    from memory.recall.qdrant.index import QdrantIndex

    index = QdrantIndex(qdrant, description.collection, dimension=description.dimension)
    return Space(embedder=embedder, index=index, name=description.collection)


async def _open_endpoint(
    config: EmbedderConfig, model: str, stack: AsyncExitStack, *, dimension: int | None = None
) -> Embedder:
    """Open a model of the endpoint, which is asked for an unknown dimension. Raises EmbeddingError."""
    from memory.recall.embedders.openai import EmbeddingEndpoint, open_openai_embedder

    endpoint = EmbeddingEndpoint(
        model=model, api_key=config.api_key, base_url=config.base_url, dimension=dimension
    )
    embedder = await open_openai_embedder(endpoint, is_asked=dimension is None)
    stack.push_async_callback(embedder.close)
    return embedder
