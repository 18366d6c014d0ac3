"""The index server as a process: acknowledged writes survive a kill, and all processes share it."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException

from memory.embedded.supervisor import IndexEndpoint, open_index_server

pytestmark = pytest.mark.slow

COUNT_IN_ANOTHER_PROCESS = """
import asyncio, sys
from pathlib import Path
from qdrant_client import AsyncQdrantClient
from memory.embedded.supervisor import open_index_server

async def count(data_dir):
    async with open_index_server(Path(data_dir)) as endpoint:
        client = AsyncQdrantClient(
            url=endpoint.url, headers={"api-key": endpoint.api_key}, check_compatibility=False
        )
        print((await client.count("c")).count)
        await client.close()

asyncio.run(count(sys.argv[1]))
"""


@asynccontextmanager
async def open_client(endpoint: IndexEndpoint) -> AsyncGenerator[AsyncQdrantClient]:
    client = AsyncQdrantClient(
        url=endpoint.url, headers={"api-key": endpoint.api_key}, check_compatibility=False
    )
    try:
        yield client
    finally:
        await client.close()


async def make_collection(client: AsyncQdrantClient) -> None:
    await client.create_collection(
        "c", {"dense": models.VectorParams(size=4, distance=models.Distance.COSINE)}
    )


def point(number: int) -> models.PointStruct:
    return models.PointStruct(
        id=number, vector={"dense": [1.0, 0.5, 0.25, number / 10]}, payload={"n": number}
    )


def server_pid(data_dir: Path) -> int:
    return int((data_dir / "index" / "server.lock").read_text())


async def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline, "timed out"
        await asyncio.sleep(0.02)


async def test_acknowledged_points_survive_kills_of_the_server(tmp_path: Path) -> None:
    async with open_index_server(tmp_path) as endpoint, open_client(endpoint) as client:
        await make_collection(client)
        schema = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER)
        await client.create_payload_index("c", "n", field_schema=schema, wait=True)
        for batch in range(3):
            await client.upsert("c", [point(10 * batch + n) for n in range(10)], wait=True)
            first = models.Filter(must=[models.HasIdCondition(has_id=[10 * batch])])
            await client.delete("c", models.FilterSelector(filter=first), wait=True)
            os.kill(server_pid(tmp_path), signal.SIGKILL)
            assert await count_patiently(client) == 9 * (batch + 1)
        found, _ = await client.scroll("c", limit=50, with_vectors=True)
        schema = (await client.get_collection("c")).payload_schema
    assert [(record.id, record.payload) for record in found] == [(n, {"n": n}) for n in range(30) if n % 10]
    assert all(record.vector for record in found)
    assert schema["n"].points == 27


async def count_patiently(client: AsyncQdrantClient) -> int:
    """Count points. A kill may cut the first request's connection; later requests wait for the server."""
    try:
        return (await client.count("c")).count
    except ResponseHandlingException:
        return (await client.count("c")).count


async def test_points_survive_the_end_of_the_last_user(tmp_path: Path) -> None:
    async with open_index_server(tmp_path) as endpoint, open_client(endpoint) as client:
        await make_collection(client)
        await client.upsert("c", [point(n) for n in range(5)], wait=True)
        server = server_pid(tmp_path)
    await wait_until(lambda: not is_alive(server))
    async with open_index_server(tmp_path) as endpoint, open_client(endpoint) as client:
        assert (await client.count("c")).count == 5
        assert server_pid(tmp_path) != server


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_two_processes_share_one_index(tmp_path: Path) -> None:
    async with open_index_server(tmp_path) as endpoint, open_client(endpoint) as client:
        await make_collection(client)
        await client.upsert("c", [point(n) for n in range(7)], wait=True)
        other = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", COUNT_IN_ANOTHER_PROCESS, str(tmp_path)],
            capture_output=True,
            check=True,
            timeout=30,
        )
    assert other.stdout == b"7\n"


async def test_the_client_can_read_every_answer(tmp_path: Path) -> None:
    async with open_index_server(tmp_path) as endpoint, open_client(endpoint) as client:
        await make_collection(client)
        assert [each.name for each in (await client.get_collections()).collections] == ["c"]
        info = await client.get_collection("c")
        assert info.status == models.CollectionStatus.GREEN
        assert info.config.params.vectors == {
            "dense": models.VectorParams(size=4, distance=models.Distance.COSINE)
        }
        assert await client.delete_collection("c")
        assert (await client.get_collections()).collections == []


async def test_the_key_is_in_no_process_list_log_or_repr(tmp_path: Path) -> None:
    async with open_index_server(tmp_path) as endpoint, open_client(endpoint) as client:
        await client.get_collections()
        listing = await asyncio.to_thread(
            subprocess.run, ["ps", "-eo", "args"], capture_output=True, check=True
        )
        log = (tmp_path / "index" / "log").read_text()
    assert len(endpoint.api_key) >= 40
    assert endpoint.api_key not in listing.stdout.decode(errors="replace")
    assert endpoint.api_key not in log
    assert endpoint.api_key not in repr(endpoint)
