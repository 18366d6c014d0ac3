"""Looks into every point of the index server, whatever collection it is in."""

from memory.embedded.index_server import IndexEndpoint
from tests.local_http import local_client


async def points_with(index: IndexEndpoint, word: str) -> list[str]:
    """The ids of the points that have this word anywhere in them."""
    headers = {"api-key": index.api_key}
    found: list[str] = []
    async with local_client(index.url, headers=headers) as client:
        listed = (await client.get("/collections")).json()["result"]["collections"]
        for collection in listed:
            asked = {"limit": 10_000, "with_payload": True}
            path = f"/collections/{collection['name']}/points/scroll"
            page = (await client.post(path, json=asked)).raise_for_status().json()["result"]
            assert page.get("next_page_offset") is None
            found += [str(point["id"]) for point in page["points"] if word in str(point)]
    return found
