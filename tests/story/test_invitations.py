"""Stories of invitations: whom the settings keep out is let in by a link, once; of a wrong one nothing is kept."""

import time

from bot.transport.people import Guests
from tests.story.expected import english
from tests.story.harness import BEN, CHIARA, WEEKEND, StoryStores, running_bot

WELCOME = english("invitation-accepted")
INVALID = english("invitation-invalid")
CANARY = "quokka"


async def test_an_invitation_lets_one_person_in_and_is_used_up(stores: StoryStores) -> None:
    async with running_bot(stores, invited_only=True) as bot:
        code = await Guests(stores.redis, clock=time.time).invite()
        assert await bot.ask(BEN, f"hello {CANARY}") == english("refused")

        assert (await bot.ask(BEN, f"/start {code}")).startswith(WELCOME)
        assert await bot.ask(BEN, "hello") == "echo: hello"

        assert await bot.ask(CHIARA, f"/start {code}") == INVALID
        assert await bot.ask(CHIARA, "hello") == english("refused")
        assert await bot.keys_with(code) == []
        assert await bot.keys_with(CANARY) == []


async def test_a_guest_is_answered_in_groups_too_and_others_there_are_not(stores: StoryStores) -> None:
    async with running_bot(stores, invited_only=True) as bot:
        code = await Guests(stores.redis, clock=time.time).invite()
        await bot.ask(BEN, f"/start {code}")
        assert (await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)).startswith("echo:")
        assert await bot.ask(CHIARA, "@mnemogram_bot hello", chat=WEEKEND) == english("refused")


async def test_of_a_wrong_invitation_one_sentence_is_said_and_nothing_kept(stores: StoryStores) -> None:
    async with running_bot(stores, allowed_user_ids=str(CHIARA)) as bot:
        assert await bot.ask(BEN, f"/start {CANARY}") == INVALID
        assert await bot.keys_with(CANARY) == []
        assert await bot.lines(BEN) == []


async def test_who_may_talk_anyway_is_greeted_and_leaves_the_invitation_unused(stores: StoryStores) -> None:
    async with running_bot(stores, invited_only=True, allowed_user_ids=str(CHIARA)) as bot:
        code = await Guests(stores.redis, clock=time.time).invite()
        assert (await bot.ask(CHIARA, f"/start {code}")).startswith(english("start-private"))
        assert (await bot.ask(BEN, f"/start {code}")).startswith(WELCOME)
