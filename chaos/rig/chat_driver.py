"""People who write anywhere and wait for the bot's answers, independently of each other."""

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from chaos.rig.chat_load import Place, reading_events
from chaos.rig.system import BOT_ID, System
from simulator.api.people import Line, write_line
from simulator.api.simulation import Simulation

_Spot = tuple[int, int | None]
"""A chat and a topic of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ear:
    words: str
    heard: asyncio.Future[str]


@dataclass(slots=True, kw_only=True)
class ChatDriver:
    """Messages of people and the bot. `messages_heard` counts the bot's."""

    simulation: Simulation
    messages_heard: int = 0
    _ears: dict[_Spot, list[_Ear]] = field(default_factory=lambda: defaultdict(list))

    def tell(self, place: Place, text: str, *, reply_to: int | None = None) -> int:
        """Send a text and return the id of the message without waiting."""
        said = f"{place.mention} {text}" if place.mention and not text.startswith("/") else text
        line = Line(
            chat_id=place.chat_id,
            from_id=place.writer_id,
            text=said,
            message_thread_id=place.thread_id,
            reply_to_message_id=reply_to,
        )
        return write_line(self.simulation, line).id

    async def hear(self, place: Place, words: str, *, within_s: float) -> str:
        """Return the bot's next message there with these words. Fail if it does not arrive."""
        ear = _Ear(words=words, heard=asyncio.get_running_loop().create_future())
        ears = self._ears[place.chat_id, place.thread_id]
        ears.append(ear)
        try:
            async with asyncio.timeout(within_s):
                return await ear.heard
        except TimeoutError:
            said = [message.text for message in self.simulation.world.newest(place.chat_id, 4)]
            raise AssertionError(
                f"{place.name} heard no {words!r} within {within_s:g} s; said there: {said}"
            ) from None
        finally:
            ears.remove(ear)

    async def ask(
        self, place: Place, text: str, *, words: str, within_s: float, reply_to: int | None = None
    ) -> str:
        """Say it and wait for an answer that matches the pattern `words`. Return its text."""
        hearing = asyncio.create_task(self.hear(place, words, within_s=within_s))
        await asyncio.sleep(0)
        self.tell(place, text, reply_to=reply_to)
        return await hearing

    def take_in(self, event: Mapping[str, Any]) -> None:
        """Note an event of the chat page."""
        if event["type"] not in {"message", "edit"} or event["message"]["from"]["id"] != BOT_ID:
            return
        message = event["message"]
        self.messages_heard += event["type"] == "message"
        # In a supergroup without topics an answer has the number of the thread that it replies in.
        thread_id = message.get("message_thread_id") if message.get("is_topic_message") else None
        for ear in self._ears[message["chat"]["id"], thread_id]:
            if re.search(ear.words, message.get("text", "")) and not ear.heard.done():
                ear.heard.set_result(message["text"])


@asynccontextmanager
async def driving_chats(system: System) -> AsyncGenerator[ChatDriver]:
    """Let people write while the block runs."""
    talk = ChatDriver(simulation=system.simulator.simulation)
    async with reading_events(talk.simulation, talk.take_in):
        yield talk
