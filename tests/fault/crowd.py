"""People who write to the bot, each in a private chat: in bursts, the next ones when the last were answered."""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

import httpx

from tests.contract.simulator_rig import Rig
from tests.fault.program import until
from tests.fault.system import BOT_ID

ANSWERED_WITHIN_S = 60.0

Plan = Mapping[int, Sequence[Sequence[str]]]
"""What is written in each chat: a burst of lines in each wave."""


@dataclass(slots=True)
class Heard:
    """What the bot has said in each chat so far, as its reader sees it come in."""

    by_chat: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    count: int = 0

    def take_in(self, event: dict[str, Any]) -> None:
        """Note an event of the chat page."""
        if event["type"] == "message" and event["message"]["from"]["id"] == BOT_ID:
            self.by_chat[event["message"]["chat"]["id"]].append(event["message"]["text"])
            self.count += 1


@asynccontextmanager
async def listening(simulator: Rig) -> AsyncGenerator[Heard]:
    """What the bot says while the block runs."""
    heard = Heard()
    async with (
        httpx.AsyncClient(base_url=simulator.url, timeout=None, trust_env=False) as http,  # noqa: S113 - the stream may be silent
        http.stream("GET", "/api/events") as events,
    ):
        lines = events.aiter_lines()
        await anext(lines)  # connected: nothing is missed from here on
        task = asyncio.create_task(_listen(lines, heard), name="listening")
        try:
            yield heard
        finally:
            task.cancel()
            (ended,) = await asyncio.gather(task, return_exceptions=True)
        assert isinstance(ended, asyncio.CancelledError), ended


async def gather_people(simulator: Rig, count: int) -> list[int]:
    """New people; the ids of their private chats."""
    people = [await simulator.page("people", first_name=f"Person {number}") for number in range(count)]
    return [person["id"] for person in people]


def plan_lines(chats: Sequence[int], *, lines_each: int, waves: int, random: Random) -> Plan:
    """Lines for each chat, a burst of at least one for each wave. Every line is unlike every other."""
    plan: dict[int, Sequence[Sequence[str]]] = {}
    for chat in chats:
        lines = [f"line {number} of chat {chat}" for number in range(lines_each)]
        cuts = [0, *sorted(random.sample(range(1, lines_each), waves - 1)), lines_each]
        plan[chat] = [lines[begin:end] for begin, end in pairwise(cuts)]
    return plan


async def write_wave(simulator: Rig, heard: Heard, plan: Plan, number: int) -> None:
    """The burst of this wave in every chat, all chats at the same time; returns when all were answered."""
    async with asyncio.TaskGroup() as writing:
        for chat, bursts in plan.items():
            writing.create_task(_write(simulator, heard, chat, bursts[number]), name=f"writing-{chat}")


async def _write(simulator: Rig, heard: Heard, chat: int, burst: Sequence[str]) -> None:
    for line in burst:
        await simulator.say(chat, line)
    await until(
        lambda: any(text.endswith(burst[-1]) for text in heard.by_chat[chat]),
        within_s=ANSWERED_WITHIN_S,
        what=f"an answer to {burst[-1]!r}",
    )


async def _listen(lines: AsyncIterator[str], heard: Heard) -> None:
    async for line in lines:
        if line.startswith("data: "):
            heard.take_in(json.loads(line.removeprefix("data: ")))
