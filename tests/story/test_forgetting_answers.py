"""Stories of /forget and the answers that used the message: the receipt counts them, and a button forgets them too."""

import pytest

from bot.transport.controls import DETAILS_BUTTON
from tests.scripted_replies import call, calls, text
from tests.story.expected import english
from tests.story.harness import BEN, OLGA, WEEKEND, Json, Story, StoryStores, buttons_of, running_bot
from tests.story.index_points import points_with
from tests.story.page_visits import context_of, visiting
from tests.story.test_page_forgetting import messages_of

pytestmark = pytest.mark.slow

CANARY = "quokka"
PROOF = english("receipt-proven")


async def _forget(bot: Story, message: Json, *, chat: int = BEN) -> Json:
    """Reply to the message with /forget and return the receipt."""
    return await bot.wait_for_reply(await bot.say(BEN, "/forget", chat=chat, reply_to=message["message_id"]))


async def test_the_answers_that_used_a_message_are_forgotten_with_a_button(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "I like tea")
        secret = await bot.say(BEN, f"my secret is {CANARY}")
        await bot.wait_for_reply(secret)
        await bot.ask(BEN, "hello")
        await bot.ask(BEN, "and now")
        await bot.wait_until_indexed()

        receipt = await _forget(bot, secret)

        assert "3 of my answers used it" in receipt["text"]
        assert "nothing is left" not in receipt["text"]
        assert english("forget-answers-button") == "Forget them too"
        await bot.people.press(BEN, receipt, buttons_of(receipt)[0])
        told = await bot.wait_for_receipt(receipt)
        assert told.startswith(f"{PROOF}\n{english('forgotten-several')}\n\nErased: 3 messages")
        await bot.wait_until_idle()
        await bot.wait_until_indexed()
        assert [line for _, line in await bot.lines(BEN)] == [
            "I like tea",
            "echo: I like tea",
            "hello",
            "and now",
        ]
        assert await bot.keys_with(CANARY) == []
        assert await points_with(stores.index, CANARY) == []


async def test_only_answers_that_had_the_message_are_counted(stores: StoryStores) -> None:
    """The answer before it and answers of the next conversation did not, unless a search found it for them."""
    async with running_bot(stores, recall_k=3) as bot:
        secret = await bot.say(BEN, f"The code of the bike lock is {CANARY}")
        await bot.wait_for_reply(secret)
        await bot.wait_until_indexed()
        await bot.ask(BEN, "/new")
        await bot.ask(BEN, "good morning")
        await bot.ask(BEN, "What is the code of the bike lock?")

        receipt = await _forget(bot, secret)

        assert "2 of my answers used it" in receipt["text"]


async def test_a_message_that_no_answer_used_leaves_nothing(stores: StoryStores) -> None:
    async with running_bot(stores, [text("Noted.")], privacy_mode=False) as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        chatter = await bot.say(BEN, f"between us: {CANARY}", chat=WEEKEND)

        receipt = await _forget(bot, chatter, chat=WEEKEND)

        assert receipt["text"].startswith(PROOF)
        assert [data for data in buttons_of(receipt) if not data.startswith(DETAILS_BUTTON)] == []


async def test_a_reminder_that_repeats_the_message_goes_with_the_answer_that_set_it(
    stores: StoryStores,
) -> None:
    script = [
        text("Noted."),
        calls(call("set_reminder", {"when": "in 2 days", "text": f"the code is {CANARY}"})),
        text("Done."),
    ]
    async with running_bot(stores, script) as bot:
        secret = await bot.say(BEN, f"the code is {CANARY}")
        await bot.wait_for_reply(secret)
        await bot.ask(BEN, "remind me of the code in two days")
        assert CANARY in await bot.ask(BEN, "/reminders")

        receipt = await _forget(bot, secret)

        assert "2 of my answers used it" in receipt["text"]
        await bot.people.press(BEN, receipt, buttons_of(receipt)[0])
        told = await bot.wait_for_receipt(receipt)
        assert "1 reminder" in told
        assert told.startswith(PROOF)
        assert await bot.keys_with(CANARY) == []


@pytest.mark.parametrize("is_quoted", [False, True])
async def test_an_answer_that_had_an_overheard_message_is_counted(
    stores: StoryStores, is_quoted: bool
) -> None:
    async with running_bot(
        stores, [text("Hi."), text(f"Somebody said {CANARY}.")], privacy_mode=False
    ) as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        chatter = await bot.say(BEN, f"between us: {CANARY}", chat=WEEKEND)
        quoted = chatter["message_id"] if is_quoted else None
        await bot.wait_for_reply(
            await bot.say(BEN, "@mnemogram_bot what was that?", chat=WEEKEND, reply_to=quoted)
        )
        await bot.say(BEN, "something else", chat=WEEKEND)

        receipt = await _forget(bot, chatter, chat=WEEKEND)

        assert english("forgotten-unkept") in receipt["text"]
        assert "1 of my answers used it" in receipt["text"]
        assert "nothing is left" not in receipt["text"]
        await bot.people.press(OLGA, receipt, buttons_of(receipt)[0])
        assert (await bot.wait_for_receipt(receipt)).startswith(PROOF)
        await bot.wait_until_idle()
        assert await bot.keys_with(CANARY) == []


async def test_the_page_names_the_answers_that_used_a_message(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, f"my secret is {CANARY}")
        await bot.ask(BEN, "hello")
        await bot.wait_until_indexed()
        async with visiting(bot, BEN) as page:
            ids = await messages_of(page, BEN)
            path = f"contexts/{context_of(BEN)}/forget"
            done = await page.do(path, {"message_ids": ids[:1]})
            assert done["used_by"] == [ids[1], ids[3]]
            assert "2 of my answers used it" in done["receipt"]["text"]
            assert done["receipt"]["used"] == {"answers": 2}
            rest = await page.do(path, {"message_ids": done["used_by"]})

        assert (rest["used_by"], rest["receipt"]["is_proven"]) == ([], True)
        assert rest["receipt"]["text"].startswith(PROOF)
        assert await bot.keys_with(CANARY) == []
