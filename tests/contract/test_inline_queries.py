"""Inline queries of people who type, with the simulator: the newest is answered after a pause."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from bot.transport import inline
from bot.transport.gating import BotIdentity
from bot.transport.inline import InlineQueries
from bot.transport.telegram_api import open_telegram
from bot.transport.updates import parse_update
from simulator.api.config import DEFAULT_TOKEN
from tests.contract.simulator_rig import Rig, served_simulator


class Typing:
    """People who type: their queries, and a pause that ends when they stop."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.stops = asyncio.Event()
        self.asked: dict[str, asyncio.Future[list[dict[str, object]]]] = {}

    async def pause(self, _: float) -> None:
        await self.stops.wait()

    def type(self, queries: InlineQueries, person: int, text: str, *, update_id: int) -> None:
        query_id, coming = self.rig.simulation.callbacks.inline.open(text)
        self.asked[text] = coming
        sender = {"id": person, "is_bot": False, "first_name": "Olga"}
        body = {"id": query_id, "from": sender, "query": text, "offset": ""}
        queries.add(parse_update({"update_id": update_id, "inline_query": body}))

    async def answered(self, *expected: str) -> list[str]:
        """Stop typing, wait until these are answered, and return all that are answered."""
        self.stops.set()
        await asyncio.wait_for(asyncio.gather(*(self.asked[text] for text in expected)), 5)
        return [text for text, coming in self.asked.items() if coming.done()]


@asynccontextmanager
async def typing() -> AsyncGenerator[tuple[Typing, InlineQueries]]:
    async def may_ask(_: int) -> bool:
        return True

    async with (
        served_simulator() as rig,
        open_telegram(token=DEFAULT_TOKEN, api_url=rig.url, has_inline=True) as telegram,
    ):
        people = Typing(rig)
        bot = BotIdentity(id=1, username="mnemogram_bot")
        queries = InlineQueries(
            telegram.inline, bot=bot, may_ask=may_ask, clock=time.time, pause=people.pause
        )
        running = asyncio.create_task(queries.run())
        yield people, queries
        running.cancel()
        await asyncio.wait([running])


@pytest.mark.parametrize("order", [(1, 2, 3), (1, 3, 2), (3, 2, 1)], ids=str)
async def test_only_the_newest_query_of_a_person_is_answered_in_whatever_order_they_arrive(
    order: tuple[int, ...],
) -> None:
    texts = {1: "w", 2: "wi", 3: "wifi?"}
    async with typing() as (people, queries):
        for number in order:
            people.type(queries, 7, texts[number], update_id=number)
        people.type(queries, 8, "weather?", update_id=4)

        assert await people.answered("wifi?", "weather?") == [
            text for text in (*(texts[each] for each in order), "weather?") if text.endswith("?")
        ]


async def test_in_a_crowd_a_newer_letter_of_somebody_who_waits_is_not_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inline, "QUERIES_AT_MOST", 2)
    async with typing() as (people, queries):
        for person, text in ((7, "w"), (8, "weather?"), (9, "where?"), (7, "wifi?")):
            people.type(queries, person, text, update_id=len(people.asked))

        assert await people.answered("weather?", "wifi?") == ["weather?", "wifi?"]
