"""Search in all points of the index server, in any collection."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any

from memory.embedded.supervisor import IndexEndpoint
from tests.local_http import local_client

_PAGE = 10_000


def message_id_of(payload: Mapping[str, Any]) -> str:
    """Return the id of the message that a point belongs to. The point of a fact names it; else it is the last fact."""
    return str(payload.get("of") or str(payload["facts"]).split(" ", 7)[7])


async def points_with(index: IndexEndpoint, word: str) -> list[str]:
    """Return the ids of the points that contain this word."""
    return [str(point["id"]) async for point in every_point(index) if word in str(point)]


async def every_point(index: IndexEndpoint) -> AsyncGenerator[dict[str, Any]]:
    """Return each point with its payload."""
    headers = {"api-key": index.api_key}
    async with local_client(index.url, headers=headers) as client:
        listed = (await client.get("/collections")).json()["result"]["collections"]
        for collection in listed:
            path = f"/collections/{collection['name']}/points/scroll"
            offset: str | None = None
            while True:
                asked = {"limit": _PAGE, "with_payload": True, **({"offset": offset} if offset else {})}
                page = (await client.post(path, json=asked)).raise_for_status().json()["result"]
                for point in page["points"]:
                    yield point
                offset = page.get("next_page_offset")
                if offset is None:
                    break
