"""A story of an index that loses its data: people are told, and the memory is right again without a command."""

import asyncio
from collections.abc import Sequence

import pytest

from memory.recall import audit
from tests.local_http import local_client
from tests.scripted_embeddings import Embeddings
from tests.story.harness import BEN, StoryStores, running_bot
from tests.story.prompts import recalled

pytestmark = pytest.mark.slow

LINE, QUESTION = "my sister Anna lives in Lisbon", "where does my sister Anna live?"
REBUILT = "is being rebuilt"


async def lose_data(stores: StoryStores) -> None:
    """Delete every collection, as if the volume of the index had been removed."""
    async with local_client(stores.index.url, headers={"api-key": stores.index.api_key}) as client:
        for each in (await client.get("/collections")).json()["result"]["collections"]:
            (await client.delete(f"/collections/{each['name']}")).raise_for_status()


async def test_after_a_loss_people_are_told_and_the_memory_comes_back(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "LOOK_EVERY_S", 0.1)
    async with running_bot(stores) as bot:
        await bot.ask(BEN, LINE)
        await bot.ask(BEN, "/new")
        await bot.wait_until_indexed()
        filled = asyncio.Event()
        bot.model.embeddings = Embeddings(gate=lambda texts: filled if _tells(texts) else None)
        await lose_data(stores)

        async def is_told() -> bool:
            await bot.ask(BEN, QUESTION)
            await bot.ask(BEN, "/new")
            return REBUILT in str(bot.prompts()[-1])

        await bot.wait_until_true(is_told)
        assert LINE not in str(bot.prompts()[-1])
        filled.set()

        async def is_right_again() -> bool:
            await bot.ask(BEN, QUESTION)
            await bot.ask(BEN, "/new")
            return LINE in str(recalled(bot.prompts()[-1])) and REBUILT not in str(bot.prompts()[-1])

        await bot.wait_until_true(is_right_again)


def _tells(texts: Sequence[str]) -> bool:
    return any("lives" in each for each in texts)
