"""Stories of files that were overheard in a group and that a later message asks for."""

import asyncio
from typing import Any

from tests.scripted_replies import Reply, held, text
from tests.scripted_script import ChatRequest
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, Story, StoryStores, running_bot
from tests.story.prompts import overheard

OPEN: dict[str, Any] = {"privacy_mode": False, "openai_vision": True}


def pictures_in(bot: Story, at: int = -1) -> int:
    """Return the number of pictures of a prompt."""
    return str(bot.prompts()[at]).count("'image_url':")


async def test_an_album_is_addressed_by_a_mention_in_any_of_its_captions(stores: StoryStores) -> None:
    async with running_bot(stores, lambda _: text("Noted."), **OPEN) as bot:
        await bot.people.album(BEN, "", "@mnemogram_bot which is best?", "", chat=WEEKEND)
        await bot.wait_until_finished(3)

        assert (pictures_in(bot), overheard(bot.prompts()[0])) == (3, [])
        assert len(bot.said_in(WEEKEND)) == 1
        kept = (await bot.history(WEEKEND)).newest[:-1]
        assert [each.continues for each in kept] == ["", "bundle", "bundle"]
        assert "which is best?" in kept[1].text


async def test_an_album_is_read_whole_when_a_mention_replies_to_one_of_its_items(stores: StoryStores) -> None:
    async with running_bot(stores, lambda _: text("Noted."), **OPEN) as bot:
        sent = await bot.people.album(BEN, "two tents", "", "", chat=WEEKEND)
        words = "@mnemogram_bot which is larger?"
        await bot.wait_for_reply(await bot.say(OLGA, words, chat=WEEKEND, reply_to=sent[1]["message_id"]))

        assert pictures_in(bot) == 3
        assert "[in reply to Ben Hart: a photo, 9×6]" in str(bot.prompts()[0][-1])
        kept = (await bot.history(WEEKEND)).newest[:-1]
        assert [each.text for each in kept] == ["two tents", "", "which is larger?"]


async def test_a_mention_and_the_album_after_it_are_one_question(stores: StoryStores) -> None:
    never = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        return text("That one.") if "image_url" in str(request) else held(text("Which?"), until=never)

    async with running_bot(stores, script, **OPEN) as bot:
        await bot.say(BEN, "@mnemogram_bot which is best?", chat=WEEKEND)
        await bot.wait_for_prompts(1)
        await bot.people.album(BEN, "", "", chat=WEEKEND)
        await bot.wait_until_finished(3)

        assert (pictures_in(bot), bot.said_in(WEEKEND)) == (2, ["That one."])


async def test_a_mention_reads_the_picture_before_it_once(stores: StoryStores) -> None:
    async with running_bot(stores, lambda _: text("Noted."), **OPEN) as bot:
        await bot.people.photo(CHIARA, "our tent", chat=WEEKEND)
        await bot.say(CHIARA, "nice, is it?", chat=WEEKEND)
        await bot.ask(OLGA, "@mnemogram_bot what colour is it?", chat=WEEKEND)

        assert pictures_in(bot) == 1
        assert ["our tent" in line for line in overheard(bot.prompts()[0])] == [False]
        assert [each.text for each in (await bot.history(WEEKEND)).newest[:2]] == [
            "our tent",
            "what colour is it?",
        ]

        await bot.ask(BEN, "@mnemogram_bot and its size?", chat=WEEKEND)
        assert pictures_in(bot) == 0
        assert ["our tent" in line for line in overheard(bot.prompts()[1])] == [False]


async def test_an_overheard_document_is_read_for_a_mention(stores: StoryStores) -> None:
    async with running_bot(stores, lambda _: text("Noted."), privacy_mode=False) as bot:
        await bot.people.document(CHIARA, b"the ferry leaves at noon", name="plan.txt", chat=WEEKEND)
        await bot.ask(OLGA, "@mnemogram_bot when does it leave?", chat=WEEKEND)

        assert "the ferry leaves at noon" in str(bot.prompts()[0])


async def test_switched_off_talk_gives_no_overheard_picture(stores: StoryStores) -> None:
    async with running_bot(stores, lambda _: text("Noted."), group_context=False, **OPEN) as bot:
        await bot.people.photo(CHIARA, "our tent", chat=WEEKEND)
        await bot.ask(OLGA, "@mnemogram_bot what is it?", chat=WEEKEND)

        assert "our tent" not in str(bot.prompts()[0])
        assert pictures_in(bot) == 0


async def test_forget_erases_an_overheard_file_that_was_read(stores: StoryStores) -> None:
    async with running_bot(stores, lambda _: text("Noted."), **OPEN) as bot:
        sent = await bot.people.photo(CHIARA, "our quokka", chat=WEEKEND)
        await bot.ask(OLGA, "@mnemogram_bot what is it?", chat=WEEKEND)
        forget = await bot.say(CHIARA, "/forget", chat=WEEKEND, reply_to=sent["message_id"])
        await bot.wait_for_reply(forget)

        assert await bot.keys_with("quokka") == []
