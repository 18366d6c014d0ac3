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
class _Expectation:
    words: str
    message: asyncio.Future[str]


@dataclass(slots=True, kw_only=True)
class ChatDriver:
    """Messages of people and the bot. `message_count` counts the bot's messages."""

    simulation: Simulation
    message_count: int = 0
    _expectations: dict[_Spot, list[_Expectation]] = field(default_factory=lambda: defaultdict(list))

    def send(self, place: Place, text: str, *, reply_to: int | None = None) -> int:
        """Send a text and return the id of the message without waiting."""
        said = f"{place.mention} {text}" if place.mention and not text.startswith("/") else text
        line = Line(
            chat_id=place.chat_id,
            from_id=place.writer_id,
            text=said,
            message_thread_id=place.thread_id,
            reply_to_message_id=place.reply_to if reply_to is None else reply_to,
            as_channel=place.as_channel,
        )
        return write_line(self.simulation, line).id

    async def wait_for(self, place: Place, words: str, *, within_s: float) -> str:
        """Return the bot's next message there with these words. Fail if it does not arrive."""
        expectation = _Expectation(words=words, message=asyncio.get_running_loop().create_future())
        expectations = self._expectations[place.chat_id, place.thread_id]
        expectations.append(expectation)
        try:
            async with asyncio.timeout(within_s):
                return await expectation.message
        except TimeoutError:
            texts = [message.text for message in self.simulation.world.newest(place.chat_id, 4)]
            raise AssertionError(
                f"{place.name} got no {words!r} within {within_s:g} s; the chat has: {texts}"
            ) from None
        finally:
            expectations.remove(expectation)

    async def ask(
        self, place: Place, text: str, *, words: str, within_s: float, reply_to: int | None = None
    ) -> str:
        """Send a text and wait for an answer that matches the pattern `words`. Return its text."""
        answer = asyncio.create_task(self.wait_for(place, words, within_s=within_s))
        await asyncio.sleep(0)
        self.send(place, text, reply_to=reply_to)
        return await answer

    def note_event(self, event: Mapping[str, Any]) -> None:
        """Note an event of the chat page."""
        if event["type"] not in {"message", "edit"} or event["message"].get("from", {}).get("id") != BOT_ID:
            return
        message = event["message"]
        self.message_count += event["type"] == "message"
        # In a supergroup without topics an answer has the number of the thread that it replies in.
        thread_id = message.get("message_thread_id") if message.get("is_topic_message") else None
        thread_id = message.get("direct_messages_topic", {}).get("topic_id", thread_id)
        for expectation in self._expectations[message["chat"]["id"], thread_id]:
            if re.search(expectation.words, message.get("text", "")) and not expectation.message.done():
                expectation.message.set_result(message["text"])


@asynccontextmanager
async def driving_chats(system: System) -> AsyncGenerator[ChatDriver]:
    """Let people write while the block runs."""
    talk = ChatDriver(simulation=system.simulator.simulation)
    async with reading_events(talk.simulation, talk.note_event):
        yield talk
