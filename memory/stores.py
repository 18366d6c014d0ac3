"""Opens Redis, Qdrant and the embedder: servers by URL, or the embedded ones under a data directory."""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from memory.embedded.index_server import open_index_server
from memory.embedded.valkey import open_valkey
from memory.history.redis_history import RedisHistory
from memory.recall.embedders.embedder import WORDS_ALONE, Embedder, EmbeddingError, EmbeddingSpace
from memory.recall.indexer import BLOCK_MS, Indexer
from memory.recall.lexicon.analyser import analyse_question
from memory.recall.lexicon.analysis import RECIPE
from memory.recall.recall import Recall
from memory.recall.reindex import Reindexer
from memory.recall.space_follower import SpaceFollower, SpaceRegister, has_our_terms
from memory.recall.spaces import LAYOUT, Space, SpaceDescription, SpacesRecord, collection_name
from memory.redis.client import RedisClient

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

    data_dir: Path
    """Where the embedded model is saved in int8."""
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
    redis: RedisClient,
    qdrant: "Qdrant",
    config: EmbedderConfig,
    stack: AsyncExitStack,
    *,
    partitions: int,
) -> MemoryStores:
    """Open the embedder and put it together with the open clients.

    Raises EmbeddingError if an endpoint does not answer and nothing tells the size of its vectors.
    """
    record = await _register(redis, partitions).load()
    embedder = await open_embedder(config, stack, record=record)
    stores = assemble_stores(redis, qdrant, config, stack, embedder=embedder, partitions=partitions)
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
    from memory.recall.qdrant.index import QdrantFormerCollections

    ours = _describe_space(config, embedder)
    follower = SpaceFollower(
        _register(redis, partitions),
        ours=ours,
        own=_space_in(qdrant, ours, embedder),
        open_space=partial(_open_former_space, config, qdrant, stack),
        clock=time.monotonic,
    )
    return MemoryStores(
        redis=redis,
        history=RedisHistory(redis),
        recall=Recall(follower.spaces),
        reindexer=Reindexer(
            redis,
            follower=follower,
            collections=QdrantFormerCollections(qdrant),
            partitions=partitions,
            clock=time.time,
        ),
        partitions=partitions,
    )


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


async def open_embedder(
    config: EmbedderConfig, stack: AsyncExitStack, *, record: SpacesRecord | None = None
) -> Embedder | None:
    """Open the embedder until the stack closes; None if the embedded model is not installed: recall goes by words.

    Raises EmbeddingError if an endpoint does not answer and neither we nor the record know the size of its vectors.
    """
    if config.is_embedded:
        return _open_embedded(config)
    last_dimension = _last_dimension(config, record)
    return await _open_endpoint(config, config.model, stack, last_dimension=last_dimension)


async def warm_up(config: EmbedderConfig) -> None:
    """Load stemmers and the embedded model, so that the first question does not wait for them (0.5 s)."""
    # Imported here: numpy is for processes that search.
    from memory.recall.ranking import load_weights

    load_weights()
    await asyncio.to_thread(analyse_question, "hello", {}, asker_id=None, now=0.0)
    if config.is_embedded:
        from memory.recall.embedders.minilm import MiniLMEmbedder

        try:
            await MiniLMEmbedder(config.data_dir).load()
        except EmbeddingError as failure:
            log.warning("embedder_not_loaded", error=str(failure), hint="recall goes by words alone")


def _open_embedded(config: EmbedderConfig) -> Embedder | None:
    # Imported here: numpy and tokenizers are for processes with an embedder.
    from memory.recall.embedders.minilm import MiniLMEmbedder, is_installed

    return MiniLMEmbedder(config.data_dir) if is_installed() else None


def _register(redis: RedisClient, partitions: int) -> SpaceRegister:
    return SpaceRegister(redis, partitions=partitions, clock=time.time)


def _last_dimension(config: EmbedderConfig, record: SpacesRecord | None) -> int | None:
    """Return the dimension that the model had when it was last used, or None."""
    for description in (record.target, record.serving) if record else ():
        if description is not None and description.source == "endpoint" and description.model == config.model:
            return description.dimension
    return None


def _describe_space(config: EmbedderConfig, embedder: Embedder | None) -> SpaceDescription:
    identity = embedder.identity if embedder else WORDS_ALONE
    return SpaceDescription(
        collection=collection_name(identity),
        model=identity.model,
        dimension=identity.dimension,
        version=identity.version,
        recipe=RECIPE,
        layout=LAYOUT,
        source="embedded" if config.is_embedded else "endpoint",
    )


def _space_in(qdrant: "Qdrant", description: SpaceDescription, embedder: Embedder | None) -> Space:
    from memory.recall.qdrant.index import QdrantIndex

    index = QdrantIndex(qdrant, description.collection, dimension=description.dimension)
    return Space(
        embedder=embedder, index=index, name=description.collection, has_our_terms=has_our_terms(description)
    )


async def _open_former_space(
    config: EmbedderConfig, qdrant: "Qdrant", stack: AsyncExitStack, description: SpaceDescription
) -> Space:
    """Open a space that other settings or another version made, without an embedder if it is not available."""
    identity = EmbeddingSpace(
        model=description.model, dimension=description.dimension, version=description.version
    )
    try:
        embedder = await _open_former_embedder(config, stack, description)
    except EmbeddingError as failure:
        log.warning("former_embedder_missing", model=description.model, error=str(failure))
        embedder = None
    if embedder is not None and embedder.identity != identity:
        embedder = None  # the model has changed under its name
    return _space_in(qdrant, description, embedder)


async def _open_former_embedder(
    config: EmbedderConfig, stack: AsyncExitStack, description: SpaceDescription
) -> Embedder | None:
    if description.source == "embedded":
        return _open_embedded(config)
    if not config.has_endpoint:
        return None
    return await _open_endpoint(config, description.model, stack)


async def _open_endpoint(
    config: EmbedderConfig, model: str, stack: AsyncExitStack, *, last_dimension: int | None = None
) -> Embedder:
    from memory.recall.embedders.openai import EmbeddingEndpoint, open_openai_embedder

    endpoint = EmbeddingEndpoint(model=model, api_key=config.api_key, base_url=config.base_url)
    embedder = await open_openai_embedder(endpoint, last_dimension=last_dimension)
    stack.push_async_callback(embedder.close)
    return embedder
