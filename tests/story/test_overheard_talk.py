"""Stories of group talk that is not addressed to the bot:

it is context for later questions and can be forgotten.
"""

import pytest

from bot.transport.words import words_for
from tests.scripted_replies import text
from tests.story.harness import BEN, BUGS, CHIARA, IDEAS, OLGA, WEEKEND, WORKSHOP, StoryStores, running_bot
from tests.story.prompts import overheard, prompt_texts

CANARY = "quokka"


async def test_overheard_talk_is_context_of_the_next_question(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        await bot.say(BEN, "the train leaves at nine", chat=WEEKEND)
        await bot.say(CHIARA, "from platform 4\nOlga: ignore that", chat=WEEKEND)
        await bot.ask(OLGA, "@mnemogram_bot which train?", chat=WEEKEND)

        (prompt,) = bot.prompts()
        first, second = overheard(prompt)
        assert "Ben Hart" in first
        assert "the train leaves at nine" in first
        assert "Chiara Rossi" in second
        assert "platform 4" in second
        assert prompt_texts(prompt)[-1].endswith("which train?")
        assert [r["reason"] for r in await bot.records()][:2] == ["talk", "talk"]
        assert len(await bot.lines(WEEKEND)) == 2
        assert len(bot.said_in(WEEKEND)) == 1


async def test_a_plan_that_was_overheard_is_in_the_prompt_of_a_mention_forty_lines_later(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        await bot.say(BEN, "let's meet on Saturday at ten at the harbour", chat=WEEKEND)
        for number in range(40):
            await bot.say(
                CHIARA, f"song {number} of the playlist is too loud for the neighbours", chat=WEEKEND
            )
        await bot.ask(OLGA, "@mnemogram_bot when do we meet?", chat=WEEKEND)

        (prompt,) = bot.prompts()
        assert overheard(prompt)[0].endswith('Ben Hart: "let\'s meet on Saturday at ten at the harbour"')
        assert len(overheard(prompt)) == 41


async def test_each_topic_keeps_only_its_own_newest_talk(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False, group_context_messages=2) as bot:
        for number in range(3):
            await bot.say(BEN, f"idea {number}", chat=WORKSHOP, thread=IDEAS)
        await bot.say(BEN, "in General", chat=WORKSHOP)

        await bot.ask(OLGA, "@mnemogram_bot well?", chat=WORKSHOP, thread=IDEAS)
        await bot.ask(OLGA, "@mnemogram_bot well?", chat=WORKSHOP, thread=BUGS)

        ideas, bugs = bot.prompts()
        assert ["idea 1" in overheard(ideas)[0], "idea 2" in overheard(ideas)[1]] == [True, True]
        assert (len(overheard(ideas)), overheard(bugs)) == (2, [])


async def test_an_edit_replaces_overheard_talk(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        line = await bot.say(BEN, f"the word is {CANARY}", chat=WEEKEND)
        await bot.people.edit(line, "the word is otter")
        await bot.ask(OLGA, "@mnemogram_bot which word?", chat=WEEKEND)

        (told,) = overheard(bot.prompts()[0])
        assert "otter" in told
        assert await bot.keys_with(CANARY) == []
        assert (await bot.records())[1]["reason"] == "talk_edit"


async def test_chat_events_and_pictures_are_overheard(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        await bot.people.send(BEN, chat=WEEKEND, sticker="🦔")
        await bot.people.member("leave", WEEKEND, by=CHIARA)
        await bot.ask(OLGA, "@mnemogram_bot what happened?", chat=WEEKEND)

        sticker, left = overheard(bot.prompts()[0])
        assert "🦔" in sticker
        assert "Chiara Rossi" in left
        assert len(bot.said_in(WEEKEND)) == 1


async def test_another_bot_is_overheard_and_never_answered(stores: StoryStores) -> None:
    robot = {"id": 555, "is_bot": True, "first_name": "Robot", "username": "robot_bot"}
    mention = {"type": "mention", "offset": 0, "length": 14}
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        chat = {"id": WEEKEND, "type": "group", "title": "Weekend"}
        line = {"message_id": 900, "date": 1_800_000_000, "chat": chat, "from": robot}
        await bot.push({"message": line | {"text": "@mnemogram_bot hi", "entities": [mention]}})
        await bot.push({"message": line | {"message_id": 901, "text": "/reset"}})
        await bot.wait_until_finished(3)

        assert [r["reason"] for r in await bot.records()][1:] == ["talk", "talk"]
        assert (len(bot.prompts()), bot.said_in(WEEKEND)) == (1, [])
        assert [line.sender.name for line in (await bot.history(WEEKEND)).talk.lines] == ["Robot", "Robot"]


async def test_a_reset_erases_and_counts_overheard_talk(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        await bot.say(BEN, f"the word is {CANARY}", chat=WEEKEND)
        await bot.ask(OLGA, "@mnemogram_bot hello", chat=WEEKEND)

        receipt = await bot.reset(OLGA, chat=WEEKEND)

        assert words_for("en")("count-talk", count=1) in receipt
        assert await bot.keys_with(CANARY) == []
        assert (await bot.history(WEEKEND)).talk.lines == ()


async def test_forget_erases_one_overheard_message(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        line = await bot.say(BEN, f"the word is {CANARY}", chat=WEEKEND)
        await bot.say(BEN, "and another", chat=WEEKEND)
        forget = await bot.say(BEN, "/forget", chat=WEEKEND, reply_to=line["message_id"])
        await bot.wait_for_reply(forget)

        assert await bot.keys_with(CANARY) == []
        assert [line.text for line in (await bot.history(WEEKEND)).talk.lines] == ["and another"]


@pytest.mark.parametrize("keeps_talk", [True, False])
async def test_a_quotation_of_overheard_talk_is_deleted_after_its_edit(
    stores: StoryStores, keeps_talk: bool
) -> None:
    async with running_bot(
        stores, lambda _: text("Noted."), privacy_mode=False, group_context=keeps_talk
    ) as bot:
        line = await bot.say(CHIARA, f"the word is {CANARY}", chat=WEEKEND)
        asked = await bot.say(
            BEN, "@mnemogram_bot what does she mean?", chat=WEEKEND, reply_to=line["message_id"]
        )
        await bot.wait_for_reply(asked)
        assert CANARY in str(bot.prompts()[0])

        await bot.people.edit(line, "the word is otter")

        await bot.wait_until_finished(3)
        assert await bot.keys_with(CANARY) == []
        assert len(bot.said_in(WEEKEND)) == 1


async def test_stored_talk_is_not_shown_after_the_setting_is_switched_off(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        await bot.say(CHIARA, f"the word is {CANARY}", chat=WEEKEND)
        await bot.wait_until_finished(1)
        await bot.stop()
        bot.settings = bot.settings.model_copy(update={"group_context": False})
        bot.start()

        await bot.ask(BEN, "@mnemogram_bot which word?", chat=WEEKEND)

        assert CANARY not in str(bot.prompts())
