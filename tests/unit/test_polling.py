"""Long polling: an offset is confirmed after the updates before it are stored."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from bot.errors import TelegramRefused, TelegramUnavailable
from bot.features import CONTROLS
from bot.inbox.records import Accepted, Arrival
from bot.settings import Access
from bot.transport.gating import BotIdentity
from bot.transport.ingest import DoorRules, Ingest
from bot.transport.polling import Polling
from bot.transport.telegram_api import TelegramApi
from memory.errors import CommandRefused, StoreFull, StoreUnavailable
from tests.anchors import no_migrations

Json = Mapping[str, Any]


class NothingMoreError(Exception):
    """The scripted source has no more updates."""


@dataclass(slots=True)
class Source:
    """A source of scripted updates and exceptions. `offsets` are recorded."""

    script: list[Sequence[Json] | Exception]
    offsets: list[int | None] = field(default_factory=list[int | None])

    async def get_updates(self, *, offset: int | None) -> list[Json]:
        self.offsets.append(offset)
        given = self.script.pop(0) if self.script else NothingMoreError()
        if isinstance(given, Exception):
            raise given
        return list(given)


@dataclass(slots=True)
class Door:
    """An ingest that records updates. `outcomes` come first; exceptions are raised."""

    outcomes: list[Accepted | Exception] = field(default_factory=list[Accepted | Exception])
    stored: list[int] = field(default_factory=list[int])

    async def accept(self, arrival: Arrival) -> Accepted:
        outcome = self.outcomes.pop(0) if self.outcomes else "accepted"
        if isinstance(outcome, Exception):
            raise outcome
        if outcome != "full":
            self.stored.append(arrival.update_id)
        return outcome


async def _poll(source: Source, door: Door) -> list[float]:
    """Poll until the script ends. Return the pauses."""
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    ingest = Ingest(
        door.accept,
        controls=CONTROLS,
        bot=BotIdentity(id=42, username="mnemo_bot"),
        access=Access(),
        rules=DoorRules(partitions=1),
        anchors=no_migrations(),
    )
    with pytest.raises(NothingMoreError):
        await Polling(cast(TelegramApi, source), ingest, pause=pause).run()
    return waits


def _updates(*numbers: int) -> list[Json]:
    person = {"id": 7, "is_bot": False, "first_name": "Anna"}
    chat = {"id": 7, "type": "private"}
    return [
        {
            "update_id": number,
            "message": {"message_id": number, "date": 9, "chat": chat, "from": person, "text": "hi"},
        }
        for number in numbers
    ]


async def test_each_poll_confirms_only_stored_updates() -> None:
    source, door = Source([_updates(5, 6), [], _updates(9)]), Door()

    await _poll(source, door)

    assert door.stored == [5, 6, 9]
    assert source.offsets == [None, 7, 7, 10]


@pytest.mark.parametrize("failure", [StoreUnavailable(), StoreFull(), CommandRefused()])
async def test_an_unstored_update_is_not_confirmed_and_returns(failure: Exception) -> None:
    source = Source([_updates(5, 6, 7), _updates(6, 7)])
    door = Door(["accepted", failure])

    waits = await _poll(source, door)

    assert door.stored == [5, 6, 7]
    assert source.offsets == [None, 6, 8]
    assert waits == [0.5]


@pytest.mark.parametrize("failure", [TelegramUnavailable(), TelegramRefused("Conflict")])
async def test_an_outage_of_telegram_is_waited_for_with_growing_pauses(failure: Exception) -> None:
    source, door = Source([*[failure] * 8, _updates(5), failure]), Door()

    waits = await _poll(source, door)

    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 0.5]
    assert door.stored == [5]


async def test_an_update_of_a_full_chat_is_waited_for_and_not_skipped() -> None:
    source, door = Source([_updates(5, 6)]), Door(["full", "full", "accepted"])

    waits = await _poll(source, door)

    assert door.stored == [5, 6]
    assert waits == [1.0, 1.0]
    assert source.offsets == [None, 7]


async def test_duplicates_and_unused_updates_are_confirmed_too() -> None:
    source, door = Source([_updates(5, 6)]), Door(["duplicate", "ignored"])

    await _poll(source, door)

    assert source.offsets == [None, 7]


async def test_update_ids_that_start_again_lower_are_accepted() -> None:
    source, door = Source([_updates(900), _updates(3)]), Door()

    await _poll(source, door)

    assert source.offsets == [None, 901, 4]


async def test_a_429_is_waited_for_as_long_as_it_says() -> None:
    waits = await _poll(Source([TelegramUnavailable(retry_after=12)]), Door())

    assert waits == [12]


async def test_polling_ends_when_it_is_cancelled() -> None:
    ingest = Ingest(
        Door().accept,
        controls=CONTROLS,
        bot=BotIdentity(id=42, username="m"),
        access=Access(),
        rules=DoorRules(partitions=1),
        anchors=no_migrations(),
    )

    class Silent:
        async def get_updates(self, *, offset: int | None) -> list[Json]:
            await asyncio.Event().wait()
            return []

    polling = asyncio.create_task(Polling(cast(TelegramApi, Silent()), ingest).run())
    await asyncio.sleep(0)
    polling.cancel()

    with pytest.raises(asyncio.CancelledError):
        await polling
