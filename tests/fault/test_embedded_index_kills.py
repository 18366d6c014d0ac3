"""Kills of the index server during a vacuum: nothing is lost, and no unfinished file stays."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory.embedded.index.server import load_api_key

SETTINGS = {
    "vectors": {"dense": {"size": 4, "distance": "Cosine"}},
    "sparse_vectors": {"terms": {"modifier": "idf"}},
}
EVERYTHING = {"limit": 10_000, "with_payload": True, "with_vector": True}
SERVER = """
import asyncio, os, signal, sys
from pathlib import Path
from memory.embedded.index.server import serve
from memory.embedded.index.server import UpkeepTimes

async def reached(stage):
    if stage == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)

# Half a second, so that the deletion is answered before the vacuum begins.
times = UpkeepTimes(tick=0.01, quiet=3600, patience=0.5)
asyncio.run(serve(Path(sys.argv[1]), times, reached=reached))
"""


def point(number: int) -> dict[str, Any]:
    vector = {"dense": [1.0, 2.0, 3.0, float(number)], "terms": {"indices": [number], "values": [0.5]}}
    return {"id": number, "vector": vector, "payload": {"n": number}}


@contextmanager
def open_server(directory: Path, *, dies_at: str = "never") -> Generator[tuple[subprocess.Popen[bytes], str]]:
    """Run a server that kills itself with -9 when its vacuum reaches a stage. Yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(directory), dies_at], stdin=listener.fileno()
        )
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        yield server, url
    finally:
        server.terminate()
        server.wait()


def call(url: str, directory: Path, method: str, path: str, body: object = None) -> Any:
    headers = {"api-key": load_api_key(directory / "api-key")}
    answer = httpx.request(method, f"{url}{path}", headers=headers, json=body, timeout=30)
    answer.raise_for_status()
    return answer.json()["result"]


@pytest.mark.parametrize("stage", ["begun", "copying", "copied", "replaced"])
def test_a_kill_at_any_stage_of_a_vacuum_loses_nothing_and_leaves_no_files(
    tmp_path: Path, stage: str
) -> None:
    folder = tmp_path / "collections" / "c"
    with open_server(tmp_path, dies_at=stage) as (server, url):
        call(url, tmp_path, "PUT", "/collections/c", SETTINGS)
        call(url, tmp_path, "PUT", "/collections/c/points", {"points": [point(n) for n in range(200)]})
        scope = {"must": [{"has_id": [1, 2, 3]}]}
        call(url, tmp_path, "POST", "/collections/c/points/delete", {"filter": scope})
        assert server.wait(30) == -signal.SIGKILL
    shards = {path.name for path in folder.glob("shard-*")}
    assert len(shards) == 2
    with open_server(tmp_path) as (_, url):
        found = call(url, tmp_path, "POST", "/collections/c/points/scroll", EVERYTHING)["points"]
        assert [one["id"] for one in found] == [0, *range(4, 200)]
        assert all(one["payload"] == point(one["id"])["payload"] for one in found)
        deadline = time.monotonic() + 30
        while len({path.name for path in folder.glob("shard-*")} & shards) > (stage == "replaced"):
            assert time.monotonic() < deadline, "a former shard is still there"
            call(url, tmp_path, "GET", "/collections/c")
        assert len(call(url, tmp_path, "POST", "/collections/c/points/scroll", EVERYTHING)["points"]) == 197


def test_the_server_flushes_on_sigterm(tmp_path: Path) -> None:
    with open_server(tmp_path) as (server, url):
        call(url, tmp_path, "PUT", "/collections/c", SETTINGS)
        call(url, tmp_path, "PUT", "/collections/c/points", {"points": [point(1)]})
        server.terminate()
        assert server.wait(30) == 0


def test_the_server_is_one_process(tmp_path: Path) -> None:
    with open_server(tmp_path) as (server, url):
        call(url, tmp_path, "GET", "/collections")
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(server.pid)], capture_output=True, text=True, check=False
        )
    assert children.stdout == ""
