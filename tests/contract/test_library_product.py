"""The library as a product: plain opening, single messages, metadata, export, and embedders of one's own."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from memory import Memory, SyncMemory
from memory.embedded.supervisor import IndexEndpoint
from memory.history.contexts import get_or_create
from memory.history.message import Sender
from memory.keys import ContextRef
from memory.recall.embedders.embedder import EmbeddingInvalid, EmbeddingUnavailable
from memory.redis.client import RedisClient
from memory.transfer.file import check_file, split_lines
from tests.contract.facts_kit import learn

Open = Callable[..., Memory]


@pytest.fixture
def opening(redis: RedisClient, redis_url: str, index_endpoint: IndexEndpoint) -> Open:
    """Return `Memory.open` on the stores of the test."""
    assert redis

    def open_memory(**options: Any) -> Memory:
        return Memory.open(
            redis_url, qdrant_url=index_endpoint.url, qdrant_api_key=index_endpoint.api_key, **options
        )

    return open_memory


@pytest.fixture
async def memory(opening: Open) -> AsyncGenerator[Memory]:
    async with opening() as memory:
        yield memory


async def test_a_memory_opens_in_one_task_and_closes_in_another(opening: Open) -> None:
    """Web frameworks start and stop an application in different tasks."""
    memory = opening()
    assert await asyncio.create_task(_opened(memory)) is memory
    await memory.chat("anna").add_user("The code of the bike lock is 4711.")

    await asyncio.create_task(memory.close())
    await memory.close()

    with pytest.raises(RuntimeError, match=r"not open: `memory = await Memory\.open"):
        await memory.chat("anna").recent()
    with pytest.raises(RuntimeError, match="not open"):
        await memory.index()


async def _opened(memory: Memory) -> Memory:
    return await memory


async def test_two_openings_at_once_open_once_and_a_closed_memory_opens_again(opening: Open) -> None:
    memory = opening()
    first, second = await asyncio.gather(_opened(memory), _opened(memory))
    assert first.stores is second.stores
    await memory.close()

    async with memory as again:
        assert await again.chats() == []
    with pytest.raises(RuntimeError, match="not open"):
        assert again.stores


async def test_one_message_is_read_by_its_id(memory: Memory) -> None:
    chat = memory.chat("anna")
    lock = await chat.add_user("The code of the bike lock is 4711.")

    assert await chat.get(lock.id) == lock
    assert await chat.get("no id") is None
    assert await chat.get("") is None
    assert await memory.chat("ben").get(lock.id) is None


async def test_an_update_replaces_text_and_vector_and_keeps_the_rest(memory: Memory) -> None:
    chat = memory.chat("anna")
    before = await chat.add_user("The code of the bike lock is 4711.", metadata={"source": "crm"})
    await chat.add_user("Lisbon is warm in May.")
    await memory.index()

    after = await chat.update(before.id, "My dentist is called Okafor.")

    assert (after.id, after.sequence, after.metadata) == (before.id, before.sequence, before.metadata)
    assert after.edited_at is not None
    assert after.tokens == 8
    assert [hit.message for hit in await chat.search("Who is my dentist?", k=1)] == [after]
    assert before.text not in [hit.message.text for hit in await chat.search("the code of the bike lock")]
    assert [message.text for message in await chat.recent()] == [after.text, "Lisbon is warm in May."]


async def test_an_update_names_what_is_wrong(memory: Memory) -> None:
    chat = memory.chat("anna")
    lock = await memory.chat("ben").add_user("The code is 4711.")

    with pytest.raises(LookupError, match=f"`message_id`: the chat 'anna' has no message '{lock.id}'"):
        await chat.update(lock.id, "The code is 1.")
    with pytest.raises(ValueError, match="text of a message must not be empty"):
        await memory.chat("ben").update(lock.id, " ")
    assert await memory.chat("ben").get(lock.id) == lock


async def test_chats_are_listed_until_they_are_reset_and_none_of_the_bots(
    memory: Memory, redis: RedisClient
) -> None:
    for key in ("anna", "42", "ben"):
        await memory.chat(key).add_user(f"My name is {key}.")
    memory.chat("nobody has written here")
    bots = ContextRef(context_id="a" * 32, partition=1)
    for names in ({"bot": 1, "chat": 42}, {"chat": "anna"}):
        await get_or_create(redis, bots, context_keys=names, title="A group", now=1.0)

    assert sorted(chat.key for chat in await memory.chats()) == ["42", "anna", "ben"]

    await memory.chat("42").reset()
    found = {chat.key: await chat.count() for chat in await memory.chats()}
    assert found == {"anna": 1, "ben": 1}
    assert await memory.chat("42").count() == 0


async def test_a_search_finds_only_messages_with_the_metadata_asked_for(memory: Memory) -> None:
    chat = memory.chat("anna")
    crm = await chat.add_user("The bike lock has the code 4711.", metadata={"source": "crm", "stars": 4})
    for number in range(120):
        await chat.add_user(f"The bike lock number {number} has a code.", metadata={"source": "web"})
    reply = await chat.add_assistant("A bike lock with a code.", metadata={"source": "crm", "vip": True})

    async def find(where: dict[str, Any]) -> set[str]:
        return {hit.message.id for hit in await chat.search("the code of the bike lock", k=5, where=where)}

    assert await find({"source": "crm"}) == {crm.id, reply.id}
    assert await find({"source": "crm", "stars": 4.0}) == {crm.id}
    assert await find({"vip": True}) == {reply.id}
    assert await find({"vip": 1}) == await find({"source": "CRM"}) == await find({"stars": "4"}) == set()
    assert len(await find({"source": "web"})) == len(await find({})) == 5
    assert (await chat.get(crm.id)) == crm
    assert crm.metadata == {"source": "crm", "stars": 4}


@pytest.mark.parametrize(
    "metadata",
    [
        {"a": None},
        {"a": ["b"]},
        {"a": {"b": 1}},
        {"a": float("nan")},
        {"a": float("inf")},
        {"": 1},
        {1: "a"},
        [("a", 1)],
        {str(n): n for n in range(65)},
    ],
)
async def test_metadata_that_cannot_be_filtered_by_are_refused(memory: Memory, metadata: Any) -> None:
    chat = memory.chat("anna")
    with pytest.raises(ValueError, match="`metadata`"):
        await chat.add_user("The code is 4711.", metadata=metadata)
    with pytest.raises(ValueError, match="`where`"):
        await chat.search("code", where=metadata)
    assert await chat.count() == 0


async def test_wrong_numbers_and_ids_are_refused_with_the_name_of_the_argument(memory: Memory) -> None:
    chat = memory.chat("anna")
    with pytest.raises(ValueError, match="`n` must be 0 or more"):
        await chat.recent(-1)
    with pytest.raises(ValueError, match="`k` must be 0 or more"):
        await chat.search("code", k=-1)
    with pytest.raises(ValueError, match="`id` of a message must be a UUID"):
        await chat.add_user("The code is 4711.", id="message 1")
    for key in (None, 42):
        with pytest.raises(ValueError, match="key of a chat"):
            memory.chat(key)  # pyright: ignore[reportArgumentType]
    own = str(uuid4())
    first = await chat.add_user("The code is 4711.", id=own)
    assert (
        await chat.add_user("The code is 12.", id=own.upper())
        == first
        == await chat.get(own.replace("-", ""))
    )
    assert await chat.count() == 1
    assert (await chat.forget(own.upper())).is_proven


@pytest.mark.parametrize(
    "details",
    [
        {"sent_at": float("nan")},
        {"sent_at": float("inf")},
        {"sent_at": "yesterday"},
        {"sent_at": -1},
        {"sent_at": 1e18},
        {"sender": "Anna"},
        {"sender": Sender(id="7", name="Anna")},  # pyright: ignore[reportArgumentType]
        {"note": None},
        {"note": b"a photo"},
        {"origin": "a guess"},
        {"id": 7},
    ],
)
async def test_a_detail_that_could_not_be_read_again_is_refused_and_the_chat_stays_whole(
    memory: Memory, details: dict[str, Any], tmp_path: Path
) -> None:
    chat = memory.chat("anna")
    with pytest.raises(ValueError, match=f"`{next(iter(details))}"):
        await chat.add_user("The code is 4711.", **details)
    assert await chat.recent() == []
    with pytest.raises(TypeError, match="`sent`"):
        await chat.add_user("The code is 4711.", sent=1.0)  # pyright: ignore[reportCallIssue]
    await chat.add_user("The code is 4711.", sent_at=0)
    assert (await chat.export(tmp_path / "chat.jsonl"))["message"] == 1


async def test_an_export_has_everything_and_replaces_no_file(memory: Memory, tmp_path: Path) -> None:
    chat, path = memory.chat("anna"), tmp_path / "anna.jsonl"
    lock = await chat.add_user(
        "The code is 4711.", sender=Sender(id=7, name="Anna"), metadata={"source": "crm", "stars": 4.5}
    )

    counts = await chat.export(path)

    assert (counts["message"], counts["person"]) == (1, 1)
    assert path.stat().st_mode & 0o777 == 0o600
    with path.open() as stream:
        facts = check_file(split_lines(stream))
    assert (facts.header.chat, facts.counts["message"]) == ("anna", 1)
    line = json.loads(path.read_text().splitlines()[2])
    assert line["message"]["metadata"] == {"source": "crm", "stars": 4.5}
    assert line["message"]["id"] == lock.id
    with pytest.raises(FileExistsError):
        await chat.export(path)
    with pytest.raises(FileNotFoundError):
        await chat.export(tmp_path / "no folder" / "anna.jsonl")
    assert [each.name for each in os.scandir(tmp_path)] == ["anna.jsonl"]


async def test_the_facts_of_a_chat_are_listed_until_their_message_changes(
    memory: Memory, redis: RedisClient
) -> None:
    chat = memory.chat("anna")
    told = await chat.add_user("I live in Lisbon.", sender=Sender(id=7, name="Anna"))
    assert await chat.facts() == []
    await learn(redis, chat.ref, told, "Anna lives in Lisbon")

    (fact,) = await chat.facts()
    assert (fact.statement, fact.message_ids) == ("Anna lives in Lisbon", (told.id,))
    assert await memory.chat("ben").facts() == []
    await chat.update(told.id, "I live in Porto.")
    assert await chat.facts() == []


SYNONYMS = ("bike cycle bicycle", "code number digits", "warm hot", "dentist doctor")


def embed_synonyms(texts: list[str]) -> list[list[float]]:
    """Return vectors in which synonyms are the same, as a model's are."""
    return [
        [0.01, *(float(any(word in text.casefold() for word in group.split())) for group in SYNONYMS)]
        for text in texts
    ]


