"""All of our collections on a Qdrant server, for clearing up those that are no space any more."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from memory.errors import RecallUnavailable
from memory.recall.qdrant.collection import delete_if_empty, erase_points, list_collections
from memory.recall.qdrant.filters import filter_of_contexts

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient


class QdrantFormerCollections:
    """FormerCollections on a Qdrant server, or on the embedded one."""

    def __init__(self, client: "AsyncQdrantClient") -> None:
        self._client = client

    async def list_names(self) -> list[str]:
        """See FormerCollections."""
        return await list_collections(self._client)

    async def erase_contexts(self, name: str, context_ids: Collection[str]) -> int:
        """See FormerCollections."""
        erasure = await erase_points(self._client, name, filter_of_contexts(context_ids))
        if erasure.left:
            raise RecallUnavailable(f"{erasure.left} points were not erased")
        return erasure.found

    async def delete_if_empty(self, name: str) -> bool:
        """See FormerCollections."""
        return await delete_if_empty(self._client, name)
