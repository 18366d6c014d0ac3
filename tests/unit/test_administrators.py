"""Administrators of groups: Telegram's answers, cached for a minute."""

from dataclasses import dataclass, field

import pytest

from bot.errors import ChatMigrated, TelegramUnavailable
from bot.transport.people import ADMINISTRATOR_S, CACHED, Administrators

GROUP, OLGA = -9, 7


@dataclass(slots=True)
class Telegram:
    administrators: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    moved: dict[int, int] = field(default_factory=dict[int, int])
    is_away: bool = False
    asked: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    async def is_administrator(self, chat_id: int, user_id: int) -> bool:
        self.asked.append((chat_id, user_id))
        if self.is_away:
            raise TelegramUnavailable
        if chat_id in self.moved:
            raise ChatMigrated(self.moved[chat_id])
        return (chat_id, user_id) in self.administrators


@dataclass(slots=True)
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("is_one", [True, False])
async def test_an_answer_is_cached_for_a_minute(is_one: bool) -> None:
    telegram, clock = Telegram(administrators={(GROUP, OLGA)} if is_one else set()), Clock()
    administrators = Administrators(telegram.is_administrator, clock=clock)

    assert [await administrators.includes(GROUP, OLGA) for _ in range(3)] == [is_one] * 3
    assert len(telegram.asked) == 1

    telegram.administrators ^= {(GROUP, OLGA)}
    clock.now += ADMINISTRATOR_S

    assert await administrators.includes(GROUP, OLGA) is not is_one


async def test_an_answer_counts_for_one_person_in_one_group() -> None:
    administrators = Administrators(Telegram(administrators={(GROUP, OLGA)}).is_administrator, clock=Clock())

    assert await administrators.includes(GROUP, OLGA)
    assert not await administrators.includes(GROUP - 1, OLGA)
    assert not await administrators.includes(GROUP, OLGA + 1)


async def test_a_failure_is_raised_and_not_cached() -> None:
    telegram = Telegram(administrators={(GROUP, OLGA)}, is_away=True)
    administrators = Administrators(telegram.is_administrator, clock=Clock())

    with pytest.raises(TelegramUnavailable):
        await administrators.includes(GROUP, OLGA)
    telegram.is_away = False

    assert await administrators.includes(GROUP, OLGA)


async def test_a_migrated_group_is_asked_by_its_new_id() -> None:
    telegram = Telegram(administrators={(-1009, OLGA)}, moved={GROUP: -1009})

    assert await Administrators(telegram.is_administrator, clock=Clock()).includes(GROUP, OLGA)


async def test_the_cache_has_a_limit() -> None:
    telegram = Telegram()
    administrators = Administrators(telegram.is_administrator, clock=Clock())

    for user_id in range(CACHED + 1):
        await administrators.includes(GROUP, user_id)
    await administrators.includes(GROUP, 0)

    assert len(telegram.asked) == CACHED + 2
