"""People who each write a line, wait for the bot's answer, and write the next one."""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import chain, count, repeat
from math import inf

from chaos.rig.chat_load import LINE, BotMessages, collect_bot_messages, gather_people
from chaos.rig.program import until
from chaos.rig.system import System
from simulator.api.people import Line, write_line

_LOOK_AGAIN_S = 0.05
_KEPT_REQUESTS = 500


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A line and its answer, "" without one in time. Times are Unix seconds."""

    chat: int
    line: str
    asked_at: float
    text: str = ""
    ended_at: float | None = None

    @property
    def waited_s(self) -> float:
        """Return the waiting time of its writer, infinite without an answer."""
        return float("inf") if self.ended_at is None else self.ended_at - self.asked_at


@dataclass(slots=True, kw_only=True)
class Dialogues:
    """The exchanges of these chats. The lines of a chat are numbered."""

    system: System
    heard: BotMessages
    chats: Sequence[int]
    exchanges: list[Exchange] = field(default_factory=list[Exchange])
    _numbers: dict[int, Iterator[int]] = field(default_factory=dict[int, Iterator[int]])

    async def hold(self, lines_each: int, *, within_s: float, pause_s: float = 0) -> list[Exchange]:
        """Let everyone write this many lines in parallel, with a pause before each line.

        A line is given up after `within_s` seconds.
        """
        pauses = [pause_s] * (lines_each - 1)
        return await self._all_go_on(pauses, ends=inf, pause_s=pause_s, within_s=within_s)

    async def hold_for(self, seconds: float, *, pause_s: float, within_s: float) -> list[Exchange]:
        """Let everyone write for this time, with a pause before each line."""
        ends = time.monotonic() + seconds
        return await self._all_go_on(repeat(pause_s), ends=ends, pause_s=pause_s, within_s=within_s)

    async def _all_go_on(
        self, pauses: Iterable[float], *, ends: float, pause_s: float, within_s: float
    ) -> list[Exchange]:
        """Start the writers one after the other within one pause."""
        before = len(self.exchanges)
        async with asyncio.TaskGroup() as talking:
            for number, chat in enumerate(self.chats):
                first_s = pause_s * number / len(self.chats)
                going_on = self._go_on(chat, ends, pauses=chain([first_s], pauses), within_s=within_s)
                talking.create_task(going_on, name=f"talking-{chat}")
        return self.exchanges[before:]

    async def say(self, chat: int, *, within_s: float) -> Exchange:
        """Write the next line of this chat and return the exchange."""
        line = f"line {next(self._numbers.setdefault(chat, count()))} of {chat}"
        heard = self.heard.by_chat[chat]
        before, one = list(heard), Exchange(chat=chat, line=line, asked_at=time.time())
        self.exchanges.append(one)
        write_line(self.system.simulator.simulation, Line(chat_id=chat, from_id=chat, text=line))
        try:
            await until(
                lambda: _news(heard, before) is not None, within_s=within_s, look_again_s=_LOOK_AGAIN_S
            )
        except AssertionError:
            return one
        one.text, one.ended_at = _news(heard, before) or "", time.time()
        if len(self.system.model.requests) > _KEPT_REQUESTS:
            self.system.model.requests.clear()  # a long run's requests would fill the memory
        return one

    async def _go_on(self, chat: int, ends: float, *, pauses: Iterable[float], within_s: float) -> None:
        for pause_s in pauses:
            if time.monotonic() + pause_s >= ends:
                return
            await asyncio.sleep(pause_s)
            await self.say(chat, within_s=within_s)


def _news(heard: Sequence[str], before: Sequence[str]) -> str | None:
    """Return the newest message since then, except a repeated answer to an earlier line."""
    new = [text for text in heard[len(before) :] if text not in before or not LINE.search(text)]
    return new[-1] if new else None


@asynccontextmanager
async def dialogues(system: System, *, chats: int) -> AsyncGenerator[Dialogues]:
    """Open dialogues of this many new people while the block runs."""
    people = await gather_people(system.simulator, chats)
    async with collect_bot_messages(system.simulator) as heard:
        yield Dialogues(system=system, heard=heard, chats=people)