async def embed_later(texts: list[str]) -> Any:
    await asyncio.sleep(0)
    return np.array(embed_synonyms(texts))


class Embedding:
    async def __call__(self, texts: list[str]) -> Any:
        return await embed_later(texts)


def embed_awaitable(texts: list[str]) -> Any:
    return embed_later(texts)


def embed_array(texts: list[str]) -> Any:
    return np.array(embed_synonyms(texts))


@pytest.mark.parametrize(
    "embed",
    [embed_synonyms, embed_later, Embedding(), embed_awaitable, embed_array],
    ids=["plain", "async", "object", "awaitable", "array"],
)
async def test_an_embedder_of_ones_own_finds_by_its_meaning(opening: Open, embed: Any) -> None:
    async with opening(embed=embed, embed_name=f"synonyms {uuid4()}") as memory:
        chat = memory.chat("anna")
        told = await chat.add_user("My bicycle needs four digits.")
        await chat.add_user("Lisbon is warm in May.")
        for number in range(130):  # more than one call
            await chat.add_user(f"{number}")

        hits = await chat.search("the bike code", k=1)

        assert [hit.message for hit in hits] == [told]
        space = memory.stores.recall.spaces.serving
        assert space.embedder is not None
        assert space.embedder.identity.dimension == 5


async def test_another_embedder_embeds_all_messages_again(opening: Open) -> None:
    async with opening() as memory:
        told = await memory.chat("anna").add_user("My bicycle needs four digits.")
        await memory.index()

    async with opening(embed=embed_synonyms, embed_name=f"synonyms {uuid4()}") as memory:
        await memory.index()
        hits = await memory.chat("anna").search("the bike code", k=1)

    assert [hit.message for hit in hits] == [told]


