"""Stories of /retention: the question before a shorter time, kept facts, groups, the operator's limit, the page."""

import time
from dataclasses import replace

import pytest

from bot.features.retention import command
from bot.transport.words import words_for
from memory import keys
from memory.history.message import Message, Sender
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef
from memory.retention import DAY_S
from tests.messages import make_message
from tests.scripted_script import echo
from tests.story.expected import english
from tests.story.harness import (
    BEN,
    CHIARA,
    OLGA,
    WEEKEND,
    Json,
    Story,
    StoryStores,
    buttons_of,
    make_ref,
    running_bot,
)
from tests.story.page_visits import visiting
from tests.story.test_stop_buttons import answer_to

CANARY = "quetzal"


async def say_long_ago(bot: Story, chat: int, number: int, *, days: float) -> ContextRef:
    """Store old messages in the chat, as if they had been sent then."""
    ref = make_ref(chat)
    said: list[Message] = [
        replace(
            make_message(f"{CANARY}-{n}", f"{CANARY} {n}"),
            sent_at=time.time() - days * DAY_S,
            sender=Sender(id=BEN, name="Ben"),
        )
        for n in range(number)
    ]
    await RedisHistory(bot.redis).append(ref, said, epoch=0)
    return ref


async def the_menu(bot: Story, person: int, *, chat: int | None = None, argument: str = "") -> Json:
    return await bot.wait_for_reply(await bot.say(person, f"/retention {argument}".strip(), chat=chat))


async def shown(bot: Story, chat: int, menu: Json, text: str) -> Json:
    """Wait until the menu has this text, and return it."""

    def now() -> Json:
        return next(each for each in bot.shown_in(chat) if each["message_id"] == menu["message_id"])

    await bot.wait_until(lambda: text in now()["text"])
    return now()


async def has_gone(bot: Story, number: int, *, chat: int = BEN) -> None:
    async def is_left() -> bool:
        return int(await bot.redis.call("HLEN", keys.context_key(make_ref(chat), "messages"))) == number

    await bot.wait_until_true(is_left)


async def test_a_shorter_time_is_asked_about_with_the_number_of_messages_and_then_they_go(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, echo) as bot:
        await bot.ask(BEN, "hello")
        await say_long_ago(bot, BEN, 3, days=40)
        menu = await the_menu(bot, BEN)
        assert menu["text"].startswith(english("retention-none"))
        assert buttons_of(menu) == ["retention::30-", "retention::90-", "retention::365-", "retention::0-"]

        await bot.people.press(BEN, menu, "retention::30-")
        limit = english("retention-span", days=30)
        question = await shown(bot, BEN, menu, english("retention-asks", count=3, limit=limit))
        assert await bot.keys_with(CANARY) != []
        confirm, back = buttons_of(question)
        assert back == "retention::0-"
        await bot.people.press(BEN, question, confirm)
        done = await shown(bot, BEN, menu, english("retention-erasing"))

        assert english("retention-limit", limit=limit) in done["text"]
        await has_gone(bot, 2)
        await bot.wait_until_indexed()
        assert await bot.keys_with(CANARY) == []
        assert english("retention-limit", limit=limit) in await bot.ask(BEN, "/memory")
        assert english("retention-limit", limit=limit) in await bot.ask(BEN, "/facts")
        async with visiting(bot, BEN) as page:
            assert english("retention-limit", limit=limit) in str(await page.read("contexts"))

        longer = await the_menu(bot, BEN, argument="۹۰")
        assert longer["text"].startswith(english("retention-longer"))
        await bot.ask(BEN, "/reset")
        assert english("retention-span", days=90) in (await the_menu(bot, BEN))["text"]


async def test_a_question_that_is_too_old_changes_nothing(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_bot(stores, echo) as bot:
        await say_long_ago(bot, BEN, 3, days=40)
        question = await the_menu(bot, BEN, argument="1 month")
        monkeypatch.setattr(command, "CONFIRM_WITHIN_S", -1.0)

        await bot.people.press(BEN, question, buttons_of(question)[0])

        menu = await shown(bot, BEN, question, english("retention-expired"))
        assert english("retention-none") in menu["text"]
        assert (await bot.history(BEN)).count == 3


async def test_facts_stay_only_if_somebody_says_so_and_in_their_language(stores: StoryStores) -> None:
    german = words_for("de")
    async with running_bot(stores, echo, retention_days=90) as bot:
        await bot.people.post("languages", from_id=CHIARA, language_code="de")
        menu = await the_menu(bot, CHIARA)
        limit = german("retention-span", days=90)
        assert menu["text"].startswith(german("retention-limit", limit=limit))
        assert german("retention-operator", limit=limit) in menu["text"]
        assert buttons_of(menu) == ["retention::30-", "retention::90-", "retention::0+"]

        await bot.people.press(CHIARA, menu, "retention::0+")
        kept = await shown(bot, CHIARA, menu, german("retention-facts", facts="kept"))
        assert german("retention-limit", limit=limit) in kept["text"]
        assert (await bot.history(CHIARA)).retention == "0 facts"

        await bot.people.press(CHIARA, kept, "retention::0-")
        none = german("retention-asks", count=0, limit=limit)
        question = await shown(bot, CHIARA, menu, none)
        assert german("retention-asks-facts", facts="dropped") in question["text"]
        assert (await bot.history(CHIARA)).retention == "0 facts"


async def test_in_a_group_everybody_may_look_and_only_administrators_change(stores: StoryStores) -> None:
    async with running_bot(stores, echo, retention_days=365) as bot:
        await say_long_ago(bot, WEEKEND, 2, days=100)
        menu = await the_menu(bot, BEN, chat=WEEKEND)
        assert english("retention-choose", place="group") in menu["text"]

        refused = await bot.people.press(BEN, menu, "retention::30-")
        assert await answer_to(bot, refused) == (english("administrators-only"), True)
        refused = await the_menu(bot, CHIARA, chat=WEEKEND, argument="30")
        assert refused["text"] == english("administrators-only")

        await bot.people.press(OLGA, menu, "retention::30-")
        limit = english("retention-span", days=30)
        question = await shown(bot, WEEKEND, menu, english("retention-asks", count=2, limit=limit))
        refused = await bot.people.press(BEN, question, buttons_of(question)[0])
        assert await answer_to(bot, refused) == (english("administrators-only"), True)
        await bot.people.press(OLGA, question, buttons_of(question)[0])
        await has_gone(bot, 0, chat=WEEKEND)


async def test_the_operators_limit_holds_without_a_choice_and_the_page_counts_what_went(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, echo, retention_days=30) as bot:
        ref = await say_long_ago(bot, BEN, 3, days=40)
        await bot.redis.call("ZADD", keys.partition_key(ref.partition, "retain"), 0, ref.context_id)
        await has_gone(bot, 0)
        assert await bot.ask(BEN, "hello") == "echo: hello"

        async with visiting(bot, OLGA) as page:
            assert (await page.read("operations/now"))["expired"] == 3
