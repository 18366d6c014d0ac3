"""Stories of histories from other services that people send as files."""

import io
import json
import time
import zipfile
from typing import Any

import pytest

from memory.history.redis_history import RedisHistory
from memory.history.store import BEFORE_ALL
from tests.exports import chatgpt_conversation, telegram_chat, telegram_message
from tests.story.expected import english
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
from tests.story.test_forget_me import confirm, receipt_in
from tests.story.test_retention import the_menu

pytestmark = pytest.mark.slow

ANNA = "We hide the spare key under the blue flower pot"


def a_file(document: Any) -> bytes:
    return json.dumps(document, indent=1).encode()


def a_zip(**files: Any) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, document in files.items():
            archive.writestr(f"{name}.json", json.dumps(document))
    return packed.getvalue()


async def offered(bot: Story, data: bytes, *, name: str = "result.json", person: int = BEN) -> Json:
    """Return the bot's reply to a sent file."""
    sent = await bot.people.document(person, data, name=name, mime_type="application/json")
    return await bot.wait_for_reply(sent)


async def pressed(bot: Story, message: Json, *, person: int = BEN, number: int = 0) -> Json:
    """Press a button of the message, and return the message as it is then."""
    before = buttons_of(message)
    await bot.people.press(person, message, before[number])

    def now() -> Json:
        shown = bot.shown_in(message["chat"]["id"])
        return next(each for each in shown if each["message_id"] == message["message_id"])

    await bot.wait_until(lambda: bool(buttons_of(now())) and buttons_of(now()) != before)
    return now()


async def whole(bot: Story, chat: int = BEN) -> list[tuple[str, str, str]]:
    """Return all messages as role, text and service, oldest first."""
    found = await RedisHistory(bot.redis).page(
        make_ref(chat), after_sequence=BEFORE_ALL, limit=100, whole=True
    )
    return [(each.role, each.text, each.imported_from) for each in found]


async def test_a_sent_history_is_imported_found_and_forgotten_by_buttons(stores: StoryStores) -> None:
    chat = telegram_chat(
        [
            telegram_message(1, ANNA, sender="user7", name="Anna"),
            telegram_message(
                2, ["Good, ", {"type": "bold", "text": "thanks"}], sender=f"user{BEN}", name="Ben"
            ),
            {"id": 3, "type": "service", "date": "2020-09-13T14:26:41", "action": "phone_call"},
        ]
    )
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")

        offer = await offered(bot, a_file(chat))
        assert "a history from Telegram with 2 messages" in offer["text"]
        assert await whole(bot) == [("user", "hello", ""), ("assistant", "echo: hello", "")]
        done = await pressed(bot, offer)

        assert "I've imported 2 messages from Telegram" in done["text"]
        assert (await whole(bot))[:2] == [("user", ANNA, "Telegram"), ("user", "Good, thanks", "Telegram")]
        await bot.wait_until_indexed()
        await bot.ask(BEN, "Where do we hide the spare key?")
        system, *window = bot.prompts()[-1]
        assert ANNA in str(system) or any(ANNA in str(each) for each in window)
        recalled = str(bot.prompts()[-1])
        assert "imported from Telegram] Anna: " in recalled
        assert 'imported from Telegram] user: "Good, thanks"' in recalled, "the asker's own words are theirs"
        assert [each["content"] for each in window[:2]] == ["hello", "echo: hello"], "the newest talk is ours"

        forgotten = await pressed(bot, done)
        assert "I've forgotten that import." in forgotten["text"]
        assert [each for each in await whole(bot) if each[2]] == []


async def test_a_history_that_is_sent_again_adds_nothing(stores: StoryStores) -> None:
    data = a_zip(conversations=[chatgpt_conversation("c1", ["I like tea", "Noted"])], user={"id": "u"})
    async with running_bot(stores) as bot:
        await pressed(bot, await offered(bot, data, name="export.zip"))
        again = await pressed(bot, await offered(bot, data, name="export.zip"))

        assert "I already knew all of this history from ChatGPT." in again["text"]
        assert await whole(bot) == [("user", "I like tea", "ChatGPT"), ("assistant", "Noted", "ChatGPT")]
        listed = await bot.wait_for_reply(await bot.say(BEN, "/import"))
        assert "ChatGPT" in listed["text"]
        assert len(buttons_of(listed)) == 1


