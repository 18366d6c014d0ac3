"""Stories of invitations: a link lets one person in, once, and a wrong one leaves no data."""

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


async def test_a_guest_is_answered_in_groups_and_other_strangers_are_not(stores: StoryStores) -> None:
    async with running_bot(stores, invited_only=True) as bot:
        code = await Guests(stores.redis, clock=time.time).invite()
        await bot.ask(BEN, f"/start {code}")
        assert (await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)).startswith("echo:")
        assert await bot.ask(CHIARA, "@mnemogram_bot hello", chat=WEEKEND) == english("refused")


async def test_a_wrong_invitation_gets_one_sentence_and_leaves_no_data(stores: StoryStores) -> None:
    async with running_bot(stores, allowed_user_ids=str(CHIARA)) as bot:
        assert await bot.ask(BEN, f"/start {CANARY}") == INVALID
        assert await bot.keys_with(CANARY) == []
        assert await bot.lines(BEN) == []


async def test_an_allowed_person_is_greeted_and_does_not_use_up_an_invitation(stores: StoryStores) -> None:
    async with running_bot(stores, invited_only=True, allowed_user_ids=str(CHIARA)) as bot:
        code = await Guests(stores.redis, clock=time.time).invite()
        assert (await bot.ask(CHIARA, f"/start {code}")).startswith(english("start-private"))
        assert (await bot.ask(BEN, f"/start {code}")).startswith(WELCOME)
