"""Stories of access to the bot: others get one sentence once, and none of their messages is stored."""

from tests.story.expected import english
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, StoryStores, running_bot

CANARY = "quokka"


async def test_people_without_access_get_one_sentence_and_nothing_of_theirs_is_stored(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, allowed_user_ids=str(CHIARA)) as bot:
        assert await bot.ask(BEN, f"hello {CANARY}") == english("refused")
        await bot.say(BEN, f"please {CANARY}")
        await bot.say(BEN, "/start")
        await bot.say(BEN, "/stop")
        await bot.wait_until_finished(4)

        assert bot.said_in(BEN) == [english("refused")]
        assert [(r["state"], r["reason"]) for r in await bot.records()] == [("refused", "not_allowed")] * 4
        assert await bot.keys_with(CANARY) == []
        assert await bot.lines(BEN) == []
        assert CANARY not in str([request.body for request in bot.model.requests])


async def test_allowed_people_and_operators_are_answered(stores: StoryStores) -> None:
    async with running_bot(stores, allowed_user_ids=str(CHIARA)) as bot:
        assert await bot.ask(CHIARA, "hello") == "echo: hello"
        assert await bot.ask(OLGA, "hello") == "echo: hello"


async def test_everyone_is_answered_in_an_allowed_chat_and_only_there(stores: StoryStores) -> None:
    async with running_bot(stores, allowed_chat_ids=str(WEEKEND)) as bot:
        assert (await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)).startswith("echo:")
        assert await bot.ask(BEN, "hello") == english("refused")


async def test_in_a_group_only_addressed_messages_are_refused(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False, allowed_user_ids=str(CHIARA)) as bot:
        await bot.say(BEN, f"between us, {CANARY}", chat=WEEKEND)
        assert await bot.ask(BEN, f"@mnemogram_bot {CANARY}", chat=WEEKEND) == english("refused")
        await bot.wait_until_finished(2)

        assert [(r["state"], r["reason"]) for r in await bot.records()] == [
            ("ignored", "not_allowed"),
            ("refused", "not_allowed"),
        ]
        assert await bot.keys_with(CANARY) == []
