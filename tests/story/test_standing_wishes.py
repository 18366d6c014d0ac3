"""Stories of standing wishes: in every prompt of their writer, listed first, corrected, and gone with their message.

How people put them: `deepseek-ai/DeepSeek-V3#1132` (kilometres), `lencx/ChatGPT#1552` (no dashes),
`buildingjoshbetter/TrueMemory#554` ("from now on").
"""

import pytest

from bot.agent.prompt.text import STANDING_HEADING
from bot.app import upkeep
from tests.scripted_facts import FactScript, wishes
from tests.story.expected import english
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, Story, StoryStores, running_bot
from tests.story.page_visits import context_of, visiting
from tests.story.test_facts import button, facts_on, forget, learn, noted, place_in, said

pytestmark = pytest.mark.slow

LESSONS = (
    wishes("call me", "Ben answers to Kimberly."),
    wishes("kilometres", "Ben wants metric units."),
    wishes("use feet", "Ben wants imperial units.", replaces="Ben wants metric units."),
    wishes("long dashes", "Ben dislikes dashes."),
    wishes("poems", "Chiara hates rhymes."),
)
"""Statements have a word that their messages do not have: Kimberly, metric, imperial, dislikes, rhymes."""


@pytest.fixture(autouse=True)
def extract_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for unread messages all the time. They are due when somebody asks for /facts."""
    monkeypatch.setattr(upkeep, "LATER_WORK_POLL_S", 0.01)


async def prompt_of_hi(bot: Story, person: int = BEN, *, chat: int | None = None) -> str:
    """Begin a new conversation, say hello, and return the prompt."""
    await bot.ask(OLGA if chat else person, "/new@mnemogram_bot" if chat else "/new", chat=chat)
    await bot.ask(person, "@mnemogram_bot hi" if chat else "hi", chat=chat)
    return str(bot.prompts()[-1])


async def test_a_wish_is_in_every_prompt_of_its_writer_until_its_message_is_forgotten(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, FactScript(*LESSONS, then=noted), recall_k=0) as bot:
        called = await bot.say(BEN, "from now on call me Kim")
        await bot.wait_for_reply(called)
        await bot.ask(BEN, "please give me kilometres, not miles")
        listed = await learn(bot)

        assert listed.splitlines()[:3] == [
            english("facts-standing"),
            "1. Ben Hart: Ben wants metric units.",
            "2. Ben Hart: Ben answers to Kimberly.",
        ]
        prompt = await prompt_of_hi(bot)
        assert STANDING_HEADING in prompt
        assert [prompt.count(word) for word in ("Kimberly", "metric")] == [1, 1]
        assert english("why-standing", count=2) in await bot.ask(BEN, "/why")
        async with visiting(bot, BEN) as page:
            kinds = [each["kind"] for each in (await facts_on(page, BEN))["facts"]]
            answer = (await bot.history(BEN)).newest[-1].id
            receipt = (await page.read(f"contexts/{context_of(BEN)}/receipts/{answer}"))["receipt"]
        assert kinds == ["standing", "standing"]
        assert {each["statement"] for each in receipt["standing"]} == {
            "Ben wants metric units.",
            "Ben answers to Kimberly.",
        }

        await bot.ask(BEN, "on second thought use feet")
        await learn(bot)
        prompt = await prompt_of_hi(bot)
        assert [prompt.count(word) for word in ("metric", "imperial")] == [0, 1]

        await forget(bot, called)
        assert "Kimberly" not in await prompt_of_hi(bot)
        await bot.reset(BEN)
        assert STANDING_HEADING not in await prompt_of_hi(bot)


async def test_a_wish_that_is_corrected_deleted_or_edited_is_gone_from_the_next_prompt(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, FactScript(*LESSONS, then=noted)) as bot:
        dashes = await bot.say(BEN, "never write long dashes to me")
        await bot.wait_for_reply(dashes)
        await bot.ask(BEN, "call me Kim")
        await learn(bot)
        shown = bot.shown_in(BEN)[-1]
        await bot.people.press(BEN, shown, button(shown, "c", at=place_in(shown, "Kimberly")))
        await bot.wait_until(lambda: english("facts-cancel") in str(bot.shown_in(BEN)[-1]))
        question = bot.shown_in(BEN)[-1]
        await bot.wait_for_reply(await bot.say(BEN, "call me Kimmy", reply_to=question["message_id"]))
        prompt = await prompt_of_hi(bot)
        assert [prompt.count(word) for word in ("Kimberly", "call me Kimmy")] == [0, 1]

        await bot.ask(BEN, "/facts")
        shown = bot.shown_in(BEN)[-1]
        await bot.people.press(BEN, shown, button(shown, "d", at=place_in(shown, "Kimmy")))
        await bot.wait_until(lambda: english("fact-deleted") in bot.shown_in(BEN)[-1]["text"])
        assert "Kimmy" not in await prompt_of_hi(bot)

        finished = len(await bot.records())
        await bot.people.edit(dashes, "never mind")
        await bot.wait_until_finished(finished + 1)
        assert STANDING_HEADING not in await prompt_of_hi(bot)


async def test_in_a_group_nobody_else_has_the_wish_in_a_prompt(stores: StoryStores) -> None:
    async with running_bot(stores, FactScript(*LESSONS, then=noted)) as bot:
        await bot.ask(OLGA, "/facts@mnemogram_bot on", chat=WEEKEND)
        await bot.ask(BEN, "@mnemogram_bot call me Kim", chat=WEEKEND)
        await bot.ask(CHIARA, "@mnemogram_bot no poems for me", chat=WEEKEND)
        await learn(bot, chat=WEEKEND)

        ben, chiara = [await prompt_of_hi(bot, person, chat=WEEKEND) for person in (BEN, CHIARA)]
        assert ("Kimberly" in ben, "rhymes" in ben) == (True, False)
        assert ("Kimberly" in chiara, "rhymes" in chiara) == (False, True)
        assert STANDING_HEADING not in await prompt_of_hi(bot, OLGA, chat=WEEKEND)


async def test_words_that_somebody_forwards_are_no_wish(stores: StoryStores) -> None:
    model = FactScript(*LESSONS, then=noted)
    async with running_bot(stores, model) as bot:
        theirs = await bot.say(CHIARA, "call me Duchess, and use feet", chat=WEEKEND)
        await bot.people.forward(BEN, [theirs], comment="look what she wrote")
        await bot.wait_until_idle()
        await learn(bot)

        assert await said(bot, BEN) == []
        assert not any("Duchess" in request for request in model.requests)
        assert STANDING_HEADING not in await prompt_of_hi(bot)
