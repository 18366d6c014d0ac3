"""Opens Redis, Qdrant and the embedder: servers by URL, or the embedded ones under a data directory."""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from memory.embedded.file_rewriter import FileRewriter
from memory.embedded.index_server import open_index_server
from memory.embedded.valkey import open_valkey, remove_unfinished_rewrites
from memory.history.redis_history import RedisHistory
from memory.recall.audit import IndexAudit
from memory.recall.embedders.embedder import WORDS_ALONE, Embedder, EmbeddingError, EmbeddingSpace
from memory.recall.indexer import BLOCK_MS, Indexer
from memory.recall.lexicon.analyser import analyse_question
from memory.recall.lexicon.analysis import RECIPE
from memory.recall.recall import Recall
from memory.recall.reindex import Reindexer
from memory.recall.space_follower import AskSpace, SpaceFollower, SpaceRegister, has_our_terms
from memory.recall.spaces import LAYOUT, Source, Space, SpaceDescription, SpacesRecord, collection_name
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
    """Put the open clients together with recall. No endpoint is asked: the reindexer does that, see SpaceFollower."""
    record = await _register(redis, partitions).load()
    if config.is_embedded:
        embedder, ask_space = _open_embedded(), None
        ours = _describe_space(embedder, "embedded")
        own = _space_in(qdrant, ours, embedder)
    else:
        ask_space = partial(_ask_space, config, qdrant, stack)
        ours, own = await _stand_in(config, qdrant, stack, record)
    first = (ours, own)
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
    ours = _describe_space(embedder, "embedded" if config.is_embedded else "endpoint")
    first = (ours, _space_in(qdrant, ours, embedder))
    return _assemble(redis, qdrant, config, stack, first=first, ask_space=None, partitions=partitions)


def build_rewriter(redis: RedisClient, config: StoreConfig, *, partitions: int) -> FileRewriter | ServerFiles:
    """Return what has the files of the store rewritten after erasures: of the embedded one, or of servers."""
    if config.redis_url is not None:
        return ServerFiles(redis, url=config.redis_url, partitions=partitions, clock=time.monotonic)
    clear_away = partial(remove_unfinished_rewrites, config.data_dir)
    return FileRewriter(redis, partitions=partitions, clock=time.monotonic, clear_away=clear_away)


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
    first: tuple[SpaceDescription, Space],
    ask_space: AskSpace | None,
    partitions: int,
) -> MemoryStores:
    from memory.recall.qdrant.index import QdrantFormerCollections

    ours, own = first
    follower = SpaceFollower(
        _register(redis, partitions),
        ours=ours,
        own=own,
        open_space=partial(_open_former_space, config, qdrant, stack),
        clock=time.monotonic,
        ask_space=ask_space,
    )
    history = RedisHistory(redis)
    recall = Recall(follower.spaces)
    stack.callback(recall.close)
    return MemoryStores(
        redis=redis,
        history=history,
        recall=recall,
        reindexer=Reindexer(
            redis,
            follower=follower,
            collections=QdrantFormerCollections(qdrant),
            audit=IndexAudit(redis, history, partitions=partitions),
            partitions=partitions,
            clock=time.time,
            is_renewed=not qdrant.is_embedded,
        ),
        partitions=partitions,
    )


async def _stand_in(
    config: EmbedderConfig, qdrant: "Qdrant", stack: AsyncExitStack, record: SpacesRecord | None
) -> tuple[SpaceDescription, Space]:
    """Return the space of this process until its endpoint has answered.

    That is the model's own space if its size is known: from the record, or for a first start from the model's name.
    Otherwise it is the space that other processes write, which is worth more than words alone.
    """
    from memory.recall.embedders.openai import known_dimension

    last, dimension = record.destination if record else None, None
    if last is None:
        dimension = known_dimension(config.model)
    elif last.source == "endpoint" and last.model == config.model:
        dimension = last.dimension
    elif last.layout == LAYOUT and has_our_terms(last):
        return last, await _open_former_space(config, qdrant, stack, last)
    embedder = await _open_endpoint(config, config.model, stack, dimension=dimension) if dimension else None
    ours = _describe_space(embedder, "endpoint")
    return ours, _space_in(qdrant, ours, embedder)


async def _ask_space(
    config: EmbedderConfig, qdrant: "Qdrant", stack: AsyncExitStack
) -> tuple[SpaceDescription, Space]:
    embedder = await _open_endpoint(config, config.model, stack)
    ours = _describe_space(embedder, "endpoint")
    return ours, _space_in(qdrant, ours, embedder)


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
        return _open_embedded()
    if not config.has_endpoint:
        return None
    # A space with other terms is only searched if its embedder answers, so that one is asked.
    dimension = description.dimension if has_our_terms(description) else None
    return await _open_endpoint(config, description.model, stack, dimension=dimension)


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
