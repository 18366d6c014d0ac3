"""`Chat.context` on real stores: summary, memories and window for a prompt, within its tokens."""

from collections.abc import AsyncGenerator

import pytest

from memory import Memory
from memory.embedded.supervisor import IndexEndpoint
from memory.history.message import Sender
from memory.prompt_memory import RECALLED_HEADING, SUMMARY_HEADING, WINDOW_HEADING
from memory.redis.client import RedisClient
from memory.tokens import Tokenizer
from tests.contract.facts_kit import learn
from tests.contract.memory_kit import RedisMemory

ANNA = Sender(id=7, name="Anna")


@pytest.fixture
async def memory(redis: RedisClient, redis_url: str, index_endpoint: IndexEndpoint) -> AsyncGenerator[Memory]:
    async with Memory.open(
        redis_url, qdrant_url=index_endpoint.url, qdrant_api_key=index_endpoint.api_key
    ) as memory:
        yield memory


async def test_a_context_has_what_was_recalled_before_the_newest_messages(memory: Memory) -> None:
    chat = memory.chat("anna")
    lock = await chat.add_user("The code of the bike lock is 4711.", sender=ANNA, sent_at=1_700_000_000.0)
    for number in range(60):
        await chat.add_user(
            f"Lisbon is warm in May, said the guide on page {number}.", sent_at=1_700_090_000.0
        )
    asked = await chat.add_user("What is the code of my bike lock?", sent_at=1_700_100_000.0)

    context = await chat.context("What is the code of my bike lock?", tokens=500)

    assert context.recalled[0] == lock
    assert context.window[-1] == asked
    assert lock not in context.window
    lines = context.text.split("\n")
    assert lines[0] == RECALLED_HEADING
    assert lines[1] == '[2023-11-14 22:13 UTC] Anna: "The code of the bike lock is 4711."'
    assert lines[-1] == '[2023-11-16 02:00 UTC] user: "What is the code of my bike lock?"'
    assert lines.index(WINDOW_HEADING) == len(lines) - 1 - len(context.window)
    memories, *window = context.messages
    assert memories["role"] == "user"
    assert memories["content"].startswith(RECALLED_HEADING)
    assert window[-1] == {"role": "user", "content": asked.text}
    assert 350 < Tokenizer(encoding="o200k_base").count(context.text) <= 500
    assert not context.is_incomplete


async def test_a_small_chat_is_told_once_and_whole(memory: Memory) -> None:
    chat = memory.chat("anna")
    lock = await chat.add_user("The code of the bike lock is 4711.")
    reply = await chat.add_assistant("Noted.")

    context = await chat.context("What is the code of the bike lock?")

    assert (context.recalled, context.window) == ((), (lock, reply))
    assert context.messages == [
        {"role": "user", "content": lock.text},
        {"role": "assistant", "content": "Noted."},
    ]
    empty = await memory.chat("ben").context("What is the code of the bike lock?")
    assert (empty.text, empty.messages) == ("", [])


async def test_a_summary_stands_for_what_it_covers_and_facts_stand_for_messages(
    memory: Memory, redis: RedisClient
) -> None:
    chat = memory.chat("anna")
    told = await chat.add_user("I live in Lisbon, near the river.", sender=ANNA)
    covered = [told, *[await chat.add_user(f"The tram has {n} stops.", sender=ANNA) for n in range(40)]]
    newest = await chat.add_user("Good morning!", sender=ANNA)
    await RedisMemory(redis).add_summary_of(chat.ref, covered)
    await learn(redis, chat.ref, told, "Anna lives in Lisbon")

    context = await chat.context("Where does Anna live?", k=3)

    assert context.window == (newest,)
    lines = context.text.split("\n")
    assert lines[:2] == [SUMMARY_HEADING, "Overview: They talked."]
    assert told in context.recalled or [fact.statement for fact in context.facts] == ["Anna lives in Lisbon"]
    assert lines[-2:] == [WINDOW_HEADING, lines[-1]]


async def test_metadata_limit_what_is_recalled(memory: Memory) -> None:
    chat = memory.chat("anna")
    await chat.add_user("The code of the bike lock is 4711.", metadata={"source": "web"})
    crm = await chat.add_user("The code of the garden lock is 1234.", metadata={"source": "crm"})
    for number in range(30):
        await chat.add_user(f"Lisbon is warm in May, said the guide on page {number}.")

    context = await chat.context("the code of the lock", tokens=300, where={"source": "crm"})

    assert context.recalled == (crm,)


async def test_wrong_questions_and_numbers_are_refused_by_name(memory: Memory) -> None:
    chat = memory.chat("anna")
    with pytest.raises(ValueError, match="question must not be empty"):
        await chat.context(" ")
    with pytest.raises(ValueError, match="`tokens` must be 1 or more"):
        await chat.context("code", tokens=0)
    with pytest.raises(ValueError, match="`k` must be 0 or more"):
        await chat.context("code", k=-1)
    with pytest.raises(ValueError, match="`where`"):
        await chat.context("code", where={"a": None})  # pyright: ignore[reportArgumentType]


async def test_a_context_without_an_index_has_the_window(
    redis: RedisClient, redis_url: str, index_endpoint: IndexEndpoint
) -> None:
    async with Memory.open(redis_url, qdrant_url=index_endpoint.url, qdrant_api_key="wrong") as memory:
        chat = memory.chat("anna")
        lock = await chat.add_user("The code of the bike lock is 4711.")

        context = await chat.context("What is the code of the bike lock?")

    assert (context.window, context.is_incomplete) == ((lock,), True)
