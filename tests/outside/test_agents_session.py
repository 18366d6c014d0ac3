"""The example of a session against the real OpenAI Agents SDK, whose runner asks the scripted server."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    Runner,
    SessionSettings,
    function_tool,
    set_tracing_disabled,
)
from agents.memory import Session
from openai import AsyncOpenAI

from examples.agents_session import ChatSession
from memory import Memory
from memory.embedded.supervisor import IndexEndpoint
from memory.redis.client import RedisClient
from tests.scripted_openai import scripted_openai
from tests.scripted_script import tool_then_echo

ROOT = Path(__file__).parents[2]


@function_tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@pytest.fixture
async def memory(redis: RedisClient, redis_url: str, index_endpoint: IndexEndpoint) -> AsyncGenerator[Memory]:
    opening = Memory.open(redis_url, qdrant_url=index_endpoint.url, qdrant_api_key=index_endpoint.api_key)
    async with opening as memory:
        yield memory


async def test_the_runner_keeps_a_conversation_with_tools_that_the_memory_finds_and_forgets(
    memory: Memory,
) -> None:
    set_tracing_disabled(True)
    session = ChatSession(memory.chat("anna"))
    assert isinstance(session, Session)
    async with (
        scripted_openai(tool_then_echo) as server,
        AsyncOpenAI(base_url=server.base_url, api_key="none", max_retries=0) as client,
    ):
        model = OpenAIChatCompletionsModel(model="gpt-4o", openai_client=client)
        agent: Agent[Any] = Agent(name="desk", model=model, tools=[add])
        lock = "The code of the bike lock is 4711."
        first = await Runner.run(agent, lock, session=session)
        second = await Runner.run(agent, "And what was it?", session=session)

        assert (first.final_output, second.final_output) == (f"echo: {lock}", "echo: And what was it?")
        assert server.invalid_requests == []
        sent = server.chat_requests[-1].body["messages"]

    # The second run's request has the first run: question, call, result and answer.
    roles = [message["role"] for message in sent]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant", "tool"]
    assert sent[0]["content"] == lock
    assert lock in [hit.message.text for hit in await session.chat.search("the code of the lock", k=2)]

    items = await session.get_items()
    assert [str(item.get("type", item.get("role"))) for item in items] == 2 * [
        "user",
        "function_call",
        "function_call_output",
        "message",
    ]
    assert await session.get_items(2) == items[-2:]
    assert await session.get_items(0) == []
    assert await session.pop_item() == items[-1]
    assert await session.get_items() == items[:-1]
    await session.clear_session()
    assert await session.get_items() == []
    assert await session.pop_item() is None


async def test_an_edited_item_has_its_new_text_and_messages_of_others_are_items_too(memory: Memory) -> None:
    session = ChatSession(memory.chat("anna"), session_settings=SessionSettings(limit=2))
    await session.add_items(
        [
            {"role": "user", "content": [{"type": "input_text", "text": "The code is 4711."}]},
            {"role": "user", "content": [{"type": "input_image", "image_url": "data:,", "detail": "auto"}]},
        ]
    )
    code, photo = await session.chat.recent(2)
    await session.chat.update(code.id, "The code is 1.")

    edited, picture = await session.get_items()

    assert edited == {"role": "user", "content": "The code is 1."}
    assert "input_image" in str(picture)
    assert (photo.text, photo.note) == ("", "a message")
    await session.chat.add_assistant("Noted.")
    assert (await session.get_items())[-1] == {"role": "assistant", "content": "Noted."}


def test_the_adapter_is_short() -> None:
    assert len((ROOT / "examples" / "agents_session.py").read_text("utf-8").splitlines()) <= 60
