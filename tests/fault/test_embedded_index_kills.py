"""The index server while its processes are killed in the middle of a vacuum: nothing is lost, nothing is left."""

import os
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

from memory.embedded.index.api_key import load_api_key

SETTINGS = {
    "vectors": {"dense": {"size": 4, "distance": "Cosine"}},
    "sparse_vectors": {"terms": {"modifier": "idf"}},
}
EVERYTHING = {"limit": 10_000, "with_payload": True, "with_vector": True}
SERVER = """
import asyncio, os, signal, socket, sys
from pathlib import Path
from memory.embedded.index.__main__ import serve
from memory.embedded.index.upkeep import UpkeepTimes

async def reached(stage):
    if stage == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)

times = UpkeepTimes(tick=0.01, quiet=3600, patience=0.0)
asyncio.run(serve(Path(sys.argv[1]), socket.socket(fileno=os.dup(0)), times, reached=reached))
"""


def point(number: int) -> dict[str, Any]:
    vector = {"dense": [1.0, 2.0, 3.0, float(number)], "terms": {"indices": [number], "values": [0.5]}}
    return {"id": number, "vector": vector, "payload": {"n": number}}


@contextmanager
def a_server(directory: Path, *, dies_at: str = "never") -> Generator[tuple[subprocess.Popen[bytes], str]]:
    """A server that kills itself with -9 when its vacuum reaches a stage, and the address that it answers at."""
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
    answer = httpx.request(
        method, f"{url}{path}", params={"wait": "true"}, headers=headers, json=body, timeout=30
    )
    answer.raise_for_status()
    return answer.json()["result"]


@pytest.mark.parametrize("stage", ["begun", "copying", "copied", "turned"])
def test_a_kill_at_any_stage_of_a_vacuum_loses_nothing_and_leaves_nothing(tmp_path: Path, stage: str) -> None:
    folder = tmp_path / "collections" / "c"
    with a_server(tmp_path, dies_at=stage) as (server, url):
        call(url, tmp_path, "PUT", "/collections/c", SETTINGS)
        call(url, tmp_path, "PUT", "/collections/c/points", {"points": [point(n) for n in range(200)]})
        call(url, tmp_path, "POST", "/collections/c/points/delete", {"points": [1, 2, 3]})
        assert server.wait(30) == -signal.SIGKILL
    left = {path.name.partition(".")[0] for path in folder.glob("shard*")}
    assert len(left) == 2
    with a_server(tmp_path) as (_, url):
        found = call(url, tmp_path, "POST", "/collections/c/points/scroll", EVERYTHING)["points"]
        assert [one["id"] for one in found] == [0, *range(4, 200)]
        assert all(one["payload"] == point(one["id"])["payload"] for one in found)
        deadline = time.monotonic() + 30
        while len({path.name.partition(".")[0] for path in folder.glob("shard*")} & left) > (
            stage == "turned"
        ):
            assert time.monotonic() < deadline, "what was left is still there"
            call(url, tmp_path, "GET", "/collections/c")
        assert len(call(url, tmp_path, "POST", "/collections/c/points/scroll", EVERYTHING)["points"]) == 197


def test_a_server_that_is_told_to_end_flushes_first_and_leaves_no_process(tmp_path: Path) -> None:
    with a_server(tmp_path) as (server, url):
        call(url, tmp_path, "PUT", "/collections/c", SETTINGS)
        call(url, tmp_path, "PUT", "/collections/c/points", {"points": [point(1)]})
        children = children_of(server.pid)
        server.terminate()
        assert server.wait(30) == 0
    assert children
    assert not any(is_alive(pid) for pid in children)


def test_no_process_outlives_a_server_that_is_killed(tmp_path: Path) -> None:
    with a_server(tmp_path) as (server, url):
        call(url, tmp_path, "GET", "/collections")
        children = children_of(server.pid)
        server.kill()
        server.wait()
    assert children
    deadline = time.monotonic() + 10
    while any(is_alive(pid) for pid in children):
        assert time.monotonic() < deadline, "a process with shards lives on"


def children_of(pid: int) -> list[int]:
    told = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(child) for child in told.stdout.split()]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
