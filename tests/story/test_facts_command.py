"""Stories of /facts: what is known is shown, deleted, corrected, and turned off and on."""

from typing import Any

import pytest

from bot.transport.words import LANGUAGES, words_for
from memory import keys
from tests.scripted_script import echo
from tests.story.expected import english
from tests.story.harness import (
    BEN,
    CHIARA,
    IDEAS,
    OLGA,
    WEEKEND,
    WORKSHOP,
    Json,
    Story,
    StoryStores,
    make_ref,
    receipt_of,
    running_bot,
)
from tests.story.known_facts import known_in, plant
from tests.story.test_stop_buttons import answer_to

LIKES, LIVES, WORKS = "Ben Hart likes tea", "Ben Hart lives in Porto", "Ben Hart works at a bakery"


async def _list(
    bot: Story, person: int, *, chat: int | None = None, thread: int | None = None, words: str = ""
) -> Json:
    command = "/facts@mnemogram_bot" if chat else "/facts"
    return await bot.wait_for_reply(
        await bot.say(person, f"{command} {words}".strip(), chat=chat, thread=thread)
    )


def _now(bot: Story, message: Json) -> Json:
    shown = bot.shown_in(message["chat"]["id"])
    return next(each for each in shown if each["message_id"] == message["message_id"])


def _button(message: Json, text: str) -> str:
    """Return the data of the button with this text."""
    rows: list[list[Json]] = message.get("reply_markup", {}).get("inline_keyboard", [])
    return next(each["callback_data"] for row in rows for each in row if each["text"] == text)


def _rows(message: Json) -> list[list[str]]:
    rows: list[list[Json]] = message.get("reply_markup", {}).get("inline_keyboard", [])
    return [[each["text"] for each in row] for row in rows]


async def _press(bot: Story, person: int, message: Json, text: str) -> Json:
    """Press a button of the list, and return the message as it is afterwards."""
    before = _now(bot, message)["text"]
    await bot.people.press(person, message, _button(_now(bot, message), text))
    await bot.wait_until(lambda: _now(bot, message)["text"] != before)
    return _now(bot, message)


