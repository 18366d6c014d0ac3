"""Reads stored points as they are: to copy them into another collection, and to compare them with the history."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection

from pydantic_core import from_json, to_json

from memory.recall.qdrant.points import Json, erasure_filter
from memory.recall.vector_index import ListedPoint

COPIED_AT_ONCE = 64
"""Points with vectors of a page: 4 MB with 3,072 dimensions."""
LISTED_AT_ONCE = 1_000

Send = Callable[[str, str, bytes], Awaitable[bytes]]


async def read_points(
    send: Send, collection: str, context_id: str, *, epoch: int, message_ids: Collection[str]
) -> dict[str, Json]:
    """Return the points of these messages of this epoch, with their keys, by id, as a request would store them."""
    scope = erasure_filter(context_id, epoch=epoch, message_ids=message_ids)
    body = {
        "filter": scope.model_dump(mode="json", exclude_none=True),
        "with_payload": True,
        "with_vector": True,
    }
    return {
        str(point["id"]): {"id": point["id"], "vector": point["vector"], "payload": point["payload"]}
        async for point in _scroll(send, collection, {**body, "limit": COPIED_AT_ONCE})
    }


def own_messages(points: Collection[Json]) -> set[str]:
    """Return the messages that have their own point among these, which a key is not."""
    return {_listed(point["payload"]).message_id for point in points if not point["payload"].get("slot")}


async def list_points(send: Send, collection: str, context_id: str) -> set[ListedPoint]:
    """Return what the points of this context stand for, over all epochs."""
    scope = erasure_filter(context_id).model_dump(mode="json", exclude_none=True)
    body = {"filter": scope, "with_payload": ["epoch", "facts", "of", "slot"], "limit": LISTED_AT_ONCE}
    return {_listed(point["payload"]) async for point in _scroll(send, collection, body)}


async def list_contexts(send: Send, collection: str) -> set[str]:
    """Return the ids of all contexts with a point, also those of other deployments."""
    body = {"with_payload": ["context"], "limit": LISTED_AT_ONCE}
    return {point["payload"]["context"] async for point in _scroll(send, collection, body)}


async def _scroll(send: Send, collection: str, body: Json) -> AsyncGenerator[Json]:
    offset: object = None
    while True:
        page = body if offset is None else {**body, "offset": offset}
        path = f"/collections/{collection}/points/scroll"
        answer = from_json(await send("POST", path, to_json(page)))["result"]
        for point in answer["points"]:
            yield point
        offset = answer["next_page_offset"]
        if offset is None:
            return


def _listed(payload: Json) -> ListedPoint:
    message_id = payload["of"] if payload.get("slot") else payload["facts"].split(" ", 7)[-1]
    return ListedPoint(epoch=payload["epoch"], message_id=message_id, slot=payload.get("slot", 0))
