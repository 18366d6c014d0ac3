"""Stories of a changed embedding model: the bot keeps its memories, and later erasures are complete."""

from typing import Any
from uuid import uuid4

import pytest

from bot.turn import answer
from memory.recall.space_follower import SpaceRegister
from tests.story.harness import BEN, Story, StoryStores, make_ref, running_bot
from tests.story.index_points import points_with
from tests.story.prompts import recalled

pytestmark = pytest.mark.slow

LINE, QUESTION = "my sister Anna lives in Lisbon", "where does my sister Anna live?"


async def test_after_a_change_of_the_embedding_model_a_worker_indexes_everything_again(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, LINE)
        await bot.ask(BEN, "/new")
        await bot.wait_until_indexed()
        await bot.stop()
        await start_with_another_model(bot)
        await bot.ask(BEN, QUESTION)
        assert LINE in str(recalled(bot.prompts()[-1]))

        await bot.reset(BEN)
        await bot.wait_until_indexed()
        assert await points_with(stores.index, make_ref(BEN).context_id) == []


async def test_a_chat_whose_history_an_agent_cleared_is_indexed_again_as_well(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:

    run_agent = answer.run_agent

    async def clear_at_first(agent: Any, context: Any, **given: Any) -> Any:
        if "start afresh" in context.user_messages[-1].text:
            await context.chat_history.clear()
        return await run_agent(agent, context, **given)

    monkeypatch.setattr(answer, "run_agent", clear_at_first)
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await bot.ask(BEN, "start afresh")
        await bot.ask(BEN, LINE)
        await bot.ask(BEN, "/new")
        await bot.wait_until_indexed()
        await bot.stop()
        await start_with_another_model(bot)
        await bot.ask(BEN, QUESTION)
        assert LINE in str(recalled(bot.prompts()[-1]))


async def start_with_another_model(bot: Story) -> None:
    """Start the service with this model, and wait until its space serves."""
    model = f"bag-of-words-{uuid4().hex}"
    bot.settings = bot.settings.model_copy(update={"openai_embedding_model": model})
    bot.start()
    register = SpaceRegister(bot.redis, partitions=1, clock=lambda: 0.0)

    async def serves() -> bool:
        record = await register.load()
        return record is not None and record.serving is not None and record.serving.model == model

    await bot.wait_until_true(serves)