async def test_what_was_forgotten_does_not_come_back_with_the_same_file(stores: StoryStores) -> None:
    tea = chatgpt_conversation("c1", ["I like tea", "Noted"])
    car = chatgpt_conversation("c2", ["I sold the car", "Fine"])
    async with running_bot(stores) as bot:
        done = await pressed(bot, await offered(bot, a_file([tea])))
        await pressed(bot, done)

        offer = await offered(bot, a_file([tea]))
        await bot.people.press(BEN, offer, buttons_of(offer)[0])
        refused = await bot.wait_for_receipt(offer)
        assert refused.startswith(
            "I've imported nothing: this history from ChatGPT was forgotten here before"
        )

        await pressed(bot, await offered(bot, a_file([car])))
        await bot.reset(BEN)
        more = [tea, car, chatgpt_conversation("c3", ["I moved to Porto", "Good luck"])]
        again = await pressed(bot, await offered(bot, a_file(more)))

        assert "I've imported 2 messages from ChatGPT" in again["text"]
        assert "4 messages had been forgotten here before, and stay forgotten." in again["text"]
        assert [each[1] for each in await whole(bot) if each[2]] == ["I moved to Porto", "Good luck"]


async def test_other_documents_are_read_as_before(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        reply = await offered(bot, b'{"colour": "green"}', name="settings.json")
        assert buttons_of(reply) == []
        assert "green" in json.dumps(bot.prompts()[-1])

        unknown = await offered(bot, a_zip(settings={"colour": "green"}), name="settings.zip")
        assert unknown["text"].startswith("I don't know any history in this zip.")

        header = b'{"kind":"header","format":2,"version":"1","exported_at":"","chat":"77","context":"c"}\n'
        for name in ("chat.jsonl", "chat.json"):
            own = await offered(bot, header + b'{"kind":"context"}\n', name=name)
            assert own["text"].startswith("This is an export of my own memory.")
            assert "mnemogram import" in own["text"]

        cut = await offered(bot, a_file(telegram_chat([telegram_message(1, "One")]))[:-4])
        assert "ends in the middle, after 1 message" in cut["text"]
        assert await whole(bot) == [each for each in await whole(bot) if not each[2]]


async def test_in_a_group_no_file_is_offered(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        listed = await bot.wait_for_reply(await bot.say(OLGA, "/import", chat=WEEKEND))
        assert listed["text"] == "I import histories in our private chat only. Send me the file there."


async def test_forget_me_counts_what_somebody_else_imported_without_naming_their_chat(
    stores: StoryStores,
) -> None:
    lines = [telegram_message(1, "my quokka", sender=f"user{BEN}", name="Ben")]
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        offer = await offered(bot, a_file(telegram_chat(lines)), person=OLGA)
        await pressed(bot, offer, person=OLGA)

        question = await bot.wait_for_reply(await bot.say(BEN, "/forget me"))

    counted = [line for line in question["text"].splitlines() if line.startswith("•")]
    assert sorted(line.count("1 message") for line in counted) == [1, 1]
    assert [line for line in counted if "Olga" in line] == []
    assert "Ben" in question["text"]


async def test_forget_me_erases_what_is_imported_and_keeps_the_words_of_others(stores: StoryStores) -> None:
    lines = [
        telegram_message(1, "my quokka", sender=f"user{BEN}", name="Ben"),
        telegram_message(2, ANNA, sender="user7", name="Anna"),
        telegram_message(
            3, "a quokka of tomorrow", sender=f"user{BEN}", name="Ben", sent_at=int(time.time()) + 43_200
        ),
    ]
    async with running_bot(stores) as bot:
        for person in (OLGA, BEN):
            offer = await offered(bot, a_file(telegram_chat(lines)), person=person)
            await pressed(bot, offer, person=person)
        await bot.wait_until_indexed()

        await confirm(bot, BEN)
        receipt = await receipt_in(bot, BEN)

        assert receipt["erased"]["messages"] >= 3
        assert await bot.keys_with("quokka") == []
        assert ("user", ANNA, "Telegram") in await whole(bot, OLGA)
        assert [each for each in await whole(bot) if each[2]] == []


async def test_the_limit_of_a_chat_counts_and_erases_what_is_imported(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        offer = await offered(
            bot, a_file(telegram_chat([telegram_message(1, ANNA), telegram_message(2, "b")]))
        )
        await pressed(bot, offer)

        question = await the_menu(bot, BEN, argument="30")
        limit = english("retention-span", days=30)
        assert english("retention-asks", count=2, limit=limit) in question["text"]
        await bot.people.press(BEN, question, buttons_of(question)[0])

        async def are_gone() -> bool:
            return [each for each in await whole(bot) if each[2]] == []

        await bot.wait_until_true(are_gone)
