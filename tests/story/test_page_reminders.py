"""People see and delete reminders on the page."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import pytest

from bot.page.api import OF_A_VISITOR
from memory.history.message import Sender
from memory.keys import partition_key
from tests.known_reminders import DAY_S, make_reminder, set_reminders
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, Story, StoryStores, make_ref, running_bot
from tests.story.page_visits import Visit, context_of, page_server, visiting

ME, OTHER = Sender(id=BEN, name="Ben Carter"), Sender(id=OLGA, name="Olga Marin")
GONE: Mapping[str, Any] = {"receipt": None}
PLANTS, RENT, TASK = "aaaaaaaa", "bbbbbbbb", "cccccccc"


async def remember(bot: Story, chat: int) -> float:
    """Give a chat three reminders, two of Ben and one of Olga. Return the date of the first."""
    await bot.ask(BEN, "@mnemogram_bot hello", chat=chat)
    due_at = float(int(time.time() + DAY_S))
    await set_reminders(
        bot.redis,
        make_ref(chat),
        [
            make_reminder(RENT, OTHER, "pay the rent", chat=chat, due_at=due_at + 60),
            make_reminder(PLANTS, ME, "water the plants", chat=chat, due_at=due_at),
            make_reminder(
                TASK,
                ME,
                "tell the news",
                chat=chat,
                due_at=due_at + 90,
                runs_agent=True,
                repeats="FREQ=DAILY",
            ),
        ],
    )
    return due_at


async def reminders_of(page: Visit, chat: int) -> dict[str, Mapping[str, Any]]:
    """Return the documents of a chat's reminders by their ids, in their order."""
    found = await page.read(f"contexts/{context_of(chat)}/reminders")
    return {reminder["id"]: reminder for reminder in found["reminders"]}


def path_of(chat: int, reminder_id: str) -> str:
    """Return the path of a reminder."""
    return f"contexts/{context_of(chat)}/reminders/{reminder_id}"


async def test_a_person_sees_every_reminder_the_next_one_first(stores: StoryStores) -> None:
    async with running_bot(stores) as bot, visiting(bot, BEN) as page:
        await bot.ask(BEN, "hello")
        empty = await reminders_of(page, BEN)
        due_at = await remember(bot, BEN)
        found = await reminders_of(page, BEN)

    assert empty == {}
    assert list(found) == [PLANTS, RENT, TASK]
    assert found[PLANTS] == {
        "id": PLANTS,
        "text": "water the plants",
        "runs_agent": False,
        "due_at": due_at,
        "zone": "Europe/Berlin",
        "starts_at": "2026-11-25T09:00:00",
        "repeats": "",
        "person": {"id": BEN, "name": "Ben Carter"},
        "is_mine": True,
        "created_at": found[PLANTS]["created_at"],
        "may_cancel": True,
    }
    task = found[TASK]
    assert (task["runs_agent"], task["repeats"]) == (True, "FREQ=DAILY")
    assert (found[RENT]["is_mine"], found[RENT]["person"]["name"]) == (False, "Olga Marin")


async def test_a_deleted_reminder_is_gone_everywhere_and_the_others_stay(stores: StoryStores) -> None:
    async with running_bot(stores) as bot, visiting(bot, BEN) as page:
        await remember(bot, BEN)
        done = (await page.delete(path_of(BEN, PLANTS))).json()
        again = (await page.delete(path_of(BEN, PLANTS))).json()
        left = await reminders_of(page, BEN)
        due = await bot.redis.call("ZCARD", partition_key(make_ref(BEN).partition, "due"))
        assert await bot.keys_with("water the plants") == []

    receipt = done["receipt"]
    assert (receipt["erased"], receipt["left"], receipt["vectors_left"]) == ({"reminders": 1}, {}, 0)
    assert receipt["is_proven"]
    assert "I've deleted that reminder." in receipt["text"]
    assert again == GONE
    assert (list(left), due) == ([RENT, TASK], 2)


