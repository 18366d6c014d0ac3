"""The library on real stores: added messages are stored and found, and forgotten ones are gone."""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from memory import Memory
from memory.embedded.supervisor import IndexEndpoint
from memory.errors import UnsafeStore
from memory.redis.client import RedisClient
from tests.stores import all_keys

EXAMPLE = Path(__file__).parents[2] / "examples" / "memory_as_a_library.py"


@pytest.fixture
async def memory(redis: RedisClient, redis_url: str, index_endpoint: IndexEndpoint) -> AsyncGenerator[Memory]:
    opening = Memory.open(redis_url, qdrant_url=index_endpoint.url, qdrant_api_key=index_endpoint.api_key)
    async with opening as memory:
        yield memory


async def test_added_messages_are_recent_and_searchable_at_once(memory: Memory) -> None:
    chat = memory.chat("anna")
    lock = await chat.add_user("The code of the bike lock is 4711.")
    await chat.add_assistant("Noted.")
    await chat.add_user("Lisbon is warm in May.")

    hits = await chat.search("What is the code of the bike lock?", k=1)

    assert [message.text for message in await chat.recent(2)] == ["Noted.", "Lisbon is warm in May."]
    assert [hit.message for hit in hits] == [lock]


async def test_indexing_counts_the_messages_that_become_searchable(memory: Memory) -> None:
    for name in ("dora", "emil", "finn"):
        await memory.chat(name).add_user(f"My name is {name}.")

    assert await memory.index() == 3
    assert await memory.index() == 0


async def test_a_search_with_nothing_to_index_waits_for_no_work(memory: Memory, redis: RedisClient) -> None:
    chat = memory.chat("anna")
    await chat.add_user("The code of the bike lock is 4711.")
    await chat.search("bike lock")
    statistics = await redis.call("INFO", "commandstats")

    assert await chat.search("bike lock")

    later = await redis.call("INFO", "commandstats")
    assert later["cmdstat_xreadgroup"]["calls"] == statistics["cmdstat_xreadgroup"]["calls"]


async def test_no_chat_finds_messages_of_another(memory: Memory) -> None:
    await memory.chat("anna").add_user("The code of the bike lock is 4711.")

    assert await memory.chat("ben").search("What is the code of the bike lock?") == []
    assert await memory.chat("ben").recent() == []


async def test_repeated_sentences_of_the_bot_do_not_crowd_out_what_a_person_said(memory: Memory) -> None:
    chat = memory.chat("anna")
    told = await chat.add_user("My sister Anna moved to Lisbon, near the river.")
    for _ in range(8):
        await chat.add_user("Where does my sister Anna live?")
        await chat.add_assistant("Your sister Anna lives in Lisbon.")

    texts = [hit.message.text for hit in await chat.search("Where does my sister Anna live?", k=5)]

    assert told.text in texts
    assert len(texts) == len(set(texts)) == 3


async def test_a_forgotten_message_is_gone_and_the_others_stay(memory: Memory) -> None:
    chat = memory.chat("anna")
    lock = await chat.add_user("The code of the bike lock is 4711.")
    other = await chat.add_user("Lisbon is warm in May.")
    await memory.index()

    receipt = await chat.forget([lock.id])

    assert (receipt.messages_erased, receipt.vectors_erased, receipt.is_proven) == (1, 1, True)
    assert await chat.recent() == [other]
    assert lock.id not in [hit.message.id for hit in await chat.search("the code of the bike lock")]


async def test_one_message_is_forgotten_by_its_id_alone(memory: Memory) -> None:
    chat = memory.chat("anna")
    lock = await chat.add_user("The code of the bike lock is 4711.")

    receipt = await chat.forget(lock.id)

    assert (receipt.messages_erased, receipt.missing, receipt.is_proven) == (1, (), True)


async def test_a_receipt_names_the_ids_that_were_not_found_and_proves_nothing_then(memory: Memory) -> None:
    elsewhere = await memory.chat("ben").add_user("My code is 4711 too.")
    lock = await memory.chat("anna").add_user("The code of the bike lock is 4711.")

    receipt = await memory.chat("anna").forget([lock.id, elsewhere.id, "no id", "no id"])

    assert (receipt.messages_erased, receipt.left.total) == (1, 0)
    assert (receipt.missing, receipt.is_proven) == ((elsewhere.id, "no id"), False)
    assert await memory.chat("ben").recent() == [elsewhere]


async def test_empty_texts_keys_and_ids_are_refused_with_a_sentence(memory: Memory) -> None:
    for key in ("", " \n"):
        with pytest.raises(ValueError, match="key of a chat must not be empty"):
            memory.chat(key)
    chat = memory.chat("anna")
    for add in (chat.add_user, chat.add_assistant):
        with pytest.raises(ValueError, match="text of a message must not be empty"):
            await add(" ")
    with pytest.raises(ValueError, match="text to search for"):
        await chat.search("")
    nothing: list[Any] = ["", [], ["m1", ""], [7], [None]]
    for ids in nothing:
        with pytest.raises(ValueError, match="by their ids"):
            await chat.forget(ids)
    photo = await chat.add_user("", note="a photo")
    assert await chat.recent() == [photo]


async def test_a_reset_chat_is_empty_and_takes_new_messages(memory: Memory) -> None:
    chat = memory.chat("anna")
    await chat.add_user("The code of the bike lock is 4711.")

    receipt = await chat.reset()

    assert (receipt.messages_erased, receipt.is_proven) == (1, True)
    assert await chat.recent() == []
    await chat.add_user("A new beginning.")
    assert [message.text for message in await chat.recent()] == ["A new beginning."]


async def test_a_closed_memory_leaves_no_consumer_and_opens_again(
    redis: RedisClient, redis_url: str, index_endpoint: IndexEndpoint
) -> None:
    for text in ("first", "second"):
        async with Memory.open(
            redis_url, qdrant_url=index_endpoint.url, qdrant_api_key=index_endpoint.api_key
        ) as memory:
            await memory.chat("anna").add_user(text)
            await memory.index()
            said = [message.text for message in await memory.chat("anna").recent()]
    assert said == ["first", "second"]
    for key in await all_keys(redis):
        if key.endswith(":work"):
            assert await redis.call("XINFO", "CONSUMERS", key, "indexers") == []


async def test_a_server_that_would_evict_is_refused(
    redis: RedisClient, redis_url: str, index_endpoint: IndexEndpoint
) -> None:
    await redis.call("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    try:
        with pytest.raises(UnsafeStore, match="noeviction"):
            async with Memory.open(
                redis_url, qdrant_url=index_endpoint.url, qdrant_api_key=index_endpoint.api_key
            ):
                pass
    finally:
        await redis.call("CONFIG", "SET", "maxmemory-policy", "noeviction")


@pytest.mark.slow
def test_the_example_runs_on_embedded_stores_without_a_token(tmp_path: Path) -> None:
    lines = subprocess.run(
        [sys.executable, EXAMPLE],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout.splitlines()

    assert lines == [
        "found: The code of the bike lock is 4711.",
        "found: Noted. Ride safely!",
        "recent: ['The code of the bike lock is 4711.', 'Noted. Ride safely!']",
        "erased 2 messages, nothing left: True",
    ]


def test_importing_memory_imports_no_client() -> None:
    program = (
        "import sys, memory; print([n for n in ('redis', 'qdrant_client', 'pydantic') if n in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
