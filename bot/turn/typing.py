"""Shows "typing" in the chat while a turn runs; it never fails a turn."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from bot.errors import TelegramFailure
from bot.turn.outbox import Destination
from bot.turn.services import Chats

REPEAT_S = 4.5
"""Telegram shows a chat action for five seconds."""


@asynccontextmanager
async def typing(chats: Chats, to: Destination) -> AsyncGenerator[None]:
    """Typing for as long as the block runs."""
    task = asyncio.create_task(_type(chats, to), name="typing")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _type(chats: Chats, to: Destination) -> None:
    while True:
        try:
            await chats.send_typing(to.chat_id, thread_id=to.thread_id)
        except TelegramFailure:
            return  # it is only a courtesy, and the answer will meet the same trouble
        await asyncio.sleep(REPEAT_S)