async def test_everything_that_is_known_is_listed_the_newest_first_and_what_no_longer_holds_last(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await plant(bot, WORKS, valid_to=1_795_262_400.0)
        await plant(bot, LIVES, LIKES)

        shown = await _list(bot, BEN)

    lines = shown["text"].split("\n")
    assert lines[:4] == [
        english("facts-title", place="private"),
        f"1. {LIKES}",
        f"2. {LIVES}",
        f"3. {WORKS} (until 21 November 2026)",
    ]
    assert _rows(shown)[:2] == [["❌ 1", "❌ 2", "❌ 3"], ["✏️ 1", "✏️ 2", "✏️ 3"]]
    assert _rows(shown)[-1] == [english("memory-open")]


async def test_a_long_list_is_turned_page_by_page_in_the_same_message(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await plant(bot, *(f"Ben Hart knows song {number}" for number in range(12, 0, -1)))
        first = await _list(bot, BEN)

        second = await _press(bot, BEN, first, english("list-more"))
        last = await _press(bot, BEN, first, english("list-more"))
        again = await _press(bot, BEN, first, english("list-back"))

    assert "5. Ben Hart knows song 5\nThese are 1 to 5 of 12." in first["text"]
    assert "6. Ben Hart knows song 6" in second["text"]
    assert _rows(second)[2] == [english("list-back"), english("list-more")]
    assert "12. Ben Hart knows song 12\nThese are 11 to 12 of 12." in last["text"]
    assert _rows(last)[2] == [english("list-back")]
    assert again["text"] == second["text"]


async def test_a_deleted_fact_is_gone_from_the_list_and_the_store_with_one_line_of_receipt(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await plant(bot, LIVES, LIKES)
        shown = await _list(bot, BEN)

        after = await _press(bot, BEN, shown, "❌ 2")

        assert await known_in(bot) == [LIKES]
        assert await bot.keys_with("Porto") == []
    notice, *rest = after["text"].split("\n")
    assert notice == f"{english('receipt-proven')} {english('fact-deleted')}"
    assert rest[1:3] == [english("facts-title", place="private"), f"1. {LIKES}"]


async def test_a_press_on_a_fact_that_has_changed_since_says_so_and_shows_the_present_list(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await plant(bot, LIVES, LIKES)
        old, other = await _list(bot, BEN), await _list(bot, BEN)
        await _press(bot, BEN, other, "❌ 2")

        press = await bot.people.press(BEN, old, _button(old, "❌ 2"))

        assert await answer_to(bot, press) == (english("facts-outdated"), True)
        await bot.wait_until(lambda: LIVES not in _now(bot, old)["text"])
        assert await known_in(bot) == [LIKES]


async def test_a_correction_is_a_reply_to_the_question_and_no_message_to_the_model(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await plant(bot, LIVES, LIKES)
        shown = await _list(bot, BEN)
        question = await _press(bot, BEN, shown, "✏️ 2")

        reply = await bot.say(BEN, "Ben Hart lives in **Braga**", reply_to=question["message_id"])
        noted = await bot.wait_for_reply(reply)

        assert await known_in(bot) == [LIKES, "Ben Hart lives in **Braga**"]
        assert await bot.keys_with("Porto") == []
        assert [role for role, _ in await bot.lines(BEN)] == ["user", "assistant"]
        await bot.wait_until_idle()
        assert question["message_id"] not in [each["message_id"] for each in bot.shown_in(BEN)]
    assert question["text"] == english("facts-ask", statement=LIVES)
    assert _rows(question) == [[english("facts-cancel")]]
    assert noted["text"].startswith(english("facts-noted", statement="Ben Hart lives in **Braga**"))
    assert "2. Ben Hart lives in **Braga**" in noted["text"]
    assert "❌ 2" in _rows(noted)[0]


async def test_a_cancelled_correction_shows_the_list_again_and_a_later_reply_is_a_message(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await plant(bot, LIVES)
        shown = await _list(bot, BEN)
        question = await _press(bot, BEN, shown, "✏️ 1")

        again = await _press(bot, BEN, question, english("facts-cancel"))
        answer = await bot.wait_for_reply(await bot.say(BEN, "Braga", reply_to=question["message_id"]))

        assert f"1. {LIVES}" in again["text"]
        assert "Braga" in answer["text"]
        assert (await bot.lines(BEN))[-2:] == [("user", "Braga"), ("assistant", answer["text"])]
        assert await known_in(bot) == [LIVES]


@pytest.mark.parametrize("wrong", ["x" * 301, "\u00ad\u2060"], ids=["too long", "invisible"])
async def test_a_correction_that_is_no_sentence_can_be_written_again(stores: StoryStores, wrong: str) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await plant(bot, LIVES)
        question = await _press(bot, BEN, await _list(bot, BEN), "✏️ 1")

        for right, statement in ((wrong, LIVES), ("Ben Hart lives in Braga", "Ben Hart lives in Braga")):
            await bot.wait_for_reply(await bot.say(BEN, right, reply_to=question["message_id"]))
            assert await known_in(bot) == [statement]

        assert english("facts-too-long", limit=300) in bot.said_in(BEN)


async def test_a_correction_survives_a_restart_and_a_reset_ends_it(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await plant(bot, LIVES, LIKES)
        shown = await _list(bot, BEN)
        question = await _press(bot, BEN, shown, "✏️ 2")
        await bot.stop()
        bot.start()

        await bot.wait_for_reply(
            await bot.say(BEN, "Ben Hart lives in Braga", reply_to=question["message_id"])
        )
        assert "Ben Hart lives in Braga" in await known_in(bot)

        question = await _press(bot, BEN, await _list(bot, BEN), "✏️ 1")
        await bot.reset(BEN)
        answer = await bot.wait_for_reply(await bot.say(BEN, "coffee", reply_to=question["message_id"]))
        assert "coffee" in answer["text"]
        assert await known_in(bot) == []


async def test_in_a_group_a_list_has_the_facts_about_its_owner_and_those_that_the_owner_told(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        await plant(bot, LIVES, chat=WEEKEND)
        await plant(bot, "Chiara Rossi sings", about=CHIARA, said_by=BEN, chat=WEEKEND)
        await plant(bot, "Olga Marin paints", about=OLGA, chat=WEEKEND)

        ben = await _list(bot, BEN, chat=WEEKEND)
        chiara = await _list(bot, CHIARA, chat=WEEKEND)

    assert [line for line in ben["text"].split("\n") if line[:1].isdigit()] == [
        "1. Chiara Rossi sings",
        f"2. {LIVES}",
    ]
    assert [line for line in chiara["text"].split("\n") if line[:1].isdigit()] == ["1. Chiara Rossi sings"]


async def test_in_a_group_only_the_owner_of_a_list_and_administrators_may_press(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        await plant(bot, LIVES, LIKES, WORKS, chat=WEEKEND)
        shown = await _list(bot, BEN, chat=WEEKEND)

        for text in ("❌ 1", "✏️ 1"):
            press = await bot.people.press(CHIARA, shown, _button(shown, text))
            assert await answer_to(bot, press) == (english("facts-not-yours"), True)
        forged = _button(shown, "❌ 1").replace(str(BEN), str(CHIARA))
        press = await bot.people.press(CHIARA, shown, forged, any_data=True)
        assert await answer_to(bot, press) == (english("button-unknown"), False)
        assert len(await known_in(bot, WEEKEND)) == 3
        assert shown in bot.shown_in(WEEKEND)

        shown = await _list(bot, BEN, chat=WEEKEND)
        await _press(bot, OLGA, shown, "❌ 1")
        await _press(bot, BEN, shown, "❌ 1")
        assert await known_in(bot, WEEKEND) == [LIVES]


async def test_in_a_group_only_the_person_who_pressed_can_answer_the_question(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        await plant(bot, LIVES, chat=WEEKEND)
        question = await _press(bot, BEN, await _list(bot, BEN, chat=WEEKEND), "✏️ 1")

        other = await bot.say(CHIARA, "Ben Hart is a fool", chat=WEEKEND, reply_to=question["message_id"])
        await bot.wait_for_reply(other)
        assert await known_in(bot, WEEKEND) == [LIVES]
        own = await bot.say(BEN, "Ben Hart lives in Braga", chat=WEEKEND, reply_to=question["message_id"])
        await bot.wait_for_reply(own)

        assert await known_in(bot, WEEKEND) == ["Ben Hart lives in Braga"]


@pytest.mark.parametrize("argument", ["off", "OFF all"])
async def test_in_a_private_chat_off_erases_all_facts_until_on(stores: StoryStores, argument: str) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await plant(bot, LIVES, LIKES)

        off = await bot.ask(BEN, f"/facts {argument}")
        while_off = await bot.ask(BEN, "/facts")
        on = await bot.ask(BEN, "/facts on")
        since = await bot.ask(BEN, "/facts")

        assert await known_in(bot) == []
    assert off == f"{english('receipt-proven')}\n{english('facts-off-private')}"
    assert while_off == english("facts-are-off-private")
    assert on == english("facts-on-private")
    assert since.startswith(english("facts-none", place="private"))


async def test_turning_on_what_is_on_changes_nothing(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        assert await bot.ask(BEN, "/facts on") == english("facts-already-on")
        assert await bot.redis.call("EXISTS", keys.context_key(make_ref(BEN), "choices")) == 0


async def test_the_choice_outlives_a_reset(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await bot.ask(BEN, "/facts off")
        await bot.reset(BEN)
        assert await bot.ask(BEN, "/facts") == english("facts-are-off-private")


async def test_in_groups_facts_are_off_until_an_administrator_turns_them_on(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        texts = [
            (await _list(bot, person, chat=WEEKEND, words=words))["text"]
            for person, words in ((BEN, ""), (BEN, "on"), (OLGA, "on"), (BEN, ""))
        ]
    off = english("facts-are-off-group")
    assert texts[:3] == [off, off, english("facts-on-group")]
    assert texts[3].startswith(english("facts-none", place="group"))


async def test_in_a_group_off_is_about_oneself_and_off_all_is_for_administrators(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        await _list(bot, OLGA, chat=WEEKEND, words="on")
        await plant(bot, LIVES, chat=WEEKEND)
        await plant(bot, "Olga Marin paints", about=OLGA, chat=WEEKEND)

        refused = await _list(bot, BEN, chat=WEEKEND, words="off all")
        own = await _list(bot, BEN, chat=WEEKEND, words="off")
        state = await _list(bot, BEN, chat=WEEKEND)
        assert await known_in(bot, WEEKEND) == ["Olga Marin paints"]
        back = await _list(bot, BEN, chat=WEEKEND, words="on")
        everybody = await _list(bot, OLGA, chat=WEEKEND, words="off all")

        assert await known_in(bot, WEEKEND) == []
    assert refused["text"] == english("administrators-only")
    assert english("facts-off-person") in own["text"]
    assert state["text"] == english("facts-are-off-person")
    assert back["text"] == english("facts-on-person")
    assert english("facts-off-group") in everybody["text"]


async def test_in_a_topic_facts_are_those_of_the_topic(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WORKSHOP, thread=IDEAS)
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WORKSHOP)
        await _list(bot, OLGA, chat=WORKSHOP, thread=IDEAS, words="on")
        await plant(bot, LIVES, chat=WORKSHOP, thread=IDEAS)
        await plant(bot, LIKES, chat=WORKSHOP)

        here = await _list(bot, BEN, chat=WORKSHOP, thread=IDEAS)
        after = await _press(bot, BEN, here, "❌ 1")

        assert await known_in(bot, WORKSHOP, IDEAS) == []
        assert await known_in(bot, WORKSHOP) == [LIKES]
        general = await _list(bot, BEN, chat=WORKSHOP)
    assert LIKES not in here["text"]
    assert english("facts-none", place="group") in after["text"]
    assert english("facts-are-off-group") in general["text"]
    assert "group" not in after["text"] + general["text"], (
        "the other topics of the group have their own facts"
    )


async def test_without_extraction_the_list_says_so_and_still_works(stores: StoryStores) -> None:
    async with running_bot(stores, facts=False) as bot:
        await bot.ask(BEN, "hello")
        nothing = await bot.ask(BEN, "/facts")
        await plant(bot, LIVES)
        shown = await _list(bot, BEN)
        on = await bot.ask(BEN, "/facts on")
        await _press(bot, BEN, shown, "❌ 1")
        assert await known_in(bot) == []
    assert nothing == on == english("facts-unavailable")
    assert f"1. {LIVES}" in shown["text"]
    assert shown["text"].endswith(english("facts-unavailable"))


async def test_other_words_are_answered_with_what_the_command_can_do(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        assert await bot.ask(BEN, "/facts maybe") == english("facts-usage")


async def test_memory_and_the_receipt_of_a_reset_count_facts(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await plant(bot, LIVES, LIKES)
        memory = await bot.ask(BEN, "/memory")
        receipt = await bot.reset(BEN)
    assert "I also remember: 2 facts." in memory
    assert "Erased: 2 messages, 2 facts" in receipt


async def test_forgetting_a_message_tells_of_the_facts_that_rested_on_it(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        told = await bot.say(BEN, "I live in Porto")
        await bot.wait_for_reply(told)
        await plant(bot, LIVES)
        forget = await bot.wait_for_reply(await bot.say(BEN, "/forget", reply_to=told["message_id"]))
        assert await known_in(bot) == []
    assert "Erased: 1 message, 1 fact" in receipt_of(forget)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_list_is_in_the_readers_language(stores: StoryStores, language: str) -> None:
    words = words_for(language)
    async with running_bot(stores, echo, is_pushed=True) as bot:
        await bot.ask(BEN, "hello")
        await plant(bot, LIVES)
        person: dict[str, Any] = {"id": BEN, "is_bot": False, "first_name": "Ben", "language_code": language}
        command = {"type": "bot_command", "offset": 0, "length": 6}
        message = {
            "message_id": 9_000,
            "date": 1_900_000_000,
            "chat": {"id": BEN, "type": "private", "first_name": "Ben"},
            "from": person,
            "text": "/facts",
            "entities": [command],
        }
        await bot.push({"message": message})
        await bot.wait_until(lambda: LIVES in bot.shown_in(BEN)[-1]["text"])
        shown = bot.shown_in(BEN)[-1]
    assert shown["text"].split("\n")[0] == words("facts-title", place="private")
    assert _rows(shown)[0] == [words("list-delete", number=1)]


async def test_a_press_whose_erasure_was_interrupted_ends_with_the_present_list(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await plant(bot, LIVES, LIKES)
        shown = await _list(bot, BEN)
        await bot.stop()
        await bot.people.press(BEN, shown, _button(shown, "❌ 2"))
        # What a worker leaves that died after the erasure and before the commit.
        journal = keys.context_key(make_ref(BEN), "journal")
        await bot.redis.call("HDEL", keys.context_key(make_ref(BEN), "facts"), "fact0")
        await bot.redis.call("ZREM", keys.context_key(make_ref(BEN), "fact_order"), "fact0")
        await bot.redis.call("HSET", journal, "fact", "fact0")
        bot.start()
        await bot.wait_until(lambda: LIVES not in _now(bot, shown)["text"])
        after = _now(bot, shown)["text"]
        assert await known_in(bot) == [LIKES]
    assert after.startswith(f"{english('receipt-proven')} {english('fact-deleted')}")
