"""Opens the embedder that the settings name, and those of spaces that other settings made."""

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import structlog

from bot.settings import Settings
from memory.recall.embedders.embedder import WORDS_ALONE, Embedder, EmbeddingError, EmbeddingSpace
from memory.recall.embedders.minilm import MiniLMEmbedder, is_installed
from memory.recall.embedders.openai import EmbeddingEndpoint, open_openai_embedder
from memory.recall.lexicon.analyser import analyse_question
from memory.recall.lexicon.analysis import RECIPE
from memory.recall.qdrant.index import QdrantIndex
from memory.recall.space_follower import has_our_terms
from memory.recall.spaces import LAYOUT, Space, SpaceDescription, SpacesRecord, collection_name

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

log = structlog.get_logger()


async def open_embedder(
    settings: Settings, stack: AsyncExitStack, *, record: SpacesRecord | None = None
) -> Embedder | None:
    """Open the embedder until the stack closes; None if the embedded model is not installed: recall goes by words.

    Raises EmbeddingError if an endpoint does not answer and neither we nor the record know the size of its vectors.
    """
    if settings.is_embedding_embedded:
        return MiniLMEmbedder() if is_installed() else None
    model, dimension = settings.openai_embedding_model, settings.openai_embedding_dimensions
    return await _open_endpoint(
        settings, model, dimension, stack, last_dimension=_last_dimension(settings, record)
    )


async def warm_up(settings: Settings) -> None:
    """Load what the first question would wait for, half a second on an idle machine: stemmers and the embedded model."""
    await asyncio.to_thread(analyse_question, "hello", {}, asker_id=None, now=0.0)
    if settings.is_embedding_embedded:
        try:
            await MiniLMEmbedder().load()
        except EmbeddingError as failure:
            log.warning("embedder_not_loaded", error=str(failure), hint="recall goes by words alone")


def _last_dimension(settings: Settings, record: SpacesRecord | None) -> int | None:
    """The dimension that the model of these settings had when it was last used."""
    for described in (record.target, record.serving) if record else ():
        if (
            described is not None
            and described.source == "endpoint"
            and described.model == settings.openai_embedding_model
            and described.requested_dimension == settings.openai_embedding_dimensions
        ):
            return described.dimension
    return None


def describe_space(settings: Settings, embedder: Embedder | None) -> SpaceDescription:
    """Return the space of the embedder of these settings, as the store records it."""
    identity = embedder.identity if embedder else WORDS_ALONE
    is_embedded = settings.is_embedding_embedded
    return SpaceDescription(
        collection=collection_name(identity),
        model=identity.model,
        dimension=identity.dimension,
        version=identity.version,
        recipe=RECIPE,
        layout=LAYOUT,
        source="embedded" if is_embedded else "endpoint",
        requested_dimension=None if is_embedded else settings.openai_embedding_dimensions,
    )


def space_in(client: "AsyncQdrantClient", described: SpaceDescription, embedder: Embedder | None) -> Space:
    """The described space on this index server."""
    index = QdrantIndex(client, described.collection, dimension=described.dimension)
    return Space(
        embedder=embedder, index=index, name=described.collection, has_our_terms=has_our_terms(described)
    )


async def open_former_space(
    settings: Settings, client: "AsyncQdrantClient", stack: AsyncExitStack, described: SpaceDescription
) -> Space:
    """A space that other settings, or another version, made; without an embedder where it cannot be had here."""
    identity = EmbeddingSpace(model=described.model, dimension=described.dimension, version=described.version)
    try:
        embedder = await _open_former_embedder(settings, stack, described)
    except EmbeddingError as failure:
        log.warning("former_embedder_missing", model=described.model, error=str(failure))
        embedder = None
    if embedder is not None and embedder.identity != identity:
        embedder = None  # the model has changed under its name
    return space_in(client, described, embedder)


async def _open_former_embedder(
    settings: Settings, stack: AsyncExitStack, described: SpaceDescription
) -> Embedder | None:
    if described.source == "embedded":
        return MiniLMEmbedder() if is_installed() else None
    if settings.is_offline:
        return None
    return await _open_endpoint(settings, described.model, described.requested_dimension, stack)


async def _open_endpoint(
    settings: Settings,
    model: str,
    dimension: int | None,
    stack: AsyncExitStack,
    *,
    last_dimension: int | None = None,
) -> Embedder:
    key = settings.openai_api_key
    endpoint = EmbeddingEndpoint(
        model=model,
        api_key=key.get_secret_value() if key else None,
        base_url=settings.openai_base_url,
        dimension=dimension,
    )
    embedder = await open_openai_embedder(endpoint, last_dimension=last_dimension)
    stack.push_async_callback(embedder.close)
    return embedder
