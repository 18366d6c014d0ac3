"""Stories of /forget me: everything that a person said, here or everywhere, with a signed receipt."""

import json
from typing import Any

import pytest

from bot.features.forget import me
from bot.turn.forget_person import verify
from memory.keys import context_key, global_key
from memory.tombstones import load_secret
from tests.scripted_script import echo
from tests.story.expected import english
from tests.story.harness import (
    BEN,
    CHIARA,
    OLGA,
    WEEKEND,
    Story,
    StoryStores,
    buttons_of,
    make_ref,
    running_bot,
)
from tests.story.test_stop_buttons import answer_to


async def confirm(bot: Story, person: int, *, chat: int | None = None) -> dict[str, Any]:
    """Say /forget me, press the button, and return the question."""
    question = await bot.wait_for_reply(await bot.say(person, "/forget me", chat=chat))
    await bot.people.press(person, question, buttons_of(question)[0])
    return question


async def receipt_in(bot: Story, chat: int) -> dict[str, Any]:
    """Wait for the receipt in this chat, check its signature, and return it."""

    def document() -> dict[str, Any] | None:
        return next((each["document"] for each in bot.shown_in(chat) if "document" in each), None)

    await bot.wait_until(lambda: document() is not None)
    found = document()
    assert found is not None
    answer = await bot.simulator.get(f"/api/files/{found['file_id']}")
    text = answer.text
    assert verify(await load_secret(bot.redis), text).is_true
    return json.loads(text)


async def test_in_private_everything_that_a_person_said_anywhere_is_forgotten(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        await bot.ask(BEN, "my canary is called quokka")
        said = await bot.say(BEN, "@mnemogram_bot the quokka is blue", chat=WEEKEND)
        await bot.wait_for_reply(said)
        quoting = await bot.say(
            CHIARA, "@mnemogram_bot mine is a parrot", chat=WEEKEND, reply_to=said["message_id"]
        )
        await bot.wait_for_reply(quoting)
        await bot.wait_until_indexed()

        question = await confirm(bot, BEN)
        receipt = await receipt_in(bot, BEN)

        assert question["text"].count("1 message") == 2
        assert receipt["person"] == str(BEN)
        assert receipt["left"] == {"found_by_the_last_pass": 0, "search_entries": 0}
        assert receipt["erased"]["messages"] >= 4
        assert await bot.keys_with("quokka") == []
        assert ("user", "mine is a parrot") in await bot.lines(WEEKEND)
        assert await bot.redis.call("EXISTS", global_key("forgetting")) == 0
        kept = await bot.keys_with(f'"{BEN}"')
        assert [key for key in kept if not key.startswith(global_key("forgotten"))] == [], "but the receipt"


async def test_what_a_person_writes_after_the_request_is_new_and_stays(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        await bot.ask(BEN, "old quokka")
        await confirm(bot, BEN)
        await bot.ask(BEN, "new parrot")

        await receipt_in(bot, BEN)

        assert [text for role, text in await bot.lines(BEN) if role == "user"] == ["new parrot"]
        assert await bot.keys_with("quokka") == []


async def test_in_a_group_only_what_the_person_said_there_is_forgotten(stores: StoryStores) -> None:
    async with running_bot(stores, echo, privacy_mode=False) as bot:
        await bot.ask(BEN, "a private quokka")
        await bot.ask(BEN, "@mnemogram_bot a shared wombat", chat=WEEKEND)
        await bot.say(BEN, "an overheard wombat", chat=WEEKEND)
        await bot.ask(CHIARA, "@mnemogram_bot a parrot", chat=WEEKEND)

        await confirm(bot, BEN, chat=WEEKEND)
        receipt = await receipt_in(bot, WEEKEND)

        assert receipt["where"].startswith("context ")
        assert await bot.keys_with("wombat") == []
        assert ("user", "a parrot") in await bot.lines(WEEKEND)
        assert ("user", "a private quokka") in await bot.lines(BEN)


async def test_nobody_presses_the_button_of_somebody_else(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        question = await bot.wait_for_reply(await bot.say(BEN, "/forget me", chat=WEEKEND))

        press = await bot.people.press(OLGA, question, buttons_of(question)[0])

        assert (await answer_to(bot, press))[0] == english("forget-me-not-yours")
        assert ("user", "hello") in await bot.lines(WEEKEND)


async def test_a_late_press_forgets_nothing(stores: StoryStores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(me, "CONFIRM_WITHIN_S", -60.0)
    async with running_bot(stores, echo) as bot:
        await bot.ask(BEN, "hello")
        question = await bot.wait_for_reply(await bot.say(BEN, "/forget me"))

        press = await bot.people.press(BEN, question, buttons_of(question)[0])

        assert (await answer_to(bot, press))[0] == english("forget-me-expired")
        assert len(await bot.lines(BEN)) == 2


async def test_an_anonymous_administrator_is_nobody(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        asked = await bot.people.send(OLGA, chat=WEEKEND, text="/forget me", anonymous=True)

        assert (await bot.wait_for_reply(asked))["text"] == english("forget-me-anonymous")


async def test_the_choices_and_the_name_of_a_forgotten_person_go_too(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        await bot.ask(BEN, "/timezone Europe/Lisbon")
        await bot.ask(BEN, "hello")
        await confirm(bot, BEN)

        await receipt_in(bot, BEN)

        assert await bot.redis.call("HGET", global_key("zones"), str(BEN)) is None
        assert await bot.redis.call("EXISTS", context_key(make_ref(BEN), "people")) == 0
        assert await bot.redis.call("EXISTS", context_key(make_ref(BEN), "meta")) == 0


async def test_a_name_alone_erases_nothing_where_its_bearer_is_unknown(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        said = await bot.say(BEN, "@mnemogram_bot my quokka is blue", chat=WEEKEND)
        await bot.wait_for_reply(said)
        (forwarded,) = await bot.people.forward(CHIARA, [said], origin="hidden_user")
        await bot.wait_for_reply(forwarded)

        await bot.ask(BEN, "hello")
        await confirm(bot, BEN)
        await receipt_in(bot, BEN)

        kept = await bot.keys_with("quokka")
        assert [key for key in kept if make_ref(CHIARA).context_id not in key] == []
        assert await bot.lines(CHIARA) != [], "anybody may take this name: it may be somebody else's words"
