"""Stories of "Details" under a receipt: the counts are in the button, and nothing of them is stored."""

from tests.story.expected import english
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, Json, Story, StoryStores, buttons_of, running_bot
from tests.story.test_stop_buttons import answer_to

PROOF = english("receipt-proven")


async def reset(bot: Story, person: int, *, chat: int | None = None) -> Json:
    """Reset a chat, and return the message of the receipt."""
    question = await bot.wait_for_reply(await bot.say(person, "/reset", chat=chat))
    await bot.people.press(person, question, buttons_of(question)[0])
    await bot.wait_for_receipt(question)
    return bot.shown_in(chat or person)[-1]


async def press(bot: Story, person: int, message: Json, data: str) -> str:
    """Press a button, which the message may not have, and return the notice or the newest message."""
    notice, _ = await answer_to(bot, await bot.people.press(person, message, data, any_data=True))
    await bot.wait_until_idle()
    return notice or bot.shown_in(message["chat"]["id"])[-1]["text"]


async def test_a_receipt_says_first_that_nothing_is_left_and_details_have_the_counts(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await bot.wait_until_indexed()
        receipt = await reset(bot, BEN)
        (details,) = buttons_of(receipt)

        shown = await press(bot, BEN, receipt, details)

        assert receipt["text"] == f"{PROOF}\n{english('reset-chat')}"
        assert shown == "Erased: 2 messages, 2 search entries."
        assert await bot.ask(BEN, "/memory") == english("memory-nothing"), "the details are not kept"


async def test_made_up_counts_are_not_shown_and_every_member_may_see_the_true_ones(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, allowed_chat_ids={WEEKEND}) as bot:
        await bot.ask(OLGA, "@mnemogram_bot hello", chat=WEEKEND)
        receipt = await reset(bot, OLGA, chat=WEEKEND)
        (details,) = buttons_of(receipt)
        made_up = details.replace(":2,", ":0,")
        assert made_up != details

        told = [await press(bot, CHIARA, receipt, data) for data in (made_up, "memory:x", "memory", details)]

        assert told[:3] == [english("button-unknown")] * 3
        assert told[3].startswith("Erased: 2 messages")
