"""Contexts and their keys in the real store."""

import asyncio

from bot.agent.context import AgentContext
from memory.chat_history import ChatHistory
from memory.history import contexts
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef
from memory.redis.client import RedisClient
from tests.unit.agent.kit import TOKENIZER


async def opened(
    redis: RedisClient, keys: dict[str, object], *, namespace: str = "telegram", now: float = 1.0
) -> AgentContext:
    def open_history(ref: ContextRef) -> ChatHistory:
        return ChatHistory(
            ref=ref,
            epoch=0,
            store=RedisHistory(redis),
            recall=None,
            tokenizer=TOKENIZER,
            clock=lambda: now,
            new_id=lambda: f"m{now}",
        )

    return await AgentContext.get_or_create(
        redis, keys, namespace=namespace, partition=0, open_history=open_history, now=now
    )


async def test_m01_the_same_keys_in_any_order_give_the_same_context(redis: RedisClient) -> None:
    first = await opened(redis, {"bot_id": 7, "chat_id": 42, "nested": {"a": 1, "b": None}})
    await first.chat_history.append_user_message("hello")

    again = await opened(redis, {"nested": {"b": None, "a": 1}, "chat_id": 42, "bot_id": 7}, now=2.0)

    assert again.context_id == first.context_id
    last = await again.chat_history.last_user_message()
    assert last is not None
    assert last.text == "hello"


async def test_m01_other_keys_more_keys_and_another_namespace_give_other_contexts(redis: RedisClient) -> None:
    first = await opened(redis, {"chat_id": 42})

    others = [
        await opened(redis, {"chat_id": 43}),
        await opened(redis, {"chat_id": "42"}),
        await opened(redis, {"chat_id": 42, "thread_id": 1}),
        await opened(redis, {}),
        await opened(redis, {"chat_id": 42}, namespace="web"),
    ]

    assert len({first.context_id, *(each.context_id for each in others)}) == 6
    for each in others:
        assert await each.chat_history.last_user_message() is None


async def test_m01_two_first_calls_at_the_same_instant_make_one_context(redis: RedisClient) -> None:
    made = await asyncio.gather(*(opened(redis, {"chat_id": 42}, now=float(n)) for n in range(10)))

    assert len({each.context_id for each in made}) == 1
    (registered,) = await contexts.list_contexts(redis, [0])
    assert registered.keys == {"chat_id": 42}
