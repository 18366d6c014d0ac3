"""`SyncMemory` on real stores: the same memory without an event loop, also at the ends of programs."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from memory import Chat, SyncChat, SyncMemory
from memory.embedded.supervisor import IndexEndpoint
from memory.redis.client import open_redis
from tests.stores import all_keys, empty

Run = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture
def places(redis_url: str, index_endpoint: IndexEndpoint) -> dict[str, Any]:
    asyncio.run(empty(redis_url))
    return {
        "redis_url": redis_url,
        "qdrant_url": index_endpoint.url,
        "qdrant_api_key": index_endpoint.api_key,
    }


@pytest.fixture
def memory(places: dict[str, Any]) -> Generator[SyncMemory]:
    with SyncMemory.open(**places) as memory:
        yield memory


@pytest.fixture
def run(places: dict[str, Any], tmp_path: Path) -> Run:
    """Return what runs a program with `memory` open."""

    def run_program(program: str) -> "subprocess.CompletedProcess[str]":
        beginning = f"import os, signal, sys, threading\nfrom memory import SyncMemory\nplaces = {places!r}\n"
        return subprocess.run(
            [sys.executable, "-c", beginning + dedent(program)],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            cwd=tmp_path,
            check=False,
        )

    return run_program


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("mnemogram")]


def test_every_method_of_a_chat_waits_for_its_result(memory: SyncMemory, tmp_path: Path) -> None:
    chat = memory.chat("anna")
    lock = chat.add_user("The code of the bike lock is 4711.", metadata={"source": "crm"})
    reply = chat.add_assistant("Noted.")

    assert memory.index() == 2
    assert [each.key for each in memory.chats()] == ["anna"]
    assert chat.get(lock.id) == lock
    assert chat.recent(1) == [reply]
    assert chat.count() == 2
    assert [hit.message for hit in chat.search("the code of the lock", k=1, where={"source": "crm"})] == [
        lock
    ]
    assert chat.context("the code of the lock", tokens=100).window == (lock, reply)
    assert chat.facts() == []
    assert chat.export(tmp_path / "anna.jsonl")["message"] == 2
    assert chat.update(lock.id, "The code of the bike lock is 1.").text == "The code of the bike lock is 1."
    assert chat.forget(reply.id).is_proven
    assert chat.reset().is_proven


def test_a_chat_has_the_same_methods_in_both_worlds() -> None:
    def names(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert names(SyncChat) == names(Chat)


def test_a_closed_memory_says_so_and_leaves_no_thread(places: dict[str, Any], redis_url: str) -> None:
    memory = SyncMemory.open(**places)
    chat = memory.chat("anna")
    chat.add_user("The code of the bike lock is 4711.")
    memory.index()
    memory.close()
    memory.close()

    assert threads() == []
    with pytest.raises(RuntimeError, match="closed"):
        chat.count()

    async def consumers() -> list[Any]:
        async with open_redis(redis_url) as redis:
            streams = [key for key in await all_keys(redis) if key.endswith(":work")]
            return [
                each for key in streams for each in await redis.call("XINFO", "CONSUMERS", key, "indexers")
            ]

    assert asyncio.run(consumers()) == []


def test_a_memory_that_cannot_open_leaves_no_thread(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="cannot be reached"):
        SyncMemory.open("redis://127.0.0.1:1", qdrant_url="http://127.0.0.1:1", data_dir=tmp_path)
    with pytest.raises(ValueError, match="`embed_name`"):
        SyncMemory.open(embed=len, data_dir=tmp_path)
    assert threads() == []


def test_many_threads_share_a_memory(memory: SyncMemory) -> None:
    def write(number: int) -> None:
        for each in range(5):
            memory.chat(f"chat {number % 2}").add_user(f"Thread {number} says {each}.")

    writers = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert sum(chat.count() for chat in memory.chats()) == 40


async def test_it_works_inside_of_a_running_loop_as_in_a_notebook(places: dict[str, Any]) -> None:
    with SyncMemory.open(**places) as memory:
        memory.chat("anna").add_user("The code of the bike lock is 4711.")
        assert memory.chat("anna").count() == 1


def test_an_async_embedder_that_calls_its_memory_is_refused_in_place_of_a_deadlock(
    places: dict[str, Any],
) -> None:
    found: list[str] = []

    async def embed(texts: list[str]) -> list[list[float]]:
        if memories:
            try:
                memories[0].chat("anna").count()
            except RuntimeError as error:
                found.append(str(error))
        return [[1.0, 0.0] for _ in texts]

    memories: list[SyncMemory] = []
    with SyncMemory.open(**places, embed=embed, embed_name="calls back") as memory:
        memories.append(memory)
        memory.chat("anna").add_user("The code of the bike lock is 4711.")
        memory.index()

    assert found
    assert "must not call it" in found[0]


def test_a_program_that_forgets_to_close_ends_by_itself(run: Run) -> None:
    done = run(
        """
        memory = SyncMemory.open(**places)
        memory.chat("anna").add_user("The code of the bike lock is 4711.")
        print(memory.chat("anna").count())
        """
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_ctrl_c_cancels_a_call_and_the_memory_goes_on(run: Run) -> None:
    done = run(
        """
        started = threading.Event()
        is_slow = False

        async def embed(texts):
            if is_slow:
                started.set()
                await __import__("asyncio").sleep(60)
            return [[1.0, 0.0] for _ in texts]

        memory = SyncMemory.open(**places, embed=embed, embed_name="slow")
        chat = memory.chat("anna")
        chat.add_user("The code of the bike lock is 4711.")
        is_slow = True
        threading.Thread(
            target=lambda: (started.wait(), os.kill(os.getpid(), signal.SIGINT)), daemon=True
        ).start()
        try:
            chat.search("lock")
        except KeyboardInterrupt:
            print("interrupted")
        is_slow = False
        print(chat.count(), len(chat.search("the code of the lock")))
        signal.raise_signal(signal.SIGINT)
        """
    )

    assert done.stdout == "interrupted\n1 1\n"
    assert done.returncode == -signal.SIGINT
    assert done.stderr.splitlines()[-1] == "KeyboardInterrupt"


def test_a_forked_process_is_told_to_open_its_own_and_closes_nothing(run: Run) -> None:
    done = run(
        """
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        memory = SyncMemory.open(**places)
        memory.chat("anna").add_user("The code of the bike lock is 4711.")
        sys.stdout.flush()
        if (child := os.fork()) == 0:
            try:
                memory.chat("anna").count()
            except RuntimeError as error:
                print(error, flush=True)
            memory.close()
            sys.exit(3)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), memory.chat("anna").count())
        """
    )

    assert done.stdout.splitlines() == [
        "The memory was opened before this process was forked: open one in each process.",
        "3 1",
    ]
    assert done.returncode == 0
