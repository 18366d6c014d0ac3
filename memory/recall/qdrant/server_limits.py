"""Limits of a collection on a Qdrant server, set with qdrant-client. Its imports take half a second: import it late."""

from collections.abc import Mapping
from typing import Any

import httpx
from qdrant_client import AsyncQdrantClient
from qdrant_client import models as q
from qdrant_client.http.exceptions import ResponseHandlingException

from memory.errors import IndexUnreadable, RecallUnavailable
from memory.recall.qdrant.connection import Send

_SOMEWHERE = "http://qdrant:6333"
"""Base of qdrant-client's URLs. The connection has the addresses."""
_STRICT = q.StrictModeConfig(
    enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False
)


async def set_limits(send: Send, collection: str, *, vacuum: Mapping[str, Any]) -> None:
    """Refuse filters on fields without an index, and have segments written again early without deleted points.

    Raises RecallUnavailable, for a refusal as IndexRefusal.
    """
    client = AsyncQdrantClient(
        url=_SOMEWHERE, transport=_Transport(send), check_compatibility=False, trust_env=False
    )
    try:
        await client.update_collection(
            collection, strict_mode_config=_STRICT, optimizers_config=q.OptimizersConfigDiff(**vacuum)
        )
    except ResponseHandlingException as error:
        if isinstance(error.source, RecallUnavailable):
            raise error.source from error
        raise IndexUnreadable from error
    finally:
        await client.close()


class _Transport(httpx.AsyncBaseTransport):
    """Sends the requests on our connection, with its addresses, key and proxies."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        content = await self._send(request.method, request.url.raw_path.decode(), await request.aread())
        return httpx.Response(httpx.codes.OK, content=content)