@pytest.mark.parametrize("argument", ["redis_url", "qdrant_url"])
@pytest.mark.parametrize("address", ["junk", "", "junk://localhost", "http://", "redis://h:port"])
def test_an_address_that_is_none_is_refused_by_the_name_of_its_argument(argument: str, address: str) -> None:
    openings: list[Callable[..., object]] = [Memory.open, SyncMemory.open]
    for opening in openings:
        with pytest.raises(ValueError, match=f"^`{argument}` "):
            opening(**{argument: address})


async def test_an_embedder_needs_the_name_of_its_model(opening: Open) -> None:
    with pytest.raises(ValueError, match="`embed_name` must name the model of `embed`"):
        opening(embed=embed_synonyms)
    with pytest.raises(ValueError, match="`embed` must be a function"):
        opening(embed="all-MiniLM-L6-v2", embed_name="MiniLM")


@pytest.mark.parametrize(
    "vectors", [[], [[]], [[0.0, 0.0]], [[float("nan")]], ["text"], None, 3, [["a"]], [[1.0], [1.0]], [1.0]]
)
async def test_an_embedder_with_impossible_vectors_is_refused_when_the_memory_opens(
    opening: Open, vectors: Any
) -> None:
    def embed(_: list[str]) -> Any:
        return vectors

    with pytest.raises(EmbeddingInvalid, match=r"embed|model"):
        await opening(embed=embed, embed_name="model")


async def test_a_failing_embedder_is_named_and_loses_no_message(opening: Open) -> None:
    is_broken = False

    def embed(texts: list[str]) -> list[list[float]]:
        if is_broken:
            raise ConnectionError("no route to the model")
        return embed_synonyms(texts)

    async with opening(embed=embed, embed_name=f"synonyms {uuid4()}") as memory:
        chat, is_broken = memory.chat("anna"), True
        told = await chat.add_user("My bicycle needs four digits.")
        with pytest.raises(
            EmbeddingUnavailable, match=r"`embed` \(own synonyms .*\) failed with ConnectionError"
        ):
            await chat.search("the bike code")
        is_broken = False

        assert [hit.message for hit in await chat.search("the bike code", k=1)] == [told]
