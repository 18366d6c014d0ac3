"""Stories of the bot's membership: it is added, promoted, removed, blocked."""

from bot.transport.words import words_for
from tests.story.expected import english
from tests.story.harness import BEN, BOT, CHIARA, OLGA, WEEKEND, StoryStores, running_bot

CANARY = "quokka"


async def test_a_joined_group_gets_one_message_on_what_the_bot_can_see(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        chat = await bot.people.new_chat("Choir", [BEN, CHIARA], has_bot=False)
        await bot.people.member("add", chat, by=BEN, user=BOT)
        await bot.wait_until(lambda: len(bot.said_in(chat)) == 1)

        (greeting,) = bot.said_in(chat)
        assert english("group-sees-addressed", bot="@mnemogram_bot") in greeting
        assert "/setprivacy" in greeting
        assert english("group-addressing", bot="@mnemogram_bot") in greeting

        await bot.ask(BEN, "@mnemogram_bot hello", chat=chat)
        assert len(await bot.lines(chat)) == 2

        await bot.people.member("promote", chat, by=BEN, user=BOT)
        await bot.wait_until(lambda: len(bot.said_in(chat)) == 3)
        assert english("group-promoted") in bot.said_in(chat)[-1]
        assert english("group-sees-all") in bot.said_in(chat)[-1]


async def test_a_bot_that_sees_everything_says_so_and_what_it_stores(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False, group_context_messages=7) as bot:
        reader = await bot.people.new_person("Rosa", language_code="es")
        chat = await bot.people.new_chat("Choir", [reader], has_bot=False)
        await bot.people.member("add", chat, by=reader, user=BOT)
        await bot.wait_until(lambda: len(bot.said_in(chat)) == 1)

        spanish = words_for("es")
        assert spanish("group-keeps-talk", count=7) in bot.said_in(chat)[0]

        await bot.people.member("promote", chat, by=reader, user=BOT)
        await bot.people.member("demote", chat, by=reader, user=BOT)
        await bot.wait_until_finished(3)
        assert len(bot.said_in(chat)) == 1


async def test_a_person_without_access_cannot_add_the_bot_to_a_group(stores: StoryStores) -> None:
    async with running_bot(stores, allowed_user_ids=str(OLGA), operator_ids="9999") as bot:
        chat = await bot.people.new_chat("Choir", [BEN], has_bot=False)
        await bot.people.member("add", chat, by=BEN, user=BOT)
        await bot.wait_until(lambda: len(bot.said_in(chat)) == 1)

        assert bot.said_in(chat) == [english("refused")]
        assert (await bot.history(chat)).talk.lines == ()


async def test_a_removed_bot_keeps_the_memory_until_a_reset(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, f"@mnemogram_bot the word is {CANARY}", chat=WEEKEND)
        await bot.people.member("remove", WEEKEND, by=OLGA, user=BOT)
        await bot.wait_until_finished(2)

        assert len(await bot.lines(WEEKEND)) == 2

        await bot.ask(OLGA, f"/reset {WEEKEND}")
        assert await bot.keys_with(CANARY) == []


async def test_a_blocked_bot_sends_nothing_and_an_unblocked_one_answers(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await bot.people.block(BEN)
        await bot.wait_until_finished(2)
        await bot.people.block(BEN, is_blocked=False)
        await bot.wait_until_finished(3)

        assert (await bot.ask(BEN, "again")).endswith("again")
        assert [r["reason"] for r in await bot.records()][1:3] == ["blocked", "unblocked"]