async def test_of_two_windows_that_delete_the_same_reminder_one_gets_the_receipt(stores: StoryStores) -> None:
    async with running_bot(stores) as bot, visiting(bot, BEN) as first, visiting(bot, BEN) as second:
        await remember(bot, BEN)
        for each in (PLANTS, TASK):
            answers = await asyncio.gather(*[page.delete(path_of(BEN, each)) for page in (first, second)])
            assert sorted(answer.json()["receipt"] is not None for answer in answers) == [False, True]


async def test_a_reset_leaves_no_reminders_to_delete(stores: StoryStores) -> None:
    async with running_bot(stores) as bot, visiting(bot, BEN) as page:
        await remember(bot, BEN)
        reset = await page.do(f"contexts/{context_of(BEN)}/reset")
        deleted = (await page.delete(path_of(BEN, PLANTS))).json()
        left = await reminders_of(page, BEN)

    assert reset["receipt"]["erased"]["reminders"] == 3
    assert (deleted, left) == (GONE, {})


async def test_a_member_deletes_their_own_reminders_and_an_owner_all(stores: StoryStores) -> None:
    async with running_bot(stores, group_memory_page="members") as bot:
        await remember(bot, WEEKEND)
        async with visiting(bot, BEN, group=WEEKEND) as page, visiting(bot, OLGA, group=WEEKEND) as owner:
            mine = await reminders_of(page, WEEKEND)
            theirs = await reminders_of(owner, WEEKEND)
            refused = await page.delete(path_of(WEEKEND, RENT))
            kept = await reminders_of(page, WEEKEND)
            own = (await page.delete(path_of(WEEKEND, PLANTS))).json()
            by_owner = (await owner.delete(path_of(WEEKEND, TASK))).json()

    assert {each: found["may_cancel"] for each, found in mine.items()} == {
        PLANTS: True,
        RENT: False,
        TASK: True,
    }
    assert all(found["may_cancel"] for found in theirs.values())
    assert (refused.status_code, refused.json()["error"]) == (403, "forbidden")
    assert set(kept) == {PLANTS, RENT, TASK}
    assert own["receipt"]["is_proven"]
    assert by_owner["receipt"]["is_proven"]


async def test_an_operator_who_may_look_into_a_chat_deletes_its_reminders(stores: StoryStores) -> None:
    settings: dict[str, Any] = {"operator_ids": frozenset({CHIARA}), "operators_read_chats": True}
    async with running_bot(stores) as bot, page_server(bot, **settings) as server:
        await remember(bot, BEN)
        page = server.visit(CHIARA)
        found = await reminders_of(page, BEN)
        done = (await page.delete(path_of(BEN, PLANTS))).json()

    assert {each["is_mine"] for each in found.values()} == {False}
    assert done["receipt"]["is_proven"]


@pytest.mark.parametrize("reminder_id", ["nothing", "%00", "%ED%A0%80", "a%20b", "x" * 500])
async def test_an_id_that_no_reminder_has_deletes_nothing(stores: StoryStores, reminder_id: str) -> None:
    async with running_bot(stores) as bot, visiting(bot, BEN) as page:
        await remember(bot, BEN)
        answer = await page.delete(path_of(BEN, reminder_id))
        left = await reminders_of(page, BEN)

    assert (answer.status_code, answer.json()) == (200, GONE)
    assert set(left) == {PLANTS, RENT, TASK}


async def test_deletions_of_a_person_are_limited(stores: StoryStores) -> None:
    async with running_bot(stores) as bot, page_server(bot) as server:
        page, other = server.visit(BEN), server.visit(OLGA)
        statuses = [
            (await page.delete(path_of(BEN, "nothing"))).status_code
            for _ in range(OF_A_VISITOR.burst)  # more would be too many requests of any kind
        ]
        theirs = await other.delete(path_of(OLGA, "nothing"))

    assert set(statuses) == {200, 429}
    assert theirs.status_code == 200
