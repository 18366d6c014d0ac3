"""Stories of a list of facts that is shown while messages are still read: it changes itself, once, if it may."""

from collections.abc import Awaitable, Callable

import pytest

from memory import keys
from memory.facts.redis_facts import RedisFacts
from tests.scripted_facts import FactScript, tells
from tests.scripted_replies import server_error
from tests.story.expected import english
from tests.story.extractions import extract_at_once, wait_until_extracted
from tests.story.harness import (
    BEN,
    OLGA,
    WEEKEND,
    Json,
    Story,
    StoryStores,
    buttons_of,
    make_ref,
    running_bot,
)
from tests.story.known_facts import plant

BIKE = tells("my bike is red", "Ben's bike", "Ben's bike is red.")
READING = english("facts-unread", count=1).partition("1")[0]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    extract_at_once(monkeypatch)


def reading() -> FactScript:
    """Return a model that is held while it reads for facts."""
    model = FactScript(BIKE)
    model.holding = True
    return model


def now(bot: Story, message: Json) -> str:
    """Return the present text of a message."""
    shown = bot.shown_in(message["chat"]["id"])
    return next(each["text"] for each in shown if each["message_id"] == message["message_id"])


async def list_facts(bot: Story, person: int = BEN, *, chat: int | None = None) -> Json:
    return await bot.wait_for_reply(await bot.say(person, "/facts@mnemogram_bot", chat=chat))


async def noted(bot: Story) -> list[str]:
    return await bot.redis.call("HKEYS", keys.context_key(make_ref(BEN), "fact_lists"))


async def test_the_list_says_that_messages_are_read_and_shows_their_facts_itself(stores: StoryStores) -> None:
    model = reading()
    async with running_bot(stores, model) as bot:
        await bot.ask(BEN, "hello, my bike is red")
        shown = await list_facts(bot)
        assert READING in shown["text"]
        assert "bike is red" not in shown["text"]
        said = len(bot.said_in(BEN))

        model.release.set()
        await bot.wait_until(lambda: "1. Ben's bike is red." in now(bot, shown))
        await bot.wait_until_idle()

        assert READING not in now(bot, shown)
        assert len(bot.said_in(BEN)) == said, "the list is edited, and nothing new is sent"
        assert [each["state"] for each in await bot.records()] == ["answered"] * 3


async def test_the_list_of_a_group_is_that_of_its_owner(stores: StoryStores) -> None:
    model = reading()
    async with running_bot(stores, model) as bot:
        await bot.ask(OLGA, "/facts@mnemogram_bot on", chat=WEEKEND)
        await bot.ask(BEN, "@mnemogram_bot my bike is red", chat=WEEKEND)
        bens, olgas = await list_facts(bot, BEN, chat=WEEKEND), await list_facts(bot, OLGA, chat=WEEKEND)

        model.release.set()
        await bot.wait_until(lambda: "Ben's bike is red." in now(bot, bens))
        await bot.wait_until(lambda: now(bot, olgas).startswith(english("facts-none", place="group")))
        await bot.wait_until_idle()

        assert READING not in now(bot, bens) + now(bot, olgas)


async def test_a_reading_that_fails_for_good_ends_the_sentence_too(stores: StoryStores) -> None:
    model = reading()
    model.instead = [server_error()] * 30
    async with running_bot(stores, model) as bot:
        await bot.ask(BEN, "hello, my bike is red")
        shown = await list_facts(bot)

        model.release.set()

        await bot.wait_until(lambda: now(bot, shown) == english("facts-none", place="private"))


async def _restart(bot: Story) -> None:
    await bot.stop()
    bot.start()


async def _die_after_reading(bot: Story) -> None:
    """Leave what a worker leaves that dies after it has saved the facts, with its claim."""
    await bot.stop()
    facts = RedisFacts(bot.redis, clock=lambda: 0.0)
    await plant(bot, "Ben's bike is red.")
    await bot.redis.call("DEL", keys.context_key(make_ref(BEN), "unread"))
    assert await facts.count_unread(make_ref(BEN)) == 0
    bot.start()


@pytest.mark.parametrize("die", [_restart, _die_after_reading])
async def test_a_crash_in_between_changes_nothing_about_that(
    stores: StoryStores, die: Callable[[Story], Awaitable[None]]
) -> None:
    model = reading()
    async with running_bot(stores, model, lease_s=1) as bot:
        await bot.ask(BEN, "hello, my bike is red")
        shown = await list_facts(bot)
        await bot.wait_until(lambda: bool(model.requests))

        await die(bot)
        model.release.set()

        await bot.wait_until(lambda: "bike is red." in now(bot, shown))
        assert READING not in now(bot, shown)


async def _reset(bot: Story, _: Json) -> None:
    await bot.reset(BEN)


async def _ask_for_a_correction(bot: Story, shown: Json) -> None:
    await bot.people.press(BEN, shown, next(each for each in buttons_of(shown) if ":c:" in each))
    await bot.wait_until(lambda: now(bot, shown) == english("facts-ask", statement="Ben Hart likes tea"))


@pytest.mark.parametrize("change", [_reset, _ask_for_a_correction])
async def test_a_list_that_was_reset_or_has_become_a_question_stays_as_it_is(
    stores: StoryStores, change: Callable[[Story, Json], Awaitable[None]]
) -> None:
    model = reading()
    async with running_bot(stores, model) as bot:
        await bot.ask(BEN, "hello, my bike is red")
        await plant(bot, "Ben Hart likes tea")
        shown = await list_facts(bot)
        await change(bot, shown)
        before = now(bot, shown)
        assert await noted(bot) == []

        model.release.set()
        await wait_until_extracted(bot)
        await bot.wait_until_idle()

        assert now(bot, shown) == before


async def test_a_list_whose_page_was_turned_changes_at_that_page(stores: StoryStores) -> None:
    model = reading()
    async with running_bot(stores, model) as bot:
        await bot.ask(BEN, "hello, my bike is red")
        await plant(bot, *(f"Ben Hart knows song {number}" for number in range(12, 0, -1)))
        shown = await list_facts(bot)
        await bot.people.press(BEN, shown, buttons_of(shown)[-1])
        await bot.wait_until(lambda: "6. Ben Hart knows song 6" in now(bot, shown))
        assert READING in now(bot, shown)

        model.release.set()
        await bot.wait_until(lambda: READING not in now(bot, shown))

        assert "6. Ben Hart knows song 6" in now(bot, shown)
