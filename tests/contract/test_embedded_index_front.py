"""What listens for the index puts every request through, and the answer back, as they are."""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest

from memory.embedded.index.api_key import load_api_key
from memory.embedded.index.app import MAX_BODY_BYTES
from memory.embedded.index.front import build_front
from memory.embedded.index.switchboard import Switchboard
from memory.embedded.locks import open_lock, try_lock

pytestmark = pytest.mark.slow

SETTINGS = {"vectors": {"size": 4, "distance": "Dot"}}


def never() -> None:
    pytest.fail("a process with shards was lost")


@pytest.fixture
async def api(tmp_path: Path) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of a front with one empty collection; it sends the key."""
    switchboard = await Switchboard.open(tmp_path, never)
    transport = httpx.ASGITransport(build_front(switchboard))
    headers = {"api-key": load_api_key(tmp_path / "api-key")}
    async with httpx.AsyncClient(transport=transport, base_url="http://index", headers=headers) as client:
        assert (await client.put("/collections/c", json=SETTINGS)).status_code == 200
        yield client
    await switchboard.close()


async def test_what_is_asked_for_comes_back(api: httpx.AsyncClient) -> None:
    point = {"id": 1, "vector": [1.0, 2.0, 3.0, 4.0], "payload": {"text": "déjà vu"}}
    written = await api.put("/collections/c/points?wait=true", json={"points": [point]})
    assert written.json()["result"]["status"] == "completed"
    body = {"query": [1.0, 0.0, 0.0, 0.0], "with_payload": True}
    found = (await api.post("/collections/c/points/query", json=body)).json()["result"]["points"]
    assert [(hit["id"], hit["score"], hit["payload"]) for hit in found] == [(1, 1.0, {"text": "déjà vu"})]


async def test_health_and_version_are_told_without_a_key(api: httpx.AsyncClient) -> None:
    del api.headers["api-key"]
    answer = await api.get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "version" in (await api.get("/")).json()


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize("name", ["c", "unknown"])
async def test_nothing_is_told_or_done_without_the_key(
    api: httpx.AsyncClient, method: str, name: str
) -> None:
    answer = await api.request(method, f"/collections/{name}", headers={"api-key": "another"}, json=SETTINGS)
    assert answer.status_code == 401
    told = (await api.get("/collections")).json()["result"]
    assert told == {"collections": [{"name": "c"}]}


async def test_the_key_may_come_as_a_bearer_token(api: httpx.AsyncClient) -> None:
    key = api.headers.pop("api-key")
    answer = await api.get("/collections", headers={"authorization": f"Bearer {key}"})
    assert answer.status_code == 200


async def test_refusals_come_through(api: httpx.AsyncClient) -> None:
    assert (await api.put("/collections/c", json=SETTINGS)).status_code == 409
    assert (await api.put("/collections/..", json=SETTINGS)).status_code == 501
    assert (await api.put("/collections/a%2Fb", json=SETTINGS)).status_code == 501
    assert (await api.put("/collections/a b", json=SETTINGS)).status_code == 400
    assert (await api.post("/collections/d/points/count", json={})).status_code == 404
    assert (await api.get("/telemetry")).status_code == 501


async def test_a_body_over_the_limit_is_refused(api: httpx.AsyncClient) -> None:
    answer = await api.put("/collections/c/points", content=b" " * (MAX_BODY_BYTES + 10))
    assert answer.status_code == 413


async def test_requests_that_come_together_are_all_answered(api: httpx.AsyncClient) -> None:
    async def write(number: int) -> int:
        point = {"id": number, "vector": [1.0, 2.0, 3.0, float(number)]}
        return (await api.put("/collections/c/points?wait=true", json={"points": [point]})).status_code

    assert set(await asyncio.gather(*(write(number) for number in range(40)))) == {200}
    assert (await api.post("/collections/c/points/count", json={})).json()["result"]["count"] == 40


async def test_a_front_waits_for_the_processes_of_the_one_before(tmp_path: Path) -> None:
    lock = open_lock(tmp_path / "shards.lock")
    assert try_lock(lock)
    opening = asyncio.create_task(Switchboard.open(tmp_path, never))
    done, _ = await asyncio.wait({opening}, timeout=2)
    assert not done
    os.close(lock)
    await (await opening).close()
